"""Bengio's language model: a window of words through one hidden layer, and past it."""

from course.figures.machines.description import Box, Line, Machine, Step

EMBEDDED = "embedded = self.embedding(windows(tokens, self.config.n_window, self.config.fill))"
HIDDEN = "return torch.tanh(linear(concatenated, W, b))"
JOINED = "concatenated = embedded.flatten(start_dim=2)"

FEEDFORWARD = Machine(
    title="A feed-forward language model",
    finding=(
        "A fixed window: the words before it are invisible, and the direct connections leave the "
        "hidden layer only what is not linear."
    ),
    file="feedforward",
    sizes={"B": 2, "T": 5, "N": 3, "d": 4, "D": 7, "V": 10},
    pitch=(100, 92),
    steps=(
        Step(
            "At each position, a window: the last N words, and nothing before them.",
            (
                Box(
                    "windows",
                    "window",
                    "B T N",
                    (0, 0),
                    "input",
                    "return padded.unfold(dimension=1, size=n_window, step=1)",
                    "returned",
                    words=("nora", "lit", "the"),
                    width=2,
                ),
            ),
        ),
        Step(
            "Every word becomes a vector of d numbers: the same matrix E, whatever its place.",
            (
                Box(
                    "embedded",
                    "embeddings",
                    "B T N d",
                    (0, 1),
                    "input",
                    EMBEDDED,
                    words=("E x_{t−3}", "E x_{t−2}", "E x_{t−1}"),
                    width=2,
                ),
                Line(("windows", "embedded"), "E, row by row", "input"),
            ),
        ),
        Step(
            "The vectors are set end to end, not added: the hidden layer can tell the places apart.",
            (
                Box("joined", "e", "B T N·d", (0, 2), "input", JOINED, width=2),
                Line(("embedded", "joined"), "concatenate", "input"),
            ),
        ),
        Step(
            "One hidden layer mixes all places and all features, bent by tanh.",
            (
                Box("hidden", "h", "B T D", (0, 3), "state", HIDDEN, "returned", width=1.2),
                Line(("joined", "hidden"), "tanh(W e + b)", "state"),
            ),
        ),
        Step(
            "A score for every word of the vocabulary. Most of the weights, and of the time, are here.",
            (
                Box("logits", "z", "B T V", (0, 4), "residual", "logits = self.output(hidden)", width=1.2),
                Line(("hidden", "logits"), "U h + c"),
            ),
        ),
        Step(
            "The paper's option: direct connections lead past the hidden layer and are added to the scores.",
            (
                Box(
                    "direct",
                    "A e",
                    "B T V",
                    (1.9, 3),
                    "residual",
                    "logits = logits + self.direct(embedded.flatten(start_dim=2))",
                    "self.direct(embedded.flatten(start_dim=2))",
                ),
                Line(("joined", (1.9, 2), "direct"), "A", "residual", label_on=1, is_dashed=True),
                Line(("direct", (1.9, 4), "logits"), "+", "residual", label_on=1, is_dashed=True),
            ),
        ),
        Step(
            "A softmax turns scores into probabilities. They depend on N words, and on no word before them.",
            (
                Box(
                    "log_probs",
                    "log P",
                    "B T V",
                    (0, 5),
                    "residual",
                    "return self.logits(tokens).log_softmax(dim=-1)",
                    "returned",
                    width=1.2,
                ),
                Line(("logits", "log_probs"), "log softmax"),
            ),
        ),
    ),
)
