"""A GPT in the formulation of nanoGPT (github.com/karpathy/nanoGPT, model.py), to compare ours with."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from course.models import GPTConfig


class NanoBlock(nn.Module):
    """A block in the formulation of nanoGPT: one matrix for query, key and value, fused attention."""

    def __init__(self, config: GPTConfig) -> None:
        super().__init__()
        self.n_heads = config.n_heads
        self.norm_1, self.norm_2 = nn.LayerNorm(config.d_model), nn.LayerNorm(config.d_model)
        self.query_key_value = nn.Linear(config.d_model, 3 * config.d_model)
        self.project = nn.Linear(config.d_model, config.d_model)
        self.expand = nn.Linear(config.d_model, 4 * config.d_model)
        self.contract = nn.Linear(4 * config.d_model, config.d_model)

    def forward(self, x: Tensor) -> Tensor:
        rows, width, d_model = x.shape
        q, k, v = (
            part.view(rows, width, self.n_heads, d_model // self.n_heads).transpose(1, 2)
            for part in self.query_key_value(self.norm_1(x)).split(d_model, dim=2)
        )
        mixed = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.project(mixed.transpose(1, 2).contiguous().view(rows, width, d_model))
        return x + self.contract(F.gelu(self.expand(self.norm_2(x)), approximate="tanh"))


class NanoGPT(nn.Module):
    """The formulation of nanoGPT (github.com/karpathy/nanoGPT, model.py), of the same size as ours."""

    def __init__(self, config: GPTConfig) -> None:
        super().__init__()
        self.tokens = nn.Embedding(config.vocab_size, config.d_model)
        self.positions = nn.Embedding(config.context_length, config.d_model)
        self.blocks = nn.ModuleList(NanoBlock(config) for _ in range(config.n_layers))
        self.norm = nn.LayerNorm(config.d_model)
        self.output = nn.Linear(config.d_model, config.vocab_size, bias=False)
        self.tokens.weight = self.output.weight

    def forward(self, tokens: Tensor) -> Tensor:
        x = self.tokens(tokens) + self.positions(torch.arange(tokens.shape[1], device=tokens.device))
        for block in self.blocks:
            x = block(x)
        return self.output(self.norm(x))
