"""A recurrent language model unrolled over a text: one rule for a step, applied again and again."""

from course.figures.machines.description import Box, Line, Machine, Place, Step

MODEL = "recurrent_language_model"
EMBEDDED = "hidden, state = self.network(self.dropout(self.embedding(tokens)), state)"
STATE = "state = self.step(projected, state)"
LOGITS = "return self.output(self.dropout(hidden)), state"
WORDS = ("nora", "lit", "the", "lamp")


def read(key: str, t: int, at: Place, *words: str) -> Box:
    """The word that is read at step t, as a vector."""
    return Box(key, f"x_{t}", "B d_x", at, "input", EMBEDDED, "self.embedding(tokens)[:, 0]", MODEL, words)


def state(key: str, t: int, at: Place) -> Box:
    """The state after step t."""
    return Box(key, f"h_{t}", "B D", at, "state", STATE, "state[0]")


def predicted(key: str, t: int, at: Place) -> Box:
    """The logits that are read from the state after step t."""
    return Box(key, f"z_{t}", "B V", at, "residual", LOGITS, "returned[0][:, 0]", MODEL)


def column(t: int, before: str) -> tuple[Box | Line, ...]:
    """The word, the state and the prediction at step t, joined to the state before."""
    x = 0.1 + 1.25 * t
    return (
        read(f"x{t}", t, (x, 0), WORDS[t - 1]),
        state(f"h{t}", t, (x, 1.35)),
        predicted(f"z{t}", t, (x, 2.7)),
        Line((f"x{t}", f"h{t}"), "W", "input"),
        Line((before, f"h{t}"), "U", "state"),
        Line((f"h{t}", f"z{t}"), "R"),
    )


RNN = Machine(
    title="A recurrent network, unrolled",
    finding=(
        "The same three matrices at every step; all that is known of the past passes through one state."
    ),
    file="recurrent",
    sizes={"B": 2, "d_x": 3, "D": 4, "V": 6},
    pitch=(100, 80),
    steps=(
        Step(
            "Before the first word there is a state already: zeros.",
            (
                Box(
                    "h0",
                    "h_0",
                    "B D",
                    (0.1, 1.35),
                    "state",
                    "return tuple(x.new_zeros(shape) for _ in range(self.cell_type.n_states))",
                    "returned[0][0]",
                ),
            ),
        ),
        Step(
            "The first word is added to it: h = tanh(W x + b + U h). From the "
            "new state come the logits of the next word.",
            column(1, "h0"),
        ),
        Step(
            "The next step is the same rule with the same W, U and R. Only x and h are new.", column(2, "h1")
        ),
        Step(
            "And again: the state has read three words, and is as wide as it was after one.", column(3, "h2")
        ),
        Step(
            "One network, drawn four times. A gradient goes back along the "
            "same arrows, once through U for every step.",
            column(4, "h3"),
        ),
    ),
)
