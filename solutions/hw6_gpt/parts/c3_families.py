# %% [markdown]
# ### The other samplers
#
# Exercises 18 to 23 are about the samplers of lecture 16 that you have not written yet, a family in each, and
# about the order in which programs apply them. No later exercise needs them. As before, the checks take the
# softmax of the logits that you return.
#
# A token that an earlier filter has cut comes with a logit of $-\infty$. It stays cut, and what it adds to an
# entropy is 0. The **entropy** of a row, in nats, is $H = -\sum_v P(v) \ln P(v)$.


# %% provided="next_words" helper
def next_words():
    """What SmolLM2 expects after *The capital of France is* and *Once upon a time there was a*, (2, 300).

    Logits of the 300 most probable tokens of each, in the order of their numbers.
    """
    from course.pretrained.recorded import FLAT, PEAKED, next_log_probs

    rows = [next_log_probs(context) for context in (PEAKED, FLAT)]
    return torch.stack([row[row.topk(300).indices.sort().values] for row in rows])


# What is left of those two rows: tokens by rule and setting, temperatures, tokens by program.
REAL_LIMITS = (
    ("epsilon", 0.01, [4, 15]),
    ("eta", 0.01, [4, 94]),
    ("eta", 0.002, [20, 184]),
    ("top-a", 0.1, [2, 146]),
    ("top-n-sigma", 3.0, [2, 51]),
)
REAL_CURVES = (
    ("typical", 0.5, [1, 55]),
    ("typical", 0.9, [7, 123]),
    ("tail-free", 0.95, [2, 29]),
    ("xtc", 0.03, [299, 294]),
)
REAL_TEMPERATURES = [0.5252, 1.0541]
REAL_PROGRAMS = {"llama.cpp": [2, 53], "Hugging Face": [10, 144], "vLLM": [7, 144]}
# With presence, frequency, dry and ngram: the probability of the word that would go on with the loop.
REAL_LOOP = (
    ((0.0, 0.0, 0.0, 0), 0.9693),
    ((1.0, 0.0, 0.0, 0), 0.9256),
    ((0.0, 1.0, 0.0, 0), 0.1857),
    ((0.0, 0.0, 0.5, 0), 0.0),
    ((0.0, 0.0, 0.0, 12), 0.0),
    ((0.0, 0.0, 0.0, 20), 0.9693),
)


def only(vocab_size, *rows):
    """A mask (rows, V) of the tokens listed in each row."""
    tokens = torch.arange(vocab_size)
    return torch.stack([torch.isin(tokens, torch.tensor(row)) for row in rows])


def with_tokens_cut(logits, n):
    """The same logits, and n more tokens in front that an earlier filter has cut."""
    cut = torch.full((*logits.shape[:-1], n), -torch.inf, dtype=logits.dtype)
    return torch.cat([cut, logits], dim=-1)


def n_left(logits):
    """How many tokens of each row keep a probability."""
    return (logits.double().softmax(-1) > 0).sum(-1)


# %% [markdown] exercise="limited" difficulty=2 minutes=25 exempt="gradient"
# ### 18. Four limits
#
# The simplest filter is a limit that a token has to reach. The filters of this family differ in what their
# limit knows about the distribution:
#
# | `rule` | a token stays if | so the limit |
# |---|---|---|
# | `"epsilon"` | $P(v) \ge x$ | is the same everywhere |
# | `"eta"` | $P(v) \ge \min(x, \sqrt{x} \cdot e^{-H})$ | falls where the model is unsure |
# | `"top-a"` | $P(v) \ge x \cdot (\max P)^2$ | rises quickly with the best token |
# | `"top-n-sigma"` | $z_v \ge \max z - x \cdot \sigma$ | counts standard deviations of the logits |
#
# Write `limited(logits, rule, x)`, which returns logits (…, V) in which only these tokens of each row are
# left, in the proportions that they had. $\sigma$ is the standard deviation of those logits of the row that
# are finite, with the sum of squares divided by their number **minus 1**; there are at least two. A token
# exactly at the limit stays. So does the most probable token, even below the limit; of equally probable ones
# the first. For the first three rules $0 < x \le 1$.
#
# **Example.** The probabilities (0.1, 0.4, 0.05, 0.25, 0.2) have $H = 1.415$. With $x = 0.15$, epsilon leaves
# the tokens 1, 3, 4; the limit of eta is $\sqrt{0.15} \cdot e^{-1.415} = 0.094$, which leaves token 0 too.
# With $x = 0.8$ the limit of top-a is 0.128. Logits $(0, 1, 2)$ have $\sigma = 1$, so top-n-sigma with
# $x = 1$ leaves the last two.
#
# <details><summary>Hint 1</summary>
#
# Each rule needs one number per row, of shape (…, 1). What does `keepdim=True` do?
#
# </details>
#
# <details><summary>Hint 2</summary>
#
# 0 · (−∞) is NaN, not 0. `torch.special.entr` knows the limit of $-p \ln p$ at 0.
#
# </details>
#
# <details><summary>Hint 3</summary>
#
# Infinite logits would make σ infinite. Put 0 in their place before you sum, and count the finite ones.
#
# </details>


# %% solution="limited"
def limited(logits: Tensor, rule: str, x: float) -> Tensor:
    """Logits (…, V) of which only tokens that reach the limit are left, and the most probable one."""
    ### BEGIN SOLUTION
    probs = logits.softmax(dim=-1)
    best = logits.argmax(dim=-1, keepdim=True)
    if rule == "epsilon":
        kept = probs >= x
    elif rule == "eta":
        entropy = torch.special.entr(probs).sum(dim=-1, keepdim=True)
        kept = probs >= (math.sqrt(x) * torch.exp(-entropy)).clamp(max=x)
    elif rule == "top-a":
        kept = probs >= x * probs.gather(-1, best) ** 2
    else:
        finite = logits.isfinite()
        n = finite.sum(dim=-1, keepdim=True)
        mean = logits.where(finite, 0.0).sum(dim=-1, keepdim=True) / n
        squares = (logits - mean).where(finite, 0.0).square().sum(dim=-1, keepdim=True)
        kept = logits >= logits.gather(-1, best) - x * (squares / (n - 1)).sqrt()
    return logits.masked_fill(~kept.scatter(-1, best, True), -torch.inf)
    ### END SOLUTION


# %% check="epsilon_is_the_same_limit_everywhere" points=1
def epsilon_is_the_same_limit_everywhere(limited):
    """With epsilon and x = 0.15 the tokens 1, 3, 4 of the example are left, with 0.08 token 0 too; also in (2, 1, V)."""
    for x, rows in ((0.15, ([1, 3, 4], [0, 2])), (0.08, ([0, 1, 3, 4], [0, 2, 4]))):
        expected = renormalised(PROBS, only(5, *rows))
        assert_probs(limited(LOGITS, "epsilon", x), expected, what=f"x = {x}")
    assert_probs(limited(LOGITS[:, None], "epsilon", x), expected[:, None], what=f"(2, 1, V), x = {x}")


