# %% provided="comparing_probabilities" helper
def assert_probs(answer, expected, what=""):
    """The softmax of the logits that came back is the expected distribution, zeros included."""
    assert_true(isinstance(answer, Tensor), f"A tensor of logits is expected, not {type(answer).__name__}.")
    assert_equal(list(answer.shape), list(expected.shape), what="the shape")
    probs = answer.double().softmax(-1)
    no_softmax = "Of these logits there is no softmax: a row is all −∞, or has NaN or ∞."
    assert_true(not probs.isnan().any(), no_softmax, goes_on=True)
    normalised = answer.double() / answer.double().sum(-1, keepdim=True)
    are_probs = bool((answer >= 0).all()) and same(normalised, expected) and not same(probs, expected)
    given_probs = "What you return are the probabilities themselves; logits are asked for."
    assert_true(not are_probs, given_probs, is_plain=True, goes_on=True)
    assert_close(probs, expected, what=f"softmax of what you return{what and ': '}{what}")


def renormalised(probs, kept):
    """Probabilities of the kept tokens, in the proportions that they had."""
    left = probs * kept
    return left / left.sum(-1, keepdim=True)


# Probabilities of five tokens, and logits for them whose zero lies anywhere.
PROBS = torch.tensor([[0.1, 0.4, 0.05, 0.25, 0.2], [0.52, 0.02, 0.3, 0.06, 0.1]], dtype=torch.float64)
LOGITS = PROBS.log() + torch.tensor([[1.5], [-2.5]], dtype=torch.float64)

# %% [markdown] exercise="temperature" difficulty=1 minutes=10 exempt="gradient"
# ### 11. Temperature
#
# Write `temperature(logits, t)`, which returns logits (…, V) for the distribution
# $P_t(v) \propto e^{z_v / t}$. Below 1 it is sharper than the model's, above 1 flatter. At $t = 0$ take the
# limit: the most probable token has the probability 1 and all others have 0; of equally probable tokens the
# first one counts.
#
# **Example.** Logits $(0, \ln 3)$ stand for (1/4, 3/4). At $t = 1/2$ they become $(0, 2 \ln 3)$, which is
# (1/10, 9/10); at $t = 0$, (0, 1).
#
# <details><summary>Hint 1</summary>
#
# At which moment is it divided: before the softmax, or after? Try both with the example.
#
# </details>
#
# <details><summary>Hint 2</summary>
#
# For t = 0 no division is needed. Which token should keep a finite logit?
#
# </details>


# %% solution="temperature"
def temperature(logits: Tensor, t: float) -> Tensor:
    """Logits (…, V) of the distribution at temperature t ≥ 0."""
    ### BEGIN SOLUTION
    if t > 0:
        return logits / t
    best = logits.argmax(dim=-1, keepdim=True)
    return torch.full_like(logits, -torch.inf).scatter(-1, best, 0.0)
    ### END SOLUTION


# %% check="the_example_is_sharpened" points=1
def the_example_is_sharpened(temperature):
    """The quarters of the example become tenths at t = 1/2, in either order, and stay as they are at t = 1."""
    logits = torch.tensor([0.0, math.log(3)], dtype=torch.float64)
    tenths = torch.tensor([0.1, 0.9], dtype=torch.float64)
    assert_probs(temperature(logits, 0.5), tenths)
    assert_probs(temperature(logits.flip(0), 0.5), tenths.flip(0), what="in the other order")
    assert_probs(temperature(logits, 1.0), torch.tensor([0.25, 0.75], dtype=torch.float64))


# %% check="heat_makes_everything_possible" points=1
def heat_makes_everything_possible(temperature):
    """At t = 2 probabilities become proportional to their square roots; at a million all are equal."""
    roots = PROBS.sqrt()
    assert_probs(temperature(LOGITS, 2.0), roots / roots.sum(-1, keepdim=True))
    answer = temperature(LOGITS, 1e6).softmax(-1)
    assert_close(answer, torch.full((2, 5), 0.2, dtype=torch.float64), tolerance=1e-4)


# %% check="at_zero_only_the_best_is_left" points=1
def at_zero_only_the_best_is_left(temperature):
    """At t = 0 the most probable token has the probability 1, the first one if there are several."""
    logits = torch.tensor([[0.0, -3.0, 2.0], [5.0, 5.0, -1.0], [-7.0, -2.0, -9.0]], dtype=torch.float64)
    expected = torch.eye(3, dtype=torch.float64)[[2, 0, 1]]
    assert_probs(temperature(logits, 0), expected)


# %% check="other_logits_are_cooled_and_heated" points=1 hidden
def other_logits_are_cooled_and_heated(temperature, draw):
    """Other logits have, at other temperatures, the distribution of the formula."""
    logits = 3 * draw.normal(2, 3, 7) + 20
    logits[..., 4] = -torch.inf
    logits[0, 0, 2], logits[0, 0, 5] = 33.0, 33.0
    for t in (0.3, 1.7):
        powers = [[[math.exp((z - 20) / t) for z in row] for row in rows] for rows in logits.tolist()]
        expected = torch.tensor(powers, dtype=torch.float64)
        assert_probs(temperature(logits, t), expected / expected.sum(-1, keepdim=True), what=f"t = {t}")
    one_hot = torch.eye(7, dtype=torch.float64)[logits.argmax(-1)]
    assert_probs(temperature(logits, 0.0), one_hot, what="t = 0")


