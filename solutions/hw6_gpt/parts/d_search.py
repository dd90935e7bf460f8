# %% [markdown]
# ## Part D. Searching, and remembering

# %% [markdown] exercise="extend_beams" difficulty=2 minutes=15 exempt="gradient"
# ### 24. One step of a beam search
#
# A beam holds the W most probable beginnings found so far. `totals` (W,) are their log-probabilities, and
# `logits` (W, V) what the model says about the next token after each of them. One step extends every
# beginning by every token and keeps the `beam_width` most probable of these W · V extensions.
#
# Write `extend_beams(totals, logits, beam_width)`, which returns the tuple `(totals, rows, tokens)`, three
# tensors with one entry for each extension kept, the most probable first: its log-probability, the number of
# the beginning that it extends, and the token that was added. If there are fewer than `beam_width`
# extensions, all are kept. The log-probability of a text is the sum of those of its tokens, so the logits
# have to be normalised first.
#
# **Example.** Two beginnings with the probabilities 1/2 and 1/4, followed by three tokens with the
# probabilities (1/8, 5/8, 1/4) and (1/8, 3/4, 1/8): the extensions have 2/32, 10/32, 4/32 and 1/32, 6/32,
# 1/32. A beam of two keeps 10/32 (beginning 0, token 1) and 6/32 (beginning 1, token 1).
#
# <details><summary>Hint 1</summary>
#
# The candidates make a table (W, V). What has to be added to each of its rows? And which tensor should
# `topk` search, so that all rows compete with each other?
#
# </details>
#
# <details><summary>Hint 2</summary>
#
# Entry i of the flat table: in which row was it if a row has V entries, and in which column?
#
# </details>


# %% solution="extend_beams"
def extend_beams(totals: Tensor, logits: Tensor, beam_width: int) -> tuple[Tensor, Tensor, Tensor]:
    """The best one-token extensions of W beginnings: log-probabilities, rows and tokens, best first."""
    ### BEGIN SOLUTION
    candidates = (totals[:, None] + logits.log_softmax(dim=-1)).flatten()  # (W · V,)
    best, places = candidates.topk(min(beam_width, len(candidates)))
    return best, places // logits.shape[1], places % logits.shape[1]
    ### END SOLUTION


# %% check="the_example_keeps_two_extensions" points=1
def the_example_keeps_two_extensions(extend_beams):
    """The example keeps 10/32, which is token 1 after beginning 0, and 6/32, token 1 after beginning 1."""
    probs = torch.tensor([[1 / 8, 5 / 8, 1 / 4], [1 / 8, 3 / 4, 1 / 8]], dtype=torch.float64)
    totals = torch.tensor([1 / 2, 1 / 4], dtype=torch.float64).log()
    best, rows, tokens = extend_beams(totals, probs.log(), 2)
    assert_close(best.exp(), torch.tensor([10 / 32, 6 / 32], dtype=torch.float64), what="probabilities")
    assert_equal(rows, torch.tensor([0, 1]), what="rows")
    assert_equal(tokens, torch.tensor([1, 1]), what="tokens")


# %% check="one_good_beginning_may_fill_the_beam" points=1
def one_good_beginning_may_fill_the_beam(extend_beams):
    """A beginning that is far more probable than the others takes all places."""
    totals = torch.tensor([-9.0, -1.0, -8.0], dtype=torch.float64)
    logits = torch.tensor([[2.0, 0.0, 1.0, 0.5], [0.5, 1.0, 0.0, 2.0], [0.0, 0.0, 3.0, 1.0]]).double()
    _, rows, tokens = extend_beams(totals, logits, 3)
    assert_equal(rows, torch.tensor([1, 1, 1]), what="rows")
    assert_equal(tokens, torch.tensor([3, 1, 0]), what="tokens")


# %% check="a_constant_in_the_logits_changes_nothing" points=1
def a_constant_in_the_logits_changes_nothing(extend_beams, draw):
    """A number added to all logits of one beginning changes neither who is kept nor the totals."""
    totals, logits = -draw.uniform(3), draw.normal(3, 5)
    answer = extend_beams(totals, logits, 4)
    shifted = extend_beams(totals, logits + torch.tensor([[30.0], [-20.0], [0.0]]).double(), 4)
    for name, own, other in zip(("totals", "rows", "tokens"), answer, shifted, strict=True):
        assert_close(other, own, what=name)
    assert_depends(answer[0], extend_beams(totals - 1, logits, 4)[0])


