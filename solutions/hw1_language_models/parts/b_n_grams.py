# %% [markdown]
# ## Part B. n-gram models
#
# An n-gram model predicts each token from the $n - 1$ tokens before it. In this part a **sentence** is a list
# of words, without `<s>` and `</s>`; a **context** is a tuple of $n - 1$ tokens; and **counts** is a dict of
# dicts: `counts[context][token]` says how often `token` followed `context`. What did not occur is not in the
# dict.

# %% [markdown] exercise="ngram_counts" difficulty=2 minutes=15
# ### 7. Counting n-grams
#
# To predict the first word of a sentence, an n-gram model needs a context of full length too. So each
# sentence is put between $n - 1$ times `<s>` and one `</s>`. Then every word and the `</s>` is counted once,
# after the $n - 1$ tokens before it. `<s>` itself is never predicted, and nothing reaches from one sentence
# into the next.
#
# Write `ngram_counts(sentences, n)`, which returns `counts`. `sentences` is a list of lists of words, `n` is
# at least 1. For $n = 1$ the only context is the empty tuple `()`. (Your dicts may be `Counter` or
# `defaultdict`. `BOS` and `EOS` are defined as `"<s>"` and `"</s>"`.)
#
# **Example.** `ngram_counts([["a", "b"], ["b"]], 2)` returns
# `{("<s>",): {"a": 1, "b": 1}, ("a",): {"b": 1}, ("b",): {"</s>": 2}}`, and with $n = 3$ the first two
# entries for `["a", "b"]` are `{("<s>", "<s>"): {"a": 1}, ("<s>", "a"): {"b": 1}}`.
#
# <details><summary>Hint 1</summary>
#
# Write the padded sentence `["a", "b"]` down for n = 1, 2, 3, and underline each thing that is predicted. How
# many are there each time?
#
# </details>
#
# <details><summary>Hint 2</summary>
#
# Walk over the positions of the things that are predicted. Where does the first one stand in the padded list?
#
# </details>
#
# <details><summary>Hint 3</summary>
#
# `counts.setdefault(context, {})` gives the inner dict whether or not the context was there. A slice of a
# list is a list; a key must be a tuple.
#
# </details>


# %% solution="ngram_counts"
def ngram_counts(sentences: list[list[str]], n: int) -> dict[tuple[str, ...], dict[str, int]]:
    """How often each token follows each context of n - 1 tokens: [["b"]], 2 → {("<s>",): {"b": 1}, …}."""
    ### BEGIN SOLUTION
    counts = {}
    for sentence in sentences:
        padded = [BOS] * (n - 1) + sentence + [EOS]
        for position in range(n - 1, len(padded)):
            context, token = tuple(padded[position - n + 1 : position]), padded[position]
            counts.setdefault(context, Counter())[token] += 1
    return counts
    ### END SOLUTION


# %% check="the_example_bigrams_are_counted" points=1
def the_example_bigrams_are_counted(ngram_counts):
    """The bigrams of `a b` and `b` are those of the example; `b a` and `a` have theirs."""
    expected = {(BOS,): {"a": 1, "b": 1}, ("a",): {"b": 1}, ("b",): {EOS: 2}}
    assert_equal(ngram_counts([["a", "b"], ["b"]], 2), expected)
    expected = {(BOS,): {"a": 1, "b": 1}, ("b",): {"a": 1}, ("a",): {EOS: 2}}
    assert_equal(ngram_counts([["b", "a"], ["a"]], 2), expected, what="the bigrams of `b a` and `a`")


# %% check="a_unigram_has_the_empty_context" points=1
def a_unigram_has_the_empty_context(ngram_counts):
    """With n = 1 every word and every ending follows the empty context."""
    assert_equal(ngram_counts([["b", "a", "b"], ["b"]], 1), {(): {"a": 1, "b": 3, EOS: 2}})


# %% check="every_sentence_ends_once" points=1
def every_sentence_ends_once(ngram_counts, draw):
    """Three sentences, one of them without words, have three endings."""
    sentences = [
        [*draw.sentence(["a", "b", "c"], 2), "a", "b"],
        [],
        [*draw.sentence(["a", "b", "c"], 4), "a", "b"],
    ]
    endings = sum(followers.get(EOS, 0) for followers in ngram_counts(sentences, 3).values())
    assert_equal(endings, 3, what="the number of endings")


# %% check="the_opening_token_is_never_predicted" points=1
def the_opening_token_is_never_predicted(ngram_counts, draw):
    """`<s>` follows nothing."""
    sentences = [draw.sentence(["a", "b", "c"], length) for length in (3, 5)]
    predicted = {token for followers in ngram_counts(sentences, 3).values() for token in followers}
    assert_true(predicted, "Nothing was counted.")
    assert_true(BOS not in predicted, f"{BOS} was counted as a token that follows something.")


# %% check="contexts_have_n_minus_1_tokens" points=1
def contexts_have_n_minus_1_tokens(ngram_counts, draw):
    """Every context of a 4-gram has three tokens, at the start of a sentence too."""
    sentences = [draw.sentence(["a", "b", "c"], length) for length in (5, 2)]
    counts = ngram_counts(sentences, 4)
    assert_true(isinstance(counts, dict), f"The answer is no dictionary but a {type(counts).__name__}.")
    lengths = {len(context) for context in counts}
    assert_equal(lengths, {3}, what="the lengths of the contexts")


# %% check="the_first_word_follows_only_opening_tokens" points=1
def the_first_word_follows_only_opening_tokens(ngram_counts):
    """In a trigram model the first words follow `<s> <s>`, the second ones `<s>` and the first."""
    counts = ngram_counts([["a", "b", "c"], ["c", "a"], ["a"]], 3)
    assert_equal(counts.get((BOS, BOS), {}), {"a": 2, "c": 1})
    assert_equal(counts.get((BOS, "a"), {}), {"b": 1, EOS: 1})


