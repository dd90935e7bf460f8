"""A student's module with given weights: the same for everybody, whatever it was filled with at first."""

from collections.abc import Mapping

from torch import Tensor

from course.checks.standin import StandIn


def with_weights(module: StandIn, weights: Mapping[str, Tensor]) -> StandIn:
    """The student's module in float64, filled with these weights by name.

    Raises StudentError, with what torch says, where its parameters have other names or other shapes.
    """
    module.double()
    module.gradients()  # puts the names into the trace: a module that cannot be filled has no other answer
    module.load_state_dict(dict(weights))
    return module