# %% check="a_wide_beam_keeps_everything" points=1
def a_wide_beam_keeps_everything(extend_beams, draw):
    """A beam as wide as all extensions keeps each of them once, and their probabilities add up."""
    totals = draw.probabilities(3).log()
    best, rows, tokens = extend_beams(totals, draw.normal(3, 3), 10)
    pairs = sorted(zip(rows.tolist(), tokens.tolist(), strict=True))
    assert_equal(pairs, [(row, token) for row in range(3) for token in range(3)])
    assert_close(best.exp().sum(), 1.0, what="the sum of the probabilities")


# %% check="other_beams_keep_their_best_extensions" points=1 hidden
def other_beams_keep_their_best_extensions(extend_beams, draw):
    """Other beams keep their best extensions, found by trying all."""
    for n_beams, vocab_size, beam_width in ((4, 7, 5), (2, 9, 3), (3, 4, 8), (5, 5, 4)):
        totals, logits = -2 * draw.uniform(n_beams), 2 * draw.normal(n_beams, vocab_size) + 3
        logits[1] += 4
        found = []
        for row in range(n_beams):
            z = logits[row].tolist()
            norm = math.log(sum(math.exp(value) for value in z))
            found += [(float(totals[row]) + z[v] - norm, row, v) for v in range(vocab_size)]
        expected = sorted(found, reverse=True)[:beam_width]
        best, rows, tokens = extend_beams(totals, logits, beam_width)
        assert_close(best, torch.tensor([one[0] for one in expected], dtype=torch.float64), what="totals")
        assert_equal(rows, torch.tensor([one[1] for one in expected]), what="rows")
        assert_equal(tokens, torch.tensor([one[2] for one in expected]), what="tokens")


# %% provided="bigrams" helper
def total_of(table, prompt, tokens):
    """The log-probability of tokens after a prompt, when `table` (V, V) holds the logits after each token."""
    text = [prompt[-1], *tokens]
    return sum(float(table[a].log_softmax(-1)[b]) for a, b in pairwise(text))


def every_text(vocab_size, eos, n_tokens):
    """All texts that end with eos, of at most n_tokens tokens, and all of n_tokens tokens without it."""
    unfinished = [[]]
    while len(unfinished[0]) < n_tokens:
        longer = [[*text, token] for text in unfinished for token in range(vocab_size)]
        yield from (text for text in longer if text[-1] == eos)
        unfinished = [text for text in longer if text[-1] != eos]
    yield from unfinished


def logs(rows):
    """A table of logits from rows of probabilities."""
    return torch.tensor(rows, dtype=torch.float64).log()


# %% [markdown] exercise="beam_search" bonus difficulty=3 minutes=50 forbids="course.sampling"
# ### 25. Beam search (bonus)
#
# The model of this exercise looks at the last token only: `table` (V, V) holds in row s the logits of the
# token after s. Texts end with the token `eos`.
#
# Write `beam_search(table, prompt, eos, n_tokens, beam_width, length_penalty)`, which returns the tuple
# `(tokens, score)` of the best continuation found: a list of numbers without the prompt and with its `eos`,
# if it has one, and its score. `prompt` is a list of at least one token.
#
# - The beam begins with one empty continuation of log-probability 0.
# - A step is exercise 24: of all extensions of all continuations in the beam, the `beam_width` most probable
#   are kept. Those that end with `eos` leave the beam for the finished ones and are not extended any more;
#   the others are the new beam.
# - There are `n_tokens` steps, or fewer if the beam gets empty. What is still in the beam after the last step
#   competes as it is.
# - The score of a continuation is $\log P / n^{\alpha}$, where n is the number of its tokens, **with** `eos`
#   and **without** the prompt, log P the sum of their log-probabilities, that of `eos` included, and α is
#   `length_penalty`. The largest score wins.
#
# **Example.** `eos` is 0. After token 1 come the tokens 0, 1 and 2 with the probabilities 0.4, 0 and 0.6,
# after token 2 with 0.1, 0.9 and 0. From the prompt `[1]` a beam of 2 and two tokens find `[0]` with $\ln 0.4
# \approx -0.92$ and `[2, 1]` with $\ln 0.54 \approx -0.62$. The second wins with
# $\alpha = 0$, and also with $\alpha = 1$, where its score is $-0.31$.
#
# <details><summary>Hint 1</summary>
#
# Keep two lists of pairs (tokens, log P): the beam and the finished. Which of them is empty at the beginning?
#
# </details>
#
# <details><summary>Hint 2</summary>
#
# That a text has ended does not mean that it has won: one that is still in the beam may overtake it, because
# its log P is divided by more tokens. When may the search stop?
#
# </details>
#
# <details><summary>Hint 3</summary>
#
# The score decides once, at the very end. Within a step all continuations have the same length, so there log
# P is enough.
#
# </details>