# %% [markdown] exercise="top_k" difficulty=1 minutes=10 exempt="gradient"
# ### 12. Top-k
#
# Write `top_k(logits, k)`, which returns logits (…, V) in which only the k most probable tokens of each row
# are left, in the proportions that they had, and those that **tie** with the last of them; all others have
# the probability 0. $1 \le k \le V$.
#
# **Example.** Logits $(1, 3, 0, 2)$ with $k = 2$ give $(-\infty, 3, -\infty, 2)$. Logits $(2, 3, 0, 2)$ with
# $k = 2$ leave three tokens.
#
# <details><summary>Hint 1</summary>
#
# The logit of rank k is a threshold. What has to be compared with it, and does the token at the threshold
# stay?
#
# </details>
#
# <details><summary>Hint 2</summary>
#
# A logit of 0 is a logit like any other. Which logit stands for a probability of 0?
#
# </details>


# %% solution="top_k"
def top_k(logits: Tensor, k: int) -> Tensor:
    """Logits (…, V) of which only the k largest are left, and those that tie with the last of them."""
    ### BEGIN SOLUTION
    threshold = logits.topk(k, dim=-1).values[..., -1:]  # (…, 1)
    return logits.masked_fill(logits < threshold, -torch.inf)
    ### END SOLUTION


# %% check="the_two_best_of_the_example_are_left" points=1
def the_two_best_of_the_example_are_left(top_k):
    """Of the logits (1, 3, 0, 2) the second and the fourth are left, in their proportion; of (2, 0, 3, 1) the others."""
    logits, e = torch.tensor([1.0, 3.0, 0.0, 2.0], dtype=torch.float64), math.e
    left = torch.tensor([0.0, e / (1 + e), 0.0, 1 / (1 + e)], dtype=torch.float64)
    assert_probs(top_k(logits, 2), left)
    assert_probs(top_k(logits.flip(0), 2), left.flip(0), what="of (2, 0, 3, 1)")


# %% check="k_tokens_are_left_in_every_row" points=1
def k_tokens_are_left_in_every_row(top_k, draw):
    """For k from 1 to V, k tokens of every row have a probability, however large the logits are."""
    logits = draw.normal(3, 6) + torch.tensor([[-800.0], [0.0], [900.0]], dtype=torch.float64)
    for k in range(1, 7):
        probs = top_k(logits, k).softmax(-1)
        assert_equal((probs > 0).sum(-1), torch.full((3,), k), what=f"tokens left with k = {k}")


# %% check="equals_stay_together" points=1
def equals_stay_together(top_k):
    """A token that ties with the one of rank k stays; one that is better does not bring others in."""
    logits = torch.tensor([[2.0, 3.0, 0.0, 2.0, 2.0], [3.0, 3.0, 1.0, 0.0, -1.0]], dtype=torch.float64)
    kept = torch.tensor([[True, True, False, True, True], [True, True, False, False, False]])
    assert_probs(top_k(logits, 2), renormalised(logits.softmax(-1), kept))


# %% check="other_logits_keep_their_k_best" points=1 hidden
def other_logits_keep_their_k_best(top_k, draw):
    """Other logits keep their k best, some of them with ties."""
    for k in (1, 3, 4):
        logits = 2 * draw.normal(2, 3, 9)
        logits[..., 5] = -torch.inf
        logits[0, :, 2], logits[0, :, 7] = 6.0, 6.0
        ranked = logits.sort(-1, descending=True).values
        expected = renormalised(logits.softmax(-1), logits >= ranked[..., k - 1 : k])
        assert_probs(top_k(logits, k), expected, what=f"k = {k}")


# %% [markdown] exercise="top_p" difficulty=2 minutes=15 exempt="gradient"
# ### 13. Top-p
#
# The nucleus is the smallest set of most probable tokens whose probabilities sum to **at least** p.
#
# Write `top_p(logits, p)`, $0 < p \le 1$, which returns logits (…, V) in which only the nucleus of each row
# is left, in the proportions that it had. So the token with which the sum reaches p belongs to it, and at
# least one token is left. Of equally probable tokens those with smaller numbers come first.
#
# **Example.** The probabilities (0.1, 0.4, 0.05, 0.25, 0.2) are, in their order, 0.4, 0.25, 0.2, 0.1, 0.05
# and sum to 0.4, 0.65, 0.85, 0.95, 1. With p = 0.6 the tokens 1 and 3 are left, with p = 0.7 the tokens 1, 3
# and 4, and with p = 0.01 token 1 alone.
#
# <details><summary>Hint 1</summary>
#
# A token stays if the sum **before** it is less than p. How do you get that sum from `cumsum`?
#
# </details>
#
# <details><summary>Hint 2</summary>
#
# `sort` also returns which token stands at each rank. `scatter` along the last axis brings a mask from the
# order of ranks back into the order of tokens.
#
# </details>