# %% check="a_limit_can_be_reached_exactly" points=1
def a_limit_can_be_reached_exactly(limited):
    """Four tokens of a probability of exactly 0.25 are all left with epsilon and x = 0.25."""
    quarters = torch.full((2, 4), 0.25, dtype=torch.float64)
    assert_probs(limited(torch.zeros(2, 4, dtype=torch.float64), "epsilon", 0.25), quarters)


# %% check="the_best_token_stays_below_the_limit" points=1
def the_best_token_stays_below_the_limit(limited):
    """Where no token reaches epsilon, the most probable one is left, of equals the first."""
    assert_probs(limited(LOGITS, "epsilon", 0.7), torch.eye(5, dtype=torch.float64)[[1, 0]])
    equals = torch.tensor([[0.0, 2.0, 2.0, -1.0]], dtype=torch.float64)
    assert_probs(limited(equals, "epsilon", 0.9), torch.eye(4, dtype=torch.float64)[[1]], what="of equals")


# %% check="eta_falls_with_the_entropy" points=1
def eta_falls_with_the_entropy(limited):
    """Eta and x = 0.15 leave token 0 of the example too; where the model is sure, the limit is x itself."""
    answer = limited(LOGITS[:1], "eta", 0.15)
    assert_probs(answer, renormalised(PROBS[:1], only(5, [0, 1, 3, 4])), what="the example, x = 0.15")
    sure = torch.tensor([[0.03, 0.9, 0.02, 0.05], [0.86, 0.05, 0.06, 0.03]], dtype=torch.float64)
    expected = renormalised(sure, only(4, [1, 3], [0, 1, 2]))
    assert_probs(limited(sure.log(), "eta", 0.04), expected, what="two sure rows, x = 0.04")


# %% check="top_a_squares_the_best" points=1
def top_a_squares_the_best(limited):
    """Top-a asks for 0.8 · 0.4² = 0.128 in the example's row, and for 0.8 · 0.52² = 0.216 in another."""
    expected = renormalised(PROBS, only(5, [1, 3, 4], [0, 2]))
    assert_probs(limited(LOGITS, "top-a", 0.8), expected, what="x = 0.8")
    expected = renormalised(PROBS, only(5, [0, 1, 3, 4], [0, 2, 4]))
    assert_probs(limited(LOGITS, "top-a", 0.32), expected, what="x = 0.32")


# %% check="sigma_divides_by_one_less" points=1
def sigma_divides_by_one_less(limited):
    """Of the logits 0, 1, 2 top-n-sigma leaves the last two with x = 1, and all with x = 2."""
    logits = torch.tensor([[0.0, 1.0, 2.0], [4.0, 0.0, 2.0]], dtype=torch.float64)
    kept = only(3, [1, 2], [0, 2])
    assert_probs(limited(logits, "top-n-sigma", 1.0), renormalised(logits.softmax(-1), kept), what="x = 1")
    left = n_left(limited(logits, "top-n-sigma", 2.0))
    assert_equal(left, torch.tensor([3, 3]), what="tokens left with x = 2")


# %% check="top_n_sigma_ignores_the_temperature" points=1
def top_n_sigma_ignores_the_temperature(limited):
    """Whatever the logits are divided by and whatever is added, top-n-sigma leaves the same tokens."""
    rows = [[1.0, -1.0, 0.5, 2.0, 0.0, -2.0, 1.5], [0.3, -1.0, 2.0, 0.0, 2.5, 1.0, -4.0]]
    logits, kept = torch.tensor(rows, dtype=torch.float64), only(7, [0, 2, 3, 6], [0, 2, 3, 4, 5])
    cases = ((1.0, 0.0), (0.2, 0.0), (5.0, 30.0), (1.0, -300.0))
    answers = [limited(logits / t + constant, "top-n-sigma", 1.2) for t, constant in cases]
    for (t, constant), answer in zip(cases, answers, strict=True):
        expected = renormalised((logits / t).softmax(-1), kept)
        assert_probs(answer, expected, what=f"t = {t}, {constant:+.0f}")


# %% check="what_was_cut_before_moves_no_limit" points=1
def what_was_cut_before_moves_no_limit(limited):
    """Three tokens more that were cut before stay cut, and the other tokens left are the same."""
    for rule, x, kept in (
        ("eta", 0.15, only(8, [3, 4, 6, 7], [3, 5])),
        ("top-n-sigma", 1.2, only(8, [4, 6, 7], [3, 5])),
    ):
        expected = renormalised(functional.pad(PROBS, (3, 0)), kept)
        assert_probs(limited(with_tokens_cut(LOGITS, 3), rule, x), expected, what=rule)


# %% check="real_limits_leave_few_or_many" points=1
def real_limits_leave_few_or_many(limited):
    """SmolLM2 is sure of *Paris* and unsure of a story's beginning; each rule leaves its own number of tokens."""
    logits = next_words()
    for rule, x, numbers in REAL_LIMITS:
        left = n_left(limited(logits, rule, x))
        assert_equal(left, torch.tensor(numbers), what=f"tokens left by {rule}, x = {x}")


# %% check="other_rows_meet_each_limit" points=2 hidden
def other_rows_meet_each_limit(limited, draw):
    """Other logits keep what reaches each limit."""
    for rule, x in (("epsilon", 0.07), ("eta", 0.12), ("top-a", 0.35), ("top-n-sigma", 0.9), ("eta", 0.01)):
        logits = 1.5 * draw.normal(2, 3, 9) + 40
        logits[..., 4] = -torch.inf
        logits[0, 0, 2], logits[0, 1, 6] = 47.0, 45.0
        logits[1, 2] = torch.tensor([40.0, 41.0, 42.0, 43.0, -torch.inf, 44.0, 44.87, 46.0, 47.0]).double()
        kept = torch.zeros(2, 3, 9, dtype=torch.bool)
        for b in range(2):
            for t in range(3):
                z, probs = logits[b, t].tolist(), logits[b, t].softmax(-1).tolist()
                finite = [value for value in z if value > -math.inf]
                mean = sum(finite) / len(finite)
                sigma = math.sqrt(sum((value - mean) ** 2 for value in finite) / (len(finite) - 1))
                H = -sum(q * math.log(q) for q in probs if q > 0)
                least = {
                    "epsilon": x,
                    "eta": min(x, math.sqrt(x) * math.exp(-H)),
                    "top-a": x * max(probs) ** 2,
                    "top-n-sigma": math.exp(-x * sigma) * max(probs),
                }[rule]
                kept[b, t] = torch.tensor([q >= least or q == max(probs) for q in probs])
        expected = renormalised(logits.softmax(-1), kept)
        assert_probs(limited(logits, rule, x), expected, what=f"{rule}, x = {x}")