# %% solution="beam_search"
def beam_search(
    table: Tensor, prompt: list[int], eos: int, n_tokens: int, beam_width: int, length_penalty: float
) -> tuple[list[int], float]:
    """The continuation with the best score that a beam finds, and its score."""
    ### BEGIN SOLUTION
    log_probs = table.log_softmax(dim=-1).tolist()
    beam, finished = [([], 0.0)], []
    for _ in range(n_tokens):
        extensions = [
            ([*tokens, token], total + log_prob)
            for tokens, total in beam
            for token, log_prob in enumerate(log_probs[[*prompt, *tokens][-1]])
        ]
        kept = sorted(extensions, key=lambda one: -one[1])[:beam_width]
        finished += [one for one in kept if one[0][-1] == eos]
        beam = [one for one in kept if one[0][-1] != eos]
    scored = [(total / len(tokens) ** length_penalty, tokens) for tokens, total in finished + beam]
    score, tokens = max(scored, key=lambda one: one[0])
    return tokens, score
    ### END SOLUTION


# %% check="the_example_finds_two_tokens" points=1
def the_example_finds_two_tokens(beam_search):
    """In the example [2, 1] wins with ln 0.54, or half of that if the length penalty is 1; were 0 as likely as 0.7, [0] would."""
    table = logs([[1 / 3, 1 / 3, 1 / 3], [0.4, 0.0, 0.6], [0.1, 0.9, 0.0]])
    for length_penalty in (0.0, 1.0):
        tokens, score = beam_search(table, [1], 0, 2, 2, length_penalty)
        assert_equal(tokens, [2, 1], what="tokens")
        assert_close(score, math.log(0.54) / 2**length_penalty, what="the score")
    table = logs([[1 / 3, 1 / 3, 1 / 3], [0.7, 0.0, 0.3], [0.1, 0.9, 0.0]])
    tokens, score = beam_search(table, [1], 0, 2, 2, 0.0)
    assert_equal(tokens, [0], what="tokens where 0 has 0.7")
    assert_close(score, math.log(0.7), what="its score")


# %% check="a_narrow_beam_misses_what_a_wide_one_finds" points=1
def a_narrow_beam_misses_what_a_wide_one_finds(beam_search):
    """Where the better first token leads to the worse text, a beam of 1 takes it and a beam of 2 does not."""
    table = logs([[0.25] * 4, [0.0, 0.0, 0.6, 0.4], [0.4, 0.3, 0.3, 0.0], [0.9, 0.1, 0.0, 0.0]])
    assert_equal(beam_search(table, [1], 0, 2, 1, 0.0)[0], [2, 0], what="a beam of 1")
    assert_equal(beam_search(table, [1], 0, 2, 2, 0.0)[0], [3, 0], what="a beam of 2")


# %% check="a_finished_text_waits_for_longer_ones" points=1
def a_finished_text_waits_for_longer_ones(beam_search):
    """A text of one token that is ahead at first loses to a longer one with more log P per token."""
    table = logs([[1 / 3, 1 / 3, 1 / 3], [0.55, 0.0, 0.45], [0.02, 0.0, 0.98]])
    tokens, score = beam_search(table, [1], 0, 5, 2, 1.0)
    assert_equal(tokens, [2, 2, 2, 2, 2], what="tokens")
    assert_close(score, math.log(0.45 * 0.98**4) / 5, what="the score")


