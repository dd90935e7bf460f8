"""Five ways to connect the inputs, states and outputs of a recurrent network: one rule for a step in all."""

from collections.abc import Collection
from itertools import pairwise

from course.figures.machines.description import Line, Machine, Part, Region, Step
from course.figures.machines.rnn import predicted, read, state


def connected(
    letter: str,
    name: str,
    left: float,
    low: float,
    inputs: Collection[int],
    states: int,
    outputs: Collection[int],
) -> tuple[Part, ...]:
    """One of the five in its frame, with its lower left state at (left, low + 1.15).

    inputs, outputs: those of the steps 1 … states at which something is read, or written.
    """
    places = {t: left + t - 1 for t in range(1, states + 1)}
    return (
        Region(f"{letter} · {name}", (left - 0.55, low - 0.8), (left + max(states, 2) - 0.45, low + 2.85)),
        *(read(f"{letter}x{t}", t, (places[t], low)) for t in inputs),
        *(state(f"{letter}h{t}", t, (places[t], low + 1.15)) for t in places),
        *(predicted(f"{letter}z{t}", t, (places[t], low + 2.3)) for t in outputs),
        *(Line((f"{letter}x{t}", f"{letter}h{t}"), "", "input") for t in inputs),
        *(Line((f"{letter}h{s}", f"{letter}h{t}"), "", "state") for s, t in pairwise(places)),
        *(Line((f"{letter}h{t}", f"{letter}z{t}")) for t in outputs),
    )


CONFIGURATIONS = Machine(
    title="Five ways to connect a recurrent network",
    finding=(
        "One rule for a step serves all five: they differ in when something is read and when it is written."
    ),
    file="recurrent",
    sizes={"B": 2, "d_x": 3, "D": 4, "V": 6},
    pitch=(86, 72),
    steps=(
        Step(
            "One to one: a single step is an ordinary network with one hidden layer.",
            connected("a", "one to one", 0, 4.1, [1], 1, [1]),
        ),
        Step(
            "One to many: every step writes. Later ones read nothing new, or the word just written.",
            connected("b", "one to many", 2.25, 4.1, [1], 3, [1, 2, 3]),
        ),
        Step(
            "Many to one: only the last state is read, and it has seen everything.",
            connected("c", "many to one", 5.5, 4.1, [1, 2, 3], 3, [3]),
        ),
        Step(
            "Many to many: first everything is read, then the answer is written. Their lengths may differ.",
            connected("d", "many to many", 0, 0, [1, 2], 4, [3, 4]),
        ),
        Step(
            "Many to many in step: each input has its output at once, as in a language model.",
            connected("e", "many to many, in step", 5.5, 0, [1, 2, 3], 3, [1, 2, 3]),
        ),
    ),
)
