# %% [markdown] exercise="contrastive_step" bonus difficulty=2 minutes=15 forbids="course.sampling" exempt="gradient"
# ### 23. Probable, and something new (bonus)
#
# Contrastive search draws nothing. Of the $k$ most probable tokens it takes the one with the largest
#
# $$(1 - \alpha) \, P(v) - \alpha \max_j \cos(h_v, h_j),$$
#
# where $h_v$ is the vector that the model has after reading $v$, and the $h_j$ are those of all positions so far: a
# token that leads where the text has been before must be very probable.
#
# Write `contrastive_step(logits, states, past, k, alpha)`, which returns the tuple `(token, scores)`: the number of
# the chosen token, and the value above for every token, (V,), with $-\infty$ for those that are not among the $k$.
# `logits` is (V,), `states` (V, D) has a vector for every token, and `past` is (T, D).
#
# **Example.** $P = (\tfrac12, \tfrac14, \tfrac3{16}, \tfrac1{16})$, `k = 3`, `alpha = 0.5`; `states` are $(3, 0)$, $(1, 1)$,
# $(-1, -1)$ and $(-1, 0)$, `past` is $(1, 0)$, $(0, 2)$. The largest cosines are $1$, $0.707$ and $-0.707$, the scores
# $(-0.25, -0.229, 0.447, -\infty)$, and token 2 is chosen.
#
# <details><summary>Hint 1</summary>
#
# A cosine is the dot product of two vectors of length 1. Which shape has the table of all cosines, and along which
# axis is the largest one?
#
# </details>


# %% solution="contrastive_step"
def contrastive_step(
    logits: Tensor, states: Tensor, past: Tensor, k: int, alpha: float
) -> tuple[int, Tensor]:
    """The token that contrastive search takes next, and the scores (V,) of all tokens."""
    ### BEGIN SOLUTION
    probs = logits.softmax(dim=-1)
    cosines = functional.normalize(states, dim=-1) @ functional.normalize(past, dim=-1).T  # (V, T)
    values = (1 - alpha) * probs - alpha * cosines.amax(dim=-1)
    candidates = probs.topk(k).indices
    scores = torch.full_like(values, -math.inf)
    scores[candidates] = values[candidates]
    return int(scores.argmax()), scores
    ### END SOLUTION


# %% provided="contrastive_tools" helper
def assert_contrastive(answer, expected, what):
    """The scores, and the token with the largest of them."""
    token, scores = answer
    assert_close(scores, expected, tolerance=1e-6, what=f"the scores {what}")
    assert_equal(int(token), int(expected.argmax()), what=f"the token {what}")


def contrastive_case(draw, k, vocab_size=7, n_past=4, d_model=5):
    """Logits, states and past vectors, of different lengths.

    The least probable of k candidates leads where the text began, the most probable away from where it ends.
    """
    logits = 2 * torch.tensor(draw.permutation(vocab_size)).double() / vocab_size
    states, past = 4 * draw.normal(vocab_size, d_model), 3 * draw.normal(n_past, d_model)
    candidates = logits.topk(k).indices
    states[candidates[-1]], states[candidates[0]] = 2 * past[0], -0.3 * past[-1]
    return logits, states, past


class Wandering:
    """A language model whose vector after a text is the sum of vectors of its last two tokens."""

    context_length = None

    def __init__(self, draw, vocab_size=9, d_model=4):
        self.vocab_size = vocab_size
        self.vectors, self.output = draw.normal(vocab_size, d_model), draw.normal(d_model, vocab_size)

    def hidden(self, tokens):
        x = self.vectors[tokens]
        return x + 0.5 * functional.pad(x, (0, 0, 1, 0))[:, :-1]

    def __call__(self, tokens):
        return (self.hidden(tokens) @ self.output).log_softmax(-1)


# %% check="the_example_takes_token_2" points=1
def the_example_takes_token_2(contrastive_step):
    """The example has the scores -0.25, -0.229 and 0.447, and token 2 is taken."""
    logits = torch.tensor([1 / 2, 1 / 4, 3 / 16, 1 / 16]).double().log() + 2
    states = torch.tensor([[3, 0], [1, 1], [-1, -1], [-1, 0]]).double()
    half = 0.5**0.5
    expected = torch.tensor([-1 / 4, 1 / 8 - half / 2, 3 / 32 + half / 2, -math.inf]).double()
    past = torch.tensor([[1, 0], [0, 2]]).double()
    answer = contrastive_step(logits, states, past, 3, 0.5)
    turned = contrastive_step(logits.flip(0), states.flip(0), past, 3, 0.5)
    assert_contrastive(answer, expected, "of the example")
    assert_contrastive(turned, expected.flip(0), "of its tokens in the other order")