# %% check="a_finished_text_takes_no_place_in_the_beam" points=1
def a_finished_text_takes_no_place_in_the_beam(beam_search):
    """Beside a finished text there is room for two others in a beam of 2, and the second of them wins."""
    table = logs([[0.25] * 4, [0.5, 0.05, 0.4, 0.05], [0.01, 0.01, 0.58, 0.4], [0.94, 0.02, 0.01, 0.03]])
    tokens, score = beam_search(table, [1], 0, 3, 2, 1.0)
    assert_equal(tokens, [2, 3, 0], what="tokens")
    assert_close(score, math.log(0.4 * 0.4 * 0.94) / 3, what="the score")


# %% check="nothing_follows_the_end" points=1
def nothing_follows_the_end(beam_search):
    """A text that has ended is not extended, however probable the table finds what would come next."""
    table = logs([[0.98, 0.01, 0.01], [0.7, 0.1, 0.2], [0.5, 0.3, 0.2]])
    tokens, score = beam_search(table, [1], 0, 4, 2, 1.0)
    assert_equal(tokens, [0], what="tokens")
    assert_close(score, math.log(0.7), what="the score")
    table = logs([[0.98, 0.01, 0.01], [0.08, 0.02, 0.9], [0.9, 0.05, 0.05]])
    tokens, score = beam_search(table, [1], 0, 4, 2, 2.0)
    assert_equal(tokens, [2, 0], what="tokens with length penalty 2")
    assert_close(score, math.log(0.9 * 0.9) / 4, what="the score with length penalty 2")


# %% check="the_score_counts_the_end_and_not_the_prompt" points=1
def the_score_counts_the_end_and_not_the_prompt(beam_search):
    """A text of three tokens with its end has a third of its log P, whatever the length of the prompt."""
    table = logs([[0.25] * 4, [0.0, 0.0, 0.8, 0.2], [0.1, 0.0, 0.0, 0.9], [0.6, 0.4, 0.0, 0.0]])
    for prompt in ([1], [3, 2, 2, 1]):
        tokens, score = beam_search(table, prompt, 0, 3, 9, 1.0)
        assert_equal(tokens, [2, 3, 0], what="tokens")
        assert_close(score, math.log(0.8 * 0.9 * 0.6) / 3, what=f"the score after {prompt}")


# %% check="a_beam_that_keeps_everything_finds_the_best_text" points=2
def a_beam_that_keeps_everything_finds_the_best_text(beam_search, draw):
    """With room for every text the best of all is found: one, two or three tokens, as the penalty says."""
    rows = [
        [0.1, 0.2, 0.3, 0.4],
        [0.4, 0.01, 0.58, 0.01],
        [0.51, 0.005, 0.005, 0.48],
        [0.2, 0.07, 0.07, 0.66],
    ]
    table = logs(rows) + 3 * draw.normal(4, 1)  # a number added to a row changes no probability
    for length_penalty in (0.0, 0.6, 1.0):
        texts = list(every_text(4, 0, 3))
        scores = [total_of(table, [2, 1], text) / len(text) ** length_penalty for text in texts]
        best = max(range(len(texts)), key=scores.__getitem__)
        tokens, score = beam_search(table, [2, 1], 0, 3, 50, length_penalty)
        assert_equal(tokens, texts[best], what=f"tokens with length penalty {length_penalty}")
        assert_close(score, scores[best], what=f"the score with length penalty {length_penalty}")


# %% check="a_long_text_has_a_finite_score" points=1
def a_long_text_has_a_finite_score(beam_search):
    """Four hundred tokens of probability 0.1 have log P = −921, although their product is 0 as a float."""
    table = torch.zeros(11, 11, dtype=torch.float64)
    table[:, 0] = -torch.inf  # no end
    tokens, score = beam_search(table, [1], 0, 400, 1, 0.0)
    assert_close(score, 400 * math.log(0.1))
    assert_equal(len(tokens), 400, what="the number of tokens")


