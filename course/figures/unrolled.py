"""A recurrent network unrolled over a text: its state and its prediction at every step."""

from collections.abc import Sequence

import torch
from torch import Tensor

from course.figures.figure import Figure, png


def unrolled(
    tokens: Sequence[str],
    states: Tensor,
    probs: Tensor,
    symbols: Sequence[str],
    *,
    n_shown: int = 5,
    caption: str = "Blue: positive, orange: negative. Each column comes from the one before it and a token.",
) -> Figure:
    """Step through a text with any recurrent model, including the reader's own.

    tokens: the T + 1 tokens of the text. states: (T, D) in [−1, 1] after each of the first T of them, with
    D ≤ 32 for a clear drawing. probs: (T, V) of the next token at each of these steps. symbols: the V tokens
    of the vocabulary.
    Raises ValueError if shapes do not match, a row is not a distribution, or a token is not a symbol.
    """
    states, probs = (torch.as_tensor(part).detach().to("cpu", torch.float64) for part in (states, probs))
    check(tokens, states, probs, symbols)
    best = probs.topk(min(n_shown, len(symbols)))
    targets = torch.tensor([list(symbols).index(token) for token in tokens[1:]])
    given = probs[range(len(targets)), targets]
    bits = -given.log2().mean().item()
    return Figure(
        name="unrolled",
        data={
            "tokens": list(tokens),
            "states": [[round(h, 3) for h in row] for row in states.tolist()],
            "expected": [
                [[symbols[i], round(p, 4)] for p, i in zip(values.tolist(), places.tolist(), strict=True)]
                for values, places in zip(*best, strict=True)
            ],
            "probs": [float(f"{p:.6g}") for p in given.tolist()],
        },
        alt=f"The states of {states.shape[1]} recurrent units over {len(states)} steps, reading "
        f"“{tokens[0]} … {tokens[-1]}”; each next token costs it {bits:.2f} bits on average.",
        caption=caption,
        picture=png(columns(tokens, states)),
    )


def check(tokens: Sequence[str], states: Tensor, probs: Tensor, symbols: Sequence[str]) -> None:
    """Raise ValueError, saying what was expected, unless all of these belong to one text."""
    n_steps = len(tokens) - 1
    if n_steps < 1 or states.dim() != 2 or len(states) != n_steps:
        raise ValueError(
            f"states: expected shape ({n_steps}, D) for {n_steps + 1} tokens, got {tuple(states.shape)}"
        )
    if probs.shape != (n_steps, len(symbols)):
        raise ValueError(f"probs: expected shape ({n_steps}, {len(symbols)}), got {tuple(probs.shape)}")
    if not torch.allclose(probs.sum(-1), torch.ones(()).double(), atol=1e-3) or (probs < 0).any():
        raise ValueError("probs: each row must be a distribution; were these logits or log-probabilities?")
    if unknown := [token for token in tokens if token not in symbols]:
        raise ValueError(f"tokens: {unknown[0]!r} is not among the symbols")


def columns(tokens: Sequence[str], states: Tensor):
    """The fallback picture: one column of units for each step."""
    import matplotlib.pyplot as plt

    drawing, axes = plt.subplots(figsize=(7, 2.8))
    axes.imshow(states.T.numpy(), cmap="RdBu", vmin=-1, vmax=1, aspect="auto")
    axes.set_xticks(range(len(states)), tokens[:-1])
    axes.set(xlabel="token read at step t", ylabel="unit of $h_t$")
    return drawing