# %% [markdown] exercise="cut_by_curve" bonus difficulty=3 minutes=40 exempt="gradient"
# ### 19. Three walks along the curve (bonus)
#
# These filters sort the tokens of a row, walk along them, and stop somewhere. Of equals, the token with the
# smaller number comes first.
#
# - `"typical"` walks from the tokens whose surprise $-\ln P(v)$ is nearest to the entropy $H$ to those
#   whose surprise is farthest from it, whether above or below. A token stays if those **before** it in this
#   order have less than x of the probability in all. The most probable token stays in any case; of equally
#   probable ones the first.
# - `"tail-free"` walks from the most probable token down, $P_{(1)} \ge P_{(2)} \ge \dots \ge P_{(V)}$, and
#   looks for the place where this curve stops bending. The bend at rank i, from 2 to V − 1, is
#   $b_i = |P_{(i-1)} - 2 P_{(i)} + P_{(i+1)}|$. The token of rank i stays if
#   $b_2 + \dots + b_i \le x \cdot (b_2 + \dots + b_{V-1})$. Rank 1 always stays, rank V never.
# - `"xtc"` (*exclude top choices*) leaves out the best. Tokens with $P(v) \ge x$ are good. If there are two
#   or more, all of them go except the **least** probable one, of equals the last; if not, nothing changes.
#   (Programs toss a coin first; here it always says yes.)
#
# Write `cut_by_curve(logits, rule, x)` with $0 < x < 1$ and $V \ge 3$. It returns logits (…, V) in which only
# the tokens that stay are left, in the proportions that they had. You may assume that not all bends are 0.
#
# **Example.** The probabilities (0.1, 0.4, 0.05, 0.25, 0.2) have $H = 1.415$; the surprises 2.30, 0.92, 3.00,
# 1.39, 1.61 are nearest to it for the tokens 3, 4, 1, 0, 2, in this order. Typical with $x = 0.2$ leaves
# token 3, and token 1 because it is the most probable one. The bends are 0.1, 0.05, 0.05, so tail-free leaves
# the tokens 1, 3 with $x = 0.6$ and 1, 3, 4 with $x = 0.8$. XTC with $x = 0.15$ finds the tokens 1, 3, 4 good
# and leaves 0, 2, 4.
#
# <details><summary>Hint 1</summary>
#
# All three have the same end: a mask in the order of the walk, which has to come back into the order of
# tokens. You have met that in top-p.
#
# </details>
#
# <details><summary>Hint 2</summary>
#
# `diff` twice gives V − 2 bends. To which rank does the first of them belong? `functional.pad` adds what is
# missing at both ends.
#
# </details>
#
# <details><summary>Hint 3</summary>
#
# In the order of ranks the good tokens stand in front. How can a token tell from the one **after** it that it
# is not the last good one?
#
# </details>


# %% solution="cut_by_curve"
def cut_by_curve(logits: Tensor, rule: str, x: float) -> Tensor:
    """Logits (…, V) of which only tokens are left that the rule leaves on its walk along the row."""
    ### BEGIN SOLUTION
    probs, order = logits.softmax(dim=-1).sort(dim=-1, descending=True, stable=True)
    if rule == "typical":
        entropy = torch.special.entr(probs).sum(dim=-1, keepdim=True)
        distances = (-logits.log_softmax(dim=-1) - entropy).abs()
        walk = distances.argsort(dim=-1, stable=True)
        masses = logits.softmax(dim=-1).gather(-1, walk)
        kept = masses.cumsum(dim=-1) - masses < x
        kept = torch.zeros_like(kept).scatter(-1, walk, kept).scatter(-1, order[..., :1], True)
    elif rule == "tail-free":
        bends = probs.diff(dim=-1).diff(dim=-1).abs()  # (…, V − 2)
        bent = bends.cumsum(dim=-1) <= x * bends.sum(dim=-1, keepdim=True)
        kept = functional.pad(bent, (0, 1), value=False)
        kept = functional.pad(kept, (1, 0), value=True)
        kept = torch.zeros_like(kept).scatter(-1, order, kept)
    else:
        next_is_good = functional.pad(probs[..., 1:] >= x, (0, 1))
        kept = ~torch.zeros_like(next_is_good).scatter(-1, order, next_is_good)
    return logits.masked_fill(~kept, -torch.inf)
    ### END SOLUTION


# %% provided="a_flat_top" helper
# The most probable token of the second row is the least typical one: ten others are as good as average.
FLAT_TOP = torch.tensor(
    [
        [0.02, 0.11, 0.13, 0.04, 0.1, 0.3, 0.05, 0.09, 0.095, 0.065],
        [0.098, 0.09, 0.102, 0.09, 0.28, 0.092, 0.1, 0.048, 0.05, 0.05],
    ],
    dtype=torch.float64,
)


# %% check="typical_tokens_surprise_as_expected" points=2
def typical_tokens_surprise_as_expected(cut_by_curve):
    """Typical leaves the tokens whose surprise is nearest to the entropy, up to a probability of x; also in (2, 1, V)."""
    answer, other = cut_by_curve(LOGITS, "typical", 0.44), cut_by_curve(FLAT_TOP.log(), "typical", 0.47)
    expected = renormalised(PROBS, only(5, [1, 3, 4], [0, 2]))
    assert_probs(answer, expected, what="x = 0.44")
    answer = cut_by_curve(LOGITS[:, None], "typical", 0.44)
    assert_probs(answer, expected[:, None], what="(2, 1, V), x = 0.44")
    expected = renormalised(FLAT_TOP, walked(FLAT_TOP, 0.47))
    assert_probs(other, expected, what="ten tokens, x = 0.47")


# %% check="the_best_token_need_not_be_typical" points=1
def the_best_token_need_not_be_typical(cut_by_curve):
    """Typical with x = 0.2 leaves token 3 of the example, and token 1, which is the most probable."""
    expected = renormalised(PROBS, only(5, [1, 3], [0, 2]))
    assert_probs(cut_by_curve(LOGITS, "typical", 0.2), expected)
    turned = cut_by_curve(LOGITS.flip(1), "typical", 0.2)
    assert_probs(turned, expected.flip(1), what="the tokens in the other order")


# %% check="tail_free_stops_where_the_curve_is_straight" points=1
def tail_free_stops_where_the_curve_is_straight(cut_by_curve):
    """Tail-free leaves the tokens 1 and 3 of the example with x = 0.6, and token 4 with x = 0.8; exactly x is enough."""
    rows = {0.12: ([1], [0, 2]), 0.3: ([1], [0, 2]), 0.6: ([1, 3], [0, 2]), 0.8: ([1, 3, 4], [0, 2])}
    answers = {x: cut_by_curve(LOGITS, "tail-free", x) for x in rows}
    for x, left in rows.items():
        assert_probs(answers[x], renormalised(PROBS, only(5, *left)), what=f"x = {x}")
    two = torch.tensor([[0.0, 0.0, -torch.inf, -torch.inf]], dtype=torch.float64)  # the bends are a half each
    assert_probs(cut_by_curve(two, "tail-free", 0.5), two.softmax(-1), what="a bend of exactly x")