# %% check="other_tables_have_their_best_text" points=2 hidden
def other_tables_have_their_best_text(beam_search, draw):
    """Other tables have the best text that a beam finds, and its score."""
    from course.sampling import beam_search as courses_beam_search

    class Bigrams:
        def __init__(self, table):
            self.log_probs, self.vocab_size, self.context_length = table.log_softmax(-1), len(table), None

        def __call__(self, tokens):
            return self.log_probs[tokens]

    def settings_of(table, prompt, n_tokens, beam_width, length_penalty, eos=0):
        order = draw.permutation(len(table))  # token s is called order[s] from now on
        places = torch.tensor(order).argsort()
        renamed = table[places][:, places] + 5 * draw.normal(len(table), 1)
        return renamed, [order[s] for s in prompt], order[eos], n_tokens, beam_width, length_penalty

    waits = logs([[0.3, 0.35, 0.35], [0.55, 0.01, 0.44], [0.03, 0.01, 0.96]])
    ends = logs([[0.97, 0.02, 0.01], [0.7, 0.1, 0.2], [0.5, 0.3, 0.2]])
    counts = logs([[0.25] * 4, [0.01, 0.01, 0.78, 0.2], [0.1, 0.01, 0.01, 0.88], [0.6, 0.38, 0.01, 0.01]])
    misses = logs([[0.25] * 4, [0.01, 0.01, 0.58, 0.4], [0.4, 0.3, 0.29, 0.01], [0.88, 0.1, 0.01, 0.01]])
    room = logs([[0.25] * 4, [0.5, 0.04, 0.41, 0.05], [0.01, 0.01, 0.57, 0.41], [0.93, 0.02, 0.01, 0.04]])
    cases = [
        settings_of(waits, [1], 6, 2, 1.0),
        settings_of(room, [3, 1], 3, 2, 1.0),
        settings_of(ends, [2, 1], 4, 2, 1.0),
        settings_of(counts, [3, 1], 3, 6, 0.9),
        settings_of(misses, [1, 2, 1], 2, 2, 0.5),
        settings_of(2 * draw.normal(6, 6), [3, 4], 5, 3, 0.7),
    ]
    for table, prompt, eos, n_tokens, beam_width, length_penalty in cases:
        expected = courses_beam_search(
            Bigrams(table), torch.tensor(prompt), n_tokens, beam_width=beam_width, eos=eos,
            length_penalty=length_penalty,
        )[0]  # fmt: skip
        tokens, score = beam_search(table, prompt, eos, n_tokens, beam_width, length_penalty)
        assert_equal(tokens, list(expected.tokens), what="tokens")
        assert_close(score, expected.score(length_penalty), what="the score")


# %% provided="reader"
def weights_of_reader(draw, vocab_size, context_length, d_model):
    """Random parameters of the small model of the next exercise."""
    shapes = {"wte": (vocab_size, d_model), "wpe": (context_length, d_model)}
    shapes |= dict.fromkeys(("W_query", "W_key", "W_value"), (d_model, d_model))
    weights = {name: draw.normal(*shape) for name, shape in shapes.items()}
    weights["W_query"] /= 8  # scores near zero: every key has some weight
    return weights


def read_all(weights, tokens):
    """Logits (B, T, V) of a model with one attention layer, which reads all tokens (B, T) anew."""
    x = weights["wte"][tokens] + weights["wpe"][: tokens.shape[1]]  # (B, T, D)
    query, key, value = x @ weights["W_query"].T, x @ weights["W_key"].T, x @ weights["W_value"].T
    y = x + functional.scaled_dot_product_attention(query, key, value, is_causal=True)
    return y @ weights["wte"].T


