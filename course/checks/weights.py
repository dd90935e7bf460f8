"""A student's module with given weights: the same for everybody, whatever it was filled with at first."""

from collections.abc import Mapping

from torch import Tensor

from course.checks.compare import assert_equal
from course.checks.errors import StudentError
from course.checks.standin import StandIn


def with_weights(module: StandIn, weights: Mapping[str, Tensor]) -> StandIn:
    """The student's module in float64, filled with these weights, which are all its parameters by name.

    Buffers stay as they are, and a tied weight may be known under a second name. Raises Mismatch where the
    parameters have other names, and StudentError, with what torch says, where they have other shapes.
    """
    module.double()
    names = module.gradients().keys()  # of parameters only, and each but once
    try:
        module.load_state_dict(dict(weights), strict=names != weights.keys())
    except StudentError:
        assert_equal(set(names), set(weights), what="the names of the parameters")
        raise
    return module
