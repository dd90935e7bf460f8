"""A small language model whose every probability is in a table, and words about rows of logits."""

import math

import torch
from torch import Tensor


def draws_needed_within(tolerance: float, n_outcomes: int, false_alarm: float = 1e-7) -> int:
    """How many draws keep all frequencies within `tolerance` of their probabilities (Hoeffding, union bound).

    n ≥ log(2 · n_outcomes / false_alarm) / (2 · tolerance²), so a correct sampler fails once in 10⁷ seeds.
    """
    return math.ceil(math.log(2 * n_outcomes / false_alarm) / (2 * tolerance**2))


class TableModel:
    """P(next | the last two tokens) read off a random table of log-probabilities (V, V, V)."""

    context_length = None

    def __init__(self, vocab_size: int, seed: int, sharpness: float = 2.0) -> None:
        self.vocab_size = vocab_size
        generator = torch.Generator().manual_seed(seed)
        table = sharpness * torch.randn(vocab_size, vocab_size, vocab_size, generator=generator)
        self.table = table.double().log_softmax(dim=-1)

    def __call__(self, tokens: Tensor) -> Tensor:
        previous = torch.nn.functional.pad(tokens, (1, 0))[:, :-1]
        return self.table[previous, tokens]

    def log_prob(self, prompt: list[int], continuation: tuple[int, ...]) -> float:
        """log P(continuation | prompt), token by token."""
        text, total = [0, *prompt], 0.0
        for token in continuation:
            total += self.table[text[-2], text[-1], token].item()
            text.append(token)
        return total


class RememberingModel(TableModel):
    """The same model with a cache that holds the tokens read; counts how many it reads."""

    def __init__(self, vocab_size: int, seed: int) -> None:
        super().__init__(vocab_size, seed)
        self.n_read = 0

    class Cache:
        def __init__(self, tokens: Tensor | None = None) -> None:
            self.tokens = tokens

        @property
        def length(self) -> int:
            return 0 if self.tokens is None else self.tokens.shape[1]

        def select(self, rows: Tensor) -> "RememberingModel.Cache":
            return RememberingModel.Cache(self.tokens[rows])

    def new_cache(self) -> Cache:
        return self.Cache()

    def __call__(self, tokens: Tensor, cache: Cache | None = None) -> Tensor:
        self.n_read += tokens.shape[1]
        if cache is None:
            return super().__call__(tokens)
        old = tokens[:, :0] if cache.tokens is None else cache.tokens
        cache.tokens = torch.cat([old, tokens], dim=1)
        return super().__call__(cache.tokens)[:, old.shape[1] :]


def kept(filtered: Tensor) -> list[list[int]]:
    """Which tokens of each row are still possible."""
    return [row.isfinite().nonzero().flatten().tolist() for row in filtered.flatten(end_dim=-2)]


def probabilities(*values: float) -> Tensor:
    """Logits of one row with these probabilities."""
    return torch.tensor(values, dtype=torch.float64).log()
