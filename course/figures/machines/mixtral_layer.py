"""A layer of Mixtral: today's block, whose feed-forward is a choice between experts."""

from course.figures.machines.description import Box, Line, Machine, Sign, Step

ATTENDED = "x = x + self.attention(self.norm_attention(x), turn, mask, cache)"
FED = "return x + self.feed_forward(self.norm_feed_forward(x))"
SCORES = "scores = self.router(x)"
GATES = "gates = best.values.softmax(-1)"
MIXED = "return mixed"
EXPERTS = "mixture_of_experts"
ASIDE, SUM = 1.6, 4.35

MIXTRAL_LAYER = Machine(
    title="A layer of Mixtral",
    finding="Every word is sent to two experts of its own: many parameters are stored, few are used.",
    file="llama",
    sizes={"B": 2, "T": 5, "D": 8, "E": 4, "K": 2},
    pitch=(100, 73),
    steps=(
        Step(
            "The first half is that of today's block: attention reads a "
            "normed copy, and what it finds is added.",
            (
                Box("x", "x", "B T D", (0, 0), "residual", ATTENDED),
                Box(
                    "a",
                    "a",
                    "B T D",
                    (ASIDE, 1),
                    "value",
                    ATTENDED,
                    "self.attention(self.norm_attention(x), turn, mask, cache)",
                ),
                Line(("x", (ASIDE, 0), "a"), "RMSNorm, attention", "value", label_on=1),
                Sign("add", "+", (0, 1.9)),
                Line(("x", "add")),
                Line(("a", (ASIDE, 1.9), "add"), "", "value"),
            ),
        ),
        Step(
            "For every token a router gives each expert a score. It is one small matrix.",
            (
                Box("n", "n", "B T D", (ASIDE, 2.8), "residual", FED, "self.norm_feed_forward(x)"),
                Line(((0, 2.8), "n"), "RMSNorm"),
                Box("scores", "scores", "B T E", (ASIDE, 4.2), "query", SCORES, file=EXPERTS),
                Line(("n", "scores"), "W_{router}", "query", "left"),
            ),
        ),
        Step(
            "The K best experts of the token remain. The softmax of their scores alone gives the gates.",
            (
                Box("gates", "gates", "B T K", (ASIDE, 5.9), "query", GATES, file=EXPERTS),
                Line(("scores", "gates"), "K best, softmax", "query", "left"),
            ),
        ),
        Step(
            "Only these experts run; each is a feed-forward with a gate of its own. The others cost nothing, "
            "and tokens beside this one choose differently.",
            (
                Sign("one", "1", (3.3, 3.9)),
                Sign("two", "2", (4, 3.9)),
                Sign("three", "3", (4.7, 3.9)),
                Sign("four", "4", (5.4, 3.9)),
                Line(("n", (3.3, 2.8), "one"), "", "residual", is_dashed=True),
                Line(("n", (4, 2.8), "two"), "", "state"),
                Line(("n", (4.7, 2.8), "three"), "", "residual", is_dashed=True),
                Line(("n", (5.4, 2.8), "four"), "each a SwiGLU", "state", "right", label_on=1),
            ),
        ),
        Step(
            "Their outputs are mixed with the gates, and added to the stream. "
            "The shape is the one that came in.",
            (
                Sign("sum", "Σ", (SUM, 5.9)),
                Line(("two", (4, 4.9), (SUM, 4.9), "sum"), "", "state"),
                Line(("four", (5.4, 4.9), (SUM, 4.9), "sum"), "", "state"),
                Line(("gates", "sum"), "", "query"),
                Box("mixed", "mixed", "B T D", (SUM, 7), "state", MIXED, "returned", file=EXPERTS),
                Line(("sum", "mixed"), "", "state"),
                Sign("add2", "+", (0, 7.9)),
                Line(("add", "add2")),
                Line(("mixed", (SUM, 7.9), "add2"), "", "state"),
                Box("out", "x", "B T D", (0, 8.8), "residual", FED, "returned"),
                Line(("add2", "out")),
            ),
        ),
    ),
)
