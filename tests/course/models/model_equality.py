"""How equal is equal: the largest absolute difference allowed between our model and an independent one."""

import torch
from torch import Tensor, nn

TOLERANCE = {torch.float32: 1e-5, torch.float64: 1e-10}
PRECISIONS = list(TOLERANCE)


def assert_equal(ours: Tensor, theirs: Tensor) -> None:
    """The same shape and type, and no entry further apart than the type allows."""
    assert ours.shape == theirs.shape
    assert ours.dtype == theirs.dtype
    assert torch.isfinite(ours).all()
    difference = (ours - theirs).abs().max().item()
    assert difference <= TOLERANCE[ours.dtype], f"largest difference {difference:.2e}"


def gradients(output: Tensor, *wanted: Tensor | nn.Parameter) -> tuple[Tensor, ...]:
    """Gradients of a weighted sum of the outputs; the weights are fixed, of both signs and all different."""
    weights = torch.linspace(-1, 1, output.numel(), dtype=output.dtype).sin().view(output.shape)
    return torch.autograd.grad((output * weights).sum() / output.numel() ** 0.5, wanted, allow_unused=False)


def assert_equal_gradients(
    ours: Tensor, our_wanted: list[Tensor], theirs: Tensor, their_wanted: list[Tensor]
) -> None:
    """The same gradients with respect to corresponding tensors."""
    pairs = zip(gradients(ours, *our_wanted), gradients(theirs, *their_wanted), strict=True)
    for our_gradient, their_gradient in pairs:
        assert_equal(our_gradient, their_gradient)
