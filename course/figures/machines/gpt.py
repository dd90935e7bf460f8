"""GPT: embeddings, blocks with a causal mask, and the embedding again to score every word."""

from course.figures.machines.description import Box, Line, Machine, Region, Sign, Step

PRE_ATTENTION = "x = x + attend(self.norm_attention(x))"
PRE_LAST = "return x + self.dropout(self.feed_forward(self.norm_feed_forward(x)))"

GPT = Machine(
    title="GPT and its mask",
    finding=("The mask is all that makes an encoder a decoder: each row of weights ends at its own word."),
    file="gpt",
    sizes={"B": 2, "T": 5, "D": 6, "H": 3, "V": 9},
    derived={"d_k": ("D", "H")},
    pitch=(100, 80),
    steps=(
        Step(
            "The tokens read so far.",
            (
                Box(
                    "tokens",
                    "tokens",
                    "B T",
                    (0.6, 0),
                    "input",
                    "x = self.embedding(tokens)",
                    "tokens",
                    words=("<s>", "nora", "lit", "the", "lamp"),
                ),
            ),
        ),
        Step(
            "A vector for each token, plus a vector for its place.",
            (
                Box("x", "x", "B T D", (0.6, 1.3), "residual", "x = self.embedding(tokens)"),
                Line(("tokens", "x"), "E", "input"),
                Box(
                    "p",
                    "p",
                    "T D",
                    (2.4, 2.3),
                    "input",
                    "x = x + self.positions(T, first)",
                    "self.positions(T, first)",
                ),
                Sign("place", "+", (0.6, 2.3)),
                Line(("x", "place")),
                Line(("p", "place"), "places", "input"),
            ),
        ),
        Step(
            "A block reads a normed copy. Each position asks every position; the "
            "mask leaves only itself and what came before.",
            (
                Region("a block, L times", (0.05, 2.75), (4.95, 7.6)),
                Box(
                    "weights",
                    "weights",
                    "B H T T",
                    (2.5, 4.0),
                    "query",
                    "weights = attention_weights(self._scores(q, k), whole_mask)",
                    file="multi_head_attention",
                    grid=("T", "T", "causal"),
                    copies="H",
                ),
                Line(((0.6, 3.25), (2.5, 3.25), "weights"), "norm, q · k", "query", label_on=0),
            ),
        ),
        Step(
            "The values are averaged by these weights, and what was found is added to the stream.",
            (
                Box(
                    "a",
                    "a",
                    "B T D",
                    (4.3, 4.0),
                    "value",
                    PRE_ATTENTION,
                    "attend(self.norm_attention(x))",
                    "transformer",
                ),
                Line(("weights", "a"), "values", "value"),
                Sign("add", "+", (0.6, 5.1)),
                Line(("place", "add")),
                Line(("a", (4.3, 5.1), "add"), "", "value"),
            ),
        ),
        Step(
            "A small network for each position alone, and its answer is "
            "added. L such blocks follow one another.",
            (
                Box(
                    "m",
                    "hidden",
                    "B T 4·D",
                    (2.5, 6.2),
                    "state",
                    "hidden = self.activation(self.expand(x))",
                    file="transformer",
                ),
                Line(((0.6, 5.55), (2.5, 5.55), "m"), "norm, W_1, GELU", "state", label_on=0),
                Sign("add2", "+", (0.6, 7.1)),
                Line(("add", "add2")),
                Line(("m", (2.5, 7.1), "add2"), "W_2", "state", label_on=1),
            ),
        ),
        Step(
            "A last norm, and the embedding again: a score for every word that "
            "could come next, at every position at once.",
            (
                Box("h", "h", "B T D", (0.6, 8.8), "residual", "return self.norm(x)", "returned"),
                Line(("add2", "h"), "LayerNorm", label_on=0),
                Box(
                    "logits",
                    "logits",
                    "B T V",
                    (2.5, 8.8),
                    "residual",
                    "return linear(self.hidden(tokens, cache, mask), self.embedding.weight)",
                    "returned",
                    "cached_decoder",
                ),
                Line(("h", "logits"), "Eᵀ"),
            ),
        ),
    ),
)
