"""The gradient of a small RNN at every step back in time: a strip that shows it vanish or explode."""

import torch
from torch import Tensor

from course.figures.figure import Figure, png

RADII = {0.7: ("o", "#0072B2"), 1.0: ("s", "#009E73"), 1.6: ("^", "#D55E00")}


def gradient_strip(
    U: Tensor,
    inputs: Tensor,
    gradient: Tensor | None = None,
    *,
    caption: str = "The loss reads only the last state; the strip shows the gradient that each step gets. "
    "Blue: shorter than 1, the paler the shorter. Orange: longer.",
) -> Figure:
    """Run h_t = tanh(U h_{t−1} + inputs_t) forwards and backwards, at any spectral radius of U.

    U: (D, D) with D ≤ 6. inputs: (T, D), the W x_t + b of each step, at most 60 of them. gradient: (D,),
    ∂loss/∂h_T; by default ones. Raises ValueError if the shapes do not match, or if all eigenvalues of U are
    0, so that no factor can change its spectral radius.
    """
    U, inputs = U.detach().double(), inputs.detach().double()
    gradient = torch.ones(len(U)).double() if gradient is None else gradient.detach().double()
    check_shapes(U, inputs, gradient)
    radius = torch.linalg.eigvals(U).abs().max().item()
    if radius < 1e-9:
        raise ValueError("U: expected at least one eigenvalue other than 0")
    lengths = {r: gradient_lengths(U / radius * r, inputs, gradient) for r in RADII}
    described = "; ".join(
        f"spectral radius {r}: {values[0]:.1e} at the first step" for r, values in lengths.items()
    )
    return Figure(
        name="gradient_strip",
        data={
            "U": (U / radius).tolist(),
            "inputs": inputs.tolist(),
            "gradient": gradient.tolist(),
            "radius": round(min(2.5, max(0.2, radius)), 2),
        },
        alt=f"Length of the gradient at each of {len(inputs)} steps back in time. {described}.",
        caption=caption,
        picture=png(lines(lengths)),
    )


def check_shapes(U: Tensor, inputs: Tensor, gradient: Tensor) -> None:
    """Raise ValueError, saying what was expected, unless the shapes match."""
    d_hidden = len(U)
    if U.shape != (d_hidden, d_hidden) or d_hidden > 6:
        raise ValueError(f"U: expected a square matrix, at most 6 wide, got shape {tuple(U.shape)}")
    if inputs.dim() != 2 or inputs.shape[1] != d_hidden or not 2 <= len(inputs) <= 60:
        raise ValueError(f"inputs: expected shape (2 … 60, {d_hidden}), got {tuple(inputs.shape)}")
    if gradient.shape != (d_hidden,):
        raise ValueError(f"gradient: expected shape ({d_hidden},), got {tuple(gradient.shape)}")


def gradient_lengths(U: Tensor, inputs: Tensor, gradient: Tensor) -> list[float]:
    """|∂L/∂h_t| for t = 0 … T, by autograd; the figure itself multiplies Jacobians."""
    with torch.enable_grad():
        states = [torch.zeros(len(U), dtype=torch.float64, requires_grad=True)]
        for projected in inputs:
            states.append(torch.tanh(U @ states[-1] + projected))
        gradients = torch.autograd.grad(states[-1] @ gradient, states)
    return [part.norm().item() for part in gradients]


def lines(lengths: dict[float, list[float]]):
    """The fallback picture: one line for each spectral radius."""
    import matplotlib.pyplot as plt

    drawing, axes = plt.subplots(figsize=(6, 2.8))
    for radius, values in lengths.items():
        marker, colour = RADII[radius]
        axes.semilogy(values, marker=marker, color=colour, markersize=4, label=f"spectral radius {radius}")
    axes.set(xlabel="t", ylabel="|∂L/∂h_t|")
    axes.legend(frameon=False)
    return drawing