# %% [markdown] exercise="read_with_cache" difficulty=3 minutes=25 exempt="gradient"
# ### 26. A cache of keys and values
#
# To write one more token, `read_all` above computes the keys and values of all earlier tokens again, although
# nothing about them has changed: position t sees only what is to its left. So keep them. A call then reads
# the **new** tokens only.
#
# Write `read_with_cache(weights, tokens, cache)`, with the weights of `read_all`. `tokens` (B, T) are new;
# `cache` is `None` at the first call, and later a dict of what the earlier calls left: `"keys"` and
# `"values"`, (B, n, D) each, where n is the number of tokens that have been read already. Return the tuple
# `(logits, cache)`: the logits (B, T, V) of the new positions, and the new cache with n + T keys and values.
#
# All positions count from the beginning of the text: the new tokens stand at n, n + 1, … The new token at
# position n + i attends to the keys 0 … n + i. Do not change the cache that you are given: the caller may want
# to continue from it in two ways, as a beam search does.
#
# **Example.** Reading five tokens at once gives the same five rows of logits as reading three, then one, then
# one more, each time with the cache of the call before.
#
# <details><summary>Hint 1</summary>
#
# How many keys are there if three tokens were read before and two are new? Draw the table, 2 rows for the new
# queries and 5 columns for the keys, and mark what each row may see. On which diagonal does it end?
#
# </details>
#
# <details><summary>Hint 2</summary>
#
# `torch.cat` makes a new tensor. But if you assign to an entry of the dict, you change the caller's dict.
#
# </details>


# %% solution="read_with_cache"
def read_with_cache(
    weights: dict[str, Tensor], tokens: Tensor, cache: dict[str, Tensor] | None
) -> tuple[Tensor, dict[str, Tensor]]:
    """Logits (B, T, V) of new tokens (B, T) after those in the cache, and the cache with both."""
    ### BEGIN SOLUTION
    n_read = 0 if cache is None else cache["keys"].shape[1]
    T = tokens.shape[1]
    x = weights["wte"][tokens] + weights["wpe"][n_read : n_read + T]  # (B, T, D)
    query, key, value = (x @ weights[name].T for name in ("W_query", "W_key", "W_value"))
    if cache is not None:
        key, value = torch.cat([cache["keys"], key], dim=1), torch.cat([cache["values"], value], dim=1)
    scores = query @ key.mT / math.sqrt(x.shape[-1])  # (B, T, S), over the S = n_read + T keys
    is_future = torch.ones(T, n_read + T, dtype=torch.bool).triu(n_read + 1)
    y = x + scores.masked_fill(is_future, -torch.inf).softmax(dim=-1) @ value
    return y @ weights["wte"].T, {"keys": key, "values": value}
    ### END SOLUTION


# %% provided="piece_by_piece" helper
def read_in_pieces(read_with_cache, weights, tokens, lengths):
    """The logits of all positions, read in pieces of these lengths, and the last cache."""
    cache, logits = None, []
    for piece in tokens.split(lengths, dim=1):
        answer, cache = read_with_cache(weights, piece, cache)
        logits.append(answer)
    return torch.cat(logits, dim=1), cache


# %% check="without_a_cache_everything_is_read" points=1
def without_a_cache_everything_is_read(read_with_cache, draw):
    """A first call has the logits of `read_all`, and leaves as many keys and values as it read tokens."""
    weights, tokens = weights_of_reader(draw, 7, 9, 4), draw.integers(0, 7, 2, 5)
    logits, cache = read_with_cache(weights, tokens, None)
    assert_close(logits, read_all(weights, tokens), what="logits")
    assert_equal({*cache}, {"keys", "values"}, what="the names in the cache")
    assert_equal([list(cache[name].shape) for name in ("keys", "values")], [[2, 5, 4]] * 2, what="the shapes")


# %% check="token_by_token_is_the_same" points=1
def token_by_token_is_the_same(read_with_cache, draw):
    """Read one by one, five tokens have the logits that they have at once."""
    weights, tokens = weights_of_reader(draw, 7, 9, 4), draw.integers(0, 7, 2, 5)
    logits, _ = read_in_pieces(read_with_cache, weights, tokens, [1, 1, 1, 1, 1])
    assert_close(logits, read_all(weights, tokens))


# %% check="piece_by_piece_is_the_same" points=1
def piece_by_piece_is_the_same(read_with_cache, draw):
    """Read in pieces of three, two and two, seven tokens have the logits that they have at once."""
    weights, tokens = weights_of_reader(draw, 7, 9, 4), draw.integers(0, 7, 3, 7)
    logits, cache = read_in_pieces(read_with_cache, weights, tokens, [3, 2, 2])
    assert_close(logits, read_all(weights, tokens), what="logits")
    assert_equal(list(cache["keys"].shape), [3, 7, 4], what="the shape of the last keys")
    steep = weights | {"W_query": 480 * weights["W_query"]}  # scores of hundreds, below zero and above
    logits, _ = read_in_pieces(read_with_cache, steep, tokens, [3, 2, 2])
    assert_close(logits, read_all(steep, tokens), what="logits where scores are large")


