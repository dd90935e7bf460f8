# %% provided="table_decoder"
class TableDecoder(nn.Module):
    """A decoder whose state is a place in a table: `state, logits = decoder(state, tokens)`, for B rows.

    Reading a token leads from place n to place `jumps[n, token]`, where `logits` of that place say what comes
    next. In training mode there is a dropout that leaves nothing to chance: every even word is dropped. While
    gradients are on, all steps are kept for a backward pass, and there is memory for eight of them.
    """

    def __init__(self, jumps, logits):
        super().__init__()
        self.jumps = jumps  # (places, V)
        self.logits = nn.Parameter(logits.clone())  # (places, V)
        self.n_kept = 0

    def forward(self, state, tokens):
        self.n_kept += torch.is_grad_enabled()
        if self.n_kept > 8:
            raise MemoryError("the steps kept for a backward pass do not fit into memory")
        state = self.jumps[state, tokens]  # (B,)
        logits = self.logits[state]  # (B, V)
        kept = 2.0 * (torch.arange(logits.shape[-1]) % 2 == 1)
        return state, logits * kept if self.training else logits


# %% [markdown] exercise="greedy_decode" difficulty=3 minutes=40
# ### 5. Running free
#
# To translate, nobody feeds the right words any more. The decoder reads BOS, then the word it has just said,
# then the next, until it says EOS. **Greedy** decoding says the most likely word every time. The sentences of
# a batch end at different times, and the batch goes on until the last of them has ended.
#
# `TableDecoder(jumps, logits)` above stands for a trained decoder. Like every module it comes in training
# mode.
#
# Write `greedy_decode(jumps, logits, state, bos, eos, max_length)`. Make a `TableDecoder` and let it write
# from the first states `state`, (B,) int64. Return the tuple `(tokens, log_probs)`:
#
# | result | shape | meaning |
# |---|---|---|
# | `tokens` | (B, T), int64 | the words each row says, without BOS, up to its EOS; behind its EOS only EOS |
# | `log_probs` | (B,) | for each row, the sum of the log-probabilities of its words, EOS included |
#
# Stop when every row has said EOS, or when `max_length` words have been written. Decoding is not training:
# use the decoder in evaluation mode and under `torch.no_grad()`, so that no step is kept for a backward pass.
#
# **Example.** If one row says *a* *b* EOS and the other EOS at once, `tokens` is `[[a, b, EOS], [EOS, EOS,
# EOS]]`, and `log_probs[1]` is the log-probability of its first EOS alone.
#
# <details><summary>Hint 1</summary>
#
# Keep a tensor `has_ended`, (B,), of True and False. When does it change, when may the loop end, and what is
# written in a row where it is True?
#
# </details>
#
# <details><summary>Hint 2</summary>
#
# In the round in which a row says its EOS, was `has_ended` True before or only after? Which of the two
# decides whether the log-probability counts?
#
# </details>
#
# <details><summary>Hint 3</summary>
#
# Two lines have nothing to do with the loop: a method that every module has, and `with torch.no_grad():`.
#
# </details>


# %% solution="greedy_decode"
def greedy_decode(
    jumps: Tensor, logits: Tensor, state: Tensor, bos: int, eos: int, max_length: int
) -> tuple[Tensor, Tensor]:
    """What a table decoder says by itself, (B, T), and the log-probability (B,) of each row up to its EOS."""
    ### BEGIN SOLUTION
    decoder = TableDecoder(jumps, logits).eval()
    token = torch.full_like(state, bos)
    has_ended = torch.zeros(len(state), dtype=torch.bool)
    total = torch.zeros(len(state), dtype=torch.float64)
    written = []
    with torch.no_grad():  # nobody will go backwards
        while len(written) < max_length and not has_ended.all():
            state, logits = decoder(state, token)  # (B,), (B, V)
            best = logits.log_softmax(dim=-1).max(dim=-1)
            total += best.values.masked_fill(has_ended, 0.0)
            token = best.indices.masked_fill(has_ended, eos)
            has_ended |= token == eos
            written.append(token)
    return torch.stack(written, dim=1), total
    ### END SOLUTION


