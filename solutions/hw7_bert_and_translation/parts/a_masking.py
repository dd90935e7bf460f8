# %% [markdown]
# ## Part A. Masked language modelling
#
# BERT learns from text alone, by filling in gaps: some tokens are chosen, most of these are hidden, and the
# model is asked what stood there. Since the answer may depend on both sides, there is no causal mask.

# %% [markdown] exercise="positions_to_predict" difficulty=1 minutes=10 forbids="course.models"
# ### 1. Which tokens are asked for
#
# Every ordinary token is asked for with the same probability, `fraction`, independently of the others. Special
# tokens (`<pad>`, `<s>`, `</s>`, `<mask>` …) are never asked for: there is nothing to learn from them.
#
# Write `positions_to_predict(tokens, is_special, uniforms, fraction)`, which returns a boolean tensor (B, T),
# True where a token is asked for.
#
# | argument | shape | meaning |
# |---|---|---|
# | `tokens` | (B, T) int64 | the text |
# | `is_special` | (V,) bool | True for the words that are special |
# | `uniforms` | (B, T) | numbers drawn evenly from [0, 1), one for each position |
# | `fraction` | | an ordinary token is asked for when its number is smaller than this |
#
# **Example.** Words 0 to 3 are special, `tokens = [[1, 5, 7, 6, 0]]`,
# `uniforms = [[0.05, 0.30, 0.10, 0.90, 0.01]]`, `fraction = 0.15`: only the third token is asked for. The first
# and the last have small numbers too, but are special.
#
# <details><summary>Hint 1</summary>
#
# Two conditions must hold at the same position. What do `&` and `~` do with boolean tensors?
#
# </details>
#
# <details><summary>Hint 2</summary>
#
# `is_special` has one entry per word, and you need one per position. What is `is_special[tokens]`?
#
# </details>


# %% solution="positions_to_predict"
def positions_to_predict(tokens: Tensor, is_special: Tensor, uniforms: Tensor, fraction: float) -> Tensor:
    """True at the ordinary tokens of (B, T) whose number is below the fraction."""
    ### BEGIN SOLUTION
    return (uniforms < fraction) & ~is_special[tokens]
    ### END SOLUTION


# %% check="the_example_asks_for_one_token" points=1
def the_example_asks_for_one_token(positions_to_predict):
    """Of the example's five tokens only the third is asked for."""
    uniforms = torch.tensor([[0.05, 0.30, 0.10, 0.90, 0.01]], dtype=torch.float64)
    answer = positions_to_predict(torch.tensor([[1, 5, 7, 6, 0]]), torch.arange(8) < 4, uniforms, 0.15)
    assert_equal(answer, torch.tensor([[False, False, True, False, False]]))


# %% check="special_tokens_are_never_asked_for" points=1
def special_tokens_are_never_asked_for(positions_to_predict):
    """Where all numbers are 0, every ordinary token is asked for and no special one."""
    tokens = torch.tensor([[1, 5, 7, 2, 0], [1, 6, 3, 4, 2]])
    zeros = torch.zeros(2, 5, dtype=torch.float64)
    assert_equal(positions_to_predict(tokens, torch.arange(8) < 4, zeros, 0.15), tokens >= 4)
    answer = positions_to_predict(tokens, torch.arange(8) > 4, zeros, 0.15)
    assert_equal(answer, tokens <= 4, what="where the words after 4 are special")


# %% check="the_share_decides_how_many" points=1
def the_share_decides_how_many(positions_to_predict, draw):
    """Of 200 ordinary tokens with evenly spread numbers, 30 are asked for at 0.15 and 60 at 0.30."""
    uniforms = ((torch.tensor(draw.permutation(200)) + 0.5) / 200).double().reshape(4, 50)
    tokens = draw.integers(4, 8, 4, 50)
    counts = [
        int(torch.as_tensor(positions_to_predict(tokens, torch.arange(8) < 4, uniforms, fraction)).sum())
        for fraction in (0.15, 0.30)
    ]
    assert_equal(counts, [30, 60])


# %% check="each_sequence_has_places_of_its_own" points=1
def each_sequence_has_places_of_its_own(positions_to_predict):
    """Sequences of the same words with other numbers are asked for at other places, below the fraction and not at it."""
    uniforms = torch.tensor([[0.1, 0.5, 0.6], [0.7, 0.2, 0.1], [0.1, 0.9, 0.1]], dtype=torch.float64)
    tokens = torch.tensor([[4, 5, 6]] * 3)
    assert_equal(positions_to_predict(tokens, torch.arange(8) < 4, uniforms, 0.2), uniforms < 0.2)