# %% solution="top_p"
def top_p(logits: Tensor, p: float) -> Tensor:
    """Logits (…, V) of which only the nucleus is left: the smallest set of best tokens that holds p."""
    ### BEGIN SOLUTION
    probs, order = logits.softmax(dim=-1).sort(dim=-1, descending=True, stable=True)
    before = probs.cumsum(dim=-1) - probs
    before[..., 0] = 0.0
    kept = torch.zeros_like(logits, dtype=torch.bool).scatter(-1, order, before < p)
    return logits.masked_fill(~kept, -torch.inf)
    ### END SOLUTION


# %% check="the_nucleus_of_the_example" points=1
def the_nucleus_of_the_example(top_p):
    """Of the example, p = 0.6 leaves the tokens 1 and 3, p = 0.7 the tokens 1, 3 and 4; of another row 0 and 2."""
    for p, kept in ((0.6, (1, 3)), (0.7, (1, 3, 4))):
        expected = renormalised(PROBS[0], torch.isin(torch.arange(5), torch.tensor(kept)))
        assert_probs(top_p(LOGITS[0], p), expected, what=f"p = {p}")
    expected = renormalised(PROBS[1], torch.tensor([True, False, True, False, False]))
    assert_probs(top_p(LOGITS[1], 0.6), expected, what="another row, p = 0.6")


# %% check="the_nucleus_holds_at_least_p" points=1
def the_nucleus_holds_at_least_p(top_p, draw):
    """What is left has at least p of the probability, and without its least token it has less."""
    probs = draw.probabilities(6, 7)
    answers = {p: top_p(probs.log(), p) for p in (0.3, 0.55, 0.85)}
    for p, logits in answers.items():
        left = probs * (logits.softmax(-1) > 0)
        mass = left.sum(-1)
        least = left.masked_fill(left == 0, 2.0).min(-1).values
        assert_true(
            (mass >= p).all(), f"What is left with p = {p} has a probability of {float(mass.min()):.3f}."
        )
        message = f"With p = {p} more tokens are left than needed."
        assert_true((mass - least < p).all(), message)


# %% check="a_tiny_p_leaves_the_best_token" points=1
def a_tiny_p_leaves_the_best_token(top_p):
    """With p = 0.000001 the most probable token of each row is left, and nothing else."""
    assert_probs(top_p(LOGITS, 1e-6), torch.eye(5, dtype=torch.float64)[[1, 0]])


# %% check="a_sum_of_exactly_p_is_enough" points=1
def a_sum_of_exactly_p_is_enough(top_p):
    """Of four equally probable tokens, p = 0.5 leaves the first two, and p = 1 leaves all."""
    logits = torch.full((2, 4), 3.0, dtype=torch.float64)
    half = torch.tensor([[0.5, 0.5, 0.0, 0.0]], dtype=torch.float64)
    assert_probs(top_p(logits, 0.5), half.expand(2, 4), what="p = 0.5")
    assert_probs(top_p(logits, 1.0), torch.full((2, 4), 0.25, dtype=torch.float64), what="p = 1")


# %% check="other_logits_keep_their_nucleus" points=2 hidden
def other_logits_keep_their_nucleus(top_p, draw):
    """Other logits keep their nucleus, found by adding up token after token."""
    for p in (0.2, 0.5, 0.9, 0.97):
        logits = 2 * draw.normal(2, 3, 8) + 50
        logits[0, 0] = torch.tensor([0.0, 3.0, 1.0, 2.0, 0.5, 1.5, 2.5, -1.0])
        logits[..., 6] = -torch.inf
        kept = torch.zeros(2, 3, 8, dtype=torch.bool)
        for b in range(2):
            for t in range(3):
                probs = logits[b, t].softmax(-1).tolist()
                mass = 0.0
                for token in sorted(range(8), key=lambda v, probs=probs: -probs[v]):
                    if mass < p:
                        kept[b, t, token] = True
                    mass += probs[token]
        assert_probs(top_p(logits, p), renormalised(logits.softmax(-1), kept), what=f"p = {p}")
    equal = torch.zeros(3, 8, dtype=torch.float64)
    first = torch.tensor([0.5, 0.5, 0, 0, 0, 0, 0, 0], dtype=torch.float64)
    assert_probs(top_p(equal, 0.25), first.expand(3, 8), what="equals with p = 1/4")


# %% [markdown] exercise="min_p" difficulty=1 minutes=10 exempt="gradient"
# ### 14. Min-p
#
# Top-p keeps many bad tokens where the model is unsure. Min-p asks each token how it compares with the best
# one: it stays if $P(v) \ge p \cdot \max_u P(u)$.
#
# Write `min_p(logits, p)`, $0 < p \le 1$, which returns logits (…, V) in which only these tokens of each row
# are left, in the proportions that they had.
#
# **Example.** Of the probabilities (0.1, 0.4, 0.05, 0.25, 0.2), p = 0.3 asks for at least 0.12 and leaves the
# tokens 1, 3 and 4. With p = 1 token 1 alone is left.
#
# <details><summary>Hint 1</summary>
#
# Adding 5 to all logits of a row changes no probability. Does your threshold keep the same tokens then?
#
# </details>


# %% solution="min_p"
def min_p(logits: Tensor, p: float) -> Tensor:
    """Logits (…, V) of which only tokens at least p times as probable as the best are left."""
    ### BEGIN SOLUTION
    relative = logits - logits.max(dim=-1, keepdim=True).values  # log(P / max P)
    return logits.masked_fill(relative < math.log(p), -torch.inf)
    ### END SOLUTION


