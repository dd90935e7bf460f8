"""The five ways to connect a recurrent network are networks that could be built."""

import re

from course import figures
from course.figures.configurations import KINDS


def test_every_input_and_every_output_has_a_state_and_the_states_follow_one_another():
    for name, (inputs, states, outputs) in KINDS.items():
        assert {*inputs, *outputs} <= set(states), name
        assert states == list(range(len(states))), name
        assert min(outputs) >= min(inputs), name


def test_the_description_counts_what_is_drawn():
    numbers = {"one": 1, "two": 2, "three": 3}
    described = re.findall(r"[a-d], (\w+) inputs?, (?:then )?(\w+) outputs?", figures.configurations().alt)
    drawn = [(len(inputs), len(outputs)) for inputs, _, outputs in list(KINDS.values())[:4]]
    assert [(numbers[a], numbers[b]) for a, b in described] == drawn