# %% provided="chains" helper
def chain(words, vocab_size, eos, babble, noise, bos=0):
    """Tables of a decoder that says `words` from the place at which it starts to the last place, then EOS.

    Reading BOS leads nowhere else. After a wrong word, and after EOS, it babbles for ever.
    """
    places = len(words) + 2
    jumps = torch.full((places, vocab_size), places - 1)
    jumps[:, bos] = torch.arange(places)
    logits = noise[:places, :vocab_size].clone()
    for place, word in enumerate([*words, eos]):
        logits[place, word] = 4.0
        if word != eos:
            jumps[place, word] = place + 1
    logits[places - 1, babble] = 4.0
    return jumps, logits


# %% check="the_shorter_row_waits_in_eos" points=1
def the_shorter_row_waits_in_eos(greedy_decode, draw):
    """One row says 5, 3, EOS and the other EOS at once, as in the example; then both stop."""
    jumps, logits = chain([5, 3], 7, 1, 5, draw.uniform(4, 7))
    tokens, _ = greedy_decode(jumps, logits, torch.tensor([0, 2]), 0, 1, 9)
    assert_equal(tokens, torch.tensor([[5, 3, 1], [1, 1, 1]]))


# %% check="each_word_is_read_before_the_next" points=1
def each_word_is_read_before_the_next(greedy_decode, draw):
    """A row by itself says its four words one after the other: it reads what it has just said."""
    for words in ([5, 3, 7, 9], [9, 7, 3, 5]):
        jumps, logits = chain(words, 11, 1, 7, draw.uniform(6, 11))
        tokens, _ = greedy_decode(jumps, logits, torch.tensor([0]), 0, 1, 5)
        assert_equal(tokens, torch.tensor([[*words, 1]]))


# %% check="bos_and_eos_may_be_any_words" points=1
def bos_and_eos_may_be_any_words(greedy_decode, draw):
    """With BOS = 8 and EOS = 4, a row says 5, 1, EOS, and the other EOS at once."""
    jumps, logits = chain([5, 1], 9, 4, 3, draw.uniform(4, 9), bos=8)
    tokens, _ = greedy_decode(jumps, logits, torch.tensor([0, 2]), 8, 4, 9)
    assert_equal(tokens, torch.tensor([[5, 1, 4], [4, 4, 4]]))


# %% check="never_more_than_max_length_words" points=1
def never_more_than_max_length_words(greedy_decode, draw):
    """Of a row that would say five words, max_length = 3 leaves the first three."""
    jumps, logits = chain([5, 3, 7, 9, 3], 11, 1, 7, draw.uniform(7, 11))
    tokens, _ = greedy_decode(jumps, logits, torch.tensor([0]), 0, 1, 3)
    assert_equal(tokens, torch.tensor([[5, 3, 7]]))


# %% check="nothing_is_dropped_while_decoding" points=1
def nothing_is_dropped_while_decoding(greedy_decode, draw):
    """Even words, which the dropout of training mode would drop, are said too."""
    jumps, logits = chain([4, 2, 6], 9, 1, 6, draw.uniform(5, 9))
    tokens, _ = greedy_decode(jumps, logits, torch.tensor([0]), 0, 1, 4)
    assert_equal(tokens, torch.tensor([[4, 2, 6, 1]]))


# %% check="the_log_probs_are_those_of_the_words_said" points=1
def the_log_probs_are_those_of_the_words_said(greedy_decode, draw):
    """A row that says a word and EOS costs the log-probabilities of both; one that says EOS at once, of that."""
    jumps, logits = chain([5], 7, 1, 3, draw.uniform(3, 7))
    of_word, of_eos = (logits[place, word] - logits[place].logsumexp(0) for place, word in ((0, 5), (1, 1)))
    _, alone = greedy_decode(jumps, logits, torch.tensor([0]), 0, 1, 2)
    _, both = greedy_decode(jumps, logits, torch.tensor([0, 1]), 0, 1, 2)
    assert_close(alone, (of_word + of_eos)[None], what="a row by itself")
    assert_close(both, torch.stack([of_word + of_eos, of_eos]), what="two rows together")


