"""Today's block: RMSNorm, turned queries and keys, shared keys and values, and a gate in the feed-forward."""

from course.figures.machines.description import Box, Line, Machine, Sign, Step

ATTENDED = "x = x + self.attention(self.norm_attention(x), turn, mask, cache)"
FED = "return x + self.feed_forward(self.norm_feed_forward(x))"
SWIGLU = "hidden = F.silu(self.gate(x)) * self.expand(x)"
QUERY = "q = rotate_pairs(split_heads(self.W_query(x), self.n_heads), turn)"
KEY = "k = rotate_pairs(split_heads(self.W_key(x), self.n_groups), turn)"
VALUE = "v = split_heads(self.W_value(x), self.n_groups)"
MIXED = "grouped = attention_weights(scores, mask) @ v"
ATTENTION = "grouped_query_attention"

LLAMA_BLOCK = Machine(
    title="The block of today's models",
    finding="The block of 2017 with nearly every part replaced; the path of sums is still there.",
    file="llama",
    sizes={"B": 2, "T": 5, "D": 8, "H": 4, "G": 2, "F": 11},
    derived={"d_k": ("D", "H"), "R": ("H", "G")},
    pitch=(100, 73),
    steps=(
        Step(
            "The stream goes up untouched, as in any pre-norm block. The "
            "norm has lost its mean and its bias.",
            (
                Box("x", "x", "B T D", (0, 0), "residual", ATTENDED),
                Box("n", "n", "B T D", (1.6, 0), "residual", ATTENDED, "self.norm_attention(x)"),
                Line(("x", "n"), "RMSNorm"),
            ),
        ),
        Step(
            "Queries and keys are turned by their place; nothing is added to the stream for it. "
            "Groups of query heads share one head of keys and values.",
            (
                Box("q", "q", "B H T d_k", (1.6, 1.25), "query", QUERY, file=ATTENTION, copies="H"),
                Box("k", "k", "B G T d_k", (3, 1.25), "key", KEY, file=ATTENTION, copies="G"),
                Box("v", "v", "B G T d_k", (4.5, 1.25), "value", VALUE, file=ATTENTION, copies="G"),
                Line(("n", "q"), "W_q, turn", "query"),
                Line(("n", (3, 0), "k"), "W_k, turn", "key", label_on=1),
                Line(("n", (4.5, 0), "v"), "W_v", "value", label_on=1),
            ),
        ),
        Step(
            "R = H / G query heads ask the same keys, so their rows are set "
            "one below the other. The mask is causal.",
            (
                Sign("dot", "·", (2.3, 2.15)),
                Line(("q", (1.6, 2.15), "dot"), "", "query"),
                Line(("k", (3, 2.15), "dot"), "", "key"),
                Box(
                    "weights",
                    "weights",
                    "B G R·T T",
                    (2.3, 3.15),
                    "query",
                    MIXED,
                    "attention_weights(scores, mask)",
                    ATTENTION,
                    copies="G",
                ),
                Line(("dot", "weights"), "÷ √d_k, softmax", "query"),
            ),
        ),
        Step(
            "The values are averaged, the heads put side by side and mixed, and what was found is added.",
            (
                Sign("times", "×", (4.5, 3.15)),
                Line(("weights", "times"), "", "query"),
                Line(("v", "times"), "", "value"),
                Box(
                    "a",
                    "a",
                    "B T D",
                    (4.5, 4.25),
                    "value",
                    ATTENDED,
                    "self.attention(self.norm_attention(x), turn, mask, cache)",
                ),
                Line(("times", "a"), "merge, W_o", "value"),
                Sign("add", "+", (0, 5)),
                Line(("x", "add")),
                Line(("a", (4.5, 5), "add"), "", "value"),
            ),
        ),
        Step(
            "The feed-forward has two wide layers beside each other: one is "
            "the gate through which the other must pass.",
            (
                Box("n2", "n", "B T D", (1.6, 5.8), "residual", FED, "self.norm_feed_forward(x)"),
                Line(((0, 5.8), "n2"), "RMSNorm"),
                Box("gate", "gate", "B T F", (1.6, 7.05), "state", SWIGLU, "self.gate(x)"),
                Box("expand", "expanded", "B T F", (3.3, 7.05), "state", SWIGLU, "self.expand(x)"),
                Line(("n2", "gate"), "W_1", "state"),
                Line(("n2", (3.3, 5.8), "expand"), "W_3", "state", label_on=1),
                Sign("pass", "⊙", (2.4, 7.95)),
                Line(("gate", (1.6, 7.95), "pass"), "SiLU", "state", "left", label_on=0),
                Line(("expand", (3.3, 7.95), "pass"), "", "state"),
                Box("hidden", "hidden", "B T F", (2.4, 8.8), "state", SWIGLU),
                Line(("pass", "hidden"), "", "state"),
            ),
        ),
        Step(
            "Back to D numbers, and added. The shape is the one that came in: "
            "only the parts of the block were exchanged.",
            (
                Sign("add2", "+", (0, 9.6)),
                Line(("add", "add2")),
                Line(("hidden", (2.4, 9.6), "add2"), "W_2", "state", label_on=1),
                Box("out", "x", "B T D", (0, 10.5), "residual", FED, "returned"),
                Line(("add2", "out")),
            ),
        ),
    ),
)
