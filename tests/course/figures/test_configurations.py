"""The five ways to connect a recurrent network could be built, and are what they are called."""

import pytest

from course.figures.machines.configurations import CONFIGURATIONS
from course.figures.machines.description import Line, Region

MANY = {"one": {1}, "many": {2, 3, 4}}
each_step = pytest.mark.parametrize("step", CONFIGURATIONS.steps, ids=lambda step: step.parts[0].name)


def joined(step):
    """(from, to) of every line, without the letter of the configuration, as in ("x1", "h1")."""
    return {tuple(end[1:] for end in part.path) for part in step.parts if isinstance(part, Line)}


def steps(pairs, end, kind):
    """The numbers of the steps at which a line begins (end 0) or ends (end 1) in something of this kind."""
    return {int(pair[end][1:]) for pair in pairs if pair[end].startswith(kind)}


@each_step
def test_each_has_as_many_inputs_and_outputs_as_its_name_says(step):
    (region,) = [part for part in step.parts if isinstance(part, Region)]
    source, target = region.name.split(" · ")[1].split(",")[0].split(" to ")
    assert len(steps(joined(step), 0, "x")) in MANY[source]
    assert len(steps(joined(step), 1, "z")) in MANY[target]


@each_step
def test_states_follow_one_another_from_the_first_input_to_the_last_output(step):
    pairs = joined(step)
    inputs, outputs = steps(pairs, 0, "x"), steps(pairs, 1, "z")
    last = max(inputs | outputs)
    assert {(f"x{t}", f"h{t}") for t in inputs} | {(f"h{t}", f"z{t}") for t in outputs} <= pairs
    assert {pair for pair in pairs if pair[0][0] == pair[1][0] == "h"} == {
        (f"h{t - 1}", f"h{t}") for t in range(2, last + 1)
    }


def test_an_answer_comes_after_its_question_or_in_step_with_it():
    *_, after, in_step = map(joined, CONFIGURATIONS.steps)
    assert min(steps(after, 1, "z")) > max(steps(after, 0, "x"))
    assert steps(in_step, 1, "z") == steps(in_step, 0, "x")