# %% check="three_tokens_of_the_example_are_left" points=1
def three_tokens_of_the_example_are_left(min_p):
    """Of the example, p = 0.3 leaves the tokens 1, 3 and 4, and p = 0.15 token 0 too; of another row 0 and 2."""
    for p, kept in ((0.3, (1, 3, 4)), (0.15, (0, 1, 3, 4))):
        expected = renormalised(PROBS[0], torch.isin(torch.arange(5), torch.tensor(kept)))
        assert_probs(min_p(PROBS[0].log(), p), expected, what=f"p = {p}")
    expected = renormalised(PROBS[1], torch.tensor([True, False, True, False, False]))
    assert_probs(min_p(PROBS[1].log(), 0.3), expected, what="another row, p = 0.3")


# %% check="the_zero_of_the_logits_does_not_matter" points=1
def the_zero_of_the_logits_does_not_matter(min_p):
    """A number added to all logits of a row changes nothing: with p = 0.2 four and three tokens are left."""
    rows = [[1.0, -1.0, 0.5, 2.0, 0.0, -2.0, 1.5], [0.3, -1.0, 2.0, 0.0, 2.5, 1.0, -4.0]]
    logits, left = torch.tensor(rows, dtype=torch.float64), torch.zeros(2, 7, dtype=torch.bool)
    left[0, [0, 2, 3, 6]] = left[1, [2, 4, 5]] = True
    for constant in (0.0, 10.0, -10.0, -800.0, 800.0):
        answer = min_p(logits + constant, 0.2)
        assert_probs(answer, renormalised(logits.softmax(-1), left), what=f"{constant:+.0f} added")


# %% check="among_many_equals_all_are_left" points=1
def among_many_equals_all_are_left(min_p):
    """Forty equally probable tokens are all left with p = 0.5, though each has a probability of 0.025 only."""
    uniform = torch.full((2, 40), 1 / 40, dtype=torch.float64)
    assert_probs(min_p(torch.zeros(2, 40, dtype=torch.float64), 0.5), uniform)


# %% check="the_best_token_is_always_left" points=1
def the_best_token_is_always_left(min_p):
    """With p = 1 the most probable token of each row is left, and nothing else."""
    assert_probs(min_p(LOGITS, 1.0), torch.eye(5, dtype=torch.float64)[[1, 0]])


# %% check="other_logits_keep_what_is_near_the_best" points=1 hidden
def other_logits_keep_what_is_near_the_best(min_p, draw):
    """Other logits keep the tokens that are at least p times as probable as the best."""
    for p in (0.05, 0.35, 1.0):
        logits = draw.normal(2, 3, 9) - 30
        logits[..., 3] = -torch.inf
        logits[0, 0, :2] = torch.tensor([-25.0, -25.5])
        probs = logits.softmax(-1)
        expected = renormalised(probs, probs >= p * probs.max(-1, keepdim=True).values * (1 - 1e-9))
        assert_probs(min_p(logits, p), expected, what=f"p = {p}")


# %% [markdown] exercise="combined_filters" difficulty=2 minutes=15 exempt="gradient"
# ### 15. In which order?
#
# Libraries disagree about the order of these steps, and seldom say so. Then the same four settings give other
# texts. This exercise states its order:
#
# 1. Every filter judges the **model's own distribution**, $\mathrm{softmax}(\text{logits})$, with temperature
#    1 and all V tokens: top-k (exercise 12), top-p (exercise 13) and min-p (exercise 14).
# 2. A token is left if **all three** filters leave it.
# 3. What is left is divided by the temperature t, which here is above 0.
#
# Write `combined_filters(logits, t, k, p, least)`, where `least` is the p of min-p. It returns logits (…, V).
#
# **Example.** The probabilities (0.1, 0.4, 0.05, 0.25, 0.2) with k = 4, p = 0.8 and least = 0.55: top-k
# leaves the tokens 0, 1, 3, 4, top-p leaves 1, 3, 4, and min-p, asking for 0.22, leaves 1 and 3. At t = 1/2
# their probabilities are in the proportion $0.4^2 : 0.25^2$.
#
# <details><summary>Hint 1</summary>
#
# Make three masks from the logits as they come, join them, and cool last.
#
# </details>
#
# <details><summary>Hint 2</summary>
#
# If top-p gets logits that top-k has cut already, its softmax distributes the mass of the lost tokens over
# the others. Does the sum then reach p earlier or later?
#
# </details>


# %% solution="combined_filters"
def combined_filters(logits: Tensor, t: float, k: int, p: float, least: float) -> Tensor:
    """Logits (…, V) left by top-k, top-p and min-p, each judging the logits as they come, then divided by t."""
    ### BEGIN SOLUTION
    probs, order = logits.softmax(dim=-1).sort(dim=-1, descending=True, stable=True)
    mass_before = (probs.cumsum(dim=-1) - probs).clamp(min=0.0)
    in_nucleus = torch.zeros_like(logits, dtype=torch.bool).scatter(-1, order, mass_before < p)
    in_top_k = logits >= logits.topk(k, dim=-1).values[..., -1:]
    near_the_best = logits >= logits.max(dim=-1, keepdim=True).values + math.log(least)
    return logits.masked_fill(~(in_nucleus & in_top_k & near_the_best), -torch.inf) / t
    ### END SOLUTION


