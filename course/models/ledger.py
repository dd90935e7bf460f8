"""The ledger of a Transformer: its parameters, their places and the cost of a step, from the sizes alone.

Every count follows from the configuration. GPT-2 small has 124,439,808 parameters, BERT large about 335
million (340 in its paper's rounding), GPT-3 (Brown et al. 2020, table 2.1) about 175 billion.
"""

from __future__ import annotations

from dataclasses import dataclass

from course.models.bert import BERTConfig
from course.models.gpt import GPTConfig

BERT_LARGE = BERTConfig(d_model=1024, n_heads=16, n_layers=24, d_ff=4096)
GPT2_SMALL = GPTConfig()
GPT2_XL = GPTConfig(d_model=1600, n_heads=25, n_layers=48)
GPT3 = GPTConfig(context_length=2048, d_model=12_288, n_heads=96, n_layers=96)


@dataclass(frozen=True)
class Entry:
    """One line of the ledger: a name, a formula in the course's letters, and the number of parameters."""

    name: str
    formula: str
    n_parameters: int


@dataclass(frozen=True)
class Ledger:
    """All lines and their sum."""

    entries: tuple[Entry, ...]

    @property
    def n_parameters(self) -> int:
        """The sum of all lines."""
        return sum(entry.n_parameters for entry in self.entries)

    def __str__(self) -> str:
        lines = [f"{entry.name:<34}{entry.formula:<22}{entry.n_parameters:>18,}" for entry in self.entries]
        return "\n".join([*lines, f"{'all':<56}{self.n_parameters:>18,}"])


def layer_entries(n_layers: int, D: int, F: int) -> tuple[Entry, ...]:
    """The four parts of L encoder layers, biases included."""
    L = n_layers
    return (
        Entry("query, key, value", "L · 3 (D² + D)", L * 3 * (D * D + D)),
        Entry("output of attention", "L · (D² + D)", L * (D * D + D)),
        Entry("feed-forward", "L · (2 D F + F + D)", L * (2 * D * F + F + D)),
        Entry("norms of the layers", "L · 4 D", L * 4 * D),
    )


def gpt_ledger(config: GPTConfig) -> Ledger:
    """The parameters of a GPT, line by line; the output matrix is the embedding and is counted once."""
    V, D, T = config.vocab_size, config.d_model, config.context_length
    positions = {
        "learned": (Entry("embedding of positions", "T D", T * D),),
        "relative": (Entry("bias of distances", "32 H", 32 * config.n_heads),),
    }
    return Ledger(
        (
            Entry("embedding of tokens (and output)", "V D", V * D),
            *positions.get(config.positions, ()),
            *layer_entries(config.n_layers, D, config.block().d_ff),
            Entry("last norm", "2 D", 2 * D),
        )
    )


def bert_ledger(config: BERTConfig) -> Ledger:
    """The parameters of a BERT with its pooler, line by line."""
    V, D, T, n_segments = config.vocab_size, config.d_model, config.context_length, config.n_segments
    return Ledger(
        (
            Entry("embedding of tokens", "V D", V * D),
            Entry("embedding of positions", "T D", T * D),
            Entry("embedding of segments", f"{n_segments} D", n_segments * D),
            Entry("norm of the embeddings", "2 D", 2 * D),
            *layer_entries(config.n_layers, D, config.d_ff),
            Entry("pooler", "D² + D", D * D + D),
        )
    )


def training_flops_per_token(config: GPTConfig) -> int:
    """6 N + 12 L D T: two operations per parameter forwards, four backwards, and those of the scores.

    N leaves out the embedding of positions, which takes part in no product. (Kaplan et al. 2020, section 2.1,
    give 6 N + 6 L D T, which counts only the causal half of the scores; here every score counts.)
    """
    n_multiplying = gpt_ledger(config).n_parameters - (
        config.context_length * config.d_model if config.positions == "learned" else 0
    )
    return 6 * n_multiplying + 12 * config.n_layers * config.d_model * config.context_length


def training_bytes(config: GPTConfig, bytes_per_number: int = 4) -> int:
    """Weights, gradients and Adam's two moments: four numbers per parameter; activations are not included."""
    return 4 * bytes_per_number * gpt_ledger(config).n_parameters


def cache_bytes(
    config: GPTConfig, batch_size: int = 1, n_positions: int | None = None, bytes_per_number: int = 4
) -> int:
    """The KV cache, the keys and values of every layer during generation: 2 · L · B · T · D numbers."""
    T = config.context_length if n_positions is None else n_positions
    return 2 * config.n_layers * batch_size * T * config.d_model * bytes_per_number