# %% check="long_translations_fit_into_memory" points=1
def long_translations_fit_into_memory(greedy_decode, draw):
    """A row of eleven words and EOS is said to its end: no step is kept for a backward pass."""
    words = [5, 3, 7, 9, 3, 9, 5, 7, 9, 5, 3]
    jumps, logits = chain(words, 11, 1, 7, draw.uniform(13, 11))
    tokens, _ = greedy_decode(jumps, logits, torch.tensor([0]), 0, 1, 12)
    assert_equal(tokens, torch.tensor([[*words, 1]]))


# %% check="other_tables_are_decoded" points=3 hidden
def other_tables_are_decoded(greedy_decode, draw):
    """Other tables are read as they should be, with and without an end in time."""

    def alone(jumps, logits, place, eos, max_length):
        said, total, token = [], 0.0, 0
        while len(said) < max_length and token != eos:
            place = int(jumps[place, token])
            token = int(logits[place].argmax())
            said, total = [*said, token], total + float(logits[place, token] - logits[place].logsumexp(0))
        return said, total

    for words, starts, eos, max_length in (
        ([4, 9, 2, 8], [2, 0, 4, 3], 1, 8),
        ([3, 5, 6], [1, 2], 9, 2),
        ([7, 4, 5, 6, 2], [3, 0], 1, 5),
        ([2, 4, 6, 8, 3, 5, 7, 2, 4, 6], [1, 0, 5], 1, 20),
    ):
        jumps, logits = chain(words, 10, eos, draw.integers(2, 9), draw.uniform(12, 10))
        rows = [alone(jumps, logits, place, eos, max_length) for place in starts]
        T = max(len(said) for said, _ in rows)
        expected = torch.tensor([said + (T - len(said)) * [eos] for said, _ in rows])
        tokens, log_probs = greedy_decode(jumps, logits, torch.tensor(starts), 0, eos, max_length)
        assert_equal(tokens, expected, what="tokens")
        assert_close(
            log_probs, torch.tensor([total for _, total in rows], dtype=torch.float64), what="log_probs"
        )


# %% [markdown] exercise="exact_match" difficulty=2 minutes=15
# ### 6. An honest number
#
# How many translations are right? Two tables of words lie before you, and one of them flatters. For `free`,
# the decoder ran free as in exercise 5. For `forced`, at every place the most likely word was taken while the
# **right** words before it were fed: after every slip somebody put the decoder back on its track. No user
# will do that.
#
# Write `exact_match(free, forced, targets, eos)`, the fraction of sentences that the decoder translates exactly
# right when it runs free: the same words in the same places, and EOS right behind them.
#
# | argument | shape | meaning |
# |---|---|---|
# | `free` | (B, T′) | what was written; EOS fills the rest of a row; a row without EOS was cut off |
# | `forced` | (B, T) | the most likely words under teacher forcing |
# | `targets` | (B, T) | the right words, EOS, then padding, which is of no interest |
#
# T′ may be smaller or larger than T.
#
# **Example.** With `eos=2`, `targets = [[5, 6, 2], [7, 2, 0]]` and `free = [[5, 6, 2, 2], [7, 7, 6, 2]]` the
# exact match is 0.5: the first row is right, the second is not.
#
# <details><summary>Hint 1</summary>
#
# Turn each row into the list of its words up to and including its first EOS. What remains to be compared?
#
# </details>


# %% solution="exact_match"
def exact_match(free: Tensor, forced: Tensor, targets: Tensor, eos: int) -> float:
    """The fraction of rows that are exactly right when the decoder runs free, their EOS included."""

    ### BEGIN SOLUTION
    def up_to_eos(row):
        words = row.tolist()
        return words[: words.index(eos) + 1] if eos in words else words

    n_right = sum(up_to_eos(own) == up_to_eos(right) for own, right in zip(free, targets, strict=True))
    return n_right / len(targets)
    ### END SOLUTION


# %% check="half_of_the_example_is_right" points=1
def half_of_the_example_is_right(exact_match):
    """In the example one of two sentences is right; with the second mended both are."""
    targets = torch.tensor([[5, 6, 2], [7, 2, 0]])
    free, mended = [[5, 6, 2, 2], [7, 7, 6, 2]], [[5, 6, 2, 2], [7, 2, 2, 2]]
    fraction, mended_fraction = (
        exact_match(torch.tensor(rows), torch.tensor(rows)[:, :3], targets, 2) for rows in (free, mended)
    )
    assert_close(fraction, 0.5, what="the example")
    assert_close(mended_fraction, 1.0, what="with the second row mended")


