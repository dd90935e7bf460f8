"""Sequence to sequence: one recurrent network reads the source, another generates the target.

Without attention, the source reaches the decoder only as the encoder's last state, c = h_S: as the first
state s_0 (Sutskever, Vinyals and Le 2014) or also as an input to every step (Cho et al. 2014). With
attention, each state s_t attends to all of the encoder's states (Bahdanau et al. 2015). The scores are
computed after the step (as in Luong et al. 2015), so with teacher forcing all steps attend at once:

    α_t = softmax(score(s_t, h_1 … h_S)),  c_t = Σ_i α_ti h_i,  P(y_{t+1}) = softmax(V [s_t; c_t] + b)

Drawn by `figures.machine("seq2seq")` and `figures.machine("seq2seq_attention")`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import torch
from torch import nn

from course.language_model import check_tokens, values_may_be_read
from course.models.attention import additive_scores, attention_weights, bilinear_scores, dot_scores
from course.models.linear import Linear
from course.models.recurrent import GRU, LSTM, State
from course.shapes import Bool, Float, Int, Tensor

NETWORKS = {"gru": GRU, "lstm": LSTM}


@dataclass(frozen=True)
class Seq2SeqConfig:
    """Sizes of an encoder-decoder, and how the source reaches the decoder."""

    source_vocab_size: int
    target_vocab_size: int
    d_embedding: int = 64
    d_hidden: int = 128
    cell: Literal["gru", "lstm"] = "gru"
    n_layers: int = 1
    is_bidirectional: bool = True  # the encoder; the decoder cannot read tokens that it has not generated yet
    attention: Literal["none", "dot", "bilinear", "additive"] = "bilinear"
    summary: Literal["first_step", "every_step"] = "first_step"  # where c = h_S enters, besides attention
    dropout: float = 0.0
    pad: int = 0  # of the source

    def __post_init__(self) -> None:
        if self.cell not in NETWORKS:
            raise ValueError(f"cell: expected one of {', '.join(NETWORKS)}, got {self.cell!r}")
        if self.attention not in SCORES:
            raise ValueError(f"attention: expected one of {', '.join(SCORES)}, got {self.attention!r}")
        if self.summary not in ("first_step", "every_step"):
            raise ValueError(f"summary: expected first_step or every_step, got {self.summary!r}")

    @property
    def d_memory(self) -> int:
        """Width of the encoder's states, which are concatenated over its directions."""
        return self.d_hidden * (2 if self.is_bidirectional else 1)


@dataclass(frozen=True)
class EncodedSource:
    """All that the decoder knows about the source: the states, their mask (True = real) and its own s_0."""

    memory: Float[Tensor, "batch source d_memory"]
    mask: Bool[Tensor, "batch source"]
    state: State

    @property
    def summary(self) -> Float[Tensor, "batch d_hidden"]:
        """c, the top layer of s_0."""
        return self.state[0][-1]


class DotScores(nn.Module):
    """s · h; a bidirectional memory is first projected to the decoder's width."""

    def __init__(self, config: Seq2SeqConfig) -> None:
        super().__init__()
        self.narrow: nn.Module = nn.Identity()
        if config.d_memory != config.d_hidden:
            self.narrow = Linear(config.d_memory, config.d_hidden, bias=False)

    def forward(self, query: Tensor, key: Tensor) -> Float[Tensor, "batch time source"]:
        return dot_scores(query, self.narrow(key))


class BilinearScores(nn.Module):
    """sᵀ W h."""

    def __init__(self, config: Seq2SeqConfig) -> None:
        super().__init__()
        self.W = nn.Parameter(torch.empty(config.d_hidden, config.d_memory))
        nn.init.xavier_uniform_(self.W)

    def forward(self, query: Tensor, key: Tensor) -> Float[Tensor, "batch time source"]:
        return bilinear_scores(query, key, self.W)


class AdditiveScores(nn.Module):
    """vᵀ tanh(W_query s + W_key h)."""

    def __init__(self, config: Seq2SeqConfig) -> None:
        super().__init__()
        self.W_query = Linear(config.d_hidden, config.d_hidden, bias=False)
        self.W_key = Linear(config.d_memory, config.d_hidden, bias=False)
        self.v = Linear(config.d_hidden, 1, bias=False)

    def forward(self, query: Tensor, key: Tensor) -> Float[Tensor, "batch time source"]:
        return additive_scores(query, key, self.W_query.weight, self.W_key.weight, self.v.weight[0])


SCORES = {"none": None, "dot": DotScores, "bilinear": BilinearScores, "additive": AdditiveScores}