# %% check="the_cache_holds_the_keys_of_all_tokens" points=1
def the_cache_holds_the_keys_of_all_tokens(read_with_cache, draw):
    """Whether read at once or in pieces, the same keys and values are left in the cache."""
    weights, tokens = weights_of_reader(draw, 7, 9, 4), draw.integers(0, 7, 2, 6)
    _, cache = read_in_pieces(read_with_cache, weights, tokens, [2, 1, 3])
    x = weights["wte"][tokens] + weights["wpe"][:6]
    assert_close(cache["keys"], x @ weights["W_key"].T, what="keys")
    assert_close(cache["values"], x @ weights["W_value"].T, what="values")


# %% check="the_cache_handed_over_stays_as_it_is" points=1
def the_cache_handed_over_stays_as_it_is(read_with_cache, draw):
    """Two beams can go on from one cache: a call does not change the cache that it gets."""
    weights, tokens = weights_of_reader(draw, 7, 9, 4), draw.integers(0, 7, 2, 3)
    _, cache = read_with_cache(weights, tokens, None)
    for token in (1, 5):
        new = torch.full((2, 1), token)
        logits, _ = read_with_cache(weights, new, cache)
        expected = read_all(weights, torch.cat([tokens, new], dim=1))[:, -1:]
        assert_close(logits, expected, what=f"the logits after token {token}")


# %% check="other_texts_are_read_in_other_pieces" points=2 hidden
def other_texts_are_read_in_other_pieces(read_with_cache, draw):
    """Other texts, read in other pieces, have the logits that they have at once."""
    for sizes, batch_size, lengths in (((11, 12, 6), 2, [4, 1, 3, 1]), ((5, 8, 3), 4, [1, 4, 3])):
        weights, tokens = (
            weights_of_reader(draw, *sizes),
            draw.integers(0, sizes[0], batch_size, sum(lengths)),
        )
        logits, cache = read_in_pieces(read_with_cache, weights, tokens, lengths)
        assert_close(logits, read_all(weights, tokens), what="logits")
        kept = {"keys": cache["keys"][:1, :4], "values": cache["values"][:1, :4]}
        new = tokens[:1, 4:6]
        again, _ = read_with_cache(weights, new, kept)
        assert_close(again, logits[:1, 4:6], what="the logits after a shortened cache")


# %% [markdown] written="what_a_cache_costs" points=4 minutes=10
# ### 27. What a cache costs
#
# GPT-2 small has 12 layers and D = 768; a number takes two bytes.
#
# a) How many bytes of keys and values does the cache hold for one text of 1,024 tokens? And how many for a
# beam search with 8 beams, if every beam keeps a cache of its own?
#
# b) A text grows from 1 to T tokens, one at a time. How does the number of multiplications in the attention
# layers (scores and weighted sums only) grow with T without a cache, and how with one? And that of the
# feed-forward layers?
#
# c) When a text is longer than the context length, `generate` of exercise 10 drops the oldest token at every
# step. Why does the cache of exercise 26 not help any more then? Say in one sentence what would have to be
# different about the positions.
#
# ### BEGIN SOLUTION
# a) (1 point) 2 · 12 · 768 · 1,024 numbers are 18.9 million, 37.7 MB; eight beams have 302 MB.
#
# b) (2 points) Without a cache a step at length t costs t² in attention, together T³ / 3 up to constants;
# with a cache it costs t, together T² / 2. (1 point.) The feed-forward layers read t tokens per step without
# a cache, together T² / 2, and one token per step with a cache, together T. (1 point.)
#
# c) (1 point) After the oldest token is dropped every other token stands one position further left and gets
# another row of wpe, so all keys and values change (and in deeper layers because they have read the dropped
# token). Positions would have to enter only as distances between query and key, for instance by rotation.
# ### END SOLUTION
