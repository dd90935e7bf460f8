"""Right solutions about norms, blocks and stacks that look nothing like the reference."""

import math

import torch
from torch import nn
from torch.nn import functional

from autograder.catalogue import alternative
from course.models.multi_head_attention import MultiHeadAttention as ReadyAttention


@alternative(of="LayerNorm")
class WithVar(nn.Module):
    def __init__(self, d_model, epsilon):
        super().__init__()
        self.bias = nn.Parameter(torch.full((d_model,), 0.0))
        self.gain = nn.Parameter(torch.full((d_model,), 1.0))
        self.epsilon = epsilon

    def forward(self, x):
        variance, mean = torch.var_mean(x, -1, keepdim=True, correction=0)
        return torch.addcmul(self.bias, self.gain, (x - mean) * (variance + self.epsilon).rsqrt())


@alternative(of="rms_norm")
def with_the_norm(x, gain, epsilon):
    x = x.float() if x.dtype == torch.float16 else x
    mean_square = torch.linalg.vector_norm(x, dim=-1, keepdim=True) ** 2 / x.size(-1)
    return x * (mean_square + epsilon) ** -0.5 * gain


@alternative(of="FeedForward")
class WithMasks(nn.Module):
    def __init__(self, d_model, d_ff):
        super().__init__()
        self.contract = nn.Linear(in_features=d_ff, out_features=d_model)
        self.expand = nn.Linear(in_features=d_model, out_features=d_ff)

    def forward(self, x):
        rows = self.expand(x.flatten(0, 1))
        return self.contract(torch.where(rows > 0, rows, 0)).unflatten(0, x.shape[:2])


class _Heads(ReadyAttention):
    def forward(self, x, mask=None):
        return super().forward(x, x, x, mask)


class _Parts(nn.Module):
    def __init__(self, d_model, n_heads, d_ff):
        super().__init__()
        self.feed_forward = nn.ModuleDict(
            {"expand": nn.Linear(d_model, d_ff), "contract": nn.Linear(d_ff, d_model)}
        )
        self.norm_feed_forward = nn.LayerNorm(d_model)
        self.norm_attention = nn.LayerNorm(d_model)
        self.attention = _Heads(d_model, n_heads)

    def think(self, x):
        return self.feed_forward["contract"](self.feed_forward["expand"](x).clamp(min=0))


@alternative(of="PostNormBlock")
class StepByStep(_Parts):
    def forward(self, x, mask=None):
        found = self.attention(x, mask=mask)
        y = self.norm_attention(torch.add(found, x))
        z = self.think(y)
        z += y
        return self.norm_feed_forward(z)


@alternative(of="PreNormBlock")
class WithAStream(_Parts):
    def forward(self, x, mask=None):
        stream = x.clone()
        for norm, part in (
            (self.norm_attention, lambda y: self.attention(y, mask)),
            (self.norm_feed_forward, self.think),
        ):
            stream = stream + part(norm(stream))
        return stream


@alternative(of="Stack")
class ByRecursion(nn.Module):
    def __init__(self, n_layers, d_model):
        super().__init__()
        self.norm = nn.LayerNorm(d_model)
        self.layers = nn.ModuleList()
        for _ in range(n_layers):
            self.layers.append(nn.ModuleDict({"linear": nn.Linear(d_model, d_model)}))

    def forward(self, x, start=0):
        if start == len(self.layers):
            return self.norm(x)
        return self.forward(x + self.layers[start]["linear"](x).tanh(), start + 1)


@alternative(of="TiedModel")
class WithTheOutputLayerFirst(nn.Module):
    def __init__(self, vocab_size, d_model):
        super().__init__()
        self.output = nn.Linear(d_model, vocab_size, bias=False)
        self.hidden = nn.Linear(d_model, d_model)
        self.embedding = nn.Embedding(vocab_size, d_model)
        self.output.weight = self.embedding.weight

    def forward(self, tokens):
        return self.output(self.hidden(self.embedding(tokens)).tanh())


@alternative(of="TiedModel")
class WithAnOutputLayer(nn.Module):
    def __init__(self, vocab_size, d_model):
        super().__init__()
        self.embedding = nn.Embedding(vocab_size, d_model)
        self.hidden = nn.Linear(d_model, d_model)
        self.output = nn.Linear(d_model, vocab_size, bias=False)
        self.output.weight = self.embedding.weight

    def forward(self, tokens):
        return self.output(self.hidden(self.embedding(tokens)).tanh())


@alternative(of="TransformerEncoder")
class FromFunctions(nn.Module):
    """All layers of the stack as parameters, put together by functions alone."""

    def __init__(self, n_layers, d_model, n_heads, d_ff):
        super().__init__()
        self.d_head = d_model // n_heads
        square = {f"W_{part}": (d_model, d_model) for part in ("query", "key", "value", "output")}
        self.layers = nn.ModuleList(
            nn.ModuleDict(
                {
                    "attention": nn.ModuleDict({name: nn.Linear(*sizes) for name, sizes in square.items()}),
                    "feed_forward": nn.ModuleDict(
                        {"expand": nn.Linear(d_model, d_ff), "contract": nn.Linear(d_ff, d_model)}
                    ),
                    "norm_attention": nn.LayerNorm(d_model),
                    "norm_feed_forward": nn.LayerNorm(d_model),
                }
            )
            for _ in range(n_layers)
        )

    def forward(self, x, mask=None):
        hidden = 0.0 if mask is None else torch.where(mask, 0.0, -math.inf)
        for layer in self.layers:
            heads, attention, feed_forward = [], layer["attention"], layer["feed_forward"]
            q, k, v = (attention[f"W_{part}"](x).split(self.d_head, -1) for part in ("query", "key", "value"))
            for head, (a, b, c) in enumerate(zip(q, k, v, strict=True)):
                scores = torch.baddbmm(torch.zeros(()).double(), a, b.mT, alpha=self.d_head**-0.5)
                own = (
                    hidden
                    if mask is None
                    else hidden[:, head % hidden.shape[1]]
                    if hidden.dim() == 4
                    else hidden
                )
                heads.append(functional.softmax(scores + own, -1) @ c)
            x = layer["norm_attention"](x + attention["W_output"](torch.cat(heads, -1)))
            inside = functional.relu(feed_forward["expand"](x))
            x = layer["norm_feed_forward"](x + feed_forward["contract"](inside))
        return x