class Seq2SeqEncoder(nn.Module):
    """Reads the source and returns its states and the decoder's first state."""

    def __init__(self, config: Seq2SeqConfig) -> None:
        super().__init__()
        self.config = config
        self.embedding = nn.Embedding(config.source_vocab_size, config.d_embedding)
        self.dropout = nn.Dropout(config.dropout)
        self.network = NETWORKS[config.cell](
            config.d_embedding, config.d_hidden, config.n_layers, config.is_bidirectional, config.dropout
        )
        self.bridge = Linear(config.d_memory, config.d_hidden) if config.is_bidirectional else None

    def forward(self, source: Int[Tensor, "batch source"]) -> EncodedSource:
        """Padding is skipped: the last state of a short sentence is that of its last real token.

        Raises ValueError for a sentence that is only padding.
        """
        check_tokens(source, self.config.source_vocab_size)
        mask = source != self.config.pad
        if values_may_be_read(mask) and not mask.any(dim=1).all():
            row = int((~mask.any(dim=1)).nonzero()[0])
            raise ValueError(
                f"source: expected at least one real token per sentence, got only padding in row {row}"
            )
        x = self.dropout(self.embedding(source))  # (B, S, d)
        memory, last = self.network(x, mask=mask)  # (B, S, d_memory), the parts of the state (cells, B, D)
        return EncodedSource(memory, mask, tuple(self._first_state(part) for part in last))

    def _first_state(
        self, part: Float[Tensor, "cells batch d_hidden"]
    ) -> Float[Tensor, "layers batch d_hidden"]:
        """One part of the decoder's first state, from the same part of the encoder's last state."""
        if self.bridge is None:
            return part
        both_directions = torch.cat([part[0::2], part[1::2]], dim=-1)  # (2 L, B, D) → (L, B, 2 D)
        return torch.tanh(self.bridge(both_directions))  # (L, B, D)


class Seq2SeqDecoder(nn.Module):
    """Generates the target from left to right, each token from the last token, the state and the source."""

    def __init__(self, config: Seq2SeqConfig) -> None:
        super().__init__()
        self.config = config
        has_summary = config.summary == "every_step"
        has_attention = config.attention != "none"
        self.embedding = nn.Embedding(config.target_vocab_size, config.d_embedding)
        self.dropout = nn.Dropout(config.dropout)
        self.network = NETWORKS[config.cell](
            config.d_embedding + has_summary * config.d_hidden,
            config.d_hidden,
            config.n_layers,
            dropout=config.dropout,
        )
        scores = SCORES[config.attention]
        self.scores = None if scores is None else scores(config)
        self.output = Linear(config.d_hidden + has_attention * config.d_memory, config.target_vocab_size)

    def forward(
        self, tokens: Int[Tensor, "batch time"], encoded: EncodedSource, state: State | None = None
    ) -> tuple[Float[Tensor, "batch time vocab"], State, Float[Tensor, "batch time source"] | None]:
        """Logits of the next token at every position, the state after the last, and the attention weights."""
        check_tokens(tokens, self.config.target_vocab_size)
        _, T = tokens.shape
        x = self.dropout(self.embedding(tokens))  # (B, T, d)
        if self.config.summary == "every_step":
            summaries = encoded.summary[:, None].expand(-1, T, -1)  # (B, D) → (B, T, D)
            x = torch.cat([x, summaries], dim=-1)  # (B, T, d + D)
        hidden, state = self.network(x, encoded.state if state is None else state)  # s_1 … s_T (B, T, D)
        weights = None
        if self.scores is not None:
            scores = self.scores(hidden, encoded.memory)  # (B, T, S)
            weights = attention_weights(scores, encoded.mask[:, None, :])  # (B, T, S)
            context = weights @ encoded.memory  # c_1 … c_T (B, T, d_memory)
            hidden = torch.cat([hidden, context], dim=-1)  # [s_t; c_t] (B, T, D + d_memory)
        return self.output(self.dropout(hidden)), state, weights


class Seq2Seq(nn.Module):
    """An encoder-decoder of recurrent networks, with or without attention."""

    def __init__(self, config: Seq2SeqConfig) -> None:
        super().__init__()
        self.config = config
        self.vocab_size = config.target_vocab_size
        self.encoder = Seq2SeqEncoder(config)
        self.decoder = Seq2SeqDecoder(config)

    def forward(
        self, source: Int[Tensor, "batch source"], target: Int[Tensor, "batch time"]
    ) -> Float[Tensor, "batch time vocab"]:
        """Teacher forcing: log-probabilities of the token after each position of `target`, BOS first."""
        return self.decoder(target, self.encoder(source))[0].log_softmax(dim=-1)

    def alignment(
        self, source: Int[Tensor, "batch source"], target: Int[Tensor, "batch time"]
    ) -> Float[Tensor, "batch time source"]:
        """The weight of each source token at each step t, which predicts the token *after* target position t.

        Raises ValueError for a model without attention.
        """
        weights = self.decoder(target, self.encoder(source))[2]
        if weights is None:
            raise ValueError("attention: expected a model with attention, got attention='none'")
        return weights

    @torch.no_grad()
    def translate(
        self, source: Int[Tensor, "batch source"], bos: int, eos: int, max_length: int
    ) -> Int[Tensor, "batch time"]:
        """Greedy, free-running translation: each step reads the last word generated; after EOS, only EOS."""
        if max_length < 1:
            raise ValueError(f"max_length: expected at least 1 token, got {max_length}")
        encoded = self.encoder(source)
        state, token = encoded.state, torch.full_like(source[:, :1], bos)
        has_ended = torch.zeros_like(token, dtype=torch.bool)
        written: list[Tensor] = []
        while len(written) < max_length and not has_ended.all():
            logits, state, _ = self.decoder(token, encoded, state)
            token = logits.argmax(dim=-1).masked_fill(has_ended, eos)  # (B, 1)
            has_ended |= token == eos
            written.append(token)
        return torch.cat(written, dim=1)