# %% check="sentences_are_counted_one_by_one" points=1
def sentences_are_counted_one_by_one(ngram_counts, draw):
    """Three sentences counted together, the last like the first, are the sum of each counted alone."""
    first, second = (["b", *draw.sentence(["a", "b"], length)] for length in (4, 2))
    expected = {}
    for counts in (ngram_counts([sentence], 2) for sentence in (first, second, first)):
        for context, followers in counts.items():
            expected[context] = dict(Counter(expected.get(context, {})) + Counter(followers))
    assert_equal(ngram_counts([first, second, first], 2), expected)
    assert_true(expected, "Nothing was counted.")


# %% check="n_grams_of_other_orders_are_counted" points=2 hidden
def n_grams_of_other_orders_are_counted(ngram_counts, draw):
    """Other sentences have the right counts for n = 1 to 5, also if shorter than n."""
    sentences = [draw.sentence(["a", "b", "c", "d"], length) for length in (1, 7, 2, 11)]
    for n in (1, 2, 3, 5):
        expected = {}
        for sentence in sentences:
            for position, token in enumerate([*sentence, EOS]):
                context = tuple([*[BOS] * (n - 1), *sentence[:position]][position:])
                followers = expected.setdefault(context, {})
                followers[token] = followers.get(token, 0) + 1
        assert_equal(ngram_counts(sentences, n), expected)


# %% [markdown] exercise="mle_probs" difficulty=1 minutes=10
# ### 8. Relative frequencies
#
# The probabilities that make the training text most likely (the maximum likelihood estimate, MLE) are
# relative frequencies. With $c(h, w)$ for `counts[h][w]`, how often token $w$ followed context $h$:
#
# $$P(w \mid h) = \frac{c(h, w)}{\sum_{w'} c(h, w')}$$
#
# Write `mle_probs(counts, context, words)`, which returns the whole distribution after `context` as a dict
# from token to probability. Its keys are all of `words` (a list of every word the model knows) and `</s>`,
# also those that never followed `context`. If the context itself never occurred, there is nothing to estimate
# from: return the uniform distribution over the same keys.
#
# **Example.** `counts = {("a",): {"b": 3, "</s>": 1}, ("b",): {"</s>": 2}}` and `words = ["a", "b"]`. After
# `("a",)`: `{"a": 0.0, "b": 0.75, "</s>": 0.25}`. After `("<s>",)`, which never occurred: 1/3 each.
#
# <details><summary>Hint 1</summary>
#
# The probabilities after one context sum to one. Which counts must the denominator add up for that to be so?
#
# </details>
#
# <details><summary>Hint 2</summary>
#
# `some_dict.get(key, default)` answers also when there is no such key. You need it twice, for two different
# reasons.
#
# </details>


# %% solution="mle_probs"
def mle_probs(
    counts: dict[tuple[str, ...], dict[str, int]], context: tuple[str, ...], words: list[str]
) -> dict[str, float]:
    """The relative frequency of each word and of </s> after a context; uniform after an unseen context."""
    ### BEGIN SOLUTION
    tokens = [*words, EOS]
    followers = counts.get(context, {})
    total = sum(followers.values())
    if total == 0:
        return {token: 1 / len(tokens) for token in tokens}
    return {token: followers.get(token, 0) / total for token in tokens}
    ### END SOLUTION


# %% check="the_example_has_its_relative_frequencies" points=1
def the_example_has_its_relative_frequencies(mle_probs):
    """After `a`, the example has 0, 3/4 and 1/4; with 1 in place of the 3 and 2 of the 1 it has thirds."""
    counts = {("a",): {"b": 3, EOS: 1}, ("b",): {EOS: 2}}
    assert_close(mle_probs(counts, ("a",), ["a", "b"]), {"a": 0.0, "b": 0.75, EOS: 0.25})
    counts["a",] = {"b": 1, EOS: 2}
    assert_close(mle_probs(counts, ("a",), ["a", "b"]), {"a": 0.0, "b": 1 / 3, EOS: 2 / 3})


# %% provided="drawn_counts" helper
def drawn_counts(draw, contexts, tokens):
    """Counts from 1 to 9 for each of the tokens after each of the contexts."""
    return {context: {token: int(draw.integers(1, 10)) for token in tokens} for context in contexts}


# %% check="every_word_and_the_end_has_a_probability" points=1
def every_word_and_the_end_has_a_probability(mle_probs, draw):
    """The keys are all the words and `</s>`, seen or not."""
    words = ["a", "b", "c", "d", "e"]
    counts = drawn_counts(draw, [("a", "b")], ["b", "d"]) | drawn_counts(draw, [("b", "c")], ["a", EOS])
    for context in (("a", "b"), ("b", "c")):
        assert_equal(set(mle_probs(counts, context, words)), {*words, EOS}, what="the keys")


# %% check="the_probabilities_after_a_context_sum_to_one" points=1
def the_probabilities_after_a_context_sum_to_one(mle_probs, draw):
    """After every context that occurred, the probabilities sum to one."""
    counts = drawn_counts(draw, [("a",), ("b",), (BOS,)], ["a", "b", EOS])
    answers = {context: mle_probs(counts, context, ["a", "b"]) for context in counts}
    for context, probabilities in answers.items():
        assert_close(sum(probabilities.values()), 1.0, what=f"the sum after {context}")
        assert_true(len(probabilities) > 1, f"After {context} there is one word alone.")


