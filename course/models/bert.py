"""BERT: a Transformer encoder that sees both sides of every token, and heads for downstream tasks.

Devlin et al. 2019. Token, position and segment embeddings are summed and normalised; the stack is post-norm
with GELU. Pre-training predicts masked tokens. Fine-tuning adds one linear layer that classifies a sequence
or each of its tokens, or finds the first and last token of an answer.

`figures.machine("bert")` draws it.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import nn
from torch.nn import functional as F

from course.language_model import check_tokens, check_values, values_may_be_read
from course.models.layer_norm import LayerNorm
from course.models.linear import Linear, linear
from course.models.transformer import Encoder, TransformerConfig
from course.shapes import Bool, Float, Int, Tensor


@dataclass(frozen=True)
class BERTConfig:
    """Sizes of a BERT; the defaults are those of BERT base."""

    vocab_size: int = 30_522
    context_length: int = 512
    d_model: int = 768
    n_heads: int = 12
    n_layers: int = 12
    d_ff: int = 3072
    n_segments: int = 2
    dropout: float = 0.0
    epsilon: float = 1e-12
    is_fused: bool = True

    def stack(self) -> TransformerConfig:
        """The configuration of the encoder layers."""
        return TransformerConfig(
            d_model=self.d_model,
            n_heads=self.n_heads,
            n_layers=self.n_layers,
            d_ff=self.d_ff,
            dropout=self.dropout,
            activation="gelu",
            epsilon=self.epsilon,
            is_fused=self.is_fused,
        )


def initialise(module: nn.Module) -> None:
    """As in BERT: every matrix normal with deviation 0.02, biases 0; use as `model.apply(initialise)`."""
    if isinstance(module, nn.Linear | nn.Embedding):
        nn.init.normal_(module.weight, std=0.02)
    if isinstance(module, nn.Linear) and module.bias is not None:
        nn.init.zeros_(module.bias)


class BERT(nn.Module):
    """The encoder: tokens (B, T) → one vector per token (B, T, D), which depends on all tokens."""

    def __init__(self, config: BERTConfig) -> None:
        super().__init__()
        self.config = config
        self.embedding = nn.Embedding(config.vocab_size, config.d_model)
        self.positions = nn.Embedding(config.context_length, config.d_model)
        self.segments = nn.Embedding(config.n_segments, config.d_model)
        self.norm = LayerNorm(config.d_model, config.epsilon, config.is_fused)
        self.dropout = nn.Dropout(config.dropout)
        self.encoder = Encoder(config.stack())
        self.apply(initialise)

    def forward(
        self,
        tokens: Int[Tensor, "batch time"],
        mask: Bool[Tensor, "batch time"] | None = None,
        segments: Int[Tensor, "batch time"] | None = None,
    ) -> Float[Tensor, "batch time d_model"]:
        """`mask` is True at real tokens; `segments` says which text a token belongs to, by default 0.

        Raises ValueError for a mask or segments whose shape is not that of the tokens, and as `check_tokens`
        does.
        """
        check_tokens(tokens, self.config.vocab_size, self.config.context_length)
        _, T = tokens.shape
        segments = torch.zeros_like(tokens) if segments is None else segments
        for name, given in (("mask", mask), ("segments", segments)):
            if given is not None and given.shape != tokens.shape:
                raise ValueError(f"{name}: expected {tuple(tokens.shape)} (B, T), got {tuple(given.shape)}")
        if values_may_be_read(segments):
            check_values("segments", segments, self.config.n_segments)
        x = self.embedding(tokens) + self.positions.weight[:T] + self.segments(segments)  # (B, T, D)
        attendable = None if mask is None else mask[:, None, None, :]  # (B, 1, 1, T)
        return self.encoder(self.dropout(self.norm(x)), attendable)


class Pooler(nn.Module):
    """tanh(W h_1 + b): turns the vector of the first token, <cls>, into a summary of the sequence."""

    def __init__(self, config: BERTConfig) -> None:
        super().__init__()
        self.linear = Linear(config.d_model, config.d_model)
        self.apply(initialise)

    def forward(self, hidden: Float[Tensor, "batch time d_model"]) -> Float[Tensor, "batch d_model"]:
        return torch.tanh(self.linear(hidden[:, 0]))


class MaskedLanguageModel(nn.Module):
    """BERT with the head that predicts the word at each position; its matrix is that of the embedding."""

    def __init__(self, config: BERTConfig) -> None:
        super().__init__()
        self.vocab_size = config.vocab_size
        self.bert = BERT(config)
        self.transform = Linear(config.d_model, config.d_model)
        self.norm = LayerNorm(config.d_model, config.epsilon, config.is_fused)
        self.bias = nn.Parameter(torch.zeros(config.vocab_size))
        initialise(self.transform)

    def forward(
        self,
        tokens: Int[Tensor, "batch time"],
        mask: Bool[Tensor, "batch time"] | None = None,
        segments: Int[Tensor, "batch time"] | None = None,
    ) -> Float[Tensor, "batch time vocab"]:
        """Logits for the word *at* each position (not after it)."""
        hidden = self.norm(F.gelu(self.transform(self.bert(tokens, mask, segments))))
        return linear(hidden, self.bert.embedding.weight, self.bias)


class SequenceClassifier(nn.Module):
    """BERT with one decision per sequence, made from the first token: sentiment, for instance."""

    def __init__(self, config: BERTConfig, n_classes: int) -> None:
        super().__init__()
        self.bert = BERT(config)
        self.pooler = Pooler(config)
        self.dropout = nn.Dropout(config.dropout)
        self.output = Linear(config.d_model, n_classes)
        initialise(self.output)

    def forward(
        self,
        tokens: Int[Tensor, "batch time"],
        mask: Bool[Tensor, "batch time"] | None = None,
        segments: Int[Tensor, "batch time"] | None = None,
    ) -> Float[Tensor, "batch classes"]:
        """Logits of the classes."""
        return self.output(self.dropout(self.pooler(self.bert(tokens, mask, segments))))


class Tagger(nn.Module):
    """BERT with one decision per token: named entities, for instance."""

    def __init__(self, config: BERTConfig, n_tags: int) -> None:
        super().__init__()
        self.bert = BERT(config)
        self.dropout = nn.Dropout(config.dropout)
        self.output = Linear(config.d_model, n_tags)
        initialise(self.output)

    def forward(
        self,
        tokens: Int[Tensor, "batch time"],
        mask: Bool[Tensor, "batch time"] | None = None,
        segments: Int[Tensor, "batch time"] | None = None,
    ) -> Float[Tensor, "batch time tags"]:
        """Logits of the tags."""
        return self.output(self.dropout(self.bert(tokens, mask, segments)))


class SpanFinder(nn.Module):
    """BERT with two scores per token: does the answer begin here, and does it end here?"""

    def __init__(self, config: BERTConfig) -> None:
        super().__init__()
        self.bert = BERT(config)
        self.output = Linear(config.d_model, 2)
        initialise(self.output)

    def forward(
        self,
        tokens: Int[Tensor, "batch time"],
        mask: Bool[Tensor, "batch time"] | None = None,
        segments: Int[Tensor, "batch time"] | None = None,
    ) -> tuple[Float[Tensor, "batch time"], Float[Tensor, "batch time"]]:
        """Logits over positions, for the first and for the last token of the answer."""
        first, last = self.output(self.bert(tokens, mask, segments)).unbind(dim=-1)
        return first, last