# %% check="two_tokens_of_the_example_are_left" points=1
def two_tokens_of_the_example_are_left(combined_filters):
    """Of the example the tokens 1 and 3 are left, as 0.16 to 0.0625; of another row 0 and 2, as 0.2704 to 0.09."""
    answer = combined_filters(LOGITS[0], 0.5, 4, 0.8, 0.55)
    assert_probs(answer, renormalised(PROBS[0] ** 2, torch.tensor([False, True, False, True, False])))
    answer = combined_filters(LOGITS[1], 0.5, 4, 0.8, 0.55)
    expected = renormalised(PROBS[1] ** 2, torch.tensor([True, False, True, False, False]))
    assert_probs(answer, expected, what="another row")


# %% check="the_strictest_filter_decides" points=1
def the_strictest_filter_decides(combined_filters):
    """Whichever filter is the strictest, what it forbids is gone, although the others would leave it."""
    three = torch.tensor([True, False, True, False, True])
    two = torch.tensor([True, False, True, False, False])
    for settings, kept in (((3, 1.0, 1e-9), three), ((5, 0.6, 1e-9), two), ((5, 1.0, 0.5), two)):
        answer = combined_filters(LOGITS[1], 1.0, *settings)
        assert_probs(answer, renormalised(PROBS[1], kept), what=f"k, p, least = {settings}")


# %% check="temperature_does_not_change_who_is_left" points=1
def temperature_does_not_change_who_is_left(combined_filters):
    """Hot or cold, the same tokens are left, with the probabilities of their temperature."""
    kept = torch.tensor([[False, True, False, True, True], [True, False, True, False, False]])
    for t in (0.25, 1.0, 3.0):
        expected = renormalised(PROBS ** (1 / t), kept)
        for k, least in ((5, 1e-9), (4, 0.3)):
            assert_probs(combined_filters(LOGITS, t, k, 0.8, least), expected, what=f"t = {t}")


# %% check="the_nucleus_is_that_of_all_tokens" points=1
def the_nucleus_is_that_of_all_tokens(combined_filters):
    """What another filter removes counts in the sum of top-p: 0.4 + 0.25 falls short of 0.7 of everything."""
    expected = renormalised(PROBS[0], torch.tensor([False, True, False, True, True]))
    for k, least in ((3, 1e-9), (5, 0.45)):
        answer = combined_filters(LOGITS[0], 1.0, k, 0.7, least)
        assert_probs(answer, expected, what=f"k = {k}, least = {least}")


# %% check="each_bound_belongs_to_what_is_left" points=1
def each_bound_belongs_to_what_is_left(combined_filters):
    """With least = 1 the best is left; of four equals, two have a sum of exactly 0.5; a constant changes nothing."""
    best = torch.eye(5, dtype=torch.float64)[[1, 0]]
    assert_probs(combined_filters(LOGITS, 1.0, 5, 1.0, 1.0), best, what="least = 1")
    equals, halves = torch.zeros(1, 4, dtype=torch.float64), torch.tensor([[0.5, 0.5, 0.0, 0.0]]).double()
    assert_probs(combined_filters(equals, 1.0, 4, 0.5, 1e-9), halves, what="p = 0.5 of four equals")
    kept = torch.tensor([[False, True, False, True, True], [True, False, True, False, False]])
    low = combined_filters(LOGITS - 200, 1.0, 4, 0.8, 0.3)
    assert_probs(low, renormalised(PROBS, kept), what="200 taken off all logits")


# %% check="other_settings_leave_what_all_filters_leave" points=2 hidden
def other_settings_leave_what_all_filters_leave(combined_filters, draw):
    """Other logits and settings leave what all three filters leave."""
    for t, k, p, least in (
        (1.3, 3, 0.7, 0.02),
        (0.4, 5, 0.7, 0.02),
        (2.5, 6, 0.9, 0.3),
        (1.3, 2, 0.95, 0.01),
        (3.0, 4, 0.6, 0.05),
        (1.0, 5, 0.7, 0.45),
    ):
        logits = torch.cat([LOGITS + 3, 1.5 * draw.normal(3, 5)])
        logits = torch.cat([logits, logits.min(-1, keepdim=True).values - 1 - draw.uniform(5, 2)], dim=-1)
        rows = []
        for row in logits:
            probs = row.softmax(-1)
            ranked = sorted(range(7), key=lambda v, probs=probs: -float(probs[v]))
            masses = [float(probs[ranked[:n]].sum()) for n in range(7)]  # before rank n
            near = float(probs.max()) * least
            left = {v for n, v in enumerate(ranked) if n < k and masses[n] < p and float(probs[v]) >= near}
            kept = torch.tensor([v in left for v in range(7)])
            rows.append(renormalised(probs ** (1 / t), kept))
        answer = combined_filters(logits, t, k, p, least)
        assert_probs(answer, torch.stack(rows), what=f"t, k, p, least = {t, k, p, least}")