# %% check="other_texts_are_asked_for_by_their_numbers" points=1 hidden
def other_texts_are_asked_for_by_their_numbers(positions_to_predict, draw):
    """Other texts, with special words anywhere in the vocabulary, are asked for at their places."""
    for batch_size, length, fraction in ((3, 40, 0.15), (5, 17, 0.4)):
        is_special = torch.zeros(11, dtype=torch.bool)
        is_special[torch.tensor(draw.permutation(11)[:4])] = True
        is_special[0] = False
        is_special[10] = True
        tokens, uniforms = draw.integers(0, 11, batch_size, length), draw.uniform(batch_size, length)
        tokens[:, :3], uniforms[:, :3] = torch.tensor([10, 0, 10]), 0.01
        tokens[0, 3], uniforms[0, 3], tokens[1, 3], uniforms[1, 3] = 0, 0.9, 0, 0.02
        answer = torch.as_tensor(positions_to_predict(tokens, is_special, uniforms, fraction))
        expected = [
            [u < fraction and not bool(is_special[word]) for word, u in zip(*rows, strict=True)]
            for rows in zip(tokens.tolist(), uniforms.tolist(), strict=True)
        ]
        assert_equal(answer, torch.tensor(expected))


# %% [markdown] exercise="corrupt" difficulty=2 minutes=10 forbids="course.models"
# ### 2. Eighty, ten, ten
#
# If every token selected for prediction were masked, the model would learn that tokens other than `<mask>` do not
# matter, and at inference there is no `<mask>`. So of the selected tokens, 80 % are masked, 10 % are replaced by
# a random word, and 10 % stay as they are. The model must predict all of them, and is never told which is which.
#
# Write `corrupt(tokens, is_asked, kinds, replacements, mask_token)`, which returns the tokens that the model
# reads, (B, T), in a new tensor. All random numbers have been drawn already:
#
# | a position that is asked for, with | is read as |
# |---|---|
# | `kinds` below 0.8 | `mask_token` |
# | `kinds` from 0.8 to below 0.9 | the word of `replacements` at this position |
# | `kinds` from 0.9 on | itself |
#
# A position that is not asked for is read as itself. `tokens`, `is_asked`, `kinds` and `replacements` are all
# (B, T).
#
# **Example.** `tokens = [[5, 6, 7, 8]]`, `is_asked = [[True, True, True, False]]`,
# `kinds = [[0.1, 0.85, 0.95, 0.2]]`, `replacements = [[9, 10, 11, 12]]`, `mask_token = 3` give
# `[[3, 10, 7, 8]]`.
#
# <details><summary>Hint 1</summary>
#
# `torch.where(condition, a, b)` takes from a where the condition holds and from b elsewhere. You need two of
# them, with conditions that never hold together.
#
# </details>
#
# <details><summary>Hint 2</summary>
#
# 10 % of those asked for is half of what the mask leaves over. Count your replacements among 1000 evenly
# spread kinds.
#
# </details>


# %% solution="corrupt"
def corrupt(tokens: Tensor, is_asked: Tensor, kinds: Tensor, replacements: Tensor, mask_token: int) -> Tensor:
    """What the model reads: of the positions asked for 80 % masked, 10 % replaced, 10 % as they are."""
    ### BEGIN SOLUTION
    inputs = torch.where(is_asked & (kinds < 0.8), mask_token, tokens)
    return torch.where(is_asked & (kinds >= 0.8) & (kinds < 0.9), replacements, inputs)
    ### END SOLUTION


# %% check="the_example_is_3_10_7_8" points=1
def the_example_is_3_10_7_8(corrupt):
    """The example is read as 3, 10, 7, 8: hidden, replaced, kept, not asked for."""
    is_asked = torch.tensor([[True, True, True, False]])
    kinds = torch.tensor([[0.1, 0.85, 0.95, 0.2]], dtype=torch.float64)
    answer = corrupt(torch.tensor([[5, 6, 7, 8]]), is_asked, kinds, torch.tensor([[9, 10, 11, 12]]), 3)
    assert_equal(answer, torch.tensor([[3, 10, 7, 8]]))


