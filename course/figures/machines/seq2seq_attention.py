"""One step of a decoder that looks back at every state of the encoder."""

from course.figures.machines.description import Box, Line, Machine, Region, Sign, Step

SOURCE = "x = self.dropout(self.embedding(source))"
MEMORY = "memory, last = self.network(x, mask=mask)"
HIDDEN = "hidden, state = self.network(x, encoded.state if state is None else state)"
WORDS = ("the", "cat", "sleeps")


def reading(i: int) -> tuple[Box | Line, ...]:
    """Source word i, and the state that both directions make of it."""
    x = 0.95 * (i - 1)
    return (
        Box(f"x{i}", f"x_{i}", "B d", (x, 0), "input", SOURCE, "x[:, 0]", words=(WORDS[i - 1],)),
        Box(f"h{i}", f"h_{i}", "B 2·D", (x, 1.25), "key", MEMORY, "memory[:, 0]"),
        Line((f"x{i}", f"h{i}"), "", "input"),
    )


SEQ2SEQ_ATTENTION = Machine(
    title="An encoder-decoder with attention, at one step of the decoder",
    finding=(
        "The decoder looks back at every state of the source, so no single vector has to hold all of it."
    ),
    file="seq2seq",
    sizes={"B": 2, "S": 3, "T": 5, "d": 3, "D": 2, "V": 6},
    pitch=(100, 80),
    steps=(
        Step(
            "The encoder keeps all its states: one for each source word, D numbers from either direction.",
            (
                Region("encoder, both directions", (-0.5, -0.8), (2.4, 1.8)),
                *reading(1),
                *reading(2),
                *reading(3),
                Line(("h1", "h2"), "", "key"),
                Line(("h2", "h3"), "", "key"),
            ),
        ),
        Step(
            "The decoder takes a step, from its last state and the word "
            "written last. Its new state is the query.",
            (
                Box("s_before", "s_{t−1}", "B D", (3.5, 1.25), "state", HIDDEN, "hidden[:, 0]"),
                Box(
                    "y",
                    "y_{t−1}",
                    "B d",
                    (4.7, 0),
                    "input",
                    "x = self.dropout(self.embedding(tokens))",
                    "x[:, 0]",
                    words=("le",),
                ),
                Box("s", "s_t", "B D", (4.7, 1.25), "query", HIDDEN, "hidden[:, 0]"),
                Line(("y", "s"), "", "input"),
                Line(("s_before", "s"), "", "state"),
            ),
        ),
        Step(
            "The query is compared with every state of the encoder: one score "
            "for each source word, at each of T steps.",
            (
                Box(
                    "scores",
                    "scores",
                    "B T S",
                    (0.95, 2.65),
                    "query",
                    "scores = self.scores(hidden, encoded.memory)",
                    words=("e_{t1}", "e_{t2}", "e_{t3}"),
                    width=2.4,
                ),
                Line(("h1", (0, 2.65), "scores"), "", "key"),
                Line(("h2", "scores"), "", "key"),
                Line(("h3", (1.9, 2.65), "scores"), "", "key"),
                Line(("s", (4.7, 2.65), "scores"), "query s_t", "query", label_on=1),
            ),
        ),
        Step(
            "A softmax over the source words: the weights are positive and add up to one.",
            (
                Box(
                    "weights",
                    "weights",
                    "B T S",
                    (0.95, 3.75),
                    "query",
                    "weights = attention_weights(scores, encoded.mask[:, None, :])",
                    words=("α_{t1}", "α_{t2}", "α_{t3}"),
                    width=2.4,
                ),
                Line(("scores", "weights"), "softmax", "query"),
            ),
        ),
        Step(
            "The context is the average of the same states with these weights: here they are the values.",
            (
                Sign("sum", "Σ", (2.6, 3.75)),
                Line(("weights", "sum"), "", "query"),
                Line(("h3", (2.6, 1.25), "sum"), "h_1 … h_3", "value", label_on=1),
                Box("context", "c_t", "B T 2·D", (3.45, 3.75), "value", "context = weights @ encoded.memory"),
                Line(("sum", "context"), "", "value"),
            ),
        ),
        Step(
            "State and context together score the next word. There is a "
            "summary for every step now, not one for all.",
            (
                Box(
                    "joined",
                    "[s_t; c_t]",
                    "B T D+2·D",
                    (4.7, 3.75),
                    "residual",
                    "hidden = torch.cat([hidden, context], dim=-1)",
                ),
                Line(("context", "joined"), "", "value"),
                Line(("s", "joined"), "", "query"),
                Box(
                    "z",
                    "z_t",
                    "B T V",
                    (4.7, 4.9),
                    "residual",
                    "return self.output(self.dropout(hidden)), state, weights",
                    "returned[0]",
                ),
                Line(("joined", "z")),
            ),
        ),
    ),
)
