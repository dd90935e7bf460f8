"""A class in place of a student's wrong one: its weights are here, and the grader computes with them.

The grader answers two functions for each such class: one says which weights a new module has, the other
computes a forward pass from weights that it is given. Both are calls of values, whose gradients come back.
"""

from collections.abc import Callable

from torch import Tensor, nn

Answer = Callable[..., object]


def new(name: str) -> str:
    """The function that says which weights a new module of this class has."""
    return f"_weights_of_a_new_{name}"


def run(name: str) -> str:
    """The function that computes a forward pass of this class."""
    return f"_forward_pass_of_{name}"


def right_functions(name: str) -> str:
    """The code of these two functions, for the process with the right answers."""
    return f"""
def {new(name)}(args, kwargs):
    module = {name}(*args, **kwargs)
    return {{path: weight.detach() for path, weight in module.named_parameters()}}


def {run(name)}(made, is_training, weights, args, kwargs):
    from torch.func import functional_call

    module = {name}(*made[0], **made[1]).train(is_training)
    return functional_call(module, weights, tuple(args), kwargs)
"""


def remote_module(name: str, weights_of: Answer, forward_of: Answer) -> type[nn.Module]:
    """The class that asks these two functions; its modules can only be called, and their weights be used."""

    class Remote(nn.Module):
        def __init__(self, *args: object, **kwargs: object) -> None:
            super().__init__()
            self.made = args, kwargs
            weights = weights_of(args, kwargs)
            assert isinstance(weights, dict)
            for path, weight in weights.items():
                _hang(self, path.split("."), weight)

        def forward(self, *args: object, **kwargs: object) -> object:
            weights = {path: weight.view_as(weight) for path, weight in self.named_parameters()}
            return forward_of(self.made, self.training, weights, args, kwargs)

    Remote.__name__ = Remote.__qualname__ = name
    return Remote


def _hang(module: nn.Module, path: list[str], weight: Tensor) -> None:
    """Make a weight a parameter at this path below a module."""
    *folders, last = path
    for folder in folders:
        if folder not in module._modules:
            module.add_module(folder, nn.Module())
        module = module.get_submodule(folder)
    module.register_parameter(last, nn.Parameter(weight))