# %% check="of_a_thousand_800_are_hidden_and_100_replaced" points=1
def of_a_thousand_800_are_hidden_and_100_replaced(corrupt, draw):
    """Of 1000 positions asked for, with evenly spread kinds, 800 are hidden, 100 replaced, 100 kept."""
    kinds = ((torch.tensor(draw.permutation(1000)) + 0.5) / 1000).double().reshape(8, 125)
    tokens, asked = torch.full((8, 125), 5), torch.ones(8, 125, dtype=torch.bool)
    answer = torch.as_tensor(corrupt(tokens, asked, kinds, torch.full((8, 125), 9), 3))
    assert_equal([int((answer == word).sum()) for word in (3, 9, 5)], [800, 100, 100])


# %% check="what_is_not_asked_for_stays" points=1
def what_is_not_asked_for_stays(corrupt):
    """Only the position that is asked for may be read differently: from 0.8 on replaced, from 0.9 on itself."""
    tokens, is_asked = torch.tensor([[5, 6, 7], [8, 4, 6]]), torch.tensor([[False] * 3, [False, True, False]])
    replacements, read = torch.full((2, 3), 9), {0.3: 2, 0.8: 9, 0.85: 9, 0.9: 4, 0.95: 4}
    kinds = {kind: torch.full((2, 3), kind, dtype=torch.float64) for kind in read}
    answers = {kind: corrupt(tokens, is_asked, kinds[kind], replacements, 2) for kind in read}
    for kind, answer in answers.items():
        assert_equal(answer, torch.tensor([[5, 6, 7], [8, read[kind], 6]]), what=f"kinds of {kind}")


# %% check="other_texts_are_corrupted_by_their_kinds" points=2 hidden
def other_texts_are_corrupted_by_their_kinds(corrupt, draw):
    """Other texts, with every kind at tokens asked for or not, are read as they should be."""
    for batch_size, length, mask_token in ((3, 30, 17), (7, 16, 2)):
        tokens = 20 + torch.arange(batch_size * length).reshape(batch_size, length)
        replacements = tokens + 1000
        kinds, is_asked = draw.uniform(batch_size, length), draw.uniform(batch_size, length) < 0.6
        kinds[0, :8] = torch.tensor([0.79, 0.81, 0.83, 0.89, 0.91, 0.83, 0.3, 0.99], dtype=torch.float64)
        is_asked[0, :8] = torch.tensor([True, True, True, True, True, False, False, False])
        expected = tokens.clone()
        for place in is_asked.nonzero().tolist():
            row, t = place
            if kinds[row, t] < 0.9:
                expected[row, t] = mask_token if kinds[row, t] < 0.8 else replacements[row, t]
        assert_equal(corrupt(tokens, is_asked, kinds, replacements, mask_token), expected)


# %% [markdown] exercise="masked_batch" difficulty=2 minutes=20 forbids="course.models"
# ### 3. A batch to practise on
#
# Now with chance. Write `masked_batch(tokens, is_special, mask_token, generator)`, which returns the tuple
# `(inputs, targets)`, both (B, T) int64. Every ordinary token is asked for with probability 0.15; of these
# 80 % are hidden, 10 % are replaced, 10 % stay, as above. A replacement is any **ordinary** word, all equally
# likely. `targets` holds what stood at the positions asked for, and `IGNORED` (−100) everywhere else.
#
# All random numbers come from `generator`, a `torch.Generator`: with a generator in the same state the result
# is the same, and in another state it is another. In which order you draw is up to you, so the checks count. Each
# count has a fixed margin of 5.5 standard deviations, which a right answer leaves less often than once in
# a million gradings.
#
# **Example.** For a text `<s> the cat sleeps </s>` the inputs could be `<s> the <mask> sleeps </s>`, and
# the targets −100, −100, cat, −100, −100.
#
# <details><summary>Hint 1</summary>
#
# `torch.rand(tokens.shape, generator=generator)` has a number for each position. You need one for whether a
# token is asked for and another one for what happens to it.
#
# </details>
#
# <details><summary>Hint 2</summary>
#
# The ordinary words are `(~is_special).nonzero()[:, 0]`. `torch.randint` can draw places in this list.
#
# </details>
#
# <details><summary>Hint 3</summary>
#
# In which variable do the words still stand that you have hidden? The targets must be taken from there.
#
# </details>


