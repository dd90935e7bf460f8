"""BERT: three embeddings are added, an encoder reads both sides, and small heads use what it knows."""

from course.figures.machines.description import Box, Line, Machine, Sign, Step

SUM = "x = self.embedding(tokens) + self.positions.weight[:T] + self.segments(segments)"
READ = "return self.encoder(self.dropout(self.norm(x)), attendable)"

BERT = Machine(
    title="BERT, its input and three heads",
    finding="One stack of blocks, three questions: only what reads its last vectors differs.",
    file="bert",
    sizes={"B": 2, "T": 5, "D": 4, "V": 9, "C": 2, "G": 3},
    pitch=(100, 84),
    steps=(
        Step(
            "A text begins with <cls>; some of its words are hidden.",
            (
                Box(
                    "tokens",
                    "tokens",
                    "B T",
                    (2.4, 0),
                    "input",
                    SUM,
                    "tokens",
                    words=("<cls>", "nora", "<mask>", "a", "lamp"),
                ),
            ),
        ),
        Step(
            "Three tables give three vectors: for the word, for its place, and for the text it belongs to.",
            (
                Box("word", "words", "B T D", (0.5, 1.25), "input", SUM, "self.embedding(tokens)"),
                Box("place", "places", "T D", (2.4, 1.25), "input", SUM, "self.positions.weight[:T]"),
                Box("segment", "texts", "B T D", (4.3, 1.25), "input", SUM, "self.segments(segments)"),
                Line(("tokens", (0.5, 0), "word"), "which word", "input", label_on=1, side="left"),
                Line(("tokens", "place"), "which place", "input"),
                Line(("tokens", (4.3, 0), "segment"), "which text", "input", label_on=1),
            ),
        ),
        Step(
            "They are added, not set side by side, and the sum is normed.",
            (
                Sign("sum", "+", (2.4, 2.2)),
                Line(("word", (0.5, 2.2), "sum"), "", "input"),
                Line(("place", "sum"), "", "input"),
                Line(("segment", (4.3, 2.2), "sum"), "", "input"),
                Box("normed", "x", "B T D", (2.4, 3.2), "residual", READ, "self.norm(x)"),
                Line(("sum", "normed"), "LayerNorm"),
            ),
        ),
        Step(
            "The encoder: L post-norm blocks without a causal mask. Every vector "
            "that comes out has seen the words on both sides.",
            (
                Box("hidden", "h", "B T D", (2.4, 4.35), "residual", READ, "returned"),
                Line(("normed", "hidden"), "L blocks"),
            ),
        ),
        Step(
            "Pre-training: which word was here? A score for every word of the "
            "vocabulary, by the matrix of the embedding.",
            (
                Box(
                    "words",
                    "word scores",
                    "B T V",
                    (0.5, 6.15),
                    "state",
                    "return linear(hidden, self.bert.embedding.weight, self.bias)",
                    "returned",
                ),
                Line(("hidden", (0.5, 4.35), "words"), "norm, Eᵀ", "state", label_on=1),
            ),
        ),
        Step(
            "Fine-tuning, a tag for each word: one linear layer on every vector.",
            (
                Box(
                    "tags",
                    "tag scores",
                    "B T G",
                    (2.4, 6.15),
                    "state",
                    "return self.output(self.dropout(self.bert(tokens, mask, segments)))",
                    "returned",
                ),
                Line(("hidden", "tags"), "linear", "state"),
            ),
        ),
        Step(
            "Fine-tuning, one answer for the whole text: only the vector of <cls> is "
            "read. Attention had L layers to carry the rest there.",
            (
                Box(
                    "pooled",
                    "pooled",
                    "B D",
                    (4.3, 5.1),
                    "state",
                    "return torch.tanh(self.linear(hidden[:, 0]))",
                    "returned",
                ),
                Line(("hidden", (4.3, 4.35), "pooled"), "h of <cls>, tanh", "state", label_on=0),
                Box(
                    "class",
                    "class scores",
                    "B C",
                    (4.3, 6.15),
                    "state",
                    "return self.output(self.dropout(self.pooler(self.bert(tokens, mask, segments))))",
                    "returned",
                ),
                Line(("pooled", "class"), "linear", "state"),
            ),
        ),
    ),
)
