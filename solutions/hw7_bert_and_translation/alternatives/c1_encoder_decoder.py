"""Right solutions about cross-attention and decoders (homework 7, part C) that look unlike the reference."""

import math

import torch
from torch import nn
from torch.nn import functional

from autograder.catalogue import alternative
from course.models.layer_norm import LayerNorm
from course.models.multi_head_attention import MultiHeadAttention
from course.models.positions import sinusoidal_positions
from course.models.transformer import Decoder, Encoder, TransformerConfig


@alternative(of="CrossAttention")
class HeadByHead(nn.Module):
    def __init__(self, d_model, n_heads):
        super().__init__()
        self.n_heads = n_heads
        self.W_query = nn.Parameter(torch.eye(d_model, dtype=torch.float64))
        self.W_key = nn.Parameter(torch.eye(d_model, dtype=torch.float64))
        self.W_value = nn.Parameter(torch.eye(d_model, dtype=torch.float64))
        self.W_output = nn.Parameter(torch.eye(d_model, dtype=torch.float64))

    def forward(self, x, memory, mask):
        found = []
        blocks = (W.chunk(self.n_heads) for W in (self.W_query, self.W_key, self.W_value))
        for query, key, value in zip(*blocks, strict=True):
            scores = torch.einsum("btk,bsk->bts", x @ query.T, memory @ key.T) * len(query) ** -0.5
            scores = torch.where(mask[:, 0], scores, -torch.inf)
            found.append(torch.einsum("bts,bsk->btk", scores.softmax(-1), memory @ value.T))
        return functional.linear(torch.cat(found, -1), self.W_output)


@alternative(of="translation_masks")
def by_comparing_places(source, target, source_pad, target_pad):
    places = torch.arange(target.shape[1])
    is_past = places[None, :] <= places[:, None]
    decoder = torch.stack([is_past * (row != target_pad) for row in target]).unsqueeze(1)
    real = source.ne(source_pad).view(len(source), 1, 1, -1)
    return real, decoder, real.clone()


@alternative(of="DecoderBlock")
class BlockOfSublayers(nn.Module):
    def __init__(self, d_model, n_heads, d_ff):
        super().__init__()
        for name in ("self_attention", "cross_attention"):
            self.add_module(name, MultiHeadAttention(d_model, n_heads, is_fused=False).double())
        for name in ("norm_self", "norm_cross", "norm_feed_forward"):
            self.add_module(name, LayerNorm(d_model, is_fused=False).double())
        self.contract = nn.Linear(d_ff, d_model, dtype=torch.float64)
        self.expand = nn.Linear(d_model, d_ff, dtype=torch.float64)

    def forward(self, x, memory, self_mask, cross_mask):
        found = self.self_attention(query=x, key=x, value=x, mask=self_mask)
        x = self.norm_self(found + x)
        x = self.norm_cross(self.cross_attention(x, memory, memory, mask=cross_mask) + x)
        return self.norm_feed_forward(self.contract(self.expand(x).clamp(min=0)) + x)


@alternative(of="EncoderDecoder")
class TranslatorWithFullMasks(nn.Module):
    def __init__(self, source_vocab_size, target_vocab_size, d_model, n_heads, d_ff, n_layers, pad):
        super().__init__()
        config = TransformerConfig(d_model, n_heads, n_layers, d_ff, is_pre_norm=True, is_fused=False)
        self.output = nn.Linear(d_model, target_vocab_size)
        self.decoder, self.encoder = Decoder(config), Encoder(config)
        self.target_embedding = nn.Embedding(target_vocab_size, d_model)
        self.source_embedding = nn.Embedding(source_vocab_size, d_model)
        self.pad = pad
        self.to(torch.float64)

    def encode(self, source):
        x = functional.embedding(source, self.source_embedding.weight) * math.sqrt(self.encoder_width())
        mask = source.ne(self.pad)[:, None, None, :]
        return self.encoder(x + sinusoidal_positions(len(source[0]), self.encoder_width()), mask), mask

    def encoder_width(self):
        return self.output.in_features

    def decode(self, target, memory, mask):
        y = self.target_embedding.weight[target] * self.encoder_width() ** 0.5
        y = y + sinusoidal_positions(target.shape[1], self.encoder_width())[None]
        triangle = torch.ones(target.shape[1], target.shape[1]).tril().bool()
        seen = triangle & target.ne(self.pad)[:, None, None]
        return self.output(self.decoder(y, memory, seen, mask, False))

    def forward(self, source, target):
        memory, mask = self.encode(source)
        return self.decode(target, memory, mask)