# %% solution="masked_batch"
def masked_batch(
    tokens: Tensor, is_special: Tensor, mask_token: int, generator: torch.Generator
) -> tuple[Tensor, Tensor]:
    """Inputs with 15 % of the ordinary tokens corrupted 80/10/10, and what stood there; else IGNORED."""
    ### BEGIN SOLUTION
    draws, kinds = torch.rand(2, *tokens.shape, generator=generator)
    ordinary = (~is_special).nonzero()[:, 0]
    replacements = ordinary[torch.randint(len(ordinary), tokens.shape, generator=generator)]
    is_asked = (draws < 0.15) & ~is_special[tokens]
    inputs = torch.where(is_asked & (kinds < 0.8), mask_token, tokens)
    inputs = torch.where(is_asked & (kinds >= 0.9), replacements, inputs)
    return inputs, torch.where(is_asked, tokens, IGNORED)
    ### END SOLUTION


# %% provided="texts_to_mask" helper
def text_to_mask(draw, batch_size, length, vocab_size, mask_token):
    """Random tokens in which the words 0 … 3 and `mask_token` are special; all but the last occur."""
    is_special = (torch.arange(vocab_size) < 4) | (torch.arange(vocab_size) == mask_token)
    tokens = draw.integers(0, vocab_size, batch_size, length)
    return torch.where(tokens == mask_token, 5, tokens), is_special


def assert_fraction(n_found, n_all, fraction, what):
    """A count lies within 5.5 standard deviations of what it should be on average."""
    margin = 5.5 * math.sqrt(n_all * fraction * (1 - fraction))
    fits = abs(int(n_found) - n_all * fraction) <= margin
    expected = f"about {n_all * fraction:.0f} (give or take {margin:.0f})"
    assert_true(fits, f"{what}: {int(n_found)} of {n_all}, where {expected} are expected.")


# %% check="targets_hold_what_stood_there" points=1
def targets_hold_what_stood_there(masked_batch, draw):
    """At ordinary tokens asked for the target is the word that stood there; nothing else is touched."""
    tokens, is_special = text_to_mask(draw, 8, 90, 26, 7)
    inputs, targets = masked_batch(tokens, is_special, 7, draw.generator())
    asked = targets != IGNORED
    assert_true(asked.any(), "No token is asked for.")
    assert_equal(targets, torch.where(asked, tokens, IGNORED), what="targets")
    assert_equal(torch.where(asked, 0, inputs), torch.where(asked, 0, tokens), what="inputs not asked for")
    n_special = int((asked & is_special[tokens]).sum())
    assert_equal(n_special, 0, what="how many special tokens are asked for")


# %% check="one_token_in_seven_is_asked_for" points=1
def one_token_in_seven_is_asked_for(masked_batch, draw):
    """15 % of the ordinary tokens are asked for, as nearly as chance allows."""
    tokens, is_special = text_to_mask(draw, 40, 200, 26, 7)
    tokens = tokens.repeat(4, 4)  # enough for chance to leave no doubt
    _, targets = masked_batch(tokens, is_special, 7, draw.generator())
    n_ordinary = int((~is_special[tokens]).sum())
    n_asked = ((targets != IGNORED) & ~is_special[tokens]).sum()
    assert_fraction(n_asked, n_ordinary, 0.15, "ordinary tokens asked for")


# %% check="eighty_percent_are_hidden_and_ten_replaced" points=2
def eighty_percent_are_hidden_and_ten_replaced(masked_batch, draw):
    """Of the tokens asked for 80 % are hidden and 10 % replaced, as nearly as chance allows."""
    tokens, is_special = text_to_mask(draw, 60, 250, 26, 7)
    inputs, targets = masked_batch(tokens, is_special, 7, draw.generator())
    asked = targets != IGNORED
    n_asked, n_ordinary = int(asked.sum()), int((~is_special).sum())
    assert_fraction((asked & (inputs == 7)).sum(), n_asked, 0.8, "tokens hidden")
    changed = asked & (inputs != 7) & (inputs != tokens)
    assert_fraction(changed.sum(), n_asked, 0.1 * (1 - 1 / n_ordinary), "tokens replaced by another word")