# %% check="tail_free_never_reaches_the_end" points=1
def tail_free_never_reaches_the_end(cut_by_curve, draw):
    """However near to 1 x is, the last two ranks of each row go; of these six tokens four stay."""
    probs = torch.tensor([0.36, 0.25, 0.16, 0.11, 0.07, 0.05], dtype=torch.float64)
    probs = torch.stack([probs[draw.permutation(6)] for _ in range(3)])
    answer = cut_by_curve(probs.log(), "tail-free", 1 - 1e-6)
    assert_probs(answer, renormalised(probs, probs > 0.1))


# %% check="xtc_leaves_the_least_of_the_good" points=1
def xtc_leaves_the_least_of_the_good(cut_by_curve):
    """XTC with x = 0.15 leaves the tokens 0, 2, 4 of the example: 1 and 3 are better than 4, which is good."""
    answer = cut_by_curve(LOGITS, "xtc", 0.15)
    assert_probs(answer, renormalised(PROBS, only(5, [0, 2, 4], [1, 2, 3, 4])))


# %% check="xtc_needs_two_good_tokens" points=1
def xtc_needs_two_good_tokens(cut_by_curve):
    """With one good token, or none, XTC changes nothing."""
    for x, what in ((0.35, "one good token"), (0.6, "no good token")):
        assert_probs(cut_by_curve(LOGITS, "xtc", x), PROBS, what=what)


# %% check="equals_are_walked_in_their_order" points=1
def equals_are_walked_in_their_order(cut_by_curve):
    """Of equals the first come first: two of four quarters hold 0.5, and of equally good tokens the last stays."""
    quarters = torch.zeros(2, 4, dtype=torch.float64)
    halves = torch.tensor([[0.5, 0.5, 0.0, 0.0]], dtype=torch.float64).expand(2, 4)
    assert_probs(cut_by_curve(quarters, "typical", 0.5), halves, what="typical")
    probs = torch.tensor([[0.3, 0.1, 0.3, 0.3], [0.1, 0.3, 0.3, 0.3]], dtype=torch.float64)
    answer = cut_by_curve(probs.log(), "xtc", 0.2)
    assert_probs(answer, renormalised(probs, only(4, [1, 3], [0, 3])), what="xtc")
    last = torch.eye(4, dtype=torch.float64)[[3, 3]]
    assert_probs(cut_by_curve(quarters, "xtc", 0.25), last, what="xtc, all exactly at x")


# %% check="what_was_cut_before_is_not_walked" points=1
def what_was_cut_before_is_not_walked(cut_by_curve):
    """Three tokens more that were cut before stay cut, and typical leaves the same others."""
    answer = cut_by_curve(with_tokens_cut(LOGITS, 3), "typical", 0.44)
    assert_probs(answer, renormalised(functional.pad(PROBS, (3, 0)), only(8, [4, 6, 7], [3, 5])))


# %% check="real_curves_are_cut" points=1
def real_curves_are_cut(cut_by_curve):
    """Of SmolLM2's next tokens after a fact and after a story's beginning, each rule leaves its own number."""
    logits = next_words()
    for rule, x, numbers in REAL_CURVES:
        left = n_left(cut_by_curve(logits, rule, x))
        assert_equal(left, torch.tensor(numbers), what=f"tokens left by {rule}, x = {x}")


# %% provided="a_walk" helper
def walked(probs, x):
    """The mask of typical sampling for rows (N, V), found by adding up token after token."""
    kept = torch.zeros_like(probs, dtype=torch.bool)
    for row, mine in zip(probs.tolist(), kept, strict=True):
        H = -sum(q * math.log(q) for q in row if q > 0)
        possible = [v for v in range(len(row)) if row[v] > 0]
        mass = 0.0
        for v in sorted(possible, key=lambda v, row=row, H=H: abs(-math.log(row[v]) - H)):
            mine[v] = mass < x
            mass += row[v]
        mine[row.index(max(row))] = True
    return kept


# %% check="other_curves_are_cut_at_their_place" points=2 hidden
def other_curves_are_cut_at_their_place(cut_by_curve, draw):
    """Other logits keep what each walk leaves."""
    for x in (0.15, 0.4, 0.8):
        logits = 1.5 * draw.normal(3, 9) + 20
        logits[:, 4] = -torch.inf
        probs = logits.softmax(-1)
        kept = {"typical": walked(probs, x)}
        bent, good = torch.zeros(3, 9, dtype=torch.bool), torch.ones(3, 9, dtype=torch.bool)
        for row, mine, others in zip(probs.tolist(), bent, good, strict=True):
            ranked = sorted(range(9), key=lambda v, row=row: -row[v])
            heights = [row[v] for v in ranked]
            bends = [abs(a - 2 * b + c) for a, b, c in zip(heights, heights[1:], heights[2:], strict=False)]
            for rank, v in enumerate(ranked[1:-1]):
                mine[v] = sum(bends[: rank + 1]) <= x * sum(bends)
            mine[ranked[0]] = True
            for v in [v for v in ranked if row[v] >= x / 3][:-1]:
                others[v] = False
        kept |= {"tail-free": bent, "xtc": good}
        for rule, stays in kept.items():
            answer = cut_by_curve(logits[:, None], rule, x / 3 if rule == "xtc" else x)
            assert_probs(answer, renormalised(probs, stays)[:, None], what=f"{rule}, x = {x}")


# %% [markdown] exercise="bent" bonus difficulty=2 minutes=20 exempt="gradient"
# ### 20. Bent, not cut (bonus)
#
# Two samplers remove nothing. They change the distances between logits, more cleverly than a temperature.
#
# - `"quadratic"` replaces $z_v$ by
#   $\max z - x \cdot \left( \frac{3 - y}{2} d_v^2 - \frac{y - 1}{2} d_v^3 \right)$ with $d_v = z_v - \max z$.
#   Here $x > 0$ and $1 \le y \le 3$. Near the best token distances shrink, far from it they grow.
# - `"dynamic"` divides the logits of each row by a temperature that grows with the row's entropy,
#   $t = x + (y - x) \cdot H / \ln n$, where n is the number of tokens of the row that can still occur, those
#   whose logit is not $-\infty$. Here $0 < x \le y$. If n = 1, then t = x.
#
# Write `bent(logits, rule, x, y)`, which returns logits (…, V).
#
# **Example.** Logits $(0, 2, 1)$ have $d = (-2, 0, -1)$. Quadratic with $x = 0.5$ and $y = 1$ gives
# $(0, 2, 1.5)$, and with $y = 2$ it gives $(-1, 2, 1.5)$. Two equally probable tokens have the
# largest entropy that two tokens can have, so dynamic divides by y; if one token is certain, it divides by x.
#
# <details><summary>Hint 1</summary>
#
# d is never positive. Which sign has $d^3$, and should a distant token gain or lose by it?
#
# </details>
#
# <details><summary>Hint 2</summary>
#
# What is ln 1, and what is 0 / 0? `clamp` can keep a divisor away from 0.
#
# </details>


