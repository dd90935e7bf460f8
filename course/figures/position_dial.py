"""Word order in attention: shuffle a sentence with four kinds of positions, and change two positions."""

from collections.abc import Sequence

import torch
from torch import Tensor

from course.figures.figure import Figure, png
from course.models.positions import rotate


def position_dial(
    x: Tensor,
    tokens: Sequence[str],
    W_query: Tensor,
    W_key: Tensor,
    W_value: Tensor,
    learned: Tensor,
    *,
    orders: Sequence[Sequence[int]] | None = None,
    asks: tuple[int, int] = (0, 1),
    caption: str = (
        "Without positions the order of the words makes no difference; with RoPE only distances "
        "count. Turn m and n."
    ),
) -> Figure:
    """Show self-attention (no mask) over the words in any order, with positions of four kinds.

    x: (T, D) embeddings without positions, T ≤ 5 and D ≤ 8 even. W_query, W_key: (d_k, D), d_k even. W_value:
    (D, D). learned: (n_positions, D), the vectors of the learned kind. orders: word orders that get a
    button. asks: the word of the query and the word of the key that the dials use.
    Raises ValueError if shapes do not match, or if an order does not contain every word once.
    """
    given = {"x": x, "W_query": W_query, "W_key": W_key, "W_value": W_value, "learned": learned}
    numbers = {name: torch.as_tensor(tensor).detach().double().cpu() for name, tensor in given.items()}
    T = check(numbers, tokens)
    orders = [list(range(T)), *(list(order) for order in orders or [])]
    for order in orders:
        if sorted(order) != list(range(T)):
            raise ValueError(f"orders: expected each of 0 … {T - 1} once, got {order}")
    rounded = {
        name: [[round(v, 5) for v in row] for row in tensor.tolist()] for name, tensor in numbers.items()
    }
    return Figure(
        name="position_dial",
        data={
            **rounded,
            "tokens": list(tokens),
            "orders": orders,
            "asking": asks[0],
            "asked": asks[1],
        },
        alt=f"Outputs of attention for “{' '.join(tokens)}” and for other orders: without positions every "
        "word gets the same vector in each. Below, scores that change with m and n, except without "
        "positions, and with RoPE as long as m − n stays.",
        caption=caption,
        picture=png(
            scores(numbers["W_query"] @ numbers["x"][asks[0]], numbers["W_key"] @ numbers["x"][asks[1]])
        ),
    )


def check(numbers: dict[str, Tensor], tokens: Sequence[str]) -> int:
    """The number of words, or an error that says what does not match."""
    T, D = numbers["x"].shape
    if len(tokens) != T or not 2 <= T <= 5 or D > 8 or D % 2:
        raise ValueError(
            f"x: expected (T, D) with 2 … 5 words, one per token, and an even D up to 8, got ({T}, {D}) "
            f"for {len(tokens)} tokens"
        )
    d_k = len(numbers["W_query"])
    wanted = {
        "W_query": (d_k, D),
        "W_key": (d_k, D),
        "W_value": (D, D),
        "learned": (len(numbers["learned"]), D),
    }
    for name, shape in wanted.items():
        if tuple(numbers[name].shape) != shape:
            raise ValueError(f"{name}: expected shape {shape}, got {tuple(numbers[name].shape)}")
    if d_k % 2 or len(numbers["learned"]) < T:
        raise ValueError(
            f"expected an even d_k and a learned vector for each of {T} positions, got d_k = {d_k} and "
            f"{len(numbers['learned'])} vectors"
        )
    return T


def scores(query: Tensor, key: Tensor, n_positions: int = 16):
    """The fallback picture: q_m · k_n under RoPE for every m and n: constant along the diagonals."""
    import matplotlib.pyplot as plt

    turned = rotate(query.expand(n_positions, -1)) @ rotate(key.expand(n_positions, -1)).T
    drawing, axes = plt.subplots(figsize=(4, 3.4))
    image = axes.imshow(turned.numpy(), cmap="cividis")
    drawing.colorbar(image, ax=axes, label="$q_m \\cdot k_n$ under RoPE")
    axes.set(xlabel="n", ylabel="m")
    return drawing