# %% check="other_contexts_do_not_matter" points=1
def other_contexts_do_not_matter(mle_probs, draw):
    """What happened after other contexts changes nothing."""
    counts = drawn_counts(draw, [("a", "a"), ("b", "a")], ["a", "b", EOS])
    busier = counts | {("b", "a"): {"a": 70, "b": 4, EOS: 20}}
    expected = mle_probs(counts, ("a", "a"), ["a", "b", "c"])
    assert_close(mle_probs(busier, ("a", "a"), ["a", "b", "c"]), expected)
    otherwise = mle_probs(counts | {("a", "a"): {"a": 90, "b": 1}}, ("a", "a"), ["a", "b", "c"])
    assert_depends(expected["a"], otherwise["a"])


# %% check="after_an_unseen_context_all_tokens_are_equally_likely" points=1
def after_an_unseen_context_all_tokens_are_equally_likely(mle_probs, draw):
    """After a context that never occurred, each of three words and `</s>` has the probability 1/4."""
    counts = drawn_counts(draw, [("a",)], ["b", EOS])
    words = ["a", "b", "c"]
    assert_close(mle_probs(counts, ("c",), words), dict.fromkeys([*words, EOS], 1 / 4))


# %% check="other_tables_have_their_relative_frequencies" points=1 hidden
def other_tables_have_their_relative_frequencies(mle_probs, draw):
    """Other tables, with longer contexts, give their relative frequencies."""
    words = ["u", "v", "w", "x"]
    counts = drawn_counts(draw, [("u", "v", "w"), ("w", "w", "u")], ["w", "u", EOS])
    followers = counts["u", "v", "w"]
    fraction = 1 / (followers["w"] + followers["u"] + followers[EOS])
    expected = {word: fraction * followers.get(word, 0) for word in [*words, EOS]}
    assert_close(mle_probs(counts, ("u", "v", "w"), words), expected)
    assert_close(mle_probs(counts, ("v", "v", "v"), words), dict.fromkeys(expected, 1 / 5))


# %% [markdown] exercise="heldout_bits" difficulty=1 minutes=10
# ### 9. What new text costs
#
# A model is judged on **held-out** text, which took no part in its training. Its cost is the cross-entropy:
# the average of $-\log_2 P(x_i)$ over the $N$ tokens of the text,
#
# $$\frac{1}{N} \sum_{i=1}^{N} -\log_2 P(x_i) \text{ bits per token}.$$
#
# Relative frequencies give most things that ever happen the probability zero, because they did not happen in
# the training text. When such a token does come, the model had ruled out what then happened: its cost is
# infinite, and an honest evaluation says so.
#
# Write `heldout_bits(distributions, tokens)`, which returns the cost in bits per token as one number,
# `math.inf` when a token came that had probability zero. `distributions` is a list of $N$ dicts from token to
# probability: `distributions[i]` is what the model predicted at position `i`, and `tokens[i]` is what came. A
# token that is not in the dict has probability zero.
#
# **Example.** `[{"a": 1/2, "b": 1/2}, {"a": 1/4, "b": 3/4}, {"a": 1/8, "b": 7/8}]` with `["a", "a", "a"]`
# costs (1 + 2 + 3) / 3 = 2 bits per token. With `["a", "a", "c"]` it costs `math.inf`.
#
# <details><summary>Hint 1</summary>
#
# What does Python say to `math.log2(0)`, and what does your function say to `["a", "a", "c"]`?
#
# </details>
#
# <details><summary>Hint 2</summary>
#
# Handle the impossible token first, before any logarithm is taken.
#
# </details>


# %% solution="heldout_bits"
def heldout_bits(distributions: list[dict[str, float]], tokens: list[str]) -> float:
    """The average of -log2 of what each token was given; infinite if one was given nothing."""
    ### BEGIN SOLUTION
    probs = [distribution.get(token, 0.0) for distribution, token in zip(distributions, tokens, strict=True)]
    if min(probs) == 0:
        return math.inf
    return -sum(math.log2(prob) for prob in probs) / len(probs)
    ### END SOLUTION


# %% check="the_example_text_costs_2_bits" points=1
def the_example_text_costs_2_bits(heldout_bits):
    """Probabilities 1/2, 1/4, 1/8 cost 2 bits per token, and 1/2, 1/4, 1/2 cost 4/3."""
    distributions = [{"a": 1 / 2, "b": 1 / 2}, {"a": 1 / 4, "b": 3 / 4}, {"a": 1 / 8, "b": 7 / 8}]
    assert_close(heldout_bits(distributions, ["a", "a", "a"]), 2.0)
    assert_close(heldout_bits([*distributions[:2], distributions[0]], ["a", "a", "a"]), 4 / 3)


# %% check="a_token_of_probability_zero_costs_infinitely_much" points=1
def a_token_of_probability_zero_costs_infinitely_much(heldout_bits):
    """When a token comes that was given the probability 0.0, the cost is infinite; unlikely ones and long texts cost less."""
    distributions = [{"a": 1 / 2, "b": 1 / 2}, {"a": 1 / 4, "b": 0.0, "c": 3 / 4}, {"a": 1 / 8, "b": 7 / 8}]
    possible = heldout_bits(distributions, ["a", "c", "b"])
    unlikely = heldout_bits([{"a": 1e-30, "b": 1.0}], ["a"])
    long = heldout_bits([{"a": 1 / 1024, "b": 1023 / 1024}] * 120, ["a"] * 120)
    assert_close(heldout_bits(distributions, ["a", "b", "b"]), math.inf)
    assert_true(math.isfinite(possible), f"A text without such a token costs {possible}.")
    assert_true(math.isfinite(unlikely), f"A token of probability 1e-30 costs {unlikely}.")
    assert_true(math.isfinite(long), f"A text of 120 tokens of probability 1/1024 costs {long}.")