# %% check="help_on_the_way_does_not_count" points=1
def help_on_the_way_does_not_count(exact_match, draw):
    """Whatever is said under teacher forcing, only what was written freely is judged."""
    targets = torch.cat([draw.integers(5, 20, 4, 3), torch.full((4, 1), 2)], dim=1)
    wrong = targets.clone()
    wrong[:3, 1] = 4
    assert_close(exact_match(wrong, targets, targets, 2), 0.25, what="right only when helped")
    assert_close(exact_match(targets, wrong, targets, 2), 1.0, what="right when free")


# %% check="one_wrong_word_spoils_a_sentence" points=1
def one_wrong_word_spoils_a_sentence(exact_match, draw):
    """Of two sentences, one with one wrong word, or with its words in another order: half of them are right."""
    targets = torch.cat([draw.integers(5, 20, 2, 5), torch.full((2, 1), 2)], dim=1)
    free = targets.clone()
    free[1, draw.integers(0, 5)] = 4
    assert_close(exact_match(free, free, targets, 2), 0.5)
    targets, free = torch.tensor([[5, 6, 7, 2], [8, 9, 6, 2]]), torch.tensor([[5, 6, 7, 2], [9, 8, 6, 2]])
    assert_close(exact_match(free, free, targets, 2), 0.5, what="with words in another order")


# %% check="what_stands_behind_eos_is_not_looked_at" points=1
def what_stands_behind_eos_is_not_looked_at(exact_match):
    """A short sentence is right although one table fills its row with EOS and the other with padding."""
    targets = torch.tensor([[5, 2, 0, 0], [6, 7, 8, 2], [9, 2, 0, 0]])
    free = torch.tensor([[5, 2, 2, 2], [6, 7, 8, 2], [8, 2, 2, 2]])
    assert_close(exact_match(free, free, targets, 2), 2 / 3)


# %% check="a_sentence_must_end" points=1
def a_sentence_must_end(exact_match):
    """A row that was cut off before its EOS is not right, nor is one that goes on instead of ending."""
    targets = torch.tensor([[5, 6, 2, 0], [7, 8, 6, 2], [9, 2, 0, 0]])
    cut = torch.tensor([[5, 6], [7, 8], [9, 2]])
    too_long = torch.tensor([[5, 6, 7, 2, 2], [7, 8, 6, 2, 2], [9, 9, 2, 2, 2]])
    of_cut, of_too_long = exact_match(cut, targets, targets, 2), exact_match(too_long, targets, targets, 2)
    assert_close(of_cut, 1 / 3, what="cut off")
    assert_close(of_too_long, 1 / 3, what="too long")


# %% check="other_translations_are_judged" points=2 hidden
def other_translations_are_judged(exact_match, draw):
    """Other translations, right, spoilt, cut off and too long, have their fraction."""
    for n_right, eos in ((2, 3), (1, 9)):
        words = [10 + draw.integers(0, 9, length) for length in (4, 2, 5, 3, 4)]
        targets, free = torch.zeros(5, 6, dtype=torch.int64), torch.full((5, 8), eos)
        for row, sentence in enumerate(words):
            targets[row, : len(sentence)], targets[row, len(sentence)] = sentence, eos
            free[row, : len(sentence)] = sentence
        forced = targets.clone()
        forced[0, 0] = 4
        free[n_right:, 1] = 5
        free[4] = torch.cat([words[4], torch.tensor([6, 6, 6, 6])])
        assert_close(exact_match(free, forced, targets, eos), n_right / 5, what="all of them")
        assert_close(
            exact_match(free[:, :4], forced, targets, eos), (n_right - 1) / 5, what="cut to four words"
        )


