"""The forward and backward pass through a computation graph, one node at a time."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch
from torch import Tensor

from course.figures.figure import Figure, png

Step = float | tuple[str, ...]  # an input's value, or an operation with the names of its inputs

OPERATIONS: dict[str, Callable[..., Tensor]] = {
    "add": torch.add,
    "mul": torch.mul,
    "div": torch.div,
    "exp": torch.exp,
    "tanh": torch.tanh,
    "nlog": lambda a: -torch.log(a),
}


def tape(
    graph: Mapping[str, Step],
    *,
    twice: tuple[str, str] | None = None,
    claims: Mapping[str, tuple[str, float]] | None = None,
    caption: str = "First the values, from left to right; then, from the loss back, the gradients.",
) -> Figure:
    """Show a graph of scalars: name → number, or (operation, name, …) with add, mul, div, exp, tanh, nlog.

    The last entry is the loss. twice: (a, b) offers a switch that also uses input b in place of input a.
    claims: logit → (its probability, its target), compared as p − y at the end. Raises ValueError for an
    operation that is unknown or uses a value that is not computed yet.
    """
    nodes, place = listed(graph), {name: i for i, name in enumerate(graph)}
    values, gradients = by_autograd(graph)
    loss = list(graph)[-1]
    inputs = [name for name, step in graph.items() if not isinstance(step, tuple)]
    shown = ", ".join(f"{gradients[name]:.3f} for {name}" for name in inputs)
    return Figure(
        name="tape",
        data={
            "nodes": nodes,
            "twice": twice and [place[name] for name in twice],
            "claims": [[place[z], place[p], y] for z, (p, y) in (claims or {}).items()],
        },
        alt=f"A computation graph of {len(graph)} nodes. "
        f"{loss} is {values[loss]:.3f}; its gradients: {shown}.",
        caption=caption,
        picture=png(bars(inputs, gradients, loss)),
    )


def listed(graph: Mapping[str, Step]) -> list[dict[str, Any]]:
    """The nodes with indices instead of names, or an error that says which name is missing."""
    known: dict[str, int] = {}
    nodes: list[dict[str, Any]] = []
    for name, step in graph.items():
        op, names, value = (
            (step[0], step[1:], None) if isinstance(step, tuple) else ("input", (), float(step))
        )
        if op != "input" and op not in OPERATIONS:
            raise ValueError(f"{name}: unknown operation {op!r}; the known ones are {', '.join(OPERATIONS)}")
        if missing := [used for used in names if used not in known]:
            raise ValueError(f"{name} uses {missing[0]}, which is not computed before it")
        known[name] = len(nodes)
        nodes.append({"name": name, "op": op, "inputs": [known[used] for used in names], "value": value})
    return nodes


def by_autograd(graph: Mapping[str, Step]) -> tuple[dict[str, float], dict[str, float]]:
    """Every node's value and the gradient of the last node by it, from torch."""
    tensors: dict[str, Tensor] = {}
    for name, step in graph.items():
        if isinstance(step, tuple):
            tensors[name] = OPERATIONS[step[0]](*(tensors[used] for used in step[1:]))
        else:
            tensors[name] = torch.tensor(float(step), dtype=torch.float64, requires_grad=True)
    *_, loss = tensors.values()
    gradients = torch.autograd.grad(loss, list(tensors.values()), allow_unused=True)
    return (
        {name: tensor.item() for name, tensor in tensors.items()},
        {name: 0.0 if g is None else g.item() for name, g in zip(tensors, gradients, strict=True)},
    )


def bars(inputs: Sequence[str], gradients: Mapping[str, float], loss: str):
    """The fallback picture: the gradient of each input."""
    import matplotlib.pyplot as plt

    drawing, axes = plt.subplots(figsize=(5, 2.2))
    made = axes.bar(inputs, [gradients[name] for name in inputs], color="#0072B2")
    axes.bar_label(made, [f"{gradients[name]:.3f}" for name in inputs])
    axes.axhline(0, color="black", linewidth=0.8)
    axes.set_ylabel(f"∂{loss} / ∂input")
    axes.margins(y=0.25)
    return drawing