# %% check="replacements_are_ordinary_words" points=1
def replacements_are_ordinary_words(masked_batch, draw):
    """No special word replaces another word, every ordinary word does, and each place draws its own."""
    tokens, is_special = text_to_mask(draw, 60, 250, 26, 7)
    tokens = tokens.repeat(3, 4)  # enough for every word to occur
    inputs, targets = masked_batch(tokens, is_special, 7, draw.generator())
    changed = (targets != IGNORED) & (inputs != 7) & (inputs != tokens)
    assert_equal(int(is_special[inputs[changed]].sum()), 0, what="how many replacements are special words")
    n_different = len(set(inputs[changed].tolist()))
    assert_true(n_different == 21, f"Replacements found, of 21 ordinary words: {n_different}.")
    busiest = changed.sum(dim=1).argmax()
    is_varied = len(set(inputs[busiest, changed[busiest]].tolist())) > 1
    assert_true(is_varied, "All replacements of one text are the same word.")


# %% check="the_generator_decides" points=1
def the_generator_decides(masked_batch, draw):
    """A generator in the same state gives the same batch, and one that has gone on another: new gaps each epoch."""
    tokens, is_special = text_to_mask(draw, 8, 90, 26, 7)
    generator = draw.generator()
    inputs, targets = masked_batch(tokens, is_special, 7, generator)
    again, targets_again = masked_batch(tokens, is_special, 7, generator)  # each call draws from a copy of it
    assert_equal(targets_again, targets, what="targets with the same generator")
    assert_equal(again, inputs, what="inputs with the same generator")
    torch.rand(1000, generator=generator)
    other_inputs, other_targets = masked_batch(tokens, is_special, 7, generator)
    is_other = (other_targets != targets).any() and (other_inputs != inputs).any()
    assert_true(is_other, "A generator that has gone on asks for the very same places.")


# %% check="other_texts_are_masked_as_stated" points=2 hidden
def other_texts_are_masked_as_stated(masked_batch, draw):
    """Other texts: the right targets, the right fractions, ordinary replacements, new gaps."""
    tokens, is_special = text_to_mask(draw, 90, 200, 19, 4)
    inputs, targets = masked_batch(tokens, is_special, 4, draw.generator())
    asked = targets != IGNORED
    n_asked, n_ordinary = int(asked.sum()), int((~is_special).sum())
    assert_equal(targets, torch.where(asked, tokens, IGNORED), what="targets")
    assert_equal(torch.where(asked, 0, inputs), torch.where(asked, 0, tokens), what="inputs not asked for")
    assert_fraction(n_asked, int((~is_special[tokens]).sum()), 0.15, "tokens asked for")
    assert_equal(int((asked & is_special[tokens]).sum()), 0, what="how many special tokens are asked for")
    assert_fraction((asked & (inputs == 4)).sum(), n_asked, 0.8, "tokens hidden")
    changed = asked & (inputs != 4) & (inputs != tokens)
    assert_equal(int(is_special[inputs[changed]].sum()), 0, what="how many replacements are special words")
    assert_fraction(changed.sum(), n_asked, 0.1 * (1 - 1 / n_ordinary), "tokens replaced by another word")
    _, other = masked_batch(tokens, is_special, 4, draw.generator())
    assert_true((other != targets).any(), "Another generator asks for the very same places.")


# %% [markdown] exercise="mlm_loss" difficulty=2 minutes=10 forbids="course.models"
# ### 4. The loss of the gaps
#
# Write `mlm_loss(logits, targets)`, one number: the mean surprise in nats over the positions that are asked
# for. `logits` is (B, T, V), and `logits[b, t]` is about the word **at** position t. `targets` is (B, T)
# int64; a position with `IGNORED` (−100) is not asked for and counts neither above nor below the fraction
# line. At least one position is asked for. Torch's losses may be used.
#
# **Example.** Two positions with the logits $(0, \ln 3)$ and $(5, -2)$ and the targets 1 and −100: only the
# first counts, and the loss is $\ln \tfrac43 \approx 0.2877$.
#
# <details><summary>Hint 1</summary>
#
# How many positions are asked for? By which number do you divide?
#
# </details>
#
# <details><summary>Hint 2</summary>
#
# `functional.cross_entropy` wants the words on axis 1, or rows of logits and one target per row. It skips the
# targets that equal its `ignore_index`; look up what that is if you say nothing.
#
# </details>


# %% solution="mlm_loss"
def mlm_loss(logits: Tensor, targets: Tensor) -> Tensor:
    """The mean surprise, in nats, over the positions of targets (B, T) that are not IGNORED."""
    ### BEGIN SOLUTION
    return functional.cross_entropy(logits.flatten(0, 1), targets.flatten(), ignore_index=IGNORED)
    ### END SOLUTION