# %% check="a_token_the_model_never_heard_of_costs_infinitely_much" points=1
def a_token_the_model_never_heard_of_costs_infinitely_much(heldout_bits):
    """When a token comes that is in no dict, the cost is infinite."""
    distributions = [{"a": 1 / 2, "b": 1 / 2}, {"a": 1 / 4, "b": 3 / 4}]
    possible = heldout_bits(distributions, ["a", "b"])
    assert_close(heldout_bits(distributions, ["a", "c"]), math.inf)
    assert_true(math.isfinite(possible), f"A text without such a token costs {possible}.")


# %% check="other_texts_cost_their_average_surprise" points=1 hidden
def other_texts_cost_their_average_surprise(heldout_bits, draw):
    """Other texts cost the average of their tokens' surprises, or infinity."""
    for length in (1, 5, 16):
        rows = draw.probabilities(length, 3)
        distributions = [dict(zip("xyz", row, strict=True)) for row in rows.tolist()]
        tokens = draw.sentence(["x", "y", "z"], length)
        surprises = [math.log2(1 / row[token]) for row, token in zip(distributions, tokens, strict=True)]
        assert_close(heldout_bits(distributions, tokens), math.fsum(surprises) / length)
        assert_close(heldout_bits([*distributions, {"x": 1.0, "y": 0.0}], [*tokens, "y"]), math.inf)


# %% [markdown] exercise="add_k_prob" difficulty=2 minutes=10
# ### 10. Smoothing: a little for everyone
#
# Add-$k$ smoothing pretends that every token followed every context $k$ more times than it did. With
# $c(h, w)$ for `counts[h][w]` and $V$ for the number of tokens that can be predicted:
#
# $$P(w \mid h) = \frac{c(h, w) + k}{\sum_{w'} c(h, w') + k V}$$
#
# Write `add_k_prob(counts, context, token, words, k)`, which returns this one probability. `words` lists
# every word the model knows; it can also predict `</s>`, which is not in the list. `k` is greater than zero
# and need not be whole. After a context that never occurred, all counts are zero and the formula answers by
# itself.
#
# **Example.** `counts = {("a",): {"b": 3, "</s>": 1}, ("b",): {"a": 2}}`, `words = ["a", "b", "c"]`,
# `k = 0.25`. After `("a",)`, the token `"b"` has the probability (3 + 0.25) / (4 + 0.25 · 4) = 3.25/5 = 0.65,
# and the token `"a"` has 0.25/5 = 0.05.
#
# <details><summary>Hint 1</summary>
#
# After one context, all probabilities together make one. Add up the numerators over every token that can be
# predicted: what must the denominator be?
#
# </details>
#
# <details><summary>Hint 2</summary>
#
# $V$ is a property of the model, the same after every context, whatever was seen there.
#
# </details>


# %% solution="add_k_prob"
def add_k_prob(
    counts: dict[tuple[str, ...], dict[str, int]],
    context: tuple[str, ...],
    token: str,
    words: list[str],
    k: float,
) -> float:
    """The probability of a token after a context when every count is k larger than it was."""
    ### BEGIN SOLUTION
    followers = counts.get(context, {})
    vocab_size = len(words) + 1  # the words and </s>
    return (followers.get(token, 0) + k) / (sum(followers.values()) + k * vocab_size)
    ### END SOLUTION


# %% check="the_example_is_smoothed" points=1
def the_example_is_smoothed(add_k_prob):
    """In the example, `b` has 3.25/5 and `a` has 0.25/5 after `a`."""
    counts = {("a",): {"b": 3, EOS: 1}, ("b",): {"a": 2}}
    assert_close(add_k_prob(counts, ("a",), "b", ["a", "b", "c"], 0.25), 3.25 / 5)
    assert_close(add_k_prob(counts, ("a",), "a", ["a", "b", "c"], 0.25), 0.25 / 5)
    counts = {("a",): {"b": 1, EOS: 3}, ("b",): {"a": 2}}
    assert_close(add_k_prob(counts, ("a",), "b", ["a", "b", "c"], 0.25), 1.25 / 5, what="`b`, seen once")


# %% check="smoothed_probabilities_sum_to_one" points=1
def smoothed_probabilities_sum_to_one(add_k_prob, draw):
    """Over all words and `</s>`, the probabilities after a context sum to one."""
    words = ["a", "b", "c", "d", "e"]
    counts = drawn_counts(draw, [("a",), ("b",)], ["a", "c", EOS])
    total = sum(add_k_prob(counts, ("a",), token, words, 0.3) for token in [*words, EOS])
    assert_close(total, 1.0, what="the sum over words and </s>")


# %% check="after_an_unseen_context_smoothing_is_uniform" points=1
def after_an_unseen_context_smoothing_is_uniform(add_k_prob, draw):
    """After a context that never occurred, each of four words and `</s>` has the probability 1/5."""
    counts = drawn_counts(draw, [("a", "b")], ["a", EOS])
    for token in ("a", "d", EOS):
        assert_close(add_k_prob(counts, ("b", "b"), token, ["a", "b", "c", "d"], 0.7), 1 / 5)


# %% check="seen_and_unseen_tokens_gain_the_same_k" points=1
def seen_and_unseen_tokens_gain_the_same_k(add_k_prob, draw):
    """Tokens seen 6, 2 and 0 times after a context have probabilities as 6 + k to 2 + k to k."""
    k = draw.number(0.2, 0.9)
    counts, words = {("a",): {"a": 6, "b": 2}}, ["a", "b", "c"]
    six, two, none = (add_k_prob(counts, ("a",), token, words, k) for token in words)
    assert_close([six * k, two * k], [none * (6 + k), none * (2 + k)])
    assert_depends(none, six)


# %% check="a_tiny_k_gives_relative_frequencies" points=1
def a_tiny_k_gives_relative_frequencies(add_k_prob):
    """With k near zero, a token seen 3 times of 4 has the probability 3/4."""
    counts = {("a",): {"b": 3, EOS: 1}, ("b",): {"a": 5}}
    assert_close(add_k_prob(counts, ("a",), "b", ["a", "b"], 1e-12), 3 / 4)