# %% [markdown] exercise="bottleneck_table" difficulty=2 minutes=20
# ### 7. An experiment you can trust
#
# A vector of fixed size holds a short sentence better than a long one. To show it, several models are trained
# on short sentences, each with several seeds, and measured at many lengths. An experiment is easily spoilt by
# its bookkeeping, so write the bookkeeping.
#
# `runs` is a list of dicts, one for each model, seed and length:
#
# | key | meaning |
# |---|---|
# | `"model"`, `"seed"` | a name, and the number of the run |
# | `"n_parameters"` | how many numbers the model has learned |
# | `"length"` | the number of words of the test sentences |
# | `"exact_match"` | exercise 6, as the model runs free |
# | `"forced_accuracy"` | the fraction of right words under teacher forcing |
#
# Write `bottleneck_table(runs, trained_lengths)`, which returns a dict from `(model, length)` to the **mean
# exact match over all seeds**. Four rules:
#
# 1. Lengths in `trained_lengths` (a list) are left out: the table speaks of lengths that no model has seen.
# 2. What counts is `"exact_match"`.
# 3. A model and a length with fewer than two seeds are left out. One run is an anecdote.
# 4. If the largest number of parameters in `runs` is more than 1.05 times the smallest, raise a `ValueError`:
#    then it is not the architecture that is compared.
#
# **Example.** Two seeds of the model `"vector"` at length 9 have the exact matches 0.2 and 0.4. With
# `trained_lengths = [4, 5, 6]` the table has the entry `("vector", 9): 0.3`.
#
# <details><summary>Hint 1</summary>
#
# First collect a list of exact matches for each pair of model and length. Which runs get that far?
#
# </details>


# %% solution="bottleneck_table"
def bottleneck_table(runs: list[dict], trained_lengths: list[int]) -> dict[tuple[str, int], float]:
    """The mean exact match of each model at each unseen length; ValueError for models of unequal size."""
    ### BEGIN SOLUTION
    sizes = [run["n_parameters"] for run in runs]
    if max(sizes) > 1.05 * min(sizes):
        raise ValueError(f"models of {min(sizes)} and of {max(sizes)} parameters are not compared")
    found = {}
    for run in runs:
        if run["length"] not in trained_lengths:
            found.setdefault((run["model"], run["length"]), []).append(run["exact_match"])
    return {cell: sum(fractions) / len(fractions) for cell, fractions in found.items() if len(fractions) >= 2}
    ### END SOLUTION


# %% provided="runs" helper
def a_run(model, seed, length, fraction, n_parameters=1000):
    """One line of an experiment; under teacher forcing everything looks better."""
    forced_accuracy = 0.8 + 0.2 * fraction
    return {
        "model": model,
        "seed": seed,
        "n_parameters": n_parameters,
        "length": length,
        "exact_match": fraction,
        "forced_accuracy": forced_accuracy,
    }


# %% check="the_example_has_a_mean_of_0_3" points=1
def the_example_has_a_mean_of_0_3(bottleneck_table):
    """The two runs of the example give one entry, 0.3."""
    runs = [a_run("vector", 0, 9, 0.2), a_run("vector", 1, 9, 0.4)]
    assert_close(bottleneck_table(runs, [4, 5, 6]), {("vector", 9): 0.3})


# %% check="lengths_seen_in_training_are_left_out" points=1
def lengths_seen_in_training_are_left_out(bottleneck_table):
    """Of the lengths 3, 4, 5, 6 and 9, only 3, 5 and 9 are reported when 4 and 6 were trained on."""
    runs = [a_run("vector", seed, length, 0.5) for length in (3, 4, 5, 6, 9) for seed in (3, 4)]
    assert_equal(sorted(bottleneck_table(runs, [4, 6])), [("vector", 3), ("vector", 5), ("vector", 9)])


# %% check="every_seed_has_its_share" points=1
def every_seed_has_its_share(bottleneck_table):
    """Three seeds give their mean, for each of two models: 0.1, 0.9 and 0.2 give 0.4; 0.3, 0.6 and 0 give 0.3."""
    for fractions, mean in (((0.1, 0.9, 0.2), 0.4), ((0.3, 0.6, 0.0), 0.3)):
        runs = [
            a_run(model, seed, 8, fraction + more)
            for model, more in (("vector", 0.0), ("attention", 0.06))
            for seed, fraction in zip((5, 2, 7), fractions, strict=True)
        ]
        assert_close(bottleneck_table(runs, [4]), {("vector", 8): mean, ("attention", 8): mean + 0.06})


