"""The Transformer of 2017 as a translator: an encoder reads the source, a decoder generates the target.

There are three masks: the source's padding for the encoder, the causal mask for the decoder, and the source's
padding again for cross-attention. Embeddings are scaled by √D so that the positions, with entries up to 1, do
not dominate them. One matrix embeds and scores the target's words (Vaswani et al. 2017, 3.4). Rotary
positions are an option: nothing is added then, and self-attention sees distances only.

`figures.machine("transformer")` draws it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import torch
from torch import nn

from course.language_model import check_tokens
from course.models.linear import linear
from course.models.masks import padding_mask
from course.models.positions import SinusoidalPositions
from course.models.transformer import Decoder, DecoderLayerCache, Encoder, TransformerConfig
from course.shapes import Bool, Float, Int, Tensor

POSITIONS = ("sinusoidal", "rotary")


@dataclass(frozen=True)
class TranslatorConfig:
    """Sizes of a Transformer that translates."""

    source_vocab_size: int
    target_vocab_size: int
    context_length: int = 128  # of the source and of the target
    d_model: int = 128
    n_heads: int = 4
    n_layers: int = 2
    d_ff: int = 512
    dropout: float = 0.0
    is_pre_norm: bool = True
    positions: Literal["sinusoidal", "rotary"] = "sinusoidal"
    is_fused: bool = True
    pad: int = 0  # of the source

    def __post_init__(self) -> None:
        if self.positions not in POSITIONS:
            raise ValueError(f"positions: expected one of {', '.join(POSITIONS)}, got {self.positions!r}")

    def stack(self) -> TransformerConfig:
        """The configuration of encoder and decoder layers."""
        return TransformerConfig(
            d_model=self.d_model,
            n_heads=self.n_heads,
            n_layers=self.n_layers,
            d_ff=self.d_ff,
            dropout=self.dropout,
            is_pre_norm=self.is_pre_norm,
            has_rotation=self.positions == "rotary",
            is_fused=self.is_fused,
        )


class Translator(nn.Module):
    """Encoder, decoder with cross-attention, and the embeddings at both ends."""

    def __init__(self, config: TranslatorConfig) -> None:
        super().__init__()
        self.config = config
        self.vocab_size = config.target_vocab_size
        self.source_embedding = nn.Embedding(config.source_vocab_size, config.d_model)
        self.target_embedding = nn.Embedding(config.target_vocab_size, config.d_model)
        is_added = config.positions == "sinusoidal"
        self.positions = SinusoidalPositions(config.context_length, config.d_model) if is_added else None
        self.dropout = nn.Dropout(config.dropout)
        self.encoder = Encoder(config.stack())
        self.decoder = Decoder(config.stack())
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Xavier for every matrix; embeddings with deviation 1/√D, which scaling by √D brings to 1."""
        for name, parameter in self.named_parameters():
            if "embedding" in name:
                nn.init.normal_(parameter, std=1 / math.sqrt(self.config.d_model))
            elif parameter.ndim == 2:
                nn.init.xavier_uniform_(parameter)

    def _embed(
        self, tokens: Int[Tensor, "batch time"], embedding: nn.Embedding, first: int = 0
    ) -> Float[Tensor, "batch time d_model"]:
        check_tokens(tokens, embedding.num_embeddings, self.config.context_length, first)
        _, T = tokens.shape
        x = embedding(tokens) * math.sqrt(self.config.d_model)  # (B, T, D)
        if self.positions is not None:
            x = x + self.positions(T, first)
        return self.dropout(x)

    def encode(
        self, source: Int[Tensor, "batch source"]
    ) -> tuple[Float[Tensor, "batch source d_model"], Bool[Tensor, "batch 1 1 source"]]:
        """The memory that the decoder attends to, and the mask of its real positions."""
        mask = padding_mask(source, self.config.pad)
        return self.encoder(self._embed(source, self.source_embedding), mask), mask

    def decode(
        self,
        target: Int[Tensor, "batch time"],
        memory: Float[Tensor, "batch source d_model"],
        memory_mask: Bool[Tensor, "batch 1 1 source"],
        caches: Sequence[DecoderLayerCache] | None = None,
    ) -> Float[Tensor, "batch time vocab"]:
        """Logits of the token after each position of `target`; with caches, these are the new positions."""
        first = caches[0].written.length if caches else 0
        x = self._embed(target, self.target_embedding, first)  # (B, T, D)
        x = self.decoder(x, memory, memory_mask=memory_mask, caches=caches)  # (B, T, D)
        return linear(x, self.target_embedding.weight)  # (B, T, V)

    def forward(
        self, source: Int[Tensor, "batch source"], target: Int[Tensor, "batch time"]
    ) -> Float[Tensor, "batch time vocab"]:
        """Teacher forcing: log-probabilities of the token after each position of `target`, BOS first."""
        return self.decode(target, *self.encode(source)).log_softmax(dim=-1)

    def alignment(
        self, source: Int[Tensor, "batch source"], target: Int[Tensor, "batch time"], layer: int = -1
    ) -> Float[Tensor, "batch time source"]:
        """Cross-attention of one layer, averaged over heads; row t predicts the token *after* position t."""
        memory, mask = self.encode(source)
        seen: list[Tensor] = []
        cross_attention = self.decoder.layers[layer].get_submodule("cross_attention")
        hook = cross_attention.register_forward_pre_hook(
            lambda module, arguments: seen.append(module.weights(*arguments))
        )
        try:
            self.decode(target, memory, mask)
        finally:
            hook.remove()
        return seen[0].mean(dim=1)  # (B, H, T, S) → (B, T, S)

    @torch.no_grad()
    def translate(
        self, source: Int[Tensor, "batch source"], bos: int, eos: int, max_length: int
    ) -> Int[Tensor, "batch time"]:
        """Greedy, free-running translation: each step reads the last word, and a cache has the others.

        After EOS comes only EOS. Raises ValueError for a `max_length` below 1.
        """
        if max_length < 1:
            raise ValueError(f"max_length: expected at least 1 token, got {max_length}")
        memory, mask = self.encode(source)
        caches = self.decoder.new_caches()
        tokens = torch.full_like(source[:, :1], bos)
        has_ended = torch.zeros_like(tokens, dtype=torch.bool)
        while tokens.shape[1] <= max_length and not has_ended.all():
            logits = self.decode(tokens[:, -1:], memory, mask, caches)  # (B, 1, V)
            token = logits.argmax(dim=-1).masked_fill(has_ended, eos)
            has_ended |= token == eos
            tokens = torch.cat([tokens, token], dim=1)
        return tokens[:, 1:]