# %% check="other_tables_are_smoothed" points=1 hidden
def other_tables_are_smoothed(add_k_prob, draw):
    """Other tables, words and k give the smoothed frequencies."""
    words = ["u", "v", "w", "x", "y", "z"]
    counts = drawn_counts(draw, [("u", "v"), ("v", "v")], ["x", "u", EOS])
    k = draw.number(0.01, 2.5)
    seen = counts["u", "v"]
    total = seen["x"] + seen["u"] + seen[EOS] + 7 * k
    for token in ("x", "z", EOS):
        expected = (seen.get(token, 0) + k) / total
        assert_close(add_k_prob(counts, ("u", "v"), token, words, k), expected)
        assert_close(add_k_prob(counts, ("v", "u"), token, words, k), 1 / 7)


# %% [markdown] exercise="interpolated_prob" difficulty=3 minutes=20
# ### 11. Smoothing: asking shorter contexts
#
# A long context says much but was seldom seen; a short one says less and was seen often. Interpolation mixes
# them. Write $P_0$ for the uniform distribution and $P_m$ for the mixture up to order $m$, which looks at the
# **last** $m - 1$ tokens of the context, $h_m$:
#
# $$P_0(w) = \frac{1}{V}$$
#
# $$P_m(w) = \lambda_m \frac{c(h_m, w)}{\sum_{w'} c(h_m, w')} + (1 - \lambda_m) \, P_{m-1}(w)$$
#
# for $m = 1, \dots, n$. If $h_m$ never occurred, it has nothing to say, and $P_m = P_{m-1}$. Each step mixes
# two distributions that sum to one, so the result does too. $V$ counts the words and `</s>`.
#
# Write `interpolated_prob(counts_by_order, weights, context, token, words)`, which returns $P_n(w)$ for
# `token`. `counts_by_order` is a list of $n$ tables: `counts_by_order[m - 1]` holds the counts of order $m$,
# whose contexts are tuples of $m - 1$ tokens. `weights[m - 1]` is $\lambda_m$. `context` is a tuple of
# $n - 1$ tokens and `words` the list of words.
#
# **Example.** `counts_by_order = [{(): {"a": 2, "b": 1, "</s>": 1}}, {("a",): {"b": 1, "</s>": 1}}]`,
# `weights = [1/2, 3/4]`, `words = ["a", "b"]`, token `"b"` after `("a",)`: $P_0 = \frac13$,
# $P_1 = \frac12 \cdot \frac14 + \frac12 \cdot \frac13 = \frac{7}{24}$,
# $P_2 = \frac34 \cdot \frac12 + \frac14 \cdot \frac{7}{24} = \frac{43}{96} \approx 0.448$. After `("b",)`,
# which was never seen, the answer is $P_1 = \frac{7}{24}$.
#
# <details><summary>Hint 1</summary>
#
# Start with $P_0$ and improve it order by order; no recursion is needed.
#
# </details>
#
# <details><summary>Hint 2</summary>
#
# For order $m$ you need the last $m - 1$ tokens. Try your slice for $m = 1$: what is `context[-0:]`?
#
# </details>
#
# <details><summary>Hint 3</summary>
#
# If the probabilities sum to less than one somewhere, look at what becomes of $\lambda_m$ when $h_m$ was
# never seen. If they sum to more, look for a place where two estimates are used without being weighted.
#
# </details>


# %% solution="interpolated_prob"
def interpolated_prob(
    counts_by_order: list[dict[tuple[str, ...], dict[str, int]]],
    weights: list[float],
    context: tuple[str, ...],
    token: str,
    words: list[str],
) -> float:
    """The probability of a token when every order's estimate is mixed with that of the order below."""
    ### BEGIN SOLUTION
    prob = 1 / (len(words) + 1)
    for length, (counts, weight) in enumerate(zip(counts_by_order, weights, strict=True)):
        followers = counts.get(context[len(context) - length :], {})
        total = sum(followers.values())
        if total > 0:
            prob = weight * followers.get(token, 0) / total + (1 - weight) * prob
    return prob
    ### END SOLUTION


# %% check="the_example_is_43_96" points=1
def the_example_is_43_96(interpolated_prob):
    """In the example `b` has 43/96 after `a`."""
    counts_by_order = [{(): {"a": 2, "b": 1, EOS: 1}}, {("a",): {"b": 1, EOS: 1}}]
    assert_close(interpolated_prob(counts_by_order, [1 / 2, 3 / 4], ("a",), "b", ["a", "b"]), 43 / 96)


# %% provided="drawn_orders" helper
def drawn_orders(draw, words):
    """Tables of order 1, 2 and 3 over the first words, with the contexts `()`, `w` and `w w'` for some w."""
    first, second = words[:2]
    tokens = [first, second, EOS]
    contexts = [[()], [(first,), (second,)], [(first, second), (second, second)]]
    return [drawn_counts(draw, of_order, tokens) for of_order in contexts]


# %% check="mixed_probabilities_sum_to_one" points=1
def mixed_probabilities_sum_to_one(interpolated_prob, draw):
    """When all contexts have been seen, the probabilities of all words and `</s>` sum to one."""
    words, weights = ["a", "b", "c", "d"], [0.9, 0.7, 0.4]
    orders = drawn_orders(draw, words)
    total = sum(interpolated_prob(orders, weights, ("a", "b"), token, words) for token in [*words, EOS])
    assert_close(total, 1.0, what="the sum over words and </s>")