# %% solution="bent"
def bent(logits: Tensor, rule: str, x: float, y: float) -> Tensor:
    """Logits (…, V) at other distances from the best one: quadratic, or at a temperature of their own."""
    ### BEGIN SOLUTION
    possible = logits > -torch.inf
    if rule == "quadratic":
        best = logits.max(dim=-1, keepdim=True).values
        d = (logits - best).where(possible, 0.0)
        return (best - x * ((3 - y) / 2 * d**2 - (y - 1) / 2 * d**3)).where(possible, -torch.inf)
    entropy = torch.special.entr(logits.softmax(dim=-1)).sum(dim=-1, keepdim=True)
    highest = possible.sum(dim=-1, keepdim=True).clamp(min=2).log()
    return logits / (x + (y - x) * entropy / highest)
    ### END SOLUTION


# %% check="squares_of_the_example" points=1
def squares_of_the_example(bent):
    """Quadratic with x = 0.5 and y = 1 makes (0, 2, 1.5) of the example's logits (0, 2, 1); also in (2, 1, V)."""
    logits = torch.tensor([[0.0, 2.0, 1.0], [3.0, 0.0, 1.0]], dtype=torch.float64)
    expected = torch.tensor([[0.0, 2.0, 1.5], [3.0, -1.5, 1.0]], dtype=torch.float64)
    assert_probs(bent(logits, "quadratic", 0.5, 1.0), expected.softmax(-1))
    turned = bent(logits.flip(1), "quadratic", 0.5, 1.0)
    assert_probs(turned, expected.flip(1).softmax(-1), what="the tokens in the other order")
    answer = bent(logits[:, None], "quadratic", 0.5, 1.0)
    assert_probs(answer, expected[:, None].softmax(-1), what="(2, 1, V)")


# %% check="cubes_of_the_example" points=1
def cubes_of_the_example(bent):
    """With y = 2 it makes (-1, 2, 1.5), and with y = 3 only the cubes are left: (-2, 2, 1.5)."""
    logits = torch.tensor([[0.0, 2.0, 1.0]], dtype=torch.float64)
    for y, row in ((2.0, [-1.0, 2.0, 1.5]), (3.0, [-2.0, 2.0, 1.5])):
        expected = torch.tensor([row], dtype=torch.float64).softmax(-1)
        assert_probs(bent(logits, "quadratic", 0.5, y), expected, what=f"y = {y}")


# %% check="only_distances_are_bent" points=1
def only_distances_are_bent(bent):
    """A number added to all logits of a row changes nothing in what is bent."""
    logits = torch.tensor([[1.0, -1.0, 0.5, 2.0], [0.3, -1.0, 2.5, 0.0]], dtype=torch.float64)
    best = logits.max(-1, keepdim=True).values
    for constant in (4.0, -7.0, -200.0):
        expected = (-0.4 * (best - logits) ** 2).softmax(-1)
        answer = bent(logits + constant, "quadratic", 0.4, 1.0)
        assert_probs(answer, expected, what=f"quadratic, {constant:+.0f}")


# %% check="a_sure_row_is_cool_and_an_unsure_one_hot" points=1
def a_sure_row_is_cool_and_an_unsure_one_hot(bent):
    """With x = 0.5 and y = 2 a row that is as good as certain is divided by 0.5, and one of near equals by 2."""
    logits = torch.tensor([[0.0, 30.0, 4.0], [0.001, 0.0, 0.002]], dtype=torch.float64)
    answer = bent(logits, "dynamic", 0.5, 2.0)
    distances = answer - answer[:, :1]
    expected = torch.tensor([[0.0, 60.0, 8.0], [0.0, -0.0005, 0.0005]], dtype=torch.float64)
    assert_close(distances, expected, tolerance=1e-6, what="distances from the first logit")


# %% check="between_them_the_entropy_decides" points=1
def between_them_the_entropy_decides(bent):
    """The example of exercise 18 has 0.879 of the entropy that five tokens can have, another row 0.732."""
    entropies = -(PROBS * PROBS.log()).sum(-1, keepdim=True)
    for x, y in ((0.5, 1.5), (0.2, 3.0)):
        powers = PROBS ** (1 / (x + (y - x) * entropies / math.log(5)))
        assert_probs(bent(LOGITS, "dynamic", x, y), powers / powers.sum(-1, keepdim=True), f"x, y = {x, y}")


# %% check="only_possible_tokens_count" points=1
def only_possible_tokens_count(bent):
    """Three tokens more that were cut before stay cut, and change neither of the two; nor does one where two are left."""
    for rule, x, y in (("dynamic", 0.5, 2.5), ("quadratic", 0.3, 1.0), ("quadratic", 0.3, 2.2)):
        if rule == "dynamic":
            entropies = -(PROBS * PROBS.log()).sum(-1, keepdim=True)
            powers = PROBS ** (1 / (x + (y - x) * entropies / math.log(5)))
        else:
            d = PROBS.log() - PROBS.log().max(-1, keepdim=True).values
            powers = (-x * ((3 - y) / 2 * d**2 - (y - 1) / 2 * d**3)).exp()
        expected = functional.pad(powers / powers.sum(-1, keepdim=True), (3, 0))
        assert_probs(bent(with_tokens_cut(LOGITS, 3), rule, x, y), expected, what=f"{rule}, x, y = {x, y}")
    few, n = torch.tensor([[0.8, 0.2, 0.0], [0.5, 0.3, 0.2]]).double(), torch.tensor([[2.0], [3.0]]).double()
    powers = few ** (1 / (0.5 + 2 * torch.special.entr(few).sum(-1, keepdim=True) / n.log()))
    expected = powers / powers.sum(-1, keepdim=True)
    assert_probs(bent(few.log(), "dynamic", 0.5, 2.5), expected, what="two tokens left, and three")


# %% check="a_single_token_stays" points=1
def a_single_token_stays(bent):
    """Where one token can occur and all others were cut, dynamic leaves it, and no NaN."""
    logits = torch.tensor([[-torch.inf, 3.0, -torch.inf], [-1.0, -torch.inf, -torch.inf]]).double()
    assert_probs(bent(logits, "dynamic", 0.7, 1.6), torch.eye(3, dtype=torch.float64)[[1, 0]])


# %% check="real_rows_get_their_own_temperature" points=1
def real_rows_get_their_own_temperature(bent):
    """SmolLM2's two rows get two temperatures, and the ratio of two tokens says which."""
    logits = next_words()
    (best, second), answer = logits.topk(2).indices.T, bent(logits, "dynamic", 0.3, 1.3)
    rows = torch.arange(2)
    before = logits[rows, best] - logits[rows, second]
    after = answer[rows, best] - answer[rows, second]
    expected = torch.tensor(REAL_TEMPERATURES, dtype=torch.float64)
    assert_close(before / after, expected, tolerance=1e-3, what="temperatures")


