"""Multi-head attention: H attentions side by side, each in its own d_k = D / H dimensions."""

from course.figures.machines.description import Box, Line, Machine, Sign, Step

HEADS = Machine(
    title="Multi-head attention",
    finding=(
        "More heads are not more numbers: the width is divided among them, each looks by itself, "
        "and one matrix mixes what they found."
    ),
    file="multi_head_attention",
    sizes={"B": 2, "T": 5, "D": 6, "H": 3},
    derived={"d_k": ("D", "H")},
    pitch=(100, 86),
    steps=(
        Step(
            "A vector comes in for each word, D numbers wide.",
            (
                Box(
                    "x",
                    "x",
                    "B T D",
                    (1.7, 0),
                    "residual",
                    "q = split_heads(self.W_query(query), self.n_heads)",
                    "query",
                ),
            ),
        ),
        Step(
            "Three matrices make queries, keys and values of it. Each is cut into H "
            "pieces of d_k = D / H numbers: only the axes change.",
            (
                Box(
                    "q",
                    "q",
                    "B H T d_k",
                    (0, 1.25),
                    "query",
                    "q = split_heads(self.W_query(query), self.n_heads)",
                    copies="H",
                ),
                Box(
                    "k",
                    "k",
                    "B H T d_k",
                    (1.7, 1.25),
                    "key",
                    "k = split_heads(self.W_key(key), self.n_heads)",
                    copies="H",
                ),
                Box(
                    "v",
                    "v",
                    "B H T d_k",
                    (3.4, 1.25),
                    "value",
                    "v = split_heads(self.W_value(value), self.n_heads)",
                    copies="H",
                ),
                Line(("x", (0, 0), "q"), "W_q, split", "query", label_on=1, side="left"),
                Line(("x", "k"), "W_k", "key"),
                Line(("x", (3.4, 0), "v"), "W_v", "value", label_on=1),
            ),
        ),
        Step(
            "H maps of attention instead of one. Every head has its own softmax, "
            "so one word can look at several places at once.",
            (
                Sign("scores", "·", (0.85, 2.3)),
                Line(("q", (0, 2.3), "scores"), "", "query"),
                Line(("k", (1.7, 2.3), "scores"), "", "key"),
                Box(
                    "weights",
                    "weights",
                    "B H T T",
                    (0.85, 3.6),
                    "query",
                    "weights = attention_weights(self._scores(q, k), whole_mask)",
                    grid=("T", "T", "full"),
                    copies="H",
                ),
                Line(("scores", "weights"), "÷ √d_k, softmax", "query"),
            ),
        ),
        Step(
            "Each head averages its own piece of the values.",
            (
                Sign("times", "×", (3.4, 3.6)),
                Line(("weights", "times"), "", "query"),
                Line(("v", "times"), "", "value"),
                Box(
                    "heads",
                    "heads",
                    "B H T d_k",
                    (3.4, 4.7),
                    "value",
                    "heads = F.dropout(weights, self.dropout, self.training) @ v",
                    copies="H",
                ),
                Line(("times", "heads"), "", "value"),
            ),
        ),
        Step(
            "Side by side the heads are D wide again, and W_o mixes what they found.",
            (
                Box(
                    "merged",
                    "merged",
                    "B T D",
                    (3.4, 5.85),
                    "value",
                    "return self.W_output(merge_heads(heads))",
                    "merge_heads(heads)",
                ),
                Line(("heads", "merged"), "merge", "value"),
                Box(
                    "out",
                    "out",
                    "B T D",
                    (1.7, 5.85),
                    "residual",
                    "return self.W_output(merge_heads(heads))",
                    "returned",
                ),
                Line(("merged", "out"), "W_o"),
            ),
        ),
    ),
)
