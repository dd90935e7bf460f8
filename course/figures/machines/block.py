"""The block of a Transformer twice: norm after each sum, as in 2017, or before each branch, as today."""

from course.figures.machines.description import Box, Line, Machine, Region, Sign, Step

WIDE = "hidden = self.activation(self.expand(x))"
POST_ATTENTION = "x = self.norm_attention(x + attend(x))"
POST_LAST = "return self.norm_feed_forward(x + self.dropout(self.feed_forward(x)))"
PRE_ATTENTION = "x = x + attend(self.norm_attention(x))"
PRE_LAST = "return x + self.dropout(self.feed_forward(self.norm_feed_forward(x)))"
LEFT, RIGHT, ASIDE = 0.0, 3.3, 1.55

BLOCK = Machine(
    title="The Transformer block, post-norm and pre-norm",
    finding="The same two sublayers, and the norms in two places: follow the straight line on each side.",
    file="transformer",
    sizes={"B": 2, "T": 5, "D": 4, "F": 16},
    pitch=(100, 70),
    steps=(
        Step(
            "One vector for each word comes in. It goes straight up: this is the residual stream.",
            (
                Region("post-norm (2017)", (LEFT - 0.6, -0.6), (LEFT + 2.4, 8.3)),
                Region("pre-norm (today)", (RIGHT - 0.6, -0.6), (RIGHT + 2.4, 8.3)),
                Box("x", "x", "B T D", (LEFT, 0), "residual", POST_ATTENTION, "x"),
                Line(("x", (LEFT, 1.4)), has_head=False),
                Box("pre_x", "x", "B T D", (RIGHT, 0), "residual", PRE_ATTENTION, "x"),
                Line(("pre_x", (RIGHT, 1.4)), has_head=False),
            ),
        ),
        Step(
            "Attention reads the stream, and what it finds is added. Pre-norm reads "
            "a normed copy; post-norm reads the stream itself.",
            (
                Box("a", "a", "B T D", (LEFT + ASIDE, 1.4), "value", POST_ATTENTION, "attend(x)"),
                Line(("x", (LEFT + ASIDE, 0), "a"), "attention", "value", label_on=1, side="left"),
                Sign("add", "+", (LEFT, 2.5)),
                Line(("x", "add")),
                Line(("a", (LEFT + ASIDE, 2.5), "add"), "", "value"),
                Box(
                    "pre_n",
                    "n",
                    "B T D",
                    (RIGHT + ASIDE, 0.7),
                    "residual",
                    PRE_ATTENTION,
                    "self.norm_attention(x)",
                ),
                Line(("pre_x", (RIGHT + ASIDE, 0), "pre_n"), "LayerNorm", label_on=0),
                Box(
                    "pre_a",
                    "a",
                    "B T D",
                    (RIGHT + ASIDE, 2.05),
                    "value",
                    PRE_ATTENTION,
                    "attend(self.norm_attention(x))",
                ),
                Line(("pre_n", "pre_a"), "attention", "value", "left"),
                Sign("pre_add", "+", (RIGHT, 3)),
                Line(("pre_x", "pre_add")),
                Line(("pre_a", (RIGHT + ASIDE, 3), "pre_add"), "", "value"),
            ),
        ),
        Step(
            "Post-norm norms the sum: every number of the stream is rescaled "
            "on its way. Pre-norm leaves the stream alone.",
            (
                Box("x1", "x", "B T D", (LEFT, 3.75), "residual", POST_ATTENTION),
                Line(("add", "x1"), "LayerNorm"),
                Box("pre_x1", "x", "B T D", (RIGHT, 3.9), "residual", PRE_ATTENTION),
                Line(("pre_add", "pre_x1")),
            ),
        ),
        Step(
            "Then a small network for each word alone, four times as "
            "wide inside; what it says is added, too.",
            (
                Box("m", "hidden", "B T F", (LEFT + ASIDE, 4.75), "state", WIDE),
                Line(("x1", (LEFT + ASIDE, 3.75), "m"), "W_1, ReLU", "state", label_on=0),
                Box(
                    "f",
                    "f",
                    "B T D",
                    (LEFT + ASIDE, 5.95),
                    "state",
                    "return self.contract(self.dropout(hidden))",
                    "returned",
                ),
                Line(("m", "f"), "W_2", "state"),
                Sign("add2", "+", (LEFT, 6.6)),
                Line(("x1", "add2")),
                Line(("f", (LEFT + ASIDE, 6.6), "add2"), "", "state"),
                Box("pre_m", "hidden", "B T F", (RIGHT + ASIDE, 4.75), "state", WIDE),
                Line(("pre_x1", (RIGHT + ASIDE, 3.9), "pre_m"), "norm, W_1, ReLU", "state", label_on=0),
                Box(
                    "pre_f",
                    "f",
                    "B T D",
                    (RIGHT + ASIDE, 5.95),
                    "state",
                    PRE_LAST,
                    "self.feed_forward(self.norm_feed_forward(x))",
                ),
                Line(("pre_m", "pre_f"), "W_2", "state"),
                Sign("pre_add2", "+", (RIGHT, 6.6)),
                Line(("pre_x1", "pre_add2")),
                Line(("pre_f", (RIGHT + ASIDE, 6.6), "pre_add2"), "", "state"),
            ),
        ),
        Step(
            "The same shape comes out that went in, so blocks can be stacked. Follow "
            "the straight line from bottom to top: what does it meet?",
            (
                Box("out", "x", "B T D", (LEFT, 7.7), "residual", POST_LAST, "returned"),
                Line(("add2", "out"), "LayerNorm"),
                Box("pre_out", "x", "B T D", (RIGHT, 7.7), "residual", PRE_LAST, "returned"),
                Line(("pre_add2", "pre_out")),
            ),
        ),
    ),
)