# %% check="an_unseen_context_leaves_the_shorter_one_to_speak" points=1
def an_unseen_context_leaves_the_shorter_one_to_speak(interpolated_prob, draw):
    """Where the long context was never seen, the answer is that of the next shorter one."""
    words, weights = list("abcdefghijklmnopqrstuvwxyz"), [0.8, 0.6, 0.3]
    orders = drawn_orders(draw, words)
    orders[1]["a",]["b"] = 50  # oftener after `a` than elsewhere
    shorter = interpolated_prob(orders[:2], weights[:2], ("a",), "b", words)
    assert_close(interpolated_prob(orders, weights, ("c", "a"), "b", words), shorter)
    assert_depends(shorter, interpolated_prob(orders, weights, ("c", "a"), "c", words))


# %% check="the_nearest_tokens_are_kept" points=1
def the_nearest_tokens_are_kept(interpolated_prob, draw):
    """A shorter context keeps the tokens next to the predicted one, not those farther away."""
    words, weights = ["a", "b", "c"], [0.5, 0.8, 0.6]
    bigrams = {("a",): {"a": 70, "c": 1}, ("b",): {"c": 7, "b": 1}}
    unigrams, trigrams = drawn_counts(draw, [()], ["a", "b"]), drawn_counts(draw, [("c", "c")], ["a", EOS])
    orders = [unigrams, bigrams, trigrams]
    after_a = interpolated_prob(orders, weights, ("b", "a"), "a", words)
    after_b = interpolated_prob(orders, weights, ("a", "b"), "a", words)
    assert_true(after_a > after_b, f"`a` got {after_a} after `b a` and {after_b} after `a b`.")


# %% check="a_context_seen_once_has_its_say" points=1
def a_context_seen_once_has_its_say(interpolated_prob):
    """With a single count for `a`, `a` has 1/2 of 1 and 1/2 of 1/3."""
    assert_close(interpolated_prob([{(): {"a": 1}}], [0.5], (), "a", ["a", "b"]), 2 / 3)


# %% check="a_word_seen_nowhere_keeps_its_uniform_share" points=1
def a_word_seen_nowhere_keeps_its_uniform_share(interpolated_prob, draw):
    """A word in no table has what all the weights leave over of 1/V."""
    words, weights = ["a", "b", "c", "d", "e"], [0.9, 0.5, 0.2]
    orders = drawn_orders(draw, words)
    assert_close(interpolated_prob(orders, weights, ("b", "b"), "e", words), 0.1 * 0.5 * 0.8 / 6)


# %% check="the_weight_belongs_to_the_longer_context" points=1
def the_weight_belongs_to_the_longer_context(interpolated_prob, draw):
    """With every weight 1 only the longest context speaks; with every weight 0 all tokens are alike."""
    words = ["a", "b"]
    orders = drawn_orders(draw, words)
    followers = orders[2]["a", "b"]
    followers["a"] += 20  # more than a third
    orders[0][()]["a"] += 20
    expected = followers["a"] / sum(followers.values())
    assert_close(interpolated_prob(orders, [1.0, 1.0, 1.0], ("a", "b"), "a", words), expected)
    assert_close(interpolated_prob(orders, [0.0, 0.0, 0.0], ("a", "b"), "a", words), 1 / 3)


# %% check="other_mixtures_have_their_probability" points=2 hidden
def other_mixtures_have_their_probability(interpolated_prob, draw):
    """Other tables and weights give the weighted sum of all orders."""
    words = ["u", "v", "w"]
    orders = drawn_orders(draw, words)
    orders[1]["u",]["v"] = 200  # oftener than after `v`
    one, two, three = weights = [draw.number(low, low + 0.2) for low in (0.2, 0.4, 0.6)]
    for token in ("v", "w", EOS):
        for context in (("u", "v"), ("v", "v")):
            frequencies = [
                table[seen].get(token, 0) / sum(table[seen].values())
                for table, seen in zip(orders, [(), context[1:], context], strict=True)
            ]
            mixture = three * frequencies[2] + (1 - three) * two * frequencies[1]
            mixture += (1 - three) * (1 - two) * (one * frequencies[0] + (1 - one) / 4)
            assert_close(interpolated_prob(orders, weights, context, token, words), mixture)
    half = orders[0][()].get("u", 0) / sum(orders[0][()].values()) * one + (1 - one) / 4
    assert_close(interpolated_prob(orders, weights, ("w", "w"), "u", words), half)
    assert_close(interpolated_prob(orders, weights, ("w", "w"), "w", words), (1 - one) / 4)


# %% [markdown] exercise="choose_n_and_k" difficulty=2 minutes=20
# ### 12. Choosing n and k
#
# The longer the context, the better an n-gram model fits its own training text; on new text it gets worse
# again. So $n$ and $k$ are chosen by the cost on held-out text. That cost is a measurement and varies with
# the text it was taken on, and where the difference is within the noise the smaller model is the wiser
# choice. The **one-standard-error rule** says this exactly:
#
# 1. The *cost* of a setting is the mean of its held-out bits over the folds (different cuts of the text into
#    a training part and a held-out part).
# 2. Take the setting of lowest cost. Its *standard error* is $s$ divided by the square root of the number of
#    folds, where $s$ is the sample standard deviation of its held-out bits over the folds (as
#    `statistics.stdev` finds it, with the number of folds minus one).
# 3. Every setting whose cost is at most the lowest cost plus that standard error is *good enough*. Of these,
#    choose the smallest $n$; among those with the smallest $n$, the one of lowest cost.
#
# Write `choose_n_and_k(results)`, which returns the pair `(n, k)`. `results` is a dict: `results[n, k]` is
# again a dict with the keys `"training"`, `"heldout"` and `"test"`, and each of these a list of the bits per
# token of every fold. The test text is for the final report, after everything has been chosen.
#
# **Example.** Two folds, and these held-out bits:
#
# | n | k | held-out bits | cost |
# |---|---|---|---|
# | 1 | 0.1 | 5.4, 5.5 | 5.45 |
# | 2 | 0.1 | 5.3, 5.4 | 5.35 |
# | 2 | 1.0 | 4.9, 6.3 | 5.6 |
# | 3 | 0.1 | 5.3, 5.3 | 5.3 |
# | 4 | 0.1 | 5.0, 5.4 | 5.2 |
# | 5 | 0.1 | 5.4, 5.3 | 5.35 |
# | 6 | 0.1 | 5.8, 6.0 | 5.9 |
#
# The lowest cost is 5.2, with $s = 0.2828$ and a standard error of $0.2828 / \sqrt 2 = 0.2$. Good enough is
# up to 5.4, which leaves n = 2, 3, 4 and 5 with k = 0.1. The choice is `(2, 0.1)`.
#
# <details><summary>Hint 1</summary>
#
# Compute one number per setting first, and print it. Everything but the standard error works on these
# numbers.
#
# </details>
#
# <details><summary>Hint 2</summary>
#
# Python compares tuples entry by entry: `min` over tuples can settle "smallest n, then lowest cost" in one
# go.
#
# </details>


