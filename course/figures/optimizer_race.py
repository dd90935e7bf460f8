"""Three optimizers on one valley of the loss: gradient descent, with momentum, and Adam."""

import torch
from torch import Tensor

from course.figures.figure import Figure, png

RUNNERS = {"SGD": ("#0072B2", "-"), "SGD with momentum": ("#D55E00", "--"), "Adam": ("#009E73", ":")}
MOMENTUM = 0.9
N_STEPS = 60


def optimizer_race(
    H: Tensor,
    start: Tensor,
    *,
    learning_rate: float = 0.05,
    adam_learning_rate: float = 0.2,
    noise: Tensor | None = None,
    caption: str = (
        "With the same start and the same noise, they go different ways. Drag the start, and find "
        "what makes one diverge."
    ),
) -> Figure:
    """Run SGD, SGD with momentum and Adam (Kingma & Ba, 2015) down L(θ) = ½ θᵀ H θ, side by side.

    H: (2, 2), symmetric with two positive eigenvalues. start: (2,), the first θ. noise: (n_steps, 2), added
    to the gradients with a factor that the reader sets; by default drawn once with a fixed seed.
    Raises ValueError if shapes do not match, or if the loss has no minimum.
    """
    H, start = H.detach().double().cpu(), start.detach().double().cpu()
    check(H, start)
    if noise is None:
        noise = torch.randn(N_STEPS, 2, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    paths = race(H, start, learning_rate, adam_learning_rate, len(noise))
    ends = ", ".join(f"{name} at {loss_at(H, path[-1]):.1e}" for name, path in paths.items())
    return Figure(
        name="optimizer_race",
        data={
            "H": H.tolist(),
            "start": start.tolist(),
            "noise": [[round(value, 4) for value in row] for row in noise.tolist()],
            "rate": learning_rate,
            "adamRate": adam_learning_rate,
            "reach": round(1.4 * start.abs().max().item(), 2),
        },
        alt=f"Three paths down a valley, and the loss at each of {len(noise)} steps. They end with {ends}.",
        caption=caption,
        picture=png(drawn(H, paths)),
    )


def check(H: Tensor, start: Tensor) -> None:
    """Raise ValueError, saying what was expected, unless this is a valley and a point in it."""
    if H.shape != (2, 2) or not torch.allclose(H, H.T):
        raise ValueError(f"H: expected a symmetric matrix of shape (2, 2), got {H.tolist()}")
    if torch.linalg.eigvalsh(H).min() <= 0:
        raise ValueError("H: expected two positive eigenvalues, so that the loss has a minimum")
    if start.shape != (2,) or not start.any():
        raise ValueError(f"start: expected shape (2,) and not the minimum 0, got {start.tolist()}")


def race(H: Tensor, start: Tensor, rate: float, adam_rate: float, n_steps: int) -> dict[str, list[Tensor]]:
    """The paths of torch's own optimizers; the figure itself computes the updates."""
    makers = {
        "SGD": lambda theta: torch.optim.SGD([theta], lr=rate),
        "SGD with momentum": lambda theta: torch.optim.SGD([theta], lr=rate, momentum=MOMENTUM),
        "Adam": lambda theta: torch.optim.Adam([theta], lr=adam_rate),
    }
    return {name: descend(H, start, make, n_steps) for name, make in makers.items()}


def descend(H: Tensor, start: Tensor, make, n_steps: int) -> list[Tensor]:
    """Every θ on the path of one optimizer."""
    theta = start.clone().requires_grad_()
    optimizer = make(theta)
    path = [start.clone()]
    for _ in range(n_steps):
        theta.grad = H @ theta.detach()
        optimizer.step()
        path.append(theta.detach().clone())
    return path


def loss_at(H: Tensor, theta: Tensor) -> float:
    """½ θᵀ H θ."""
    return (0.5 * theta @ H @ theta).item()


def drawn(H: Tensor, paths: dict[str, list[Tensor]]):
    """The fallback picture: the loss at every step."""
    import matplotlib.pyplot as plt

    drawing, axes = plt.subplots(figsize=(6, 2.8))
    for name, path in paths.items():
        colour, style = RUNNERS[name]
        axes.semilogy([loss_at(H, theta) for theta in path], color=colour, linestyle=style, label=name)
    axes.set(xlabel="step", ylabel="loss")
    axes.legend(frameon=False)
    return drawing
