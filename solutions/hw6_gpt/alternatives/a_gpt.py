"""Right solutions of part A of homework 6 that look nothing like the reference."""

import torch
from torch import nn
from torch.nn import functional

from autograder.catalogue import alternative


@alternative(of="next_token_loss")
def row_by_row(logits, tokens, mask=None):
    is_real = torch.ones_like(tokens, dtype=torch.bool) if mask is None else mask
    losses = []
    for row, text, real in zip(logits, tokens, is_real, strict=True):
        places = real[1:].nonzero()[:, 0]  # whose next token is real
        losses.append(-row[places].log_softmax(-1)[torch.arange(len(places)), text[places + 1]])
    return torch.cat(losses).mean()


class _Attention(nn.Module):
    def __init__(self, d_model, n_heads):
        super().__init__()
        self.n_heads = n_heads
        self.c_attn, self.c_proj = nn.Linear(d_model, 3 * d_model), nn.Linear(d_model, d_model)

    def forward(self, x):
        query, key, value = (
            torch.stack(part.chunk(self.n_heads, dim=-1), dim=1) for part in self.c_attn(x).chunk(3, dim=-1)
        )
        mixed = functional.scaled_dot_product_attention(query, key, value, is_causal=True)
        return self.c_proj(torch.cat(mixed.unbind(dim=1), dim=-1))


class _Mlp(nn.Module):
    def __init__(self, d_model):
        super().__init__()
        self.c_fc, self.c_proj = nn.Linear(d_model, 4 * d_model), nn.Linear(4 * d_model, d_model)

    def forward(self, x):
        return self.c_proj(nn.GELU(approximate="tanh")(self.c_fc(x)))


@alternative(of="CausalBlock")
class WithModulesOfItsOwn(nn.Module):
    def __init__(self, d_model, n_heads):
        super().__init__()
        self.ln_1 = nn.LayerNorm(d_model)
        self.add_module("attn", _Attention(d_model, n_heads))
        self.ln_2, self.mlp = nn.LayerNorm(d_model), _Mlp(d_model)

    def forward(self, x):
        x = x + self.attn(self.ln_1(x))
        return x + self.mlp(self.ln_2(x))


@alternative(of="GPT")
class WithSequentialBlocks(nn.Module):
    def __init__(self, vocab_size, context_length, d_model, n_heads, n_layers):
        super().__init__()
        self.wte, self.wpe = nn.Embedding(vocab_size, d_model), nn.Embedding(context_length, d_model)
        self.h = nn.Sequential(*(WithModulesOfItsOwn(d_model, n_heads) for _ in range(n_layers)))
        self.ln_f = nn.LayerNorm(d_model)
        self.wte.weight.data *= 0.06
        self.wpe.weight.data *= 0.06

    def forward(self, tokens):
        x = functional.embedding(tokens, self.wte.weight) + self.wpe.weight[: tokens.shape[1]]
        return functional.linear(self.ln_f(self.h(x)), self.wte.weight)


@alternative(of="gpt2_weights")
def name_by_name(checkpoint):
    weights = {}
    for name, weight in checkpoint.items():
        parts = [part for part in name.split(".") if part != "transformer"]
        if parts[0] == "lm_head" or parts[-2:] in (["attn", "bias"], ["attn", "masked_bias"]):
            continue
        is_turned = parts[-2].startswith("c_") and parts[-1] == "weight"
        weights[".".join(parts)] = torch.from_numpy(weight.numpy().T.copy()) if is_turned else weight.clone()
    return weights