# %% check="other_rows_are_bent" points=2 hidden
def other_rows_are_bent(bent, draw):
    """Other logits are bent as the formulas say."""
    for x, y in ((0.4, 1.0), (0.2, 1.7), (0.1, 3.0)):
        logits = 1.5 * draw.normal(2, 3, 7) - 10
        logits[..., 2] = -torch.inf
        quadratic, dynamic = torch.zeros(2, 3, 7).double(), torch.zeros(2, 3, 7).double()
        for b in range(2):
            for t in range(3):
                z, probs = logits[b, t].tolist(), logits[b, t].softmax(-1).tolist()
                H = -sum(q * math.log(q) for q in probs if q > 0)
                heat = x + (y - x) * H / math.log(6)
                for v in range(7):
                    d = z[v] - max(z)
                    if v != 2:
                        quadratic[b, t, v] = math.exp(-x * ((3 - y) * d * d - (y - 1) * d**3) / 2)
                        dynamic[b, t, v] = math.exp(d / heat)
        for rule, powers in (("quadratic", quadratic), ("dynamic", dynamic)):
            expected = powers / powers.sum(-1, keepdim=True)
            assert_probs(bent(logits, rule, x, y), expected, what=f"{rule}, x, y = {x, y}")


# %% [markdown] exercise="unrepeated" bonus difficulty=3 minutes=35 exempt="gradient"
# ### 21. What has been said already (bonus)
#
# Four samplers look at the history instead of the distribution. All that they need are two numbers for each
# token v:
#
# - $c_v$, how often v occurs in the history;
# - $n_v$, how long a repeat v would continue. Look at every place where v stands, and at the tokens just
#   before it: how many of them, counted backwards from there, equal the last ones of the whole history, counted
#   backwards from its end? The two stretches may overlap. The largest of these numbers is $n_v$; it is 0 where
#   there is nothing before v or nothing equal, and for a token that does not occur.
#
# | sampler | what it does to $z_v$ |
# |---|---|
# | presence penalty | subtracts `presence` if $c_v > 0$ |
# | frequency penalty | subtracts `frequency` · $c_v$ |
# | DRY (*don't repeat yourself*) | subtracts `dry` · $1.75^{\,n_v - 2}$ if $n_v \ge 2$ |
# | no repeated n-grams | $-\infty$ if $n_v \ge$ `ngram` − 1, so that no `ngram` tokens in a row come twice |
#
# Write `unrepeated(logits, history, presence, frequency, dry, ngram)`, which applies all four to logits
# (B, V) with the tokens so far, `history` (B, T), $T \ge 1$, each row with its own, and returns logits
# (B, V). A penalty of 0 changes nothing. `ngram` is at least 2, or 0 for none. You may assume V > T, so some token is
# left. The logits that come in are not to be changed in place.
#
# **Example.** In the history 3 1 2 3 1 the two last tokens, 3 1, have occurred before, and 2 came next: so
# $n_2 = 2$, and no token occurs after only one equal token. The counts of the tokens 0 to 3 are
# 0, 2, 1, 2. With presence 1 and frequency 0.5, the logits of these tokens lose 0, 2, 1.5 and 2. DRY takes
# `dry` from token 2. With `ngram` = 3 token 2 is forbidden, because 3 1 2 would come again; with `ngram` = 4
# nothing is.
#
# <details><summary>Hint 1</summary>
#
# Begin with one row as a list, and a loop over its places i. Compare `text[i - 1 - j]` and
# `text[-1 - j]` for j = 0, 1, 2, …, as long as they are equal and i − 1 − j is not negative.
#
# </details>
#
# <details><summary>Hint 2</summary>
#
# $n_v$ is the same number for DRY and for n-grams: an n-gram is repeated when its first n − 1 tokens are
# the last ones of the history, and v the token that came then.
#
# </details>


# %% solution="unrepeated"
def unrepeated(
    logits: Tensor, history: Tensor, presence: float, frequency: float, dry: float, ngram: int
) -> Tensor:
    """Logits (B, V) less the penalties for what history (B, T) holds, without what repeats an n-gram."""
    ### BEGIN SOLUTION
    counts, lengths = torch.zeros_like(logits), torch.zeros_like(logits)
    for row, text in enumerate(history.tolist()):
        for i, v in enumerate(text):
            n = 0
            while n < i and text[i - 1 - n] == text[-1 - n]:
                n += 1
            counts[row, v] += 1
            lengths[row, v] = max(n, int(lengths[row, v]))
    penalised = logits - presence * (counts > 0) - frequency * counts
    penalised = penalised - dry * 1.75 ** (lengths - 2) * (lengths >= 2)
    return penalised.masked_fill(lengths >= ngram - 1, -torch.inf) if ngram else penalised
    ### END SOLUTION


# %% provided="texts_that_repeat" helper
SAID = torch.tensor([[3, 1, 2, 3, 1, 2, 0], [6, 5, 2, 4, 3, 2, 1]])
REPEATING = torch.tensor([[3, 9, 1, 2, 3, 4, 2, 3, 6, 1, 2, 3], [7, 7, 0, 1, 5, 2, 8, 3, 0, 1, 5, 2]])


def taken(unrepeated, history, **settings):
    """What each of 13 tokens loses; −∞ is a loss of ∞."""
    quarters = torch.arange(-9, 17, 2, dtype=torch.float64) / 4  # exact in float32, too
    logits = quarters.expand(len(history), 13).clone()
    off = {"presence": 0.0, "frequency": 0.0, "dry": 0.0, "ngram": 0}
    answer = unrepeated(logits, history, **(off | settings))
    assert_true(isinstance(answer, Tensor), f"A tensor of logits is expected, not {type(answer).__name__}.")
    assert_equal(list(answer.shape), [len(history), 13], what="the shape")
    return logits - answer


def losses(vocab_size, *rows):
    """Rows (B, V) from dicts of what tokens lose; all others lose 0."""
    return torch.tensor([[row.get(v, 0.0) for v in range(vocab_size)] for row in rows], dtype=torch.float64)


# %% check="presence_is_paid_once" points=1
def presence_is_paid_once(unrepeated):
    """A token that occurs in its own row loses `presence`, however often it occurs."""
    expected = losses(13, dict.fromkeys([0, 1, 2, 3], 0.7), dict.fromkeys([1, 2, 3, 4, 5, 6], 0.7))
    answer, turned = taken(unrepeated, SAID, presence=0.7), taken(unrepeated, SAID.flip(0), presence=0.7)
    assert_close(answer, expected, what="what 13 tokens lose")
    assert_close(turned, expected.flip(0), what="what they lose with the rows exchanged")


# %% check="frequency_is_paid_each_time" points=1
def frequency_is_paid_each_time(unrepeated):
    """A token loses `frequency` for each time it occurs in its own row."""
    expected = losses(13, {0: 0.5, 1: 1.0, 2: 1.0, 3: 1.0}, {1: 0.5, 2: 1.0, 3: 0.5, 4: 0.5, 5: 0.5, 6: 0.5})
    assert_close(taken(unrepeated, SAID, frequency=0.5), expected, what="what 13 tokens lose")


