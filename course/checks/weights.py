"""Load given weights into a student's module, so that its initialisation does not matter."""

from collections.abc import Mapping
from dataclasses import replace

from torch import Tensor

from course.checks.compare import assert_equal
from course.checks.errors import StudentError
from course.checks.standin import StandIn, as_object


def with_weights(module: StandIn, weights: Mapping[str, Tensor]) -> StandIn:
    """The student's module in float64, with these weights loaded: one for each of its parameters, by name.

    Buffers stay as they are, and a tied weight may have a second name. Raises Mismatch if the parameters have
    other names, and StudentError, with torch's message, if they have other shapes.
    """
    as_object(module).double()
    names = module.gradients().keys()  # of parameters only, each of them once
    try:
        module.load_state_dict(dict(weights), strict=names != weights.keys())
    except StudentError:
        assert_equal(set(names), set(weights), what="the names of the parameters")
        raise
    return module


def answer_of_new(module: StandIn, *arguments: object) -> object:
    """What a new module answers with its random first weights, of which no mistake has a record."""
    answer = as_object(module)(*arguments)
    events = module._trace.events
    events[-1] = replace(events[-1], by_chance=True)
    return answer
