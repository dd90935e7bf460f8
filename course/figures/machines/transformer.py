"""The Transformer of 2017: an encoder, and a decoder that asks it."""

from course.figures.machines.description import Box, Line, Machine, Region, Sign, Step

EMBEDDED = "x = x + self.positions(T, first)"
ATTENTION = "x = self.norm_attention(x + attend(x))"
CROSS = "x = self.norm_cross_attention(x + look_back(x))"
LAST = "return self.norm_feed_forward(x + self.dropout(self.feed_forward(x)))"
ENCODER, DECODER, SIDE = 0.0, 4.55, 1.35


def branch(
    key: str, name: str, label: str, code: str, value: str, x: float, row: float, before: str
) -> tuple[Box | Line | Sign, ...]:
    """A branch beside the stream at x: it leaves `before` at `row`, and is added one row and a half above."""
    role, aside = ("state" if key.endswith("f") else "value"), x + (SIDE if x == ENCODER else -SIDE)
    outside = "left" if x == ENCODER else "right"
    return (
        Box(
            key,
            name,
            "B S D" if x == ENCODER else "B T D",
            (aside, row + 0.75),
            role,
            code,
            value,
            "transformer",
        ),
        Sign(f"{key}+", "+", (x, row + 1.5)),
        Line((before, (x, row), f"{key}+"), "norm" if before.endswith("+") else "", side=outside, label_on=0),
        Line(((x, row), (aside, row), key), label, role, label_on=0),
        Line((key, (aside, row + 1.5), f"{key}+"), "", role),
    )


TRANSFORMER = Machine(
    title="The Transformer of 2017",
    finding=(
        "The two stacks meet where the decoder's queries read the encoder's keys and values, and "
        "nowhere else."
    ),
    file="translator",
    sizes={"B": 2, "S": 4, "T": 3, "D": 6, "V": 9},
    pitch=(100, 74),
    steps=(
        Step(
            "The source: a vector for each word, times √D, plus the sines and cosines of its place.",
            (
                Box(
                    "source",
                    "source",
                    "B S",
                    (ENCODER, 0),
                    "input",
                    EMBEDDED,
                    "tokens",
                    words=("the", "cat", "sleeps", "</s>"),
                ),
                Box("x", "x", "B S D", (ENCODER, 1.3), "residual", EMBEDDED),
                Line(("source", "x"), "E, places", "input"),
            ),
        ),
        Step(
            "An encoder layer: attention of the source to itself, then a "
            "small network; a sum and a norm after each.",
            (
                Region("encoder layer, L times", (ENCODER - 0.55, 1.85), (ENCODER + 1.95, 6.1)),
                *branch("a", "a", "self-att.", ATTENTION, "attend(x)", ENCODER, 2.3, "x"),
                *branch("f", "f", "network", LAST, "self.feed_forward(x)", ENCODER, 4.4, "a+"),
            ),
        ),
        Step(
            "What the last of L layers gives is the memory: one vector for each "
            "source word, made once for the whole translation.",
            (
                Box(
                    "memory",
                    "memory",
                    "B S D",
                    (ENCODER, 7.2),
                    "key",
                    "return self.encoder(self._embed(source, self.source_embedding), mask), mask",
                    "returned[0]",
                ),
                Line(("f+", "memory"), "norm"),
            ),
        ),
        Step(
            "The target so far, shifted by one: at every position the "
            "decoder has read <s> and the words before.",
            (
                Box(
                    "target",
                    "target",
                    "B T",
                    (DECODER, 0),
                    "input",
                    EMBEDDED,
                    "tokens",
                    words=("<s>", "le", "chat"),
                ),
                Box("y", "y", "B T D", (DECODER, 1.3), "residual", EMBEDDED),
                Line(("target", "y"), "E, places", "input"),
            ),
        ),
        Step(
            "A decoder layer begins like an encoder layer, but no word may look at those after it.",
            (
                Region(
                    "decoder layer, L times",
                    (DECODER - 1.95, 1.85),
                    (DECODER + 0.55, 8.3),
                    is_named_left=True,
                ),
                *branch("da", "a", "masked", ATTENTION, "attend(x)", DECODER, 2.3, "y"),
            ),
        ),
        Step(
            "Cross-attention: the queries are the decoder's, keys and values "
            "are the memory. This is the only bridge.",
            (
                *branch("c", "c", "queries", CROSS, "look_back(x)", DECODER, 4.4, "da+"),
                Line(("memory", (2.25, 7.2), (2.25, 5.15), "c"), "keys, values", "key", label_on=0),
            ),
        ),
        Step(
            "The small network, and at the top the embedding again: a "
            "score for every word of the target language.",
            (
                *branch("df", "f", "network", LAST, "self.feed_forward(x)", DECODER, 6.5, "c+"),
                Box(
                    "logits",
                    "logits",
                    "B T V",
                    (DECODER, 9.3),
                    "residual",
                    "return linear(x, self.target_embedding.weight)",
                    "returned",
                ),
                Line(("df+", "logits"), "norm, Eᵀ"),
            ),
        ),
    ),
)