# %% check="dry_asks_for_two_equal_tokens" points=1
def dry_asks_for_two_equal_tokens(unrepeated):
    """In 3 1 2 3 1 token 2 loses `dry`; in 1 4 2 3 1 only one token is equal, and nothing is lost."""
    history = torch.tensor([[3, 1, 2, 3, 1], [1, 4, 2, 3, 1]])
    assert_close(taken(unrepeated, history, dry=0.8), losses(13, {2: 0.8}, {}), what="what 13 tokens lose")


# %% check="longer_repeats_cost_more" points=1
def longer_repeats_cost_more(unrepeated):
    """After 1 2 3 came 4, after 2 3 came 6; 0 1 5 2 is four equal tokens: `dry` times 1.75, 1 and 1.75²."""
    expected = losses(13, {4: 0.8 * 1.75, 6: 0.8}, {8: 0.8 * 1.75**2})
    assert_close(taken(unrepeated, REPEATING, dry=0.8), expected, what="what 13 tokens lose")


# %% check="the_longest_of_several_repeats_counts" points=1
def the_longest_of_several_repeats_counts(unrepeated):
    """If a token came after a long repeat and after shorter ones, earlier or later, the longest counts."""
    history = torch.tensor([[9, 4, 1, 2, 5, 0, 1, 2, 5, 4, 1, 2], [1, 2, 5, 4, 1, 2, 5, 0, 2, 4, 1, 2]])
    expected = losses(13, {5: 0.6 * 1.75}, {5: 0.6 * 1.75})
    assert_close(taken(unrepeated, history, dry=0.6), expected, what="what 13 tokens lose")


# %% check="a_repeat_may_overlap_its_end" points=1
def a_repeat_may_overlap_its_end(unrepeated):
    """In 7 7 7 7 7 four tokens before the last one equal the end, and in 4 1 4 1 4 three before token 1."""
    history = torch.tensor([[7, 7, 7, 7, 7], [4, 1, 4, 1, 4]])
    expected = losses(13, {7: 0.4 * 1.75**2}, {1: 0.4 * 1.75})
    assert_close(taken(unrepeated, history, dry=0.4), expected, what="what 13 tokens lose")


# %% check="no_ngram_comes_twice" points=1
def no_ngram_comes_twice(unrepeated):
    """With `ngram` from 2 to 6 a token is forbidden that would repeat so many tokens, and no other."""
    never = math.inf
    cases = {
        2: ({4: never, 6: never, 9: never}, {8: never}),
        3: ({4: never, 6: never}, {8: never}),
        4: ({4: never}, {8: never}),
        5: ({}, {8: never}),
        6: ({}, {}),
    }
    answers = {ngram: taken(unrepeated, REPEATING, ngram=ngram) for ngram in cases}
    for ngram, rows in cases.items():
        assert_close(answers[ngram], losses(13, *rows), what=f"what 13 tokens lose with ngram = {ngram}")


# %% check="penalties_add_up" points=1
def penalties_add_up(unrepeated):
    """Several penalties at once take what each of them takes; a negative presence gives."""
    history = torch.tensor([[3, 1, 2, 3, 1], [0, 0, 2, 1, 1]])
    expected = losses(13, {1: 0.4, 2: -0.3 + 0.35 + 1.2, 3: 0.4}, {0: 0.4, 1: 0.4, 2: -0.3 + 0.35})
    answer = taken(unrepeated, history, presence=-0.3, frequency=0.35, dry=1.2)
    assert_close(answer, expected, what="what 13 tokens lose")
    answer = taken(unrepeated, history, presence=-0.3, frequency=0.35, dry=1.2, ngram=3)
    expected[0, 2] = math.inf  # 3 1 2 would come twice
    assert_close(answer, expected, what="what 13 tokens lose with ngram = 3 besides")


# %% check="a_real_loop_is_broken" points=1
def a_real_loop_is_broken(unrepeated):
    """SmolLM2 writes one sentence for ever: of its next word, DRY takes more than the other penalties."""
    from course.pretrained.recorded import AGAIN, LOOP, encoded, next_log_probs, penalised

    text = LOOP + penalised(LOOP)["greedy"] + AGAIN
    logits, history = next_log_probs(text)[None], torch.tensor([encoded(text)])
    word = int(logits.argmax())
    for settings, probability in REAL_LOOP:
        probs = unrepeated(logits, history, *settings).softmax(-1)
        what = f"its probability with presence, frequency, dry, ngram = {settings}"
        assert_close(probs[0, word], probability, tolerance=1e-3, what=what)


# %% check="other_histories_are_not_repeated" points=2 hidden
def other_histories_are_not_repeated(unrepeated, draw):
    """Other histories cost what they repeat."""
    for B, T, presence, frequency, dry, ngram in (
        (3, 11, 0.3, 0.2, 0.9, 0),
        (2, 14, 0.0, 0.4, 0.5, 3),
        (4, 10, 1.1, 0.0, 0.0, 2),
        (2, 1, 0.5, 0.25, 1.0, 2),
        (2, 12, 0.2, 0.1, 0.7, 5),
    ):
        logits, history = draw.normal(B, T + 2), draw.integers(0, 3, B, T)
        if T > 8:
            history[0, :4], history[0, -3:] = torch.tensor([1, 2, 0, T]), torch.tensor([1, 2, 0])
            history[1, 1:6], history[1, -4:] = torch.tensor([2, 2, 0, 1, T + 1]), torch.tensor([2, 2, 0, 1])
        if T == 11:  # a token that came twice after two equal ones, and a repeat that overlaps the end
            rows = torch.tensor([[5, 1, 2, 7, 4, 1, 2, 7, 6, 1, 2], [2, 0, 1, 2, 0, 1, 2, 0, 1, 2, 0]])
            history[1:] = torch.tensor(draw.permutation(T + 2))[rows]
        expected = logits.clone()
        for b, text in enumerate(history.tolist()):
            for v in set(text):
                places = [i for i in range(T) if text[i] == v]
                agree = [n for i in places for n in range(1, i + 1) if text[i - n : i] == text[T - n :]]
                longest = max(agree, default=0)
                expected[b, v] -= presence + frequency * len(places)
                if longest >= 2:
                    expected[b, v] -= dry * 1.75 ** (longest - 2)
                if ngram and longest >= ngram - 1:
                    expected[b, v] = -math.inf
        answer = unrepeated(logits, history, presence, frequency, dry, ngram)
        assert_probs(answer, expected.softmax(-1))