# %% check="one_seed_is_no_result" points=1
def one_seed_is_no_result(bottleneck_table):
    """A length that was measured with one seed only is not in the table."""
    runs = [a_run("vector", 0, 8, 0.5), a_run("vector", 1, 8, 0.5), a_run("vector", 1, 12, 0.5)]
    assert_equal(list(bottleneck_table(runs, [4])), [("vector", 8)])


# %% check="unequal_models_are_not_compared" points=1
def unequal_models_are_not_compared(bottleneck_table):
    """1000 parameters against 3000 or 1060, in any of the runs, raise a ValueError; against 1040 or 1050 they do not."""
    runs = [a_run("vector", seed, 8, 0.5) for seed in (0, 1)]
    larger = [a_run("attention", seed, 8, 0.5, n_parameters=1060) for seed in (0, 1)]
    huge = [a_run("attention", seed, 8, 0.5, n_parameters=3000) for seed in (0, 1)]
    for n_parameters in (1040, 1050):
        similar = [a_run("attention", seed, 8, 0.5, n_parameters=n_parameters) for seed in (0, 1)]
        compared = sorted(bottleneck_table(runs + similar, [4]))
        assert_equal(compared, [("attention", 8), ("vector", 8)], what=f"1000 and {n_parameters} parameters")
    one_run = a_run("vector", 2, 4, 0.5, n_parameters=1060)  # one seed, at a length that was trained on
    for unequal in (huge + runs, runs + huge, runs + larger, [*runs, one_run]):
        assert_raises(ValueError, bottleneck_table, unequal, [4])


# %% check="other_experiments_have_their_table" points=2 hidden
def other_experiments_have_their_table(bottleneck_table, draw):
    """Other experiments, in any order of runs, have their table or none."""
    fractions = draw.uniform(2, 3, 4, low=0.0, high=0.9)
    runs = [
        a_run(model, 10 * seed, length, float(fractions[i, j, seed]), n_parameters=5000 + 200 * i)
        for i, model in enumerate(("memory", "summary"))
        for j, length in enumerate((3, 11, 17))
        for seed in range(4)
    ]
    runs.append(a_run("memory", 3, 20, 0.7, n_parameters=5000))
    mixed = [runs[place] for place in draw.permutation(len(runs))]
    expected = {
        (model, length): float(fractions[i, j].mean())
        for i, model in enumerate(("memory", "summary"))
        for j, length in ((1, 11), (2, 17))
    }
    assert_close(bottleneck_table(mixed, [2, 3, 4]), expected)
    assert_raises(ValueError, bottleneck_table, [*mixed, a_run("giant", 0, 11, 0.9, 5500)], [2, 3])


# %% [markdown] written="ninety_seven_percent" points=4 minutes=10
# ### 8. Ninety-seven percent
#
# A classmate reports about a decoder without attention: "On test sentences of 20 words it says 97 % of the
# words right. So translation is solved, and the summary vector is no bottleneck." You learn that the 97 %
# were measured under teacher forcing, on lengths that were trained on, with one seed.
#
# a) Suppose each word is right with probability 0.97 independently of the others, **as long as** all words
# before it are right. About what fraction of sentences of 20 words, EOS not counted, is then translated exactly
# right when the decoder runs free? Why may the truth be worse still?
#
# b) Under teacher forcing a decoder may say many words right without knowing the source at all. Give a reason
# and an example.
#
# c) Name the three things you would change about the experiment before you believe anything about a
# bottleneck.
#
# ### BEGIN SOLUTION
# a) (1 point) 0.97^20 is about 0.54. After a slip the decoder reads a beginning that it has never met in
# training, where it is worse than 97 % (exposure bias); the 97 % also average over easy words and hard ones.
#
# b) (1 point) The right words before a place often give the next one away, as in any language model: *pomme
# de* is followed by *terre*, an article by a noun of its gender, the last word by a full stop and EOS.
#
# c) (2 points, one missing costs half) Let it run free and count exact matches (or BLEU); measure lengths
# longer than those trained on, and show them as a curve over length; several seeds; and compare with a model
# that has no bottleneck (attention) and as many parameters, trained equally long.
# ### END SOLUTION