# %% [markdown] exercise="repetition_penalty" difficulty=1 minutes=10 exempt="gradient"
# ### 16. Repetition penalty
#
# Models like to repeat themselves. The repetition penalty lowers the logits of tokens that have occurred
# already: a positive logit is divided by the penalty, a negative one multiplied by it.
#
# Write `repetition_penalty(logits, history, penalty)` for logits (B, V), the tokens so far `history` (B, T)
# and a penalty of at least 1. It returns logits (B, V). A token that has occurred is penalised once, however
# often it has occurred, and only in its own row. The logits that come in are not to be changed in place.
#
# **Example.** Logits $(2, -1, 3, -4)$, the history $(0, 1, 0)$ and the penalty 2 give $(1, -2, 3, -4)$.
#
# <details><summary>Hint 1</summary>
#
# What does dividing do to a logit of −1? Is the token more or less probable then?
#
# </details>
#
# <details><summary>Hint 2</summary>
#
# `scatter` with `True` makes a mask (B, V) of what has occurred, and does not count.
#
# </details>


# %% solution="repetition_penalty"
def repetition_penalty(logits: Tensor, history: Tensor, penalty: float) -> Tensor:
    """Logits (B, V) in which tokens of the history (B, T) are less probable."""
    ### BEGIN SOLUTION
    has_occurred = torch.zeros_like(logits, dtype=torch.bool).scatter(1, history, True)
    penalised = torch.where(logits > 0, logits / penalty, logits * penalty)
    return torch.where(has_occurred, penalised, logits)
    ### END SOLUTION


# %% check="the_example_is_penalised" points=1
def the_example_is_penalised(repetition_penalty):
    """The logits (2, −1, 3, −4) of the example become (1, −2, 3, −4)."""
    logits = torch.tensor([[2.0, -1.0, 3.0, -4.0]], dtype=torch.float64)
    expected = torch.tensor([[1.0, -2.0, 3.0, -4.0]], dtype=torch.float64)
    assert_probs(repetition_penalty(logits, torch.tensor([[0, 1, 0]]), 2.0), expected.softmax(-1))


# %% check="what_has_occurred_becomes_less_probable" points=1
def what_has_occurred_becomes_less_probable(repetition_penalty, draw):
    """A single token that has occurred becomes less probable than it was, whatever its logit."""
    logits = 2 * draw.normal(4, 6)
    logits[:, 2] = torch.tensor([1.5, -1.5, 0.5, -0.5])
    before = logits.softmax(-1)[:, 2]
    after = repetition_penalty(logits, torch.full((4, 1), 2), 1.8).softmax(-1)[:, 2]
    grown = [
        f"{p:.4f} became {q:.4f}" for p, q in zip(before.tolist(), after.tolist(), strict=True) if q >= p
    ]
    assert_true(not grown, f"Not every probability became smaller: {', '.join(grown)}.")


# %% check="once_or_often_is_the_same" points=1
def once_or_often_is_the_same(repetition_penalty, draw):
    """Tokens that occurred three times are penalised as those that occurred once."""
    logits = 2 * draw.normal(2, 6)
    answer = repetition_penalty(logits, torch.tensor([[4, 0, 4, 4], [3, 3, 1, 3]]), 1.5)
    once = repetition_penalty(logits, torch.tensor([[4, 0], [3, 1]]), 1.5)
    assert_probs(answer, once.softmax(-1))
    assert_depends(answer.softmax(-1), logits.softmax(-1))


# %% check="every_row_has_its_own_history" points=1
def every_row_has_its_own_history(repetition_penalty, draw):
    """What has occurred in one row is not penalised in another."""
    logits, history = 2 * draw.normal(3, 6), torch.tensor([[0, 1], [2, 3], [4, 5]])
    answer = repetition_penalty(logits, history, 1.5)
    for row in range(3):
        alone = repetition_penalty(logits[row : row + 1], history[row : row + 1], 1.5)
        assert_probs(answer[row : row + 1], alone.softmax(-1), what=f"row {row}")
    assert_depends(answer.softmax(-1), logits.softmax(-1))


# %% check="the_logits_stay_as_they_were" points=1
def the_logits_stay_as_they_were(repetition_penalty, draw):
    """The logits passed to the function are not changed in place."""
    logits = 2 * draw.normal(2, 6)
    answer = repetition_penalty(logits, torch.tensor([[4, 0], [3, 1]]), 1.5)
    assert_equal(list(torch.as_tensor(answer).shape), [2, 6], what="the shape")
    assert_depends(answer, logits)


# %% check="other_histories_are_penalised" points=1 hidden
def other_histories_are_penalised(repetition_penalty, draw):
    """Other logits and histories are penalised token by token."""
    for batch_size, vocab_size, T, penalty in ((3, 7, 5, 1.3), (2, 11, 4, 2.0)):
        logits, history = 3 * draw.normal(batch_size, vocab_size), draw.integers(0, vocab_size, batch_size, T)
        history[:, 1] = history[:, 0]
        logits[torch.arange(batch_size), history[:, 0]] = torch.tensor([1.5, -2.0, 0.5])[:batch_size].double()
        history[0, 2] = (history[0, 0] + 1) % vocab_size
        logits[0, history[0, 2]] = -1.0
        expected = logits.clone()
        for b in range(batch_size):
            for v in set(history[b].tolist()):
                z = float(logits[b, v])
                expected[b, v] = z / penalty if z > 0 else z * penalty
        assert_probs(repetition_penalty(logits, history, penalty), expected.softmax(-1))


