"""Encoder and decoder: one network reads, another writes, and one state is all that passes between them."""

from course.figures.machines.description import Box, Line, Machine, Region, Step

SOURCE = "x = self.dropout(self.embedding(source))"
MEMORY = "memory, last = self.network(x, mask=mask)"
SUMMARY = "return EncodedSource(memory, mask, tuple(self._first_state(part) for part in last))"
TARGET = "x = self.dropout(self.embedding(tokens))"
HIDDEN = "hidden, state = self.network(x, encoded.state if state is None else state)"
LOGITS = "return self.output(self.dropout(hidden)), state, weights"
SOURCE_WORDS, TARGET_WORDS = ("the", "cat", "sleeps"), ("<s>", "le", "chat")


def reading(i: int) -> tuple[Box | Line, ...]:
    """Source word i and the encoder's state after it."""
    x = 0.85 * (i - 1)
    parts = (
        Box(f"x{i}", f"x_{i}", "B d", (x, 0), "input", SOURCE, "x[:, 0]", words=(SOURCE_WORDS[i - 1],)),
        Box(f"h{i}", f"h_{i}", "B D", (x, 1.25), "key", MEMORY, "memory[:, 0]"),
        Line((f"x{i}", f"h{i}"), "", "input"),
    )
    return parts if i == 1 else (*parts, Line((f"h{i - 1}", f"h{i}"), "", "key"))


def writing(t: int, before: str) -> tuple[Box | Line, ...]:
    """What the decoder reads at step t, its state, and its scores for the next word."""
    x = 3.48 + 0.95 * (t - 1)
    return (
        Box(f"y{t}", f"y_{t - 1}", "B d", (x, 0), "input", TARGET, "x[:, 0]", words=(TARGET_WORDS[t - 1],)),
        Box(f"s{t}", f"s_{t}", "B D", (x, 1.25), "state", HIDDEN, "hidden[:, 0]"),
        Box(f"z{t}", f"z_{t}", "B V", (x, 2.5), "residual", LOGITS, "returned[0][:, 0]"),
        Line((f"y{t}", f"s{t}"), "", "input"),
        Line((before, f"s{t}"), "", "state"),
        Line((f"s{t}", f"z{t}")),
    )


SEQ2SEQ = Machine(
    title="An encoder-decoder of two recurrent networks",
    finding="Between the two networks there is one vector, however long the source is.",
    file="seq2seq",
    sizes={"B": 2, "S": 3, "T": 3, "d": 3, "D": 4, "V": 5},
    pitch=(100, 80),
    steps=(
        Step(
            "The encoder reads the source word by word, as any recurrent network does. It predicts nothing.",
            (Region("encoder", (-0.42, -0.8), (2.13, 1.8)), *reading(1), *reading(2), *reading(3)),
        ),
        Step(
            "Its last state is the summary c, and the first state of the "
            "decoder. Nothing else of the source gets through.",
            (
                Box("s0", "c = s_0", "B D", (2.6, 1.25), "state", SUMMARY, "returned.state[0][-1]"),
                Line(("h3", "s0"), "", "key"),
            ),
        ),
        Step(
            "The decoder is a language model that begins in this state. "
            "It reads <s> and scores the first word.",
            (Region("decoder", (3.06, -0.8), (5.8, 3.05)), *writing(1, "s0")),
        ),
        Step(
            "Its next input is the first word of the target: the right one "
            "in training, its own when it translates.",
            writing(2, "s1"),
        ),
        Step(
            "And so on until it writes </s>. However long the source is, c has D numbers: the bottleneck.",
            writing(3, "s2"),
        ),
    ),
)