# %% solution="choose_n_and_k"
def choose_n_and_k(results: dict[tuple[int, float], dict[str, list[float]]]) -> tuple[int, float]:
    """The smallest n within one standard error of the lowest held-out cost, and the best k for it."""
    ### BEGIN SOLUTION
    from statistics import mean, stdev

    cost = {setting: mean(bits["heldout"]) for setting, bits in results.items()}
    best = min(cost, key=cost.get)
    of_best = results[best]["heldout"]
    limit = cost[best] + stdev(of_best) / math.sqrt(len(of_best))
    good_enough = [setting for setting in cost if cost[setting] <= limit]
    return min(good_enough, key=lambda setting: (setting[0], cost[setting]))
    ### END SOLUTION


# %% provided="folds" helper
def folds(mean, spread=0.0):
    """The bits of four folds with this mean, not their median, and with `spread` as the mean's standard error."""
    return [mean + spread * step for step in (-1, -1, 3, -1)]


def results_table(heldout, *, training=None, test=None):
    """Results in which longer contexts always fit the training text better, unless it is given."""
    least = min(min(bits) for bits in heldout.values())
    return {
        setting: {
            "training": (training or {}).get(setting, folds(least - setting[0] + setting[1] / 10)),
            "heldout": bits,
            "test": (test or {}).get(setting, bits),
        }
        for setting, bits in heldout.items()
    }


# %% check="the_example_chooses_the_bigram" points=1
def the_example_chooses_the_bigram(choose_n_and_k):
    """In the example the choice is (2, 0.1)."""
    heldout = {(1, 0.1): [5.4, 5.5], (2, 0.1): [5.3, 5.4], (2, 1.0): [4.9, 6.3], (3, 0.1): [5.3, 5.3]}
    heldout |= {(4, 0.1): [5.0, 5.4], (5, 0.1): [5.4, 5.3], (6, 0.1): [5.8, 6.0]}
    results = results_table(heldout)
    assert_equal(tuple(choose_n_and_k(results)), (2, 0.1))


# %% check="the_training_text_has_no_say" points=1
def the_training_text_has_no_say(choose_n_and_k, draw):
    """A model that is better on the training text and worse on held-out text is not chosen."""
    base = draw.number(4, 6)
    heldout = {(1, 0.5): folds(base + 2), (2, 0.5): folds(base, 0.01), (3, 0.5): folds(base + 0.5)}
    training = {(1, 0.5): folds(base + 1), (2, 0.5): folds(base - 1), (3, 0.5): folds(base - 3)}
    assert_equal(tuple(choose_n_and_k(results_table(heldout, training=training))), (2, 0.5))


# %% check="the_test_text_has_no_say" points=1
def the_test_text_has_no_say(choose_n_and_k, draw):
    """A model that is better on the test text and worse on held-out text is not chosen."""
    base = draw.number(4, 6)
    heldout = {(3, 1.0): folds(base + 0.6), (2, 1.0): folds(base + 0.3), (4, 1.0): folds(base, 0.01)}
    test = {(3, 1.0): folds(base - 1), (2, 1.0): folds(base + 1), (4, 1.0): folds(base + 0.2)}
    assert_equal(tuple(choose_n_and_k(results_table(heldout, test=test))), (4, 1.0))


# %% check="differences_within_the_noise_do_not_count" points=2
def differences_within_the_noise_do_not_count(choose_n_and_k, draw):
    """A smaller n wins when it costs up to one standard error more, and not when it costs more than that."""
    base, noise = draw.number(4, 6), draw.number(0.1, 0.2)
    heldout = {(4, 0.1): folds(base, noise), (3, 0.1): folds(base + 0.7 * noise, 0.8 * noise)}
    assert_equal(tuple(choose_n_and_k(results_table(heldout))), (3, 0.1))
    heldout[2, 0.1] = folds(base + 1.1 * noise, 1.2 * noise)
    assert_equal(tuple(choose_n_and_k(results_table(heldout))), (3, 0.1))
    heldout[3, 0.1] = folds(base + 0.93 * noise)
    assert_equal(tuple(choose_n_and_k(results_table(heldout))), (3, 0.1))


# %% check="of_the_smallest_n_the_best_k_is_chosen" points=1
def of_the_smallest_n_the_best_k_is_chosen(choose_n_and_k, draw):
    """Among good-enough settings with the same smallest n, the k of lowest cost is chosen."""
    base, noise = draw.number(30, 40), draw.number(2, 3)
    multiples = {(3, 0.01): 0.6, (2, 0.01): 0.8, (2, 0.1): 0.4, (2, 1.0): 0.7, (2, 2.0): 5.0, (1, 1.0): 3.5}
    heldout = {(3, 0.5): folds(base, noise), (1, 0.1): folds(base + 9 * noise, 10 * noise)}
    heldout |= {setting: folds(base + multiple * noise) for setting, multiple in multiples.items()}
    assert_equal(tuple(choose_n_and_k(results_table(heldout))), (2, 0.1))