# %% [markdown] exercise="mirostat" bonus difficulty=3 minutes=30 dtype="float64"
# ### 17. Mirostat (bonus)
#
# A controller holds the surprise of a text near a target $\tau$, in **bits**. The surprise of a token is
# $-\log_2 P(v)$ under the model's own distribution, nothing cut off. The state is one number $\mu$, the
# largest surprise allowed. It starts at $\mu = 2\tau$, and for every token
#
# 1. only tokens with a surprise of at most $\mu$ are left; if there are none, the most probable one;
# 2. one token is drawn from what is left, in the proportions that it had;
# 3. $\mu \leftarrow \mu - \eta \cdot (\text{surprise of the token} - \tau)$.
#
# Write `mirostat(logits, target, learning_rate, generator)`, where $\tau$ is `target` and $\eta$ is
# `learning_rate`. To make it testable the logits of all steps are known from the start: `logits` is (T, V),
# one row per step, whatever was drawn before. Return the tuple `(tokens, mus)`: the tokens drawn, (T,) int64,
# and all values of $\mu$, from $2\tau$ before the first token to the one after the last, (T + 1,) float64.
# Draw by `torch.multinomial(probs, num_samples=1, generator=generator)`, once per step, with `probs` (V,).
#
# **Example.** Two equally probable tokens have a surprise of one bit each. With $\tau = 3$ and $\eta = 0.1$,
# $\mu$ goes from 6 to 6.2, 6.4, 6.6, …, because every token is less surprising than wanted.
#
# <details><summary>Hint 1</summary>
#
# `log_softmax` is in nats. How many nats is a bit?
#
# </details>
#
# <details><summary>Hint 2</summary>
#
# If the last token was more surprising than wanted, should the next one be allowed more surprise, or less?
#
# </details>
#
# <details><summary>Hint 3</summary>
#
# Step 2 needs the probabilities of what is left, step 3 those of the model. Keep the surprises that you
# computed in step 1.
#
# </details>


# %% solution="mirostat"
def mirostat(
    logits: Tensor, target: float, learning_rate: float, generator: torch.Generator
) -> tuple[Tensor, Tensor]:
    """Tokens (T,) drawn under the controller, and its states mu (T + 1,), both from logits (T, V)."""
    ### BEGIN SOLUTION
    tokens, mus = [], [2.0 * target]
    for row in logits.double():
        surprises = -row.log_softmax(dim=-1) / math.log(2)  # (V,), bits
        kept = surprises <= mus[-1]
        kept[row.argmax()] = True
        probs = row.masked_fill(~kept, -torch.inf).softmax(dim=-1)
        token = torch.multinomial(probs, num_samples=1, generator=generator)
        mus.append(mus[-1] - learning_rate * (float(surprises[token]) - target))
        tokens.append(int(token))
    return torch.tensor(tokens), torch.tensor(mus, dtype=torch.float64)
    ### END SOLUTION


# %% provided="surprises" helper
def bits_of(logits, tokens):
    """The surprise −log2 P of each token (T,) under its row of logits (T, V)."""
    return -logits.log_softmax(-1)[torch.arange(len(tokens)), tokens] / math.log(2)


# %% check="two_equal_tokens_surprise_by_one_bit" points=1
def two_equal_tokens_surprise_by_one_bit(mirostat, draw):
    """With two equally probable tokens, τ = 3 and η = 0.1, μ goes in float64 from 6 to 7 in steps of 0.2."""
    _, mus = mirostat(torch.zeros(5, 2, dtype=torch.float64), 3.0, 0.1, draw.generator())
    assert_close(mus, 6.0 + 0.2 * torch.arange(6, dtype=torch.float64))
    assert_dtype(mus, torch.float64)


# %% check="what_is_certain_allows_more_surprise" points=1
def what_is_certain_allows_more_surprise(mirostat, draw):
    """A certain token surprises by 0 bits, so that μ rises by η times τ at every step."""
    logits = 800 * torch.eye(4, dtype=torch.float64)[[2, 0, 3]]
    tokens, mus = mirostat(logits, 1.5, 0.4, draw.generator())
    assert_equal(tokens, torch.tensor([2, 0, 3]), what="tokens")
    assert_close(mus, 3.0 + 0.6 * torch.arange(4, dtype=torch.float64), what="the states")


# %% check="no_token_surprises_more_than_allowed" points=1
def no_token_surprises_more_than_allowed(mirostat, draw):
    """Of 200 tokens each surprises by at most μ bits, or is the most probable one."""
    logits = 3 * draw.normal(200, 9)
    logits[::10] *= 0.01  # at first every token surprises by 3 bits, more than μ
    logits[1::10] = torch.tensor([6.0, 5.9, *[0.0] * 7]).double()  # then two by 1 bit, when μ has fallen
    tokens, mus = mirostat(logits, 0.8, 0.3, draw.generator())
    surprises = bits_of(logits, tokens)
    allowed = (surprises <= mus[:-1] + 1e-6) | (tokens == logits.argmax(-1))
    steps = (~allowed).nonzero().flatten().tolist()
    assert_true(not steps, f"At the steps {steps} a token surprises by more than μ.")