# %% check="alpha_0_is_greedy_and_alpha_1_sees_likeness_alone" points=1
def alpha_0_is_greedy_and_alpha_1_sees_likeness_alone(contrastive_step, draw):
    """With alpha 0 the scores are probabilities; with alpha 1 they are the largest cosines, with a minus."""
    logits, states, past = contrastive_case(draw, 4)
    probs = logits.softmax(-1)
    outside = probs < probs.sort().values[-4]
    assert_contrastive(
        contrastive_step(logits, states, past, 4, 0.0), probs.masked_fill(outside, -math.inf), "for 0"
    )
    likeness = torch.stack([functional.cosine_similarity(state, past, dim=-1).max() for state in states])
    expected = (-likeness).masked_fill(outside, -math.inf)
    assert_contrastive(contrastive_step(logits, states, past, 4, 1.0), expected, "for 1")


# %% check="only_directions_count" points=1
def only_directions_count(contrastive_step, draw):
    """Vectors of other lengths change nothing, and neither does the same vector twice in the past."""
    logits, states, past = contrastive_case(draw, 5)
    answer = contrastive_step(logits, states, past, 5, 0.4)
    longer = contrastive_step(logits + 3, 7 * states, torch.cat([past, 0.2 * past[:1]]), 5, 0.4)
    other = contrastive_step(logits, states, past[1:2], 5, 0.4)
    assert_close(longer[1], answer[1], what="the scores")
    assert_depends(answer[1][answer[1] > -9], other[1][answer[1] > -9])


# %% check="steps_make_the_course_s_search" points=1 hidden
def steps_make_the_course_s_search(contrastive_step, draw):
    """Step after step, on a small model, text and scores are those of `course.sampling`."""
    from course.sampling.contrastive_search import contrastive_search, degeneration_penalty

    for k, alpha in ((4, 0.6), (9, 0.3), (2, 0.9), (5, 0.0)):
        model, start = Wandering(draw), draw.integers(0, 9, 3)
        text = start
        for _ in range(6):
            followed = torch.cat([text.expand(9, -1), torch.arange(9)[:, None]], dim=1)
            vectors = model.hidden(followed)
            log_probs, states, past = model(text[None])[0, -1], vectors[:, -1], vectors[0, :-1]
            answer = contrastive_step(log_probs, states, past, k, alpha)
            best, expected = log_probs.topk(k).indices, torch.full((9,), -math.inf).double()
            likeness = degeneration_penalty(states[best], past)
            expected[best] = (1 - alpha) * log_probs.exp()[best] - alpha * likeness
            assert_contrastive(answer, expected, f"for k = {k} and alpha = {alpha}")
            text = torch.cat([text, torch.tensor([int(answer[0])])])
        expected = contrastive_search(model, start, 6, k=k, alpha=alpha)
        assert_equal(text, expected, what=f"the text for k = {k} and alpha = {alpha}")


# %% check="other_scores_are_right" points=1 hidden
def other_scores_are_right(contrastive_step, draw):
    """Other logits and vectors have their scores."""
    for vocab_size, n_past, k, alpha in ((6, 3, 2, 0.25), (8, 5, 7, 0.8), (5, 2, 5, 0.5)):
        logits, states, past = contrastive_case(draw, k, vocab_size, n_past)
        probs = [math.exp(z) for z in logits.tolist()]
        ranked = sorted(range(vocab_size), key=lambda v, probs=probs: -probs[v])
        rows = []
        for v in range(vocab_size):
            near = max(float(states[v] @ h / states[v].norm() / h.norm()) for h in past)
            rows.append((1 - alpha) * probs[v] / sum(probs) - alpha * near if v in ranked[:k] else -math.inf)
        expected = torch.tensor(rows, dtype=torch.float64)
        assert_contrastive(contrastive_step(logits, states, past, k, alpha), expected, f"for k = {k}")