# %% check="without_noise_only_the_best_is_good_enough" points=1
def without_noise_only_the_best_is_good_enough(choose_n_and_k):
    """Where all folds of the best setting cost the same, that setting is chosen."""
    heldout = {(2, 0.1): [5.0, 5.02], (3, 0.1): [5.0, 5.0], (4, 0.1): [5.0, 5.5]}
    assert_equal(tuple(choose_n_and_k(results_table(heldout))), (3, 0.1))


# %% check="other_results_are_chosen_from_by_the_rule" points=2 hidden
def other_results_are_chosen_from_by_the_rule(choose_n_and_k, draw):
    """Other tables, in any order, lead to the choice of the one-standard-error rule."""
    base, noise = draw.number(3, 9), draw.number(0.05, 0.4)
    multiples = {
        (5, 0.1): 0.5, (5, 1.0): 2.0, (4, 0.1): 0.3, (3, 0.5): 0.95, (3, 0.1): 0.92, (3, 0.01): 1.4,
        (2, 0.1): 1.2, (2, 0.5): 1.6, (1, 0.1): 14.0,
    }  # fmt: skip
    heldout = {(4, 0.5): folds(base, noise), (1, 1.0): folds(base + 9 * noise, 10 * noise)}
    heldout |= {
        setting: folds(base + multiple * noise, 0.3 * noise) for setting, multiple in multiples.items()
    }
    training = {setting: folds(base - noise * setting[0]) for setting in heldout}
    test = {setting: folds(base + abs(setting[0] - 2)) for setting in heldout}
    assert_equal(tuple(choose_n_and_k(results_table(heldout, training=training, test=test))), (3, 0.1))


# %% [markdown]
# ### Your model on English
#
# The next cell puts your functions together: it counts n-grams of the documentation that comes with Python,
# smooths them with add-k, and draws what training and held-out text cost for n = 1 to 4. Set `RUN = True`
# when exercises 7, 10 and 12 are done. (No points. It takes a few seconds.) Where does the training cost part
# from the held-out cost, and what does a larger k do to the gap?

# %%
RUN = False  # True, then run this cell
if RUN:
    from pydoc_data.topics import topics

    from IPython.display import display

    from course.plots import Picture, legend, line_style

    lines = [line.lower().split() for text in topics.values() for line in text.splitlines()]
    lines = [line for line in lines if len(line) > 3 and all(word.isalpha() for word in line)]
    words = sorted({word for line in lines for word in line})  # of all parts: no word is unknown
    results = {}
    for n in (1, 2, 3, 4):
        for k in (0.001, 0.1):
            results[n, k] = {"training": [], "heldout": [], "test": []}
            for fold in range(3):
                parts = {
                    "training": [line for i, line in enumerate(lines) if i % 5 not in (fold, 4)],
                    "heldout": lines[fold::5],
                    "test": lines[4::5],
                }
                counts = ngram_counts(parts["training"], n)
                for part, sentences in parts.items():
                    bits = [
                        -count * math.log2(add_k_prob(counts, context, token, words, k))
                        for context, followers in ngram_counts(sentences, n).items()
                        for token, count in followers.items()
                    ]
                    n_tokens = sum(len(sentence) + 1 for sentence in sentences)
                    results[n, k][part].append(sum(bits) / n_tokens)
            training, heldout = (sum(results[n, k][part]) / 3 for part in ("training", "heldout"))
            print(f"n = {n}   k = {k:<6} training {training:6.2f}   held-out {heldout:6.2f} bits per word")
    print("your choice:", choose_n_and_k(results))

    picture = Picture("Bits per word of training and held-out text for n = 1 to 4, with the numbers above.")
    axes = picture.panel()
    for style, k in enumerate((0.001, 0.1)):
        for part, marker in (("training", "o"), ("heldout", "s")):
            bits = [sum(results[n, k][part]) / 3 for n in (1, 2, 3, 4)]
            label = f"{part.replace('heldout', 'held-out')}, k = {k}"
            axes.plot((1, 2, 3, 4), bits, marker=marker, label=label, **line_style(style))
    axes.set(xlabel="n", ylabel="bits per word", xticks=(1, 2, 3, 4))
    legend(axes)
    display(picture)

# %% [markdown] written="reading_the_fall" points=3 minutes=10
# ### 13. Reading the fall
#
# On the Wall Street Journal, with one vocabulary for all three, models trained on 38 million words reach
# these perplexities on new text: unigram 962, bigram 170, trigram 109 (Jurafsky and Martin). Drawn on a
# linear axis of perplexity, the first step looks like everything and the second like nothing.
#
# a) How many bits per word does each of the two steps save?
#
# b) Which axis would you draw the three numbers on, and why?
#
# c) A fourth model reads every word outside its 5,000 commonest as `<unk>` and reports a perplexity of 60.
# Why does that not make it the best of the four?
#
# ### BEGIN SOLUTION
# a) (1 point) $\log_2(962/170) = 2.50$ bits and $\log_2(170/109) = 0.64$ bits.
#
# b) (1 point) A logarithmic axis of perplexity, or bits on a linear one: what is saved per word adds up in
# bits, and equal factors of perplexity are equal savings. On the linear axis the steps look like 792 to 61,
# about 13 to 1; in bits they are 3.9 to 1.
#
# c) (1 point) It predicts a different, easier text: `<unk>` is one frequent token that stands for all rare
# words, and the model is never charged for saying which one it was. Perplexities can be compared only over
# the same tokens. Full marks also for: charge it for spelling out the unknown words, or compare bits per byte
# of the whole text.
# ### END SOLUTION