# %% check="every_state_follows_from_the_one_before" points=1
def every_state_follows_from_the_one_before(mirostat, draw):
    """Each μ is the one before, minus η times (surprise of the token under the model − τ)."""
    logits = 2 * draw.normal(12, 7)
    logits[0] *= 0.01  # at first every token surprises by more than μ
    tokens, mus = mirostat(logits, 1.2, 0.5, draw.generator())
    assert_close(mus[1:], mus[:-1] - 0.5 * (bits_of(logits, tokens) - 1.2))


# %% check="a_surprise_of_exactly_mu_is_allowed" points=1
def a_surprise_of_exactly_mu_is_allowed(mirostat, draw):
    """With τ = 0.5, μ is 1 bit, and of two equally probable tokens, 1 bit each, both are drawn."""
    tokens, _ = mirostat(torch.zeros(40, 2, dtype=torch.float64), 0.5, 0.0, draw.generator())
    assert_equal(tokens.unique().tolist(), [0, 1], what="the tokens drawn")


# %% check="a_surprise_makes_the_next_token_tame" points=1
def a_surprise_makes_the_next_token_tame(mirostat, draw):
    """After a token of 4 bits, with τ = 2.2 and η = 1, tokens of 4 bits are no longer allowed."""
    sixteen, one_and_eight = torch.full((16,), 1 / 16), torch.full((16,), 1 / 16)
    one_and_eight[0], one_and_eight[9:] = 1 / 2, 0
    logits = torch.stack([sixteen, one_and_eight] * 60).double().log()
    tokens, _ = mirostat(logits - 200, 2.2, 1.0, draw.generator())  # which changes no probability
    assert_equal(tokens[1::2], torch.zeros(60, dtype=torch.int64), what="each token after one of 4 bits")


# %% check="the_same_seed_draws_the_same_tokens" points=1
def the_same_seed_draws_the_same_tokens(mirostat, draw):
    """The same seed draws the same tokens, and another one others."""
    logits, seed = draw.normal(30, 9), draw.integers(0, 1000)
    first, again, other = (
        mirostat(logits, 3.0, 0.1, torch.Generator().manual_seed(one))[0] for one in (seed, seed, seed + 1)
    )
    assert_equal(again, first, what="the tokens of the same seed")
    assert_depends(other, first, what="what is drawn")


# %% check="a_surprising_model_leaves_its_best_token" points=1
def a_surprising_model_leaves_its_best_token(mirostat, draw):
    """Where every token would surprise more than allowed, the most probable one is taken."""
    logits = draw.normal(6, 50)
    tokens, _ = mirostat(logits, 0.01, 0.0, draw.generator())
    assert_equal(tokens, logits.argmax(-1))


# %% check="allowed_tokens_keep_their_proportions" points=1
def allowed_tokens_keep_their_proportions(mirostat, draw):
    """In 1500 draws the tokens allowed are as frequent as the model says (false alarms: 1 in 10 million)."""
    probs = torch.tensor([0.1, 0.4, 0.02, 0.28, 0.2], dtype=torch.float64)
    tokens, _ = mirostat(probs.log().expand(1500, 5), 1.25, 0.0, draw.generator())  # at most 2.5 bits
    kept = torch.tensor([False, True, False, True, True])
    drawn_within(tokens, renormalised(probs, kept), "the tokens allowed")


# %% check="the_same_generator_draws_the_specified_tokens" points=2 hidden
def the_same_generator_draws_the_specified_tokens(mirostat, draw):
    """Other logits give the very tokens and states that the specified draws give."""
    for T, vocab_size, target, learning_rate in ((15, 8, 1.1, 0.4), (9, 20, 2.0, 0.2), (4, 40, 0.01, 0.1)):
        logits, generator = 2 * draw.normal(T, vocab_size) + 5, draw.generator()
        own = torch.Generator().manual_seed(generator.initial_seed())
        expected_tokens, expected_mus = [], [2 * target]
        for row in logits.softmax(-1):
            bits = [-math.log2(q) for q in row.tolist()]
            left = [b <= max(expected_mus[-1], min(bits)) for b in bits]
            probs = renormalised(row, torch.tensor(left))
            token = int(torch.multinomial(probs, 1, generator=own))
            expected_tokens.append(token)
            expected_mus.append(expected_mus[-1] - learning_rate * (bits[token] - target))
        tokens, mus = mirostat(logits, target, learning_rate, generator)
        assert_equal(tokens, torch.tensor(expected_tokens), what="tokens")
        assert_close(mus, torch.tensor(expected_mus, dtype=torch.float64), what="the states")


# %% [markdown]
# **Your controller at work.** 200 tokens of which the last is always the most probable: μ begins at twice the
# target. Where does the surprise settle, and why does μ settle above it?

# %% alive="a_look_at_your_controller"
look(
    lambda plots: plots.controller(
        mirostat(torch.linspace(0, 8, 50).expand(200, 50), 3.5, 0.3, torch.Generator().manual_seed(0))[1],
        target=3.5,
        learning_rate=0.3,
    )
)