# %% [markdown] exercise="pipeline" bonus difficulty=2 minutes=10 exempt="gradient"
# ### 22. Step by step (bonus)
#
# In exercise 15 every filter judged the model's own distribution. Programs do it another way: each step gets
# the logits that the step before it returned, and judges **their** softmax. Then the order matters, and
# programs disagree about it. With the steps that you have written, and all others switched off, their orders are
#
# - [llama.cpp](https://github.com/ggml-org/llama.cpp/tree/master/tools/server): top-k, top-p, min-p,
#   temperature;
# - `generate` of [Hugging Face](https://github.com/huggingface/transformers/blob/main/src/transformers/generation/utils.py):
#   temperature, top-k, top-p, min-p;
# - [vLLM](https://docs.vllm.ai/en/v0.22.1/api/vllm/v1/sample/sampler/): temperature, min-p, top-k, top-p.
#
# Write `pipeline(logits, steps)`, where `steps` is a list of pairs such as `[("top-k", 50), ("temperature", 0.8)]`.
# The names are `"temperature"`, `"top-k"`, `"top-p"` and `"min-p"`, the numbers their settings as in
# exercises 11 to 14; temperatures are above 0. Return the logits (…, V) after all steps, from the first to
# the last. A name may occur twice, and the list may be empty.
#
# **Example.** Of the probabilities (0.1, 0.4, 0.05, 0.25, 0.2), top-k 3 leaves the tokens 1, 3, 4 with
# 0.47, 0.29, 0.24, of which top-p 0.7 leaves 1 and 3. If top-p 0.7 comes first, it leaves the tokens 1,
# 3, 4, and so does top-k 3 after it.
#
# <details><summary>Hint 1</summary>
#
# You may call your functions of exercises 11 to 14. A dictionary finds a function by its name.
#
# </details>


# %% solution="pipeline"
def pipeline(logits: Tensor, steps: list[tuple[str, float]]) -> Tensor:
    """Logits (…, V) after all steps, each of which works on what the one before it has left."""
    ### BEGIN SOLUTION
    samplers = {"temperature": temperature, "top-k": top_k, "top-p": top_p, "min-p": min_p}
    for name, setting in steps:
        logits = samplers[name](logits, setting)
    return logits
    ### END SOLUTION


# %% check="top_p_judges_what_top_k_has_left" points=1
def top_p_judges_what_top_k_has_left(pipeline):
    """Top-k 3 and then top-p 0.7 leave two tokens of the example; in the other order three are left, also in (2, 1, V)."""
    steps = [("top-k", 3), ("top-p", 0.7)]
    for order, rows in ((steps, ([1, 3], [0, 2])), (steps[::-1], ([1, 3, 4], [0, 2]))):
        expected = renormalised(PROBS, only(5, *rows))
        assert_probs(pipeline(LOGITS, order), expected, what=f"{order}")
    assert_probs(pipeline(LOGITS[:, None], order), expected[:, None], what=f"(2, 1, V), {order}")


# %% check="heat_before_min_p_lets_more_in" points=1
def heat_before_min_p_lets_more_in(pipeline):
    """Temperature 2 before min-p 0.3 leaves all five tokens of the example, after it three."""
    steps = [("temperature", 2.0), ("min-p", 0.3)]
    for order, rows in ((steps, ([0, 1, 2, 3, 4], [0, 2, 3, 4])), (steps[::-1], ([1, 3, 4], [0, 2]))):
        expected = renormalised(PROBS**0.5, only(5, *rows))
        assert_probs(pipeline(LOGITS, order), expected, what=f"{order}")


# %% check="min_p_and_top_p_do_not_commute" points=1
def min_p_and_top_p_do_not_commute(pipeline):
    """Of the two tokens that min-p 0.6 leaves of the example, top-p 0.6 leaves one; in the other order both stay."""
    steps = [("min-p", 0.6), ("top-p", 0.6)]
    for order, rows in ((steps, ([1], [0])), (steps[::-1], ([1, 3], [0]))):
        expected = renormalised(PROBS, only(5, *rows))
        assert_probs(pipeline(LOGITS, order), expected, what=f"{order}")


# %% check="a_step_may_come_twice" points=1
def a_step_may_come_twice(pipeline):
    """Temperatures 2 and 3 make 6 together, and no step at all leaves the distribution as it is."""
    answer = pipeline(LOGITS, [("temperature", 2.0), ("top-k", 4), ("temperature", 3.0)])
    expected = renormalised(PROBS ** (1 / 6), only(5, [0, 1, 3, 4], [0, 2, 3, 4]))
    assert_probs(answer, expected, what="2 and 3")
    assert_probs(pipeline(LOGITS, []), PROBS, what="no step")


# %% check="three_programs_leave_three_numbers" points=1
def three_programs_leave_three_numbers(pipeline):
    """With the same settings, the three programs leave different numbers of SmolLM2's next tokens."""
    settings = {"temperature": 1.5, "top-k": 200, "top-p": 0.9, "min-p": 0.03}
    orders = {
        "llama.cpp": ("top-k", "top-p", "min-p", "temperature"),
        "Hugging Face": ("temperature", "top-k", "top-p", "min-p"),
        "vLLM": ("temperature", "min-p", "top-k", "top-p"),
    }
    logits = next_words()
    for program, numbers in REAL_PROGRAMS.items():
        left = n_left(pipeline(logits, [(name, settings[name]) for name in orders[program]]))
        assert_equal(left, torch.tensor(numbers), what=f"tokens left in the order of {program}")


# %% check="other_steps_follow_each_other" points=2 hidden
def other_steps_follow_each_other(pipeline, draw):
    """Other steps work on what the steps before them have left."""
    for steps in (
        [("min-p", 0.1), ("temperature", 1.6), ("top-p", 0.8)],
        [("top-p", 0.9), ("top-k", 4), ("min-p", 0.3), ("temperature", 0.6)],
        [("temperature", 2.2), ("top-k", 6), ("top-p", 0.7), ("top-p", 0.7)],
        [("top-k", 3), ("temperature", 0.5), ("min-p", 0.2), ("temperature", 2.0)],
    ):
        logits = 2 * draw.normal(2, 3, 8) + 10
        rows = []
        for row in logits.flatten(0, 1).softmax(-1).tolist():
            left = dict(enumerate(row))
            for name, x in steps:
                ranked = sorted(left, key=lambda v, left=left: -left[v])
                if name == "temperature":
                    left = {v: q ** (1 / x) for v, q in left.items()}
                elif name == "top-k":
                    left = {v: left[v] for v in ranked[:x]}
                elif name == "min-p":
                    left = {v: q for v, q in left.items() if q >= x * max(left.values())}
                else:
                    masses = [sum(left[v] for v in ranked[:n]) for n in range(len(ranked))]
                    left = {v: left[v] for v, mass in zip(ranked, masses, strict=True) if mass < x}
                total = sum(left.values())
                left = {v: q / total for v, q in left.items()}
            rows.append([left.get(v, 0.0) for v in range(8)])
        expected = torch.tensor(rows, dtype=torch.float64).view(2, 3, 8)
        assert_probs(pipeline(logits, steps), expected, what=f"{steps}")