# %% check="the_example_costs_0_2877_nats" points=1
def the_example_costs_0_2877_nats(mlm_loss):
    """Of the example's two positions the first costs ln 4/3, the second does not count; gradients flow back."""
    logits = torch.tensor([[[0.0, math.log(3)], [5.0, -2.0]]], dtype=torch.float64)
    assert_close(mlm_loss(logits, torch.tensor([[1, IGNORED]])), math.log(4 / 3))
    assert_differentiable(mlm_loss, logits, torch.tensor([[1, IGNORED]]))


# %% check="more_gaps_do_not_weigh_less" points=1
def more_gaps_do_not_weigh_less(mlm_loss):
    """Knowing nothing of 5 words costs ln 5, whether one position is asked for or six of fourteen."""
    logits, targets = torch.zeros(2, 7, 5, dtype=torch.float64), torch.full((2, 7), IGNORED)
    targets[0, 3] = 2
    assert_close(mlm_loss(logits, targets), math.log(5), what="one position asked for")
    targets[1, 1:6] = torch.tensor([4, 0, 1, 3, 3])
    assert_close(mlm_loss(logits, targets), math.log(5), what="six positions asked for")


# %% check="logits_elsewhere_do_not_matter" points=1
def logits_elsewhere_do_not_matter(mlm_loss, draw):
    """Other logits at positions that are not asked for leave the loss as it is."""
    logits, targets = draw.normal(3, 4, 5), torch.full((3, 4), IGNORED)
    targets[0, 1], targets[2, 3], targets[2, 0] = 3, 1, 0
    answer = mlm_loss(logits, targets)
    elsewhere = torch.where((targets == IGNORED)[..., None], logits + draw.normal(3, 4, 5), logits)
    assert_close(mlm_loss(elsewhere, targets), answer)
    assert_depends(answer, mlm_loss(2 * logits, targets))


# %% check="each_position_is_asked_about_itself" points=1
def each_position_is_asked_about_itself(mlm_loss):
    """Where the logits name the word at each position itself, the loss is 0, and nothing is shifted."""
    targets = torch.tensor([[IGNORED, 3, IGNORED, 1], [2, IGNORED, 0, 4]])
    logits = 60.0 * functional.one_hot(torch.where(targets == IGNORED, 4, targets), 5).double()
    assert_close(mlm_loss(logits, targets), 0.0, what="each word at its own place")
    moved = logits.roll(1, dims=1)
    assert_true(float(mlm_loss(moved, targets)) > 10, "Words at the wrong place cost nothing.")


# %% check="a_gap_counts_the_same_in_every_sequence" points=1
def a_gap_counts_the_same_in_every_sequence(mlm_loss):
    """A sure gap in one sequence, of word 0, and three gaps of ln 4 in another cost 3/4 ln 4 together."""
    targets = torch.tensor([[IGNORED, 0, IGNORED, IGNORED], [1, IGNORED, 3, 2]])
    logits = torch.zeros(2, 4, 4, dtype=torch.float64)
    logits[0, 1, 0] = 60.0
    assert_close(mlm_loss(logits, targets), 0.75 * math.log(4))


# %% check="other_gaps_have_their_loss" points=2 hidden
def other_gaps_have_their_loss(mlm_loss, draw):
    """Other batches have the mean surprise over all their gaps together."""
    for batch_size, length, vocab_size in ((4, 9, 6), (2, 13, 11)):
        logits = 3 * draw.normal(batch_size, length, vocab_size)
        targets = draw.integers(0, vocab_size, batch_size, length)
        targets[draw.uniform(batch_size, length) < 0.6] = IGNORED
        targets[0, :4], targets[1, :4] = torch.tensor([1, 2, 0, 3]), IGNORED
        log_probs = logits - logits.logsumexp(-1, keepdim=True)
        asked = (targets != IGNORED).nonzero().tolist()
        total = -sum(log_probs[row, t, targets[row, t]] for row, t in asked)
        assert_close(mlm_loss(logits, targets), (total / len(asked)).item())


