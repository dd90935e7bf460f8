"""A recurrent language model: embed each token, update the state, predict the next word from the state."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from torch import nn

from course.language_model import check_tokens
from course.models.linear import Linear
from course.models.recurrent import GRU, LSTM, RNN, RecurrentNetwork, State
from course.shapes import Float, Int, Tensor

Cell = Literal["rnn", "lstm", "gru"]
NETWORKS: dict[Cell, type[RecurrentNetwork]] = {"rnn": RNN, "lstm": LSTM, "gru": GRU}


@dataclass(frozen=True)
class RecurrentConfig:
    """Sizes of a recurrent language model."""

    vocab_size: int
    cell: Cell = "lstm"
    d_embedding: int = 64
    d_hidden: int = 128
    n_layers: int = 1
    dropout: float = 0.0

    def __post_init__(self) -> None:
        if self.cell not in NETWORKS:
            raise ValueError(f"cell: expected one of {', '.join(NETWORKS)}, got {self.cell!r}")


class RecurrentLanguageModel(nn.Module):
    """An RNN, LSTM or GRU that predicts the next token from its state, a summary of all tokens before it."""

    context_length = None

    def __init__(self, config: RecurrentConfig) -> None:
        super().__init__()
        self.config = config
        self.vocab_size = config.vocab_size
        self.embedding = nn.Embedding(config.vocab_size, config.d_embedding)
        self.network = NETWORKS[config.cell](
            config.d_embedding, config.d_hidden, config.n_layers, dropout=config.dropout
        )
        self.dropout = nn.Dropout(config.dropout)
        self.output = Linear(config.d_hidden, config.vocab_size)

    def read(
        self, tokens: Int[Tensor, "batch time"], state: State | None = None
    ) -> tuple[Float[Tensor, "batch time vocab"], State]:
        """Logits at every position, and the state after the last one, from which the next segment continues.

        For truncated backpropagation through time, detach the state between segments.
        """
        check_tokens(tokens, self.vocab_size)
        hidden, state = self.network(self.dropout(self.embedding(tokens)), state)  # (B, T, D)
        return self.output(self.dropout(hidden)), state

    def logits(self, tokens: Int[Tensor, "batch time"]) -> Float[Tensor, "batch time vocab"]:
        """Logits of the next token at every position."""
        return self.read(tokens)[0]

    def forward(self, tokens: Int[Tensor, "batch time"]) -> Float[Tensor, "batch time vocab"]:
        """Log-probabilities of the next token at every position."""
        return self.logits(tokens).log_softmax(dim=-1)
