"""Self-attention under the microscope: every step in numbers, and four mistakes to switch on."""

from collections.abc import Sequence

import torch
from torch import Tensor

from course.figures.attention import heat_map
from course.figures.figure import Figure, png
from course.models.attention import scaled_dot_product_attention
from course.models.masks import causal_mask


def microscope(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    tokens: Sequence[str],
    *,
    caption: str = "Scores, √dₖ, mask, softmax, output; and what each of four mistakes does to them.",
) -> Figure:
    """Show causal self-attention step by step for the reader's own tensors.

    query, key: (T, d_k), value: (T, any width), T ≤ 8. If d_k = 2, queries and keys can be dragged in a
    plane. The switches: no √d_k, mask after the softmax, softmax over the wrong axis, no mask (a weight on
    the future gets a red frame).
    Raises ValueError if shapes and tokens do not match.
    """
    given = {"query": query, "key": key, "value": value}
    tensors = {name: torch.as_tensor(tensor).detach().double().cpu() for name, tensor in given.items()}
    check(tensors, tokens)
    T = len(tokens)
    _, weights = scaled_dot_product_attention(
        tensors["query"], tensors["key"], tensors["value"], causal_mask(T)
    )
    rows = {name: [[round(v, 4) for v in row] for row in tensor.tolist()] for name, tensor in tensors.items()}
    last = ", ".join(f"{w:.2f} on {token}" for w, token in zip(weights[-1].tolist(), tokens, strict=True))
    return Figure(
        name="microscope",
        data={**rows, "tokens": list(tokens)},
        alt=f"Causal self-attention over {T} words; the weights of “{tokens[-1]}” are {last}.",
        caption=caption,
        picture=png(heat_map(weights.float(), tokens, tokens)),
    )


def check(tensors: dict[str, Tensor], tokens: Sequence[str]) -> None:
    """Raise ValueError, saying what was expected, unless these can attend to each other."""
    shapes = {name: tuple(tensor.shape) for name, tensor in tensors.items()}
    if not 2 <= len(tokens) <= 8 or any(
        len(shape) != 2 or shape[0] != len(tokens) for shape in shapes.values()
    ):
        raise ValueError(f"expected (T, width) each, one row per token, 2 … 8 tokens, got {shapes}")
    if shapes["query"] != shapes["key"]:
        raise ValueError(f"expected queries and keys of the same width, got {shapes}")
