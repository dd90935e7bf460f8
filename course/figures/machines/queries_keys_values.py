"""Self-attention of three words: the last one asks, and may look at all of them."""

from course.figures.machines.description import Box, Line, Machine, Sign, Step

QUERY = "q = split_heads(self.W_query(query), self.n_heads)"
KEY = "k = split_heads(self.W_key(key), self.n_heads)"
VALUE = "v = split_heads(self.W_value(value), self.n_heads)"
WORDS = ("students", "opened", "their")
ROWS = (4.75, 2.7, 0.65)
KEY_ROWS, VALUE_ROWS = (4.35, 2.7, 1.05), (5.2, 1.9, 0.2)


def word(i: int) -> tuple[Box, ...]:
    """Word i as it enters."""
    return (
        Box(
            f"x{i}", f"x_{i}", "D", (0, ROWS[i - 1]), "residual", QUERY, "query[0, 0]", words=(WORDS[i - 1],)
        ),
    )


def asked(i: int, key: str, name: str, row: float, role: str, code: str) -> tuple[Box | Line, ...]:
    """The query, key or value of word i, by its matrix."""
    fork = (0.5, ROWS[i - 1])
    return (
        Box(f"{key}{i}", f"{key}_{i}", "d_k", (1.3, row), role, code, f"{key}[0, 0, {i - 1}]"),
        Line((f"x{i}", fork, (0.5, row), f"{key}{i}"), name, role, label_on=1 if row == fork[1] else 2),
    )


def key(i: int) -> tuple[Box | Line, ...]:
    return asked(i, "k", "W_k", KEY_ROWS[i - 1], "key", KEY)


def value(i: int) -> tuple[Box | Line, ...]:
    return asked(i, "v", "W_v", VALUE_ROWS[i - 1], "value", VALUE)


QUERIES_KEYS_VALUES = Machine(
    title="Queries, keys and values of three words",
    finding=(
        "The third word's query meets every key; the values are mixed by what comes out, and never compared."
    ),
    file="multi_head_attention",
    sizes={"T": 3, "D": 8, "d_k": 4},
    pitch=(100, 76),
    steps=(
        Step(
            "Three words, each a row of the residual stream. Follow the third, "
            "which may look at all of them: what does it take from the others?",
            (*word(1), *word(2), *word(3)),
        ),
        Step(
            "It asks. Its row times W_q is its query.",
            (*asked(3, "q", "W_q", -0.65, "query", QUERY),),
        ),
        Step(
            "Every word says what it can be asked for: its row times W_k is its key.",
            (*key(1), *key(2), *key(3)),
        ),
        Step(
            "One dot product of the query with each key. Divided by √d_k "
            "they are the scores of the third word.",
            (
                *(Sign(f"dot{i}", "·", (2.05, KEY_ROWS[i - 1])) for i in (1, 2, 3)),
                *(Line((f"k{i}", f"dot{i}"), "", "key") for i in (1, 2, 3)),
                Line(("q3", (2.05, -0.65), "dot3"), "", "query"),
                Line(("dot3", "dot2"), "", "query"),
                Line(("dot2", "dot1"), "", "query"),
                Box(
                    "scores",
                    "scores",
                    "T",
                    (3.05, 2.7),
                    "query",
                    "scores = dot_scores(query, key) / math.sqrt(query.shape[-1])",
                    "scores[0, 0, 2]",
                    "attention",
                    words=("s_1", "s_2", "s_3"),
                ),
                Line(("dot1", (3.05, 4.35), "scores"), "", "query"),
                Line(("dot2", "scores"), "", "query"),
                Line(("dot3", (3.05, 1.05), "scores"), "", "query"),
            ),
        ),
        Step(
            "The softmax makes them fractions of one: how much the third word looks at each.",
            (
                Box(
                    "weights",
                    "weights",
                    "T",
                    (4.35, 2.7),
                    "query",
                    "weights = attention_weights(scores, mask)",
                    "weights[0, 0, 2]",
                    "attention",
                    words=("α_1", "α_2", "α_3"),
                ),
                Line(("scores", "weights"), "", "query"),
            ),
        ),
        Step(
            "What is handed over is a third thing: the value, the row times W_v.",
            (*value(1), *value(2), *value(3)),
        ),
        Step(
            "The third word gets the average of the values, by its weights. The "
            "others ask in the same way, at the same time.",
            (
                Sign("sum", "Σ", (5.2, 2.7)),
                Line(("weights", "sum"), "", "query"),
                Line(("v1", (5.2, 5.2), "sum"), "", "value"),
                Line(("v3", (5.2, 0.2), "sum"), "", "value"),
                Line(("v2", (5.2, 1.9)), "", "value", has_head=False),
                Box(
                    "z",
                    "z_3",
                    "d_k",
                    (5.95, 2.7),
                    "value",
                    "return weights @ value, weights",
                    "returned[0][0, 0, 2]",
                    "attention",
                ),
                Line(("sum", "z"), "", "value"),
            ),
        ),
    ),
)