# %% [markdown] exercise="encoder_mask" difficulty=1 minutes=10 forbids="course.models"
# ### 5. Who may look at whom
#
# In an encoder every position may look at every real token, before and behind it, and at no padding. Write
# `encoder_mask(tokens, pad)`, which returns a boolean tensor of shape (B, 1, 1, T): True at the **keys** that
# may be attended to. Scores have the shape (B, H, queries, keys), so the two axes of length 1 repeat the mask
# for all heads and all queries.
#
# **Example.** `tokens = [[7, 0, 9, 9]]` with `pad = 9` gives `[[[[True, True, False, False]]]]`.
#
# <details><summary>Hint 1</summary>
#
# `tokens != pad` has the shape (B, T). Indexing with `None` puts an axis of length 1 in; where do you want
# the two?
#
# </details>
#
# <details><summary>Hint 2</summary>
#
# If a *query* at a padded position had its whole row forbidden, its softmax would be over nothing. Padded
# queries may look wherever they like; nobody reads what they find.
#
# </details>


# %% solution="encoder_mask"
def encoder_mask(tokens: Tensor, pad: int) -> Tensor:
    """True at the real tokens of (B, T), as keys of all heads and queries: (B, 1, 1, T)."""
    ### BEGIN SOLUTION
    return (tokens != pad)[:, None, None, :]
    ### END SOLUTION


# %% provided="masked_attention" helper
def attended(x, mask, n_heads=2):
    """Self-attention over x (B, T, D) without matrices: heads are cut out of x, which shows what a mask does."""
    heads = x.unflatten(-1, (n_heads, -1)).transpose(1, 2)  # (B, H, T, d_k)
    scores = (heads @ heads.transpose(-2, -1)).masked_fill(~torch.as_tensor(mask), -math.inf)
    return (scores.softmax(-1) @ heads).transpose(1, 2).flatten(2)


# %% check="the_example_hides_two_keys" points=1
def the_example_hides_two_keys(encoder_mask):
    """The example's mask is True, True, False, False, on the axis of the keys; padded in front, it is turned round."""
    answer = encoder_mask(torch.tensor([[7, 0, 9, 9], [9, 9, 0, 7]]), 9)
    expected = torch.tensor([[[[True, True, False, False]]], [[[False, False, True, True]]]])
    assert_equal(answer, expected)
    turned = encoder_mask(torch.tensor([[9, 9, 0, 7], [7, 0, 9, 9]]), 9)
    assert_equal(turned, expected.flip(0), what="the texts in the other order")


# %% check="padding_does_not_change_real_tokens" points=1
def padding_does_not_change_real_tokens(encoder_mask, draw):
    """With the mask, other vectors at padded positions change nothing at real tokens, and nothing is NaN."""
    tokens, x = torch.tensor([[5, 0, 8, 6, 9], [3, 7, 9, 9, 9]]), draw.normal(2, 5, 6)
    answer, real = encoder_mask(tokens, 9), tokens != 9
    attention = attended(x, answer)
    elsewhere = torch.where(real[..., None], x, x + 3)
    assert_close(attended(elsewhere, answer)[real], attention[real], what="the real tokens")
    assert_true(bool(attention.isfinite().all()), "A position that may look nowhere has become NaN.")
    assert_depends(attention, attended(x, torch.ones(1, 1, 1, 5, dtype=torch.bool)))


# %% check="the_first_token_sees_the_last" points=1
def the_first_token_sees_the_last(encoder_mask, draw):
    """With the mask, another vector at the last real token changes the attention of the first."""
    tokens, x = torch.tensor([[5, 4, 8, 6, 0], [3, 7, 2, 0, 0]]), draw.normal(2, 5, 6)
    answer = encoder_mask(tokens, 0)
    other = x.clone()
    other[0, 3], other[1, 2] = other[0, 3] + 1, other[1, 2] + 1
    change = (attended(other, answer) - attended(x, answer))[:, 0].abs().amax(-1)
    assert_true(bool((change > 1e-6).all()), "The first token does not see what stands at the last.")
    assert_depends(torch.as_tensor(answer).double(), torch.ones(2, 1, 1, 5))


# %% check="other_texts_have_their_mask" points=2 hidden
def other_texts_have_their_mask(encoder_mask, draw):
    """Other texts, padded on the right or on the left, have their mask."""
    for pad, batch_size, length in ((0, 3, 7), (13, 5, 4)):
        tokens = draw.integers(1, 13, batch_size, length)
        tokens[0, -2:], tokens[1, :3] = pad, pad
        assert_equal(encoder_mask(tokens, pad), (tokens != pad).reshape(batch_size, 1, 1, length))
