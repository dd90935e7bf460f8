# %% [markdown]
# # Homework 7: BERT and translation
#
# Lectures 17 and 18 yourself: hide words and ask for them, put a pre-trained encoder to use, and build the
# Transformer that translates, with cross-attention, three masks, teacher forcing and free running. In the end
# your own translator is measured on sentences that it has not seen.
#
# | part | about | minutes |
# |---|---|---|
# | A | masked language modelling | 60 |
# | B | fine-tuning: pooling, heads, spans | 70 |
# | C | encoder and decoder | 120 |
#
# Each exercise is a statement, a function or a class for you to write, and its checks. Some checks are kept
# back for grading: they make the same claims about other sizes and other numbers. The exercises do not build
# on each other's code, so take them in any order; only the last one puts pieces together.
#
# Words used throughout: B sequences at once, S positions of a source, T positions of a target (or of the only
# sequence there is), D numbers per position (`d_model`), H heads of K = D / H numbers, V words. A **mask** is
# boolean, and True means *may be attended to*. Numbers are float64, tokens int64, losses in nats.
#
# With all exercises solved the notebook runs in about 20 seconds on two CPU cores and needs 0.4 GB; most of it is
# the training of the last exercise. `COURSE_SCALE=full` trains that one on longer sentences and at a real size; it
# is meant for a GPU, on which it has not been timed yet.

# %% [markdown] rules

# %% setup

# %% provided="imports"
import math
import os
import time
import zlib
from functools import cache
from random import Random

import torch
from torch import Tensor, nn
from torch.nn import functional

from course.checks import (
    assert_close,
    assert_depends,
    assert_differentiable,
    assert_dtype,
    assert_equal,
    assert_true,
    homework,
    with_weights,
)
from course.data.translation_pair import TranslationConfig, translation_pairs, translation_vocabularies
from course.data.vocabulary import pad_sequences
from course.models.bert import BERTConfig, SequenceClassifier
from course.models.layer_norm import LayerNorm
from course.models.multi_head_attention import MultiHeadAttention
from course.models.positions import sinusoidal_positions
from course.models.torch_weights import NAMES_IN_DECODER, NAMES_IN_ENCODER
from course.models.torch_weights import translate as translate_weight
from course.models.transformer import Decoder, DecoderLayer, Encoder, EncoderLayer, TransformerConfig
from course.training import best_device

IGNORED = -100  # the target of a position that is not asked for; torch's losses skip it

check = homework("hw7_bert_and_translation")


# %% [markdown]
# ## Part A. Masked language modelling
#
# BERT learns from text alone, by filling in gaps: some tokens are chosen, most of these are hidden, and the
# model is asked what stood there. Since the answer may depend on both sides, there is no causal mask.

# %% [markdown] exercise="positions_to_predict" difficulty=1 minutes=10 forbids="course.models"
# ### 1. Which tokens are asked for
#
# Every ordinary token is asked for with the same probability, `share`, independently of the others. Special
# tokens (`<pad>`, `<s>`, `</s>`, `<mask>` …) are never asked for: there is nothing to learn from them.
#
# Write `positions_to_predict(tokens, is_special, uniforms, share)`, which returns a boolean tensor (B, T),
# True where a token is asked for.
#
# | argument | shape | meaning |
# |---|---|---|
# | `tokens` | (B, T) int64 | the text |
# | `is_special` | (V,) bool | True for the words that are special |
# | `uniforms` | (B, T) | numbers drawn evenly from [0, 1), one for each position |
# | `share` | | an ordinary token is asked for when its number is smaller than this |
#
# **Example.** Words 0 to 3 are special, `tokens = [[1, 5, 7, 6, 0]]`,
# `uniforms = [[0.05, 0.30, 0.10, 0.90, 0.01]]`, `share = 0.15`: only the third token is asked for. The first
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
def positions_to_predict(tokens: Tensor, is_special: Tensor, uniforms: Tensor, share: float) -> Tensor:
    """True at the ordinary tokens of (B, T) whose number is below the share."""
    ### BEGIN SOLUTION
    return (uniforms < share) & ~is_special[tokens]
    ### END SOLUTION


# %% check="the_example_asks_for_one_token" points=1
def the_example_asks_for_one_token(positions_to_predict):
    """Of the example's five tokens only the third is asked for."""
    uniforms = torch.tensor([[0.05, 0.30, 0.10, 0.90, 0.01]], dtype=torch.float64)
    answer = positions_to_predict(torch.tensor([[1, 5, 7, 6, 0]]), torch.arange(8) < 4, uniforms, 0.15)
    assert_equal(answer, torch.tensor([[False, False, True, False, False]]))


check(the_example_asks_for_one_token, positions_to_predict)


# %% check="special_tokens_are_never_asked_for" points=1
def special_tokens_are_never_asked_for(positions_to_predict):
    """Where all numbers are 0, every ordinary token is asked for and no special one."""
    tokens = torch.tensor([[1, 5, 7, 2, 0], [1, 6, 3, 4, 2]])
    answer = positions_to_predict(tokens, torch.arange(8) < 4, torch.zeros(2, 5, dtype=torch.float64), 0.15)
    assert_equal(answer, tokens >= 4)


check(special_tokens_are_never_asked_for, positions_to_predict)


# %% check="the_share_decides_how_many" points=1
def the_share_decides_how_many(positions_to_predict, draw):
    """Of 200 ordinary tokens with evenly spread numbers, 30 are asked for at 0.15 and 60 at 0.30."""
    uniforms = ((torch.tensor(draw.permutation(200)) + 0.5) / 200).double().reshape(4, 50)
    tokens = draw.integers(4, 8, 4, 50)
    counts = [
        int(torch.as_tensor(positions_to_predict(tokens, torch.arange(8) < 4, uniforms, share)).sum())
        for share in (0.15, 0.30)
    ]
    assert_equal(counts, [30, 60])


check(the_share_decides_how_many, positions_to_predict)


# %% check="each_sequence_has_places_of_its_own" points=1
def each_sequence_has_places_of_its_own(positions_to_predict):
    """Two sequences of the same words with other numbers are asked for at other places."""
    uniforms = torch.tensor([[0.1, 0.5, 0.6], [0.7, 0.8, 0.1], [0.1, 0.9, 0.1]], dtype=torch.float64)
    tokens = torch.tensor([[4, 5, 6]] * 3)
    assert_equal(positions_to_predict(tokens, torch.arange(8) < 4, uniforms, 0.2), uniforms < 0.2)


check(each_sequence_has_places_of_its_own, positions_to_predict)


# %% check="other_texts_are_asked_for_by_their_numbers" points=1 hidden
def other_texts_are_asked_for_by_their_numbers(positions_to_predict, draw):
    """Other texts, with special words anywhere in the vocabulary, are asked for at their places."""
    for batch_size, length, share in ((3, 40, 0.15), (5, 17, 0.4)):
        is_special = torch.zeros(11, dtype=torch.bool)
        is_special[torch.tensor(draw.permutation(11)[:4])] = True
        is_special[0] = False
        is_special[10] = True
        tokens, uniforms = draw.integers(0, 11, batch_size, length), draw.uniform(batch_size, length)
        tokens[:, :3], uniforms[:, :3] = torch.tensor([10, 0, 10]), 0.01
        tokens[0, 3], uniforms[0, 3], tokens[1, 3], uniforms[1, 3] = 0, 0.9, 0, 0.02
        answer = torch.as_tensor(positions_to_predict(tokens, is_special, uniforms, share))
        expected = [
            [u < share and not bool(is_special[word]) for word, u in zip(*rows, strict=True)]
            for rows in zip(tokens.tolist(), uniforms.tolist(), strict=True)
        ]
        assert_equal(answer, torch.tensor(expected))


check(other_texts_are_asked_for_by_their_numbers, positions_to_predict)

# %% [markdown] exercise="corrupt" difficulty=2 minutes=10 forbids="course.models"
# ### 2. Eighty, ten, ten
#
# If every token that is asked for were hidden, the model would learn that tokens without a mask are of no
# interest, and in use no token has a mask. So of those asked for, 80 % are hidden, 10 % are replaced by a
# random word, and 10 % stay as they are; the model is asked for all of them, and never told which is which.
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


check(the_example_is_3_10_7_8, corrupt)


# %% check="of_a_thousand_800_are_hidden_and_100_replaced" points=1
def of_a_thousand_800_are_hidden_and_100_replaced(corrupt, draw):
    """Of 1000 positions asked for, with evenly spread kinds, 800 are hidden, 100 replaced, 100 kept."""
    kinds = ((torch.tensor(draw.permutation(1000)) + 0.5) / 1000).double().reshape(8, 125)
    tokens, asked = torch.full((8, 125), 5), torch.ones(8, 125, dtype=torch.bool)
    answer = torch.as_tensor(corrupt(tokens, asked, kinds, torch.full((8, 125), 9), 3))
    assert_equal([int((answer == word).sum()) for word in (3, 9, 5)], [800, 100, 100])


check(of_a_thousand_800_are_hidden_and_100_replaced, corrupt)


# %% check="what_is_not_asked_for_stays" points=1
def what_is_not_asked_for_stays(corrupt):
    """Only the position that is asked for may be read differently; the text itself is left alone."""
    tokens, is_asked = torch.tensor([[5, 6, 7], [8, 4, 6]]), torch.tensor([[False] * 3, [False, True, False]])
    for kind, read in ((0.3, 3), (0.85, 9), (0.95, 4)):
        kinds = torch.full((2, 3), kind, dtype=torch.float64)
        answer = corrupt(tokens, is_asked, kinds, torch.full((2, 3), 9), 3)
        assert_equal(answer, torch.tensor([[5, 6, 7], [8, read, 6]]), what=f"kinds of {kind}")


check(what_is_not_asked_for_stays, corrupt)


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


check(other_texts_are_corrupted_by_their_kinds, corrupt)

# %% [markdown] exercise="masked_batch" difficulty=2 minutes=15 forbids="course.models"
# ### 3. A batch to practise on
#
# Now with chance. Write `masked_batch(tokens, is_special, mask_token, generator)`, which returns the tuple
# `(inputs, targets)`, both (B, T) int64. Every ordinary token is asked for with probability 0.15; of these
# 80 % are hidden, 10 % are replaced, 10 % stay, as above. A replacement is any **ordinary** word, all equally
# likely. `targets` holds what stood at the positions asked for, and `IGNORED` (−100) everywhere else.
#
# All random numbers come from `generator`, a `torch.Generator`: with a generator in the same state the result
# is the same, with another one it is another. In which order you draw is up to you, so the checks count. Each
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


# %% provided="texts_to_mask"
def text_to_mask(draw, batch_size, length, vocab_size, mask_token):
    """Random tokens in which the words 0 … 3 and `mask_token` are special; all but the last occur."""
    is_special = (torch.arange(vocab_size) < 4) | (torch.arange(vocab_size) == mask_token)
    tokens = draw.integers(0, vocab_size, batch_size, length)
    return torch.where(tokens == mask_token, 5, tokens), is_special


def assert_share(n_found, n_all, share, what):
    """A count lies within 5.5 standard deviations of what it should be on average."""
    margin = 5.5 * math.sqrt(n_all * share * (1 - share))
    fits = abs(int(n_found) - n_all * share) <= margin
    expected = f"about {n_all * share:.0f} (give or take {margin:.0f})"
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


check(targets_hold_what_stood_there, masked_batch)


# %% check="one_token_in_seven_is_asked_for" points=1
def one_token_in_seven_is_asked_for(masked_batch, draw):
    """15 % of the ordinary tokens are asked for, as nearly as chance allows."""
    tokens, is_special = text_to_mask(draw, 40, 200, 26, 7)
    _, targets = masked_batch(tokens, is_special, 7, draw.generator())
    n_ordinary = int((~is_special[tokens]).sum())
    n_asked = ((targets != IGNORED) & ~is_special[tokens]).sum()
    assert_share(n_asked, n_ordinary, 0.15, "ordinary tokens asked for")


check(one_token_in_seven_is_asked_for, masked_batch)


# %% check="eighty_percent_are_hidden_and_ten_replaced" points=2
def eighty_percent_are_hidden_and_ten_replaced(masked_batch, draw):
    """Of the tokens asked for 80 % are hidden and 10 % replaced, as nearly as chance allows."""
    tokens, is_special = text_to_mask(draw, 60, 250, 26, 7)
    inputs, targets = masked_batch(tokens, is_special, 7, draw.generator())
    asked = targets != IGNORED
    n_asked, n_ordinary = int(asked.sum()), int((~is_special).sum())
    assert_share((asked & (inputs == 7)).sum(), n_asked, 0.8, "tokens hidden")
    changed = asked & (inputs != 7) & (inputs != tokens)
    assert_share(changed.sum(), n_asked, 0.1 * (1 - 1 / n_ordinary), "tokens replaced by another word")


check(eighty_percent_are_hidden_and_ten_replaced, masked_batch)


# %% check="replacements_are_ordinary_words" points=1
def replacements_are_ordinary_words(masked_batch, draw):
    """No special word replaces another word, and many different words do."""
    tokens, is_special = text_to_mask(draw, 60, 250, 26, 7)
    inputs, targets = masked_batch(tokens, is_special, 7, draw.generator())
    changed = (targets != IGNORED) & (inputs != 7) & (inputs != tokens)
    assert_equal(int(is_special[inputs[changed]].sum()), 0, what="how many replacements are special words")
    n_different = len(set(inputs[changed].tolist()))
    assert_true(n_different >= 12, f"Only {n_different} different words occur as replacements, of 21.")


check(replacements_are_ordinary_words, masked_batch)


# %% check="the_generator_decides" points=1
def the_generator_decides(masked_batch, draw):
    """A generator in the same state gives the same batch, another one another: each epoch has its own gaps."""
    tokens, is_special = text_to_mask(draw, 8, 90, 26, 7)
    generator = draw.generator()
    inputs, targets = masked_batch(tokens, is_special, 7, generator)
    again, targets_again = masked_batch(tokens, is_special, 7, generator)
    assert_equal(targets_again, targets, what="targets with the same generator")
    assert_equal(again, inputs, what="inputs with the same generator")
    other_inputs, other_targets = masked_batch(tokens, is_special, 7, draw.generator())
    is_other = (other_targets != targets).any() and (other_inputs != inputs).any()
    assert_true(is_other, "Another generator asks for the very same places.")


check(the_generator_decides, masked_batch)


# %% check="other_texts_are_masked_as_stated" points=2 hidden
def other_texts_are_masked_as_stated(masked_batch, draw):
    """Other texts: the right targets, the right shares, ordinary replacements, new gaps."""
    tokens, is_special = text_to_mask(draw, 90, 200, 19, 4)
    inputs, targets = masked_batch(tokens, is_special, 4, draw.generator())
    asked = targets != IGNORED
    n_asked, n_ordinary = int(asked.sum()), int((~is_special).sum())
    assert_equal(targets, torch.where(asked, tokens, IGNORED), what="targets")
    assert_equal(torch.where(asked, 0, inputs), torch.where(asked, 0, tokens), what="inputs not asked for")
    assert_share(n_asked, int((~is_special[tokens]).sum()), 0.15, "tokens asked for")
    assert_equal(int((asked & is_special[tokens]).sum()), 0, what="how many special tokens are asked for")
    assert_share((asked & (inputs == 4)).sum(), n_asked, 0.8, "tokens hidden")
    changed = asked & (inputs != 4) & (inputs != tokens)
    assert_equal(int(is_special[inputs[changed]].sum()), 0, what="how many replacements are special words")
    assert_share(changed.sum(), n_asked, 0.1 * (1 - 1 / n_ordinary), "tokens replaced by another word")
    _, other = masked_batch(tokens, is_special, 4, draw.generator())
    assert_true((other != targets).any(), "Another generator asks for the very same places.")


check(other_texts_are_masked_as_stated, masked_batch)

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


check(the_example_costs_0_2877_nats, mlm_loss)


# %% check="more_gaps_do_not_weigh_less" points=1
def more_gaps_do_not_weigh_less(mlm_loss):
    """Knowing nothing of 5 words costs ln 5, whether one position is asked for or six of fourteen."""
    logits, targets = torch.zeros(2, 7, 5, dtype=torch.float64), torch.full((2, 7), IGNORED)
    targets[0, 3] = 2
    assert_close(mlm_loss(logits, targets), math.log(5), what="one position asked for")
    targets[1, 1:6] = torch.tensor([4, 0, 1, 3, 3])
    assert_close(mlm_loss(logits, targets), math.log(5), what="six positions asked for")


check(more_gaps_do_not_weigh_less, mlm_loss)


# %% check="logits_elsewhere_do_not_matter" points=1
def logits_elsewhere_do_not_matter(mlm_loss, draw):
    """Other logits at positions that are not asked for leave the loss as it is."""
    logits, targets = draw.normal(3, 4, 5), torch.full((3, 4), IGNORED)
    targets[0, 1], targets[2, 3], targets[2, 0] = 3, 1, 0
    answer = mlm_loss(logits, targets)
    elsewhere = torch.where((targets == IGNORED)[..., None], logits + draw.normal(3, 4, 5), logits)
    assert_close(mlm_loss(elsewhere, targets), answer)
    assert_depends(answer, mlm_loss(2 * logits, targets))


check(logits_elsewhere_do_not_matter, mlm_loss)


# %% check="each_position_is_asked_about_itself" points=1
def each_position_is_asked_about_itself(mlm_loss):
    """Where the logits name the word at each position itself, the loss is 0, and nothing is shifted."""
    targets = torch.tensor([[IGNORED, 3, IGNORED, 1], [2, IGNORED, 0, 4]])
    logits = 60.0 * functional.one_hot(torch.where(targets == IGNORED, 4, targets), 5).double()
    assert_close(mlm_loss(logits, targets), 0.0, what="each word at its own place")
    moved = logits.roll(1, dims=1)
    assert_true(float(mlm_loss(moved, targets)) > 10, "Words at the wrong place cost nothing.")


check(each_position_is_asked_about_itself, mlm_loss)


# %% check="a_gap_counts_the_same_in_every_sequence" points=1
def a_gap_counts_the_same_in_every_sequence(mlm_loss):
    """A sure gap in one sequence and three gaps of ln 4 in another cost 3/4 ln 4 together."""
    targets = torch.tensor([[IGNORED, 2, IGNORED, IGNORED], [1, IGNORED, 3, 2]])
    logits = torch.zeros(2, 4, 4, dtype=torch.float64)
    logits[0, 1, 2] = 60.0
    assert_close(mlm_loss(logits, targets), 0.75 * math.log(4))


check(a_gap_counts_the_same_in_every_sequence, mlm_loss)


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


check(other_gaps_have_their_loss, mlm_loss)

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


# %% provided="masked_attention"
def attended(x, mask, n_heads=2):
    """Self-attention over x (B, T, D) without matrices: heads are cut out of x, which shows what a mask does."""
    heads = x.unflatten(-1, (n_heads, -1)).transpose(1, 2)  # (B, H, T, K)
    scores = (heads @ heads.transpose(-2, -1)).masked_fill(~torch.as_tensor(mask), -math.inf)
    return (scores.softmax(-1) @ heads).transpose(1, 2).flatten(2)


# %% check="the_example_hides_two_keys" points=1
def the_example_hides_two_keys(encoder_mask):
    """The example's mask is True, True, False, False, on the axis of the keys."""
    answer = encoder_mask(torch.tensor([[7, 0, 9, 9]]), 9)
    assert_equal(answer, torch.tensor([[[[True, True, False, False]]]]))


check(the_example_hides_two_keys, encoder_mask)


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


check(padding_does_not_change_real_tokens, encoder_mask)


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


check(the_first_token_sees_the_last, encoder_mask)


# %% check="other_texts_have_their_mask" points=2 hidden
def other_texts_have_their_mask(encoder_mask, draw):
    """Other texts, padded on the right or on the left, have their mask."""
    for pad, batch_size, length in ((0, 3, 7), (13, 5, 4)):
        tokens = draw.integers(1, 13, batch_size, length)
        tokens[0, -2:], tokens[1, :3] = pad, pad
        assert_equal(encoder_mask(tokens, pad), (tokens != pad).reshape(batch_size, 1, 1, length))


check(other_texts_have_their_mask, encoder_mask)

# %% [markdown]
# ## Part B. Putting an encoder to use
#
# A pre-trained encoder gives one vector per token. What is put on top is small: one vector for the whole
# sequence and a classifier, or a decision per word, or two scores per position for where an answer begins and
# ends. In this part `hidden` is what the encoder gave, (B, T, D), and `mask`, (B, T), is True at real tokens.

# %% [markdown] exercise="first_token" difficulty=1 minutes=10 forbids="course.models"
# ### 6. The vector of `<cls>`
#
# BERT puts `<cls>` in front of every text, and its vector stands for the whole. Sequences are padded on the
# right by some programs and on the left by others. Write `first_token(hidden, mask)`, which returns the
# vector of the first **real** token of each sequence, (B, D), wherever the padding is.
#
# **Example.** Two sequences of four vectors of one number each, `hidden = [[[1], [2], [3], [4]], [[5], [6], [7],
# [8]]]`, and `mask = [[False, True, True, True], [True, True, False, False]]` give `[[2], [5]]`.
#
# <details><summary>Hint 1</summary>
#
# For each row of the mask you need the place of the first True. What is `mask.int().argmax(dim=1)`?
#
# </details>
#
# <details><summary>Hint 2</summary>
#
# `hidden[rows, places]` with two tensors of shape (B,) takes one vector from each sequence.
#
# </details>


# %% solution="first_token"
def first_token(hidden: Tensor, mask: Tensor) -> Tensor:
    """The vector of the first real token of each sequence: (B, T, D) → (B, D)."""
    ### BEGIN SOLUTION
    places = mask.int().argmax(dim=1)  # (B,)
    return hidden[torch.arange(len(hidden)), places]
    ### END SOLUTION


# %% check="the_example_takes_2_and_5" points=1
def the_example_takes_2_and_5(first_token):
    """The first real tokens of the example have the vectors (2) and (5), and gradients flow back."""
    hidden = torch.arange(1.0, 9.0, dtype=torch.float64).reshape(2, 4, 1)
    mask = torch.tensor([[False, True, True, True], [True, True, False, False]])
    answer = first_token(hidden, mask)
    assert_close(answer, torch.tensor([[2.0], [5.0]], dtype=torch.float64))
    assert_differentiable(first_token, hidden, mask)


check(the_example_takes_2_and_5, first_token)


# %% check="with_padding_on_the_right_it_is_position_0" points=1
def with_padding_on_the_right_it_is_position_0(first_token, draw):
    """With padding on the right, or none, the first token is at position 0."""
    hidden = draw.normal(3, 5, 4)
    mask = torch.arange(5) < torch.tensor([[5], [2], [3]])
    assert_close(first_token(hidden, mask), hidden[:, 0])


check(with_padding_on_the_right_it_is_position_0, first_token)


# %% check="more_padding_on_the_left_changes_nothing" points=1
def more_padding_on_the_left_changes_nothing(first_token, draw):
    """Three positions of padding put in front of every sequence leave the answer as it is."""
    hidden, mask = draw.normal(4, 5, 6), torch.arange(5) >= torch.tensor([[1], [0], [2], [3]])
    answer = first_token(hidden, mask)
    wider = torch.cat([draw.normal(4, 3, 6), hidden], dim=1)
    padded = torch.cat([torch.zeros(4, 3, dtype=torch.bool), mask], dim=1)
    assert_close(first_token(wider, padded), answer)
    assert_depends(answer, first_token(hidden + 1, mask))


check(more_padding_on_the_left_changes_nothing, first_token)


# %% check="other_sequences_have_their_first_token" points=1 hidden
def other_sequences_have_their_first_token(first_token, draw):
    """Other sequences, padded on either side, give the vector of their first token."""
    for batch_size, length, d_model in ((4, 7, 3), (5, 6, 8)):
        hidden, starts = draw.normal(batch_size, length, d_model), draw.integers(1, length - 2, batch_size)
        starts[0] = 0
        ends = torch.full((batch_size,), length)
        ends[:2] = length - 2
        steps = torch.arange(length)
        mask = (steps >= starts[:, None]) & (steps < ends[:, None])
        expected = torch.stack([hidden[row, start] for row, start in enumerate(starts.tolist())])
        assert_close(first_token(hidden, mask), expected)


check(other_sequences_have_their_first_token, first_token)

# %% [markdown] exercise="mean_of_tokens" difficulty=1 minutes=10 forbids="course.models"
# ### 7. The mean of the real tokens
#
# Another vector for a whole sequence is the mean over its tokens. Write `mean_of_tokens(hidden, mask)`, (B, D):
# the mean of `hidden` over the positions where `mask` is True. Every sequence has at least one. What stands at
# padded positions may be anything, even infinite, and must not be noticed.
#
# **Example.** `hidden = [[[1, 2], [3, 4], [100, 100]]]` with `mask = [[True, True, False]]` gives `[[2, 3]]`.
#
# <details><summary>Hint 1</summary>
#
# You need a sum over the real positions and their number, one for each sequence. What shape must the number
# have to divide (B, D)?
#
# </details>
#
# <details><summary>Hint 2</summary>
#
# What is 0 · ∞? `masked_fill` and `torch.where` put a number in place of another without any arithmetic.
#
# </details>


# %% solution="mean_of_tokens"
def mean_of_tokens(hidden: Tensor, mask: Tensor) -> Tensor:
    """The mean vector of the real tokens of each sequence: (B, T, D) → (B, D)."""
    ### BEGIN SOLUTION
    total = hidden.masked_fill(~mask[..., None], 0.0).sum(dim=1)  # (B, D)
    return total / mask.sum(dim=1, keepdim=True)
    ### END SOLUTION


# %% check="the_example_has_the_mean_2_3" points=1
def the_example_has_the_mean_2_3(mean_of_tokens):
    """The two real tokens of the example have the mean (2, 3), and gradients flow back."""
    hidden = torch.tensor([[[1.0, 2.0], [3.0, 4.0], [100.0, 100.0]]], dtype=torch.float64)
    answer = mean_of_tokens(hidden, torch.tensor([[True, True, False]]))
    assert_close(answer, torch.tensor([[2.0, 3.0]], dtype=torch.float64))
    assert_differentiable(mean_of_tokens, hidden, torch.tensor([[True, True, False]]))


check(the_example_has_the_mean_2_3, mean_of_tokens)


# %% check="equal_tokens_have_themselves_as_mean" points=1
def equal_tokens_have_themselves_as_mean(mean_of_tokens, draw):
    """Where all tokens of a sequence have the same vector, that is the mean, however long it is."""
    vectors, mask = draw.normal(3, 4), torch.arange(5) < torch.tensor([[2], [5], [1]])
    hidden = torch.where(mask[..., None], vectors[:, None], torch.zeros(3, 5, 4, dtype=torch.float64))
    assert_close(mean_of_tokens(hidden, mask), vectors)


check(equal_tokens_have_themselves_as_mean, mean_of_tokens)


# %% check="infinite_padding_is_not_noticed" points=1
def infinite_padding_is_not_noticed(mean_of_tokens, draw):
    """Padding of any value, infinite too, leaves the mean as it is."""
    hidden, mask = draw.normal(3, 5, 4), torch.arange(5) >= torch.tensor([[2], [0], [4]])
    answer = mean_of_tokens(hidden.masked_fill(~mask[..., None], 0.0), mask)
    for padding in (7.0, math.inf):
        assert_close(mean_of_tokens(hidden.masked_fill(~mask[..., None], padding), mask), answer)
    assert_depends(answer, mean_of_tokens(hidden + 1, mask))


check(infinite_padding_is_not_noticed, mean_of_tokens)


# %% check="other_sequences_have_their_mean" points=1 hidden
def other_sequences_have_their_mean(mean_of_tokens, draw):
    """Other sequences, of very different lengths, have the mean of their tokens."""
    for batch_size, length, d_model in ((4, 7, 3), (3, 9, 5)):
        hidden, lengths = draw.normal(batch_size, length, d_model), draw.integers(2, length, batch_size)
        lengths[0], lengths[1] = 1, length
        mask = torch.arange(length) < lengths[:, None]
        expected = torch.stack([hidden[row, :n].mean(0) for row, n in enumerate(lengths.tolist())])
        padded = hidden.masked_fill(~mask[..., None], -math.inf)
        assert_close(mean_of_tokens(padded, mask), expected)


check(other_sequences_have_their_mean, mean_of_tokens)

# %% [markdown] exercise="ClassifierHead" difficulty=2 minutes=10 forbids="course.models"
# ### 8. A head that decides
#
# What BERT puts on the vector $h$ of `<cls>` is a small network:
#
# $$\mathbf p = \tanh(\mathbf W_{\text{pool}} \mathbf h + \mathbf b_{\text{pool}}) \qquad
# \mathbf z = \mathbf W \mathbf p + \mathbf b$$
#
# Write the class `ClassifierHead`, an `nn.Module`:
#
# - `ClassifierHead(d_model, n_classes)` has the parameters `W_pool` (D, D), `b_pool` (D,), `W` (C, D) and
#   `b` (C,), float64, filled however you like; C is `n_classes`.
# - `forward(h)` takes (B, D) and returns the logits $z$, (B, C).
#
# **Example.** $D = 2$, $C = 1$: `W_pool = [[0, 1], [2, 0]]`, `b_pool = [0, 1]`, `W = [[1, 2]]`, `b = [3]`.
# For $h = (0.5, -0.5)$, $p = (\tanh -0.5, \tanh 2)$ and $z \approx -0.4621 + 2 · 0.9640 + 3 = 4.4659$.
#
# <details><summary>Hint 1</summary>
#
# For rows of vectors, $W h$ is `h @ W.T`.
#
# </details>
#
# <details><summary>Hint 2</summary>
#
# Every parameter must get a gradient. If one gets none, the forward pass does not use it; compare its name in
# `__init__` with its name in `forward`, letter by letter.
#
# </details>


# %% solution="ClassifierHead"
class ClassifierHead(nn.Module):
    """Logits W tanh(W_pool h + b_pool) + b; parameters W_pool (D, D), b_pool (D,), W (C, D), b (C,)."""

    def __init__(self, d_model: int, n_classes: int):
        super().__init__()
        ### BEGIN SOLUTION
        self.W_pool = nn.Parameter(torch.randn(d_model, d_model, dtype=torch.float64) / d_model)
        self.b_pool = nn.Parameter(torch.zeros(d_model, dtype=torch.float64))
        self.W = nn.Parameter(torch.randn(n_classes, d_model, dtype=torch.float64) / d_model)
        self.b = nn.Parameter(torch.zeros(n_classes, dtype=torch.float64))
        ### END SOLUTION

    def forward(self, h: Tensor) -> Tensor:
        """The logits (B, C) for vectors (B, D)."""
        ### BEGIN SOLUTION
        pooled = torch.tanh(h @ self.W_pool.T + self.b_pool)  # (B, D)
        return pooled @ self.W.T + self.b  # (B, C)
        ### END SOLUTION


# %% provided="head_weights"
def head_weights(draw, d_model, n_classes):
    """Random parameters of a classifier head, by name."""
    return {
        "W_pool": draw.normal(d_model, d_model),
        "b_pool": draw.normal(d_model),
        "W": draw.normal(n_classes, d_model),
        "b": draw.normal(n_classes),
    }


# %% check="the_example_has_the_logit_4_4659" points=1
def the_example_has_the_logit_4_4659(ClassifierHead):
    """The vector of the example has the logit -tanh 0.5 + 2 tanh 2 + 3; in float64, gradients flow back."""
    weights = {"W_pool": [[0.0, 1.0], [2.0, 0.0]], "b_pool": [0.0, 1.0], "W": [[1.0, 2.0]], "b": [3.0]}
    weights = {name: torch.tensor(weight, dtype=torch.float64) for name, weight in weights.items()}
    head, h = with_weights(ClassifierHead(2, 1), weights), torch.tensor([[0.5, -0.5]], dtype=torch.float64)
    answer = head(h)
    expected = -math.tanh(0.5) + 2 * math.tanh(2.0) + 3
    assert_close(answer, torch.tensor([[expected]], dtype=torch.float64))
    assert_dtype(ClassifierHead(2, 1).parameters(), torch.float64, what="a parameter")
    assert_differentiable(head, h)


check(the_example_has_the_logit_4_4659, ClassifierHead)


# %% check="the_pooling_is_bounded_by_one" points=1
def the_pooling_is_bounded_by_one(ClassifierHead, draw):
    """Of a huge vector each logit is a sum of its row of W with signs, plus b: tanh has ended at ±1."""
    weights, h = head_weights(draw, 5, 3), 1e6 * draw.normal(2, 5)
    head = with_weights(ClassifierHead(5, 3), weights)
    signs = torch.stack([(weights["W_pool"] * row).sum(1).sign() for row in h])
    expected = torch.stack([(weights["W"] * row).sum(1) + weights["b"] for row in signs])
    assert_close(head(h), expected)


check(the_pooling_is_bounded_by_one, ClassifierHead)


# %% check="every_parameter_gets_a_gradient" points=1
def every_parameter_gets_a_gradient(ClassifierHead, draw):
    """The four parameters, and no others, get a gradient that is not zero."""
    head = with_weights(ClassifierHead(5, 3), head_weights(draw, 5, 3))
    (head(draw.normal(4, 5)) * draw.normal(4, 3)).sum().backward()
    gradients = head.gradients()
    assert_equal(sorted(gradients), ["W", "W_pool", "b", "b_pool"], what="the parameters")
    for name, gradient in gradients.items():
        assert_true(gradient is not None and bool((gradient != 0).any()), f"{name} gets no gradient.")


check(every_parameter_gets_a_gradient, ClassifierHead)


# %% check="other_heads_have_their_logits_and_gradients" points=2 hidden
def other_heads_have_their_logits_and_gradients(ClassifierHead, draw):
    """Heads of other sizes have the logits of the formula, and its gradients."""
    for d_model, n_classes, batch_size in ((4, 7, 3), (6, 2, 5)):
        weights, h = head_weights(draw, d_model, n_classes), draw.normal(batch_size, d_model) / 2
        head = with_weights(ClassifierHead(d_model, n_classes), weights)
        own = {name: weight.clone().requires_grad_() for name, weight in weights.items()}
        pooled = functional.linear(h, own["W_pool"], own["b_pool"]).tanh()
        expected, logits = functional.linear(pooled, own["W"], own["b"]), head(h)
        assert_close(logits, expected.detach(), what="logits")
        weighting = draw.normal(batch_size, n_classes)
        (logits * weighting).sum().backward()
        (expected * weighting).sum().backward()
        gradients = head.gradients()
        for name, weight in own.items():
            assert_close(gradients[name], weight.grad, what=f"the gradient of {name}")


check(other_heads_have_their_logits_and_gradients, ClassifierHead)

# %% [markdown] exercise="tags_of_words" difficulty=2 minutes=10 forbids="course.models"
# ### 9. One tag for each word
#
# A tagger decides for every token, but a word may have been cut into several pieces, and around the sentence
# stand special tokens. Usually the **first piece** speaks for its word, in training and in use.
#
# Write `tags_of_words(logits, word_of_piece)` for one sentence: `logits` is (T, C), one row per piece and one
# column per tag, and `word_of_piece`, (T,) int64, says which word a piece belongs to: 0, 1, 2 … in order, and
# −1 for special tokens. Return the tags of the words, (W,) int64, in order: the column with the largest logit
# in the row of the word's first piece.
#
# **Example.** The pieces `<s> new york er s </s>` belong to the words `[-1, 0, 1, 1, 1, -1]`. With the largest
# logits in columns 4, 2, 3, 0, 1, 4 the two words have the tags `[2, 3]`.
#
# <details><summary>Hint 1</summary>
#
# A piece is the first of its word when the piece before it belongs to another word. What about special
# tokens?
#
# </details>
#
# <details><summary>Hint 2</summary>
#
# Make a boolean tensor (T,) that is True at the first pieces. `logits[is_first]` keeps their rows.
#
# </details>


# %% solution="tags_of_words"
def tags_of_words(logits: Tensor, word_of_piece: Tensor) -> Tensor:
    """The tag of each word, read off its first piece: logits (T, C) → (W,)."""
    ### BEGIN SOLUTION
    before = torch.cat([torch.tensor([-1]), word_of_piece[:-1]])
    is_first = (word_of_piece != before) & (word_of_piece >= 0)
    return logits[is_first].argmax(dim=-1)
    ### END SOLUTION


# %% check="the_example_has_the_tags_2_3" points=1
def the_example_has_the_tags_2_3(tags_of_words):
    """The two words of the example have the tags 2 and 3."""
    logits = functional.one_hot(torch.tensor([4, 2, 3, 0, 1, 4]), 5).double()
    assert_equal(tags_of_words(logits, torch.tensor([-1, 0, 1, 1, 1, -1])), torch.tensor([2, 3]))


check(the_example_has_the_tags_2_3, tags_of_words)


# %% check="whole_words_have_the_tags_of_their_pieces" points=1
def whole_words_have_the_tags_of_their_pieces(tags_of_words, draw):
    """Where every word is one piece, the tags are those of the pieces between the special tokens."""
    logits, words = draw.normal(6, 4), torch.tensor([-1, 0, 1, 2, 3, -1])
    assert_equal(tags_of_words(logits, words), logits[1:5].argmax(-1))


check(whole_words_have_the_tags_of_their_pieces, tags_of_words)


# %% check="later_pieces_have_no_say" points=1
def later_pieces_have_no_say(tags_of_words):
    """Later pieces, however sure of another tag, leave the tag of the word as it is."""
    sureness = torch.tensor([1.0, 1, 60, 50, 50, 1, 100, 1], dtype=torch.float64)
    logits = sureness[:, None] * functional.one_hot(torch.tensor([2, 1, 2, 0, 0, 0, 2, 1]), 3)
    assert_equal(tags_of_words(logits, torch.tensor([-1, 0, 0, 0, 0, 1, 1, -1])), torch.tensor([1, 0]))


check(later_pieces_have_no_say, tags_of_words)


# %% check="other_sentences_have_their_tags" points=1 hidden
def other_sentences_have_their_tags(tags_of_words, draw):
    """Other sentences, with more special tokens and words of one to four pieces, have their tags."""
    for n_tags, lengths in ((7, (1, 4, 3, 1)), (4, (3, 1, 1, 2, 3))):
        tags, rows, words = draw.integers(0, n_tags, len(lengths)), [], []
        for word, (tag, n_pieces) in enumerate(zip(tags.tolist(), lengths, strict=True)):
            for piece in range(n_pieces):
                sureness = 2 if piece == 0 else 90 - 30 * piece
                rows.append(sureness * functional.one_hot(torch.tensor((tag + piece) % n_tags), n_tags))
                words.append(word)
        special = 50 * functional.one_hot((tags[:3] + 1) % n_tags, n_tags)
        logits = torch.cat([special[:2], torch.stack(rows), special]) + draw.uniform(len(rows) + 5, n_tags)
        pieces = torch.tensor([-1, -1, *words, -1, -1, -1])
        assert_equal(tags_of_words(logits, pieces), tags)


check(other_sentences_have_their_tags, tags_of_words)

# %% [markdown] exercise="span_logits" difficulty=2 minutes=10 forbids="course.models"
# ### 10. Where does the answer begin, where does it end?
#
# The input is a question and a passage, and the answer is a run of words of the passage. Two vectors are all
# that is learned: one says how much a position looks like the beginning of the answer, the other how much like
# its end. The answer cannot lie in the question or in the padding.
#
# Write `span_logits(hidden, W, b, in_passage)`, which returns the tuple `(first, last)`, each (B, T):
# `first[i, t]` is $\mathbf w_0 \cdot \mathbf h_t + b_0$ and `last[i, t]` is $\mathbf w_1 \cdot \mathbf h_t +
# b_1$, where `W` is (2, D) with these two rows and `b` is (2,); and both are $-\infty$ where `in_passage`,
# (B, T) bool, is False.
#
# **Example.** `hidden = [[[1, 0], [0, 1], [2, 2]]]`, `W = [[1, 0], [0, 3]]`, `b = [0, 1]` and
# `in_passage = [[False, True, True]]` give first `[[-inf, 0, 2]]` and last `[[-inf, 4, 7]]`.
#
# <details><summary>Hint 1</summary>
#
# `hidden @ W.T + b` has the shape (B, T, 2). `unbind` takes a tensor apart along an axis.
#
# </details>
#
# <details><summary>Hint 2</summary>
#
# After the softmax over positions, which probability has a position whose logit is 0? And −∞?
#
# </details>


# %% solution="span_logits"
def span_logits(hidden: Tensor, W: Tensor, b: Tensor, in_passage: Tensor) -> tuple[Tensor, Tensor]:
    """Logits over positions for the first and the last word of the answer, each (B, T)."""
    ### BEGIN SOLUTION
    scores = (hidden @ W.T + b).masked_fill(~in_passage[..., None], -math.inf)  # (B, T, 2)
    first, last = scores.unbind(dim=-1)
    return first, last
    ### END SOLUTION


# %% check="the_example_has_its_four_logits" points=1
def the_example_has_its_four_logits(span_logits):
    """The example has the logits 0, 2 and 4, 7 in the passage, minus infinity outside; gradients flow back."""
    hidden = torch.tensor([[[1.0, 0.0], [0.0, 1.0], [2.0, 2.0]]], dtype=torch.float64)
    W = torch.tensor([[1.0, 0.0], [0.0, 3.0]], dtype=torch.float64)
    b = torch.tensor([0.0, 1.0], dtype=torch.float64)
    first, last = span_logits(hidden, W, b, torch.tensor([[False, True, True]]))
    assert_close(first, torch.tensor([[-math.inf, 0.0, 2.0]], dtype=torch.float64), what="first")
    assert_close(last, torch.tensor([[-math.inf, 4.0, 7.0]], dtype=torch.float64), what="last")
    assert_differentiable(span_logits, hidden, W, b, torch.ones(1, 3, dtype=torch.bool))


check(the_example_has_its_four_logits, span_logits)


# %% check="outside_the_passage_nothing_is_possible" points=1
def outside_the_passage_nothing_is_possible(span_logits, draw):
    """After a softmax over the positions, exactly the words of the passage have a chance."""
    in_passage = torch.tensor(
        [[False, False, True, True, True, False], [False, True, True, False, False, False]]
    )
    first, last = span_logits(draw.normal(2, 6, 5), draw.normal(2, 5), draw.normal(2), in_passage)
    assert_equal(first.softmax(-1) > 0, in_passage, what="first")
    assert_equal(last.softmax(-1) > 0, in_passage, what="last")


check(outside_the_passage_nothing_is_possible, span_logits)


# %% check="exchanged_rows_exchange_first_and_last" points=1
def exchanged_rows_exchange_first_and_last(span_logits, draw):
    """With the rows of W and b exchanged, first and last are exchanged, and with b = (1, 0) first grows by 1."""
    hidden, W, in_passage = draw.normal(3, 4, 5), draw.normal(2, 5), torch.ones(3, 4, dtype=torch.bool)
    nothing = torch.zeros(2, dtype=torch.float64)
    first, last = span_logits(hidden, W, nothing, in_passage)
    assert_true(bool((first.isfinite() & last.isfinite()).all()), "A word of the passage is excluded.")
    other_first, other_last = span_logits(hidden, W.flip(0), nothing, in_passage)
    assert_close(other_first, last, what="first, rows exchanged")
    assert_close(other_last, first, what="last, rows exchanged")
    more, same = span_logits(hidden, W, torch.tensor([1.0, 0.0], dtype=torch.float64), in_passage)
    assert_close(more, first + 1, what="first with b = (1, 0)")
    assert_close(same, last, what="last with b = (1, 0)")


check(exchanged_rows_exchange_first_and_last, span_logits)


# %% check="other_passages_have_their_logits" points=1 hidden
def other_passages_have_their_logits(span_logits, draw):
    """Other passages have the logits of the formula, and minus infinity around them."""
    for batch_size, length, d_model in ((3, 8, 4), (2, 5, 7)):
        hidden, W, b = draw.normal(batch_size, length, d_model), draw.normal(2, d_model), draw.normal(2)
        in_passage = draw.uniform(batch_size, length) < 0.6
        in_passage[:, 0], in_passage[:, 2] = False, True
        first, last = span_logits(hidden, W, b, in_passage)
        for row, logits in enumerate((first, last)):
            expected = (hidden * W[row]).sum(-1) + b[row]
            assert_close(logits, torch.where(in_passage, expected, -math.inf), what=("first", "last")[row])


check(other_passages_have_their_logits, span_logits)

# %% [markdown] exercise="best_span" difficulty=2 minutes=15 forbids="course.models"
# ### 11. The best answer
#
# Two scores per position do not make an answer yet: the likeliest beginning may stand behind the likeliest
# end. Write `best_span(first_logits, last_logits, longest)` for one passage: both are (T,), and the result is
# the pair of ints `(first, last)` with the largest sum `first_logits[first] + last_logits[last]` among all
# spans with `first <= last` and at most `longest` words. Both ends belong to the answer, so a span has
# `last - first + 1` words. Only one span is the best; a logit may be −∞.
#
# **Example.** `first_logits = [0, 1, 5]`, `last_logits = [4, 3, 1]`: separately, the best beginning is at 2 and
# the best end at 0, which is no span. The sums of spans are 4, 3, 1, 4 (1 to 1), 2 and 6 (2 to 2): with any
# `longest` the answer is `(2, 2)`.
#
# <details><summary>Hint 1</summary>
#
# `first_logits[:, None] + last_logits` is a table (T, T) of all sums. Which entries are no spans?
#
# </details>
#
# <details><summary>Hint 2</summary>
#
# `torch.ones(T, T).triu()` keeps what is on or above the diagonal; what does `.tril(1)` keep of that? Where in
# the table are the spans of exactly `longest` words?
#
# </details>


# %% solution="best_span"
def best_span(first_logits: Tensor, last_logits: Tensor, longest: int) -> tuple[int, int]:
    """The span (first, last) of at most `longest` words with the largest sum of logits."""
    ### BEGIN SOLUTION
    sums = first_logits[:, None] + last_logits  # (T, T)
    is_span = torch.ones_like(sums, dtype=torch.bool).triu().tril(longest - 1)
    place = sums.masked_fill(~is_span, -math.inf).argmax().item()
    return divmod(place, len(last_logits))
    ### END SOLUTION


# %% check="the_example_answers_2_2" points=1
def the_example_answers_2_2(best_span):
    """The best span of the example is (2, 2)."""
    first, last = torch.tensor([0.0, 1.0, 5.0]).double(), torch.tensor([4.0, 3.0, 1.0]).double()
    assert_equal(list(best_span(first, last, 3)), [2, 2])


check(the_example_answers_2_2, best_span)


# %% check="an_answer_does_not_end_before_it_begins" points=1
def an_answer_does_not_end_before_it_begins(best_span):
    """With the likeliest end in front of the likeliest beginning, the best pair in the right order is found."""
    first = torch.tensor([0.0, 2.0, 1.0, 9.0, 0.5], dtype=torch.float64)
    last = torch.tensor([0.3, 8.0, 4.0, 0.1, 0.2], dtype=torch.float64)
    assert_equal(list(best_span(first, last, 5)), [1, 1])
    assert_equal(list(best_span(first - torch.tensor([0.0, 5, 0, 0, 0]), last, 5)), [3, 4])


check(an_answer_does_not_end_before_it_begins, best_span)


# %% check="an_answer_has_at_most_so_many_words" points=1
def an_answer_has_at_most_so_many_words(best_span):
    """Spans of 2, 4 and 5 words are the best with longest = 3, 4 and 5."""
    first = torch.tensor([9.4, 9.0, 1.0, 3.0, 0.0, 0.5], dtype=torch.float64)
    last = torch.tensor([0.1, 0.2, 2.0, 0.3, 9.0, 1.0], dtype=torch.float64)
    answers = [list(best_span(first, last, longest)) for longest in (3, 4, 5)]
    assert_equal(answers, [[3, 4], [1, 4], [0, 4]])


check(an_answer_has_at_most_so_many_words, best_span)


# %% check="sums_below_zero_are_compared_too" points=1
def sums_below_zero_are_compared_too(best_span):
    """Of spans whose sums are all below 0, some of them minus infinity, the best is found."""
    first = torch.tensor([-1.0, -6.0, -math.inf, -5.0, -2.0], dtype=torch.float64)
    last = torch.tensor([-math.inf, -1.0, -4.0, -7.0, -9.0], dtype=torch.float64)
    assert_equal(list(best_span(first, last, 5)), [0, 1])
    assert_equal(list(best_span(first, last, 1)), [1, 1])
    assert_equal(list(best_span(first - 100, last, 2)), [0, 1])


check(sums_below_zero_are_compared_too, best_span)


# %% check="other_passages_have_their_best_span" points=1 hidden
def other_passages_have_their_best_span(best_span, draw):
    """Other passages, with impossible positions, have the best of all their spans."""
    for length, longest in ((7, 1), (9, 3), (6, 6), (12, 4)):
        for attempt in range(6):
            first, last = 3 * draw.normal(length), 3 * draw.normal(length)
            first[draw.integers(0, 3)], last[draw.integers(0, 3)] = -math.inf, -math.inf
            peak = 3 + draw.integers(0, length - 4)
            first[(peak + longest) % length], last[peak] = 11.0, 10.0
            if attempt % 2 == 0 and peak >= longest:
                first[peak - longest] = 13.0
            first -= 50.0 * (attempt % 3)  # all sums below 0, two times of three
            spans = [(a, b) for a in range(length) for b in range(a, min(length, a + longest))]
            expected = max(spans, key=lambda span: (first[span[0]] + last[span[1]]).item())
            assert_equal(list(best_span(first, last, longest)), list(expected))


check(other_passages_have_their_best_span, best_span)

# %% provided="small_classifier"
# For the next exercise: a BERT small enough to look at, with a classifier of three classes on top.
SMALL = BERTConfig(vocab_size=11, context_length=9, d_model=6, n_heads=2, n_layers=1, d_ff=5)
N_CLASSES = 3


def small_weights(draw):
    """Random weights of the encoder and of the head, by name: what was pre-trained, and what was not."""
    weights = SequenceClassifier(SMALL, N_CLASSES).state_dict()
    drawn = {name: draw.normal(*weight.shape) / 2 for name, weight in weights.items()}
    encoder = {name: weight for name, weight in drawn.items() if name.startswith("bert.")}
    return encoder, {name: weight for name, weight in drawn.items() if name not in encoder}


# %% [markdown] exercise="fine_tune" difficulty=3 minutes=20 allows="course.models.bert"
# ### 12. Fine-tuning
#
# The pre-trained encoder comes with its weights, the head on top is new, and a few steps of training fit both
# to a task. `SequenceClassifier(SMALL, N_CLASSES)` of the course is such a model: called with tokens (B, T)
# and a mask (B, T), True at real tokens, it returns logits (B, 3). Its parameters are called `bert.…` (the
# encoder) and `pooler.…`, `output.…` (the head).
#
# Write `fine_tune(encoder, head, tokens, mask, labels, learning_rate, n_steps)`: make the model in float64
# (`.double()`), load the given weights, `encoder` and `head`, two dicts from names to tensors; then take
# `n_steps` steps of plain gradient descent, $\theta \leftarrow \theta - \eta \, \partial L / \partial \theta$,
# on the mean cross-entropy of the labels, (B,) int64, all sequences in every step. **All** parameters are
# trained. Return the weights in the end as one dict, name → tensor.
#
# `functional.cross_entropy`, `backward()` and `torch.optim.SGD` may be used.
#
# **Example.** With `n_steps = 0` the result is `encoder | head`, the weights as they were given.
#
# <details><summary>Hint 1</summary>
#
# `load_state_dict` complains about every name that is missing. With `strict=False` it says nothing and leaves
# the random numbers of a new model.
#
# </details>
#
# <details><summary>Hint 2</summary>
#
# Which arguments does the model take? Exchange the tokens at padded positions: do your weights change?
#
# </details>
#
# <details><summary>Hint 3</summary>
#
# Compare `encoder` with the weights after one step. If nothing has moved, who keeps it from moving? If more
# has moved in the second step than it should, what did `backward()` find in `.grad`?
#
# </details>


# %% solution="fine_tune"
def fine_tune(
    encoder: dict[str, Tensor],
    head: dict[str, Tensor],
    tokens: Tensor,
    mask: Tensor,
    labels: Tensor,
    learning_rate: float,
    n_steps: int,
) -> dict[str, Tensor]:
    """All weights, encoder and head, after n_steps of gradient descent from the given ones."""
    ### BEGIN SOLUTION
    model = SequenceClassifier(SMALL, N_CLASSES).double()
    model.load_state_dict(encoder | head)
    for _ in range(n_steps):
        model.zero_grad()
        functional.cross_entropy(model(tokens, mask), labels).backward()
        with torch.no_grad():
            for parameter in model.parameters():
                if parameter.grad is not None:  # positions and segments that do not occur
                    parameter -= learning_rate * parameter.grad
    return model.state_dict()
    ### END SOLUTION


# %% provided="small_reviews"
def small_reviews(draw, batch_size, length):
    """Random texts of unequal lengths with labels: tokens, mask and labels."""
    lengths = draw.integers(2, length, batch_size)
    lengths[0] = length
    mask = torch.arange(length) < lengths[:, None]
    return draw.integers(1, 11, batch_size, length), mask, torch.arange(batch_size) % N_CLASSES


def stepped(weights, tokens, mask, labels, learning_rate, n_steps):
    """The same weights after gradient descent, each step written out."""
    classifier = SequenceClassifier(SMALL, N_CLASSES).to(torch.float64)
    while n_steps > 0:
        n_steps -= 1
        own = {name: weight.detach().requires_grad_() for name, weight in weights.items()}
        logits = torch.func.functional_call(classifier, own, (tokens, mask))
        loss = -logits.log_softmax(-1)[torch.arange(len(labels)), labels].mean()
        gradients = torch.autograd.grad(loss, list(own.values()), allow_unused=True)
        weights = {
            name: weight.detach() - (0 if gradient is None else learning_rate * gradient)
            for (name, weight), gradient in zip(own.items(), gradients, strict=True)
        }
    return weights


def assert_weights(received, expected):
    """All weights agree, the encoder's looked at first."""
    assert_equal(sorted(received), sorted(expected), what="the names of the weights")
    for name in sorted(expected):
        assert_close(received[name], expected[name], what=name)


# %% check="without_a_step_the_weights_are_those_given" points=1
def without_a_step_the_weights_are_those_given(fine_tune, draw):
    """With no step, the weights are the given ones, in float64: the pre-trained encoder and the new head."""
    encoder, head = small_weights(draw)
    answer = fine_tune(encoder, head, *small_reviews(draw, 4, 7), 0.1, 0)
    assert_weights(answer, encoder | head)
    assert_dtype(answer, torch.float64)


check(without_a_step_the_weights_are_those_given, fine_tune)


# %% check="a_step_moves_encoder_and_head" points=1
def a_step_moves_encoder_and_head(fine_tune, draw):
    """One step moves the embedding and the attention of the encoder, and both layers of the head."""
    encoder, head = small_weights(draw)
    before = encoder | head
    after = fine_tune(encoder, head, *small_reviews(draw, 4, 7), 0.1, 1)
    for name in (
        "bert.embedding.weight",
        "bert.encoder.layers.0.attention.W_value.weight",
        "pooler.linear.weight",
        "output.weight",
    ):
        moved = (after[name] - before[name]).abs().max().item()
        assert_true(1e-9 < moved < 1, f"{name} has moved by {moved:.3g} at most.")


check(a_step_moves_encoder_and_head, fine_tune)


# %% check="padding_does_not_train" points=1
def padding_does_not_train(fine_tune, draw):
    """Other tokens at padded positions leave the trained weights as they are."""
    encoder, head = small_weights(draw)
    tokens, mask, labels = small_reviews(draw, 4, 7)
    answer = fine_tune(encoder, head, torch.where(mask, tokens, 0), mask, labels, 0.1, 1)
    padded_otherwise = fine_tune(encoder, head, torch.where(mask, tokens, 10), mask, labels, 0.1, 1)
    for name in ("output.weight", "bert.encoder.layers.0.attention.W_value.weight"):
        assert_close(padded_otherwise[name], answer[name], what=name)
        assert_depends(answer[name], (encoder | head)[name])


check(padding_does_not_train, fine_tune)


# %% check="each_step_follows_its_own_gradient" points=2
def each_step_follows_its_own_gradient(fine_tune, draw):
    """Three steps lead where three steps of gradient descent lead that are written out one by one."""
    encoder, head = small_weights(draw)
    reviews = small_reviews(draw, 4, 7)
    assert_weights(fine_tune(encoder, head, *reviews, 0.1, 3), stepped(encoder | head, *reviews, 0.1, 3))


check(each_step_follows_its_own_gradient, fine_tune)


# %% check="other_reviews_train_all_weights" points=2 hidden
def other_reviews_train_all_weights(fine_tune, draw):
    """Other texts, rates and numbers of steps lead to the weights of gradient descent."""
    for batch_size, length, learning_rate, n_steps in ((5, 6, 0.2, 2), (3, 8, 0.05, 4)):
        encoder, head = small_weights(draw)
        reviews = small_reviews(draw, batch_size, length)
        answer = fine_tune(encoder, head, *reviews, learning_rate, n_steps)
        assert_weights(answer, stepped(encoder | head, *reviews, learning_rate, n_steps))


check(other_reviews_train_all_weights, fine_tune)

# %% [markdown] written="why_not_write_with_bert" points=4 minutes=15
# ### 13. Why not write with BERT?
#
# a) A classmate wants to generate text with BERT: "I put `<mask>` at the end, take the likeliest word, put the
# next `<mask>` behind it, and so on." It runs, but the texts are poor. Give a reason that lies in what BERT
# has practised, and say what the same trick has to do with the way a GPT is trained.
#
# b) In one pass over a text of 100 tokens, how many predictions does BERT learn from, and how many does a GPT?
# What does BERT get in exchange?
#
# c) Somebody leaves out the second and the third rule of 80/10/10 and hides all tokens that are asked for. The
# masked-language-model loss on held-out text even falls a little. Fine-tuned on sentiment, the model is worse.
# Explain both.
#
# ### BEGIN SOLUTION
# a) (1 point) BERT has practised gaps with words on both sides; a gap at the very end, with nothing behind it,
# is rare in its training, and the beginning of a long text with no end never occurs. A GPT practises exactly
# this at every position: predict the next word from what precedes it.
#
# b) (1 point: half for both numbers, half for the exchange.) About 15 of 100, against 100 (99 or 100 with the
# first or the end). In exchange each prediction may use both sides, and so may every vector that is used later.
#
# c) (2 points, one each.) All gaps are now visible as gaps, so the model never has to doubt a word that it
# reads; the task is easier and the loss falls. But in fine-tuning there is no mask token: the vectors of tokens
# that are not masked were never asked for, so nothing made them good, and the input looks unlike all that the
# model has trained on.
# ### END SOLUTION

# %% [markdown]
# ## Part C. Encoder and decoder
#
# A translator is an encoder that reads the source with nothing hidden but padding, and a decoder that writes
# the target word by word and looks at the encoder's output, the **memory**, (B, S, D), in every block. Three
# attentions, three masks.

# %% [markdown] exercise="CrossAttention" difficulty=2 minutes=20 forbids="torch.nn.MultiheadAttention,torch.nn.functional.scaled_dot_product_attention,torch.nn.attention,torch.nn.functional.multi_head_attention_forward,torch.nn.Transformer,torch.nn.TransformerDecoder,torch.nn.TransformerDecoderLayer,torch.nn.TransformerEncoder,torch.nn.TransformerEncoderLayer,torch.ops,torch._C,course.models,torch_attention"
# ### 14. Cross-attention
#
# The decoder asks, the memory answers: queries come from the target's vectors `x`, (B, T, D), keys and values
# from `memory`, (B, S, D). In each of H heads, of K = D / H neighbouring features,
#
# $$\text{scores} = \frac{\mathbf q \mathbf k^\top}{\sqrt K} \qquad
# \text{weights} = \text{softmax over the keys} \qquad \text{head} = \text{weights} \cdot \mathbf v$$
#
# and the heads, side by side, go through one more matrix.
#
# Write the class `CrossAttention`, an `nn.Module`:
#
# - `CrossAttention(d_model, n_heads)` has the parameters `W_query`, `W_key`, `W_value` and `W_output`, all
#   (D, D) float64, without biases, filled however you like. As in `nn.Linear`, a matrix W turns rows `x` into
#   `x @ W.T`.
# - `forward(x, memory, mask)` returns (B, T, D). `mask`, (B, 1, 1, S), is True at the keys that may be attended
#   to.
#
# Scores and softmax are yours to write; torch's ready-made multi-head attention may not be called.
#
# **Example.** $D = 2$, $H = 2$, so $K = 1$; all four matrices are the identity. The target has one position,
# $(1, 1)$; the memory has two, $(0, \ln 9)$ and $(\ln 3, 0)$. Head 0 has the scores $0$ and $\ln 3$, the weights
# 1/4 and 3/4 and the value $\tfrac34 \ln 3 \approx 0.824$; head 1 has the scores $\ln 9$ and 0, the weights 9/10 and
# 1/10 and the value $\tfrac9{10} \ln 9 \approx 1.978$. The result is $(0.824, 1.978)$.
#
# <details><summary>Hint 1</summary>
#
# Write the shape behind every line. Which of B, T, S, H and K does each of q, k, v, scores and weights have? T
# and S differ, so a wrong one shows.
#
# </details>
#
# <details><summary>Hint 2</summary>
#
# Heads: `(B, T, D) → (B, T, H, K) → (B, H, T, K)`, and back again after the weighted sum.
#
# </details>
#
# <details><summary>Hint 3</summary>
#
# `scores.masked_fill(~mask, -math.inf)` before the softmax; along which axis does the softmax run?
#
# </details>


# %% solution="CrossAttention"
class CrossAttention(nn.Module):
    """Multi-head attention from x (B, T, D) to memory (B, S, D); W_query, W_key, W_value, W_output (D, D)."""

    def __init__(self, d_model: int, n_heads: int):
        super().__init__()
        ### BEGIN SOLUTION
        self.n_heads = n_heads
        for name in ("W_query", "W_key", "W_value", "W_output"):
            setattr(self, name, nn.Parameter(torch.randn(d_model, d_model, dtype=torch.float64) / d_model))
        ### END SOLUTION

    def forward(self, x: Tensor, memory: Tensor, mask: Tensor) -> Tensor:
        """What each position of x finds in the memory: (B, T, D)."""
        ### BEGIN SOLUTION
        q, k, v = x @ self.W_query.T, memory @ self.W_key.T, memory @ self.W_value.T
        q, k, v = (part.unflatten(-1, (self.n_heads, -1)).transpose(1, 2) for part in (q, k, v))
        scores = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])  # (B, H, T, S)
        weights = scores.masked_fill(~mask, -math.inf).softmax(dim=-1)
        return (weights @ v).transpose(1, 2).flatten(start_dim=2) @ self.W_output.T  # (B, T, D)
        ### END SOLUTION


# %% provided="cross_weights"
MATRICES = ("W_query", "W_key", "W_value", "W_output")


def cross_weights(draw, d_model):
    """Four random matrices of a cross-attention, by name."""
    return {name: draw.normal(d_model, d_model) / 2 for name in MATRICES}


def torch_attention(weights, n_heads):
    """torch's own attention with these four matrices."""
    oracle = nn.MultiheadAttention(
        len(weights["W_output"]), n_heads, bias=False, batch_first=True, dtype=torch.float64
    )
    stacked = torch.cat([weights[name] for name in MATRICES[:3]])
    oracle.load_state_dict({"in_proj_weight": stacked, "out_proj.weight": weights["W_output"]})
    return oracle


def all_keys(batch_size, n_keys):
    """A mask that hides nothing: (B, 1, 1, S)."""
    return torch.ones(batch_size, 1, 1, n_keys, dtype=torch.bool)


# %% check="the_example_finds_0_824_and_1_978" points=1
def the_example_finds_0_824_and_1_978(CrossAttention):
    """The one position of the example finds 3/4 ln 3 and 9/10 ln 9; in float64, gradients flow back."""
    eye = torch.eye(2, dtype=torch.float64)
    layer = with_weights(CrossAttention(2, 2), dict.fromkeys(MATRICES, eye))
    memory = torch.tensor([[[0.0, math.log(9)], [math.log(3), 0.0]]], dtype=torch.float64)
    x = torch.ones(1, 1, 2, dtype=torch.float64)
    answer = layer(x, memory, all_keys(1, 2))
    assert_close(answer, torch.tensor([[[0.75 * math.log(3), 0.9 * math.log(9)]]], dtype=torch.float64))
    assert_dtype(CrossAttention(2, 2).parameters(), torch.float64, what="a parameter")
    assert_differentiable(layer, x, memory, all_keys(1, 2))


check(the_example_finds_0_824_and_1_978, CrossAttention)


# %% check="scores_are_divided_by_the_root_of_k" points=1
def scores_are_divided_by_the_root_of_k(CrossAttention):
    """With one head of K = 4, products of 0 and 2 ln 3 become the weights 1/4 and 3/4."""
    layer = with_weights(CrossAttention(4, 1), dict.fromkeys(MATRICES, torch.eye(4, dtype=torch.float64)))
    x, memory = torch.zeros(1, 1, 4, dtype=torch.float64), torch.zeros(1, 2, 4, dtype=torch.float64)
    x[0, 0, 0], memory[0, 1, 0] = 2.0, math.log(3)
    expected = torch.tensor([[[0.75 * math.log(3), 0.0, 0.0, 0.0]]], dtype=torch.float64)
    assert_close(layer(x, memory, all_keys(1, 2)), expected)


check(scores_are_divided_by_the_root_of_k, CrossAttention)


# %% check="what_is_found_comes_from_the_memory" points=1
def what_is_found_comes_from_the_memory(CrossAttention, draw):
    """Where all memory positions hold the same vector m, everybody finds W_output W_value m."""
    weights, m = cross_weights(draw, 6), draw.normal(2, 6)
    layer = with_weights(CrossAttention(6, 3), weights)
    expected = torch.stack([weights["W_output"] @ (weights["W_value"] @ row) for row in m])
    answer = layer(draw.normal(2, 4, 6), m[:, None].expand(2, 5, 6), all_keys(2, 5))
    assert_close(answer, expected[:, None].expand(2, 4, 6))


check(what_is_found_comes_from_the_memory, CrossAttention)


# %% check="each_position_asks_for_itself" points=1
def each_position_asks_for_itself(CrossAttention, draw):
    """Another vector at one target position changes what this position finds, and no other."""
    layer = with_weights(CrossAttention(6, 2), cross_weights(draw, 6))
    x, memory = draw.normal(2, 4, 6), draw.normal(2, 3, 6)
    other = x.clone()
    other[:, 2] += draw.normal(2, 6)
    change = (layer(other, memory, all_keys(2, 3)) - layer(x, memory, all_keys(2, 3))).abs().amax(-1)
    assert_equal(change > 1e-9, torch.tensor([[False, False, True, False]] * 2), what="positions that change")


check(each_position_asks_for_itself, CrossAttention)


# %% check="every_position_reads_the_whole_source" points=1
def every_position_reads_the_whole_source(CrossAttention, draw):
    """Another vector at any place of the memory changes what every target position finds."""
    layer = with_weights(CrossAttention(6, 3), cross_weights(draw, 6))
    x, memory = draw.normal(2, 4, 6), draw.normal(2, 5, 6)
    answer = layer(x, memory, all_keys(2, 5))
    for place in range(5):
        other = memory.clone()
        other[:, place] += draw.normal(2, 6)
        change = (layer(x, other, all_keys(2, 5)) - answer).abs().amax(-1)
        assert_true(bool((change > 1e-9).all()), f"Some position does not read place {place} of the source.")


check(every_position_reads_the_whole_source, CrossAttention)


# %% check="padding_of_the_source_is_not_read" points=1
def padding_of_the_source_is_not_read(CrossAttention, draw):
    """Other vectors at masked places of the memory change nothing."""
    layer = with_weights(CrossAttention(6, 3), cross_weights(draw, 6))
    x, memory = draw.normal(2, 4, 6), draw.normal(2, 5, 6)
    mask = (torch.arange(5) < torch.tensor([[3], [5]]))[:, None, None]
    elsewhere = torch.where(mask.transpose(-2, -1)[:, 0], memory, memory + 5)
    answer = layer(x, memory, mask)
    assert_close(layer(x, elsewhere, mask), answer)
    assert_depends(answer, layer(x, elsewhere, all_keys(2, 5)))


check(padding_of_the_source_is_not_read, CrossAttention)


# %% check="three_heads_find_what_torch_finds" points=1
def three_heads_find_what_torch_finds(CrossAttention, draw):
    """With the same matrices, three heads find the numbers of torch's attention, padding hidden."""
    weights, x, memory = cross_weights(draw, 6), draw.normal(2, 4, 6), draw.normal(2, 5, 6)
    real = torch.arange(5) < torch.tensor([[5], [3]])
    expected, _ = torch_attention(weights, 3)(x, memory, memory, key_padding_mask=~real)
    answer = with_weights(CrossAttention(6, 3), weights)(x, memory, real[:, None, None])
    assert_close(answer, expected.detach())


check(three_heads_find_what_torch_finds, CrossAttention)


# %% check="other_sizes_find_what_torch_finds" points=2 hidden
def other_sizes_find_what_torch_finds(CrossAttention, draw):
    """With other sizes, outputs and gradients are those of torch's attention with these weights."""
    for d_model, n_heads, n_targets, n_sources in ((6, 2, 3, 7), (12, 3, 5, 4), (8, 4, 6, 5)):
        weights, x = cross_weights(draw, d_model), draw.normal(3, n_targets, d_model)
        memory = draw.normal(3, n_sources, d_model)
        real = torch.arange(n_sources) < torch.tensor([[n_sources], [1], [n_sources - 1]])
        layer = with_weights(CrossAttention(d_model, n_heads), weights)
        oracle = torch_attention(weights, n_heads)
        expected, _ = oracle(x, memory, memory, key_padding_mask=~real)
        answer, weighting = layer(x, memory, real[:, None, None]), draw.normal(3, n_targets, d_model)
        assert_close(answer, expected.detach())
        (answer * weighting).sum().backward()
        (expected * weighting).sum().backward()
        grads = dict(zip(MATRICES[:3], oracle.in_proj_weight.grad.chunk(3), strict=True))
        own = layer.gradients()
        for name, grad in (grads | {"W_output": oracle.out_proj.weight.grad}).items():
            assert_close(own[name], grad, what=f"the gradient of {name}")


check(other_sizes_find_what_torch_finds, CrossAttention)

# %% [markdown] exercise="translation_masks" difficulty=2 minutes=15 forbids="course.models"
# ### 15. Three masks
#
# Write `translation_masks(source, target, source_pad, target_pad)`, which returns the tuple
# `(encoder, decoder, cross)` of boolean masks, True where a query (row) may attend to a key (column):
#
# | mask | shape | queries and keys | what is forbidden |
# |---|---|---|---|
# | `encoder` | (B, 1, 1, S) | source, source | keys that are padding |
# | `decoder` | (B, 1, T, T) | target, target | keys that come later, and keys that are padding |
# | `cross` | (B, 1, 1, S) | target, source | keys that are padding |
#
# `source` is (B, S) and `target` (B, T), both int64; the two languages have padding tokens of their own. The
# first token of a target is never padding, and a position may always attend to itself unless it is padding.
#
# **Example.** `source = [[4, 6, 8, 0]]`, `target = [[1, 9, 5]]`, `source_pad = 0`, `target_pad = 9` (padding may
# stand anywhere): encoder and cross are `[[[[True, True, True, False]]]]`, and decoder is `[[[[True, False, False],
# [True, False, False], [True, False, True]]]]`.
#
# <details><summary>Hint 1</summary>
#
# For each mask: whose positions are the keys? Only the keys' padding matters.
#
# </details>
#
# <details><summary>Hint 2</summary>
#
# `torch.ones(T, T, dtype=torch.bool).tril()` has (queries, keys); a mask of shape (B, 1, 1, T) forbids keys.
# Both conditions must hold.
#
# </details>


# %% solution="translation_masks"
def translation_masks(
    source: Tensor, target: Tensor, source_pad: int, target_pad: int
) -> tuple[Tensor, Tensor, Tensor]:
    """The masks of the encoder (B, 1, 1, S), of the decoder (B, 1, T, T) and between them (B, 1, 1, S)."""
    ### BEGIN SOLUTION
    real_source = (source != source_pad)[:, None, None]  # (B, 1, 1, S)
    real_target = (target != target_pad)[:, None, None]  # (B, 1, 1, T)
    triangle = torch.ones(target.shape[1], target.shape[1], dtype=torch.bool).tril()  # (T, T)
    return real_source, real_target & triangle, real_source
    ### END SOLUTION


# %% check="the_example_has_its_masks" points=1
def the_example_has_its_masks(translation_masks):
    """The source of the example hides its last word; the target hides what comes later, and its padding."""
    source, target = torch.tensor([[4, 6, 8, 0]]), torch.tensor([[1, 9, 5]])
    encoder, decoder, cross = translation_masks(source, target, 0, 9)
    rows = [[True, False, False], [True, False, False], [True, False, True]]
    assert_equal(encoder, torch.tensor([[[[True, True, True, False]]]]), what="encoder")
    assert_equal(decoder, torch.tensor([[rows]]), what="decoder")
    assert_equal(cross, torch.tensor([[[[True, True, True, False]]]]), what="cross")


check(the_example_has_its_masks, translation_masks)


# %% check="the_source_is_read_whole" points=1
def the_source_is_read_whole(translation_masks):
    """Encoder and cross-attention see every real word of a source longer than the target, and no padding."""
    source = torch.tensor([[4, 6, 5, 7, 4], [3, 8, 0, 0, 0]])
    encoder, _, cross = translation_masks(source, torch.tensor([[1, 5, 6], [1, 2, 9]]), 0, 9)
    assert_equal(encoder, (source > 0).reshape(2, 1, 1, 5), what="encoder")
    assert_equal(cross, (source > 0).reshape(2, 1, 1, 5), what="cross")


check(the_source_is_read_whole, translation_masks)


# %% check="the_decoder_sees_itself_and_its_past" points=1
def the_decoder_sees_itself_and_its_past(translation_masks):
    """Without padding, word t of a target longer than the source sees the words 0 … t."""
    _, decoder, _ = translation_masks(
        torch.tensor([[4, 6], [3, 8]]), torch.tensor([[1, 5, 6, 7, 0]] * 2), 0, 9
    )
    expected = torch.tensor([[key <= query for key in range(5)] for query in range(5)])
    assert_equal(decoder, expected.expand(2, 1, 5, 5))


check(the_decoder_sees_itself_and_its_past, translation_masks)


# %% check="each_language_has_its_own_padding" points=1
def each_language_has_its_own_padding(translation_masks):
    """The source's padding token may be a word of the target, and the other way round."""
    source, target = torch.tensor([[9, 4, 0, 0], [9, 9, 9, 0]]), torch.tensor([[1, 0, 5], [1, 0, 9]])
    encoder, decoder, cross = translation_masks(source, target, 0, 9)
    assert_equal(encoder, (source != 0).reshape(2, 1, 1, 4), what="encoder")
    assert_equal(cross, (source != 0).reshape(2, 1, 1, 4), what="cross")
    assert_equal(decoder[:, 0, 2], target != 9, what="decoder, the row of the last position")


check(each_language_has_its_own_padding, translation_masks)


# %% check="other_sentences_have_their_masks" points=2 hidden
def other_sentences_have_their_masks(translation_masks, draw):
    """Other sentences have their three masks, whichever of the two is longer."""
    for n_sources, n_targets, pads in ((4, 6, (0, 11)), (7, 3, (12, 0)), (3, 5, (5, 5))):
        source, target = draw.integers(0, 13, 5, n_sources), draw.integers(0, 13, 5, n_targets)
        source[:, 0], target[:, 0] = 7, 8
        source[0, 1:], target[1, 2:] = pads[0], pads[1]
        source[2, 1:], target[2, 1:] = 3, 2
        encoder, decoder, cross = translation_masks(source, target, *pads)
        real = (source != pads[0]).reshape(5, 1, 1, n_sources)
        rows = [
            [
                [bool(target[i, key] != pads[1]) and key <= query for key in range(n_targets)]
                for query in range(n_targets)
            ]
            for i in range(5)
        ]
        assert_equal(encoder, real, what="encoder")
        assert_equal(decoder, torch.tensor(rows)[:, None], what="decoder")
        assert_equal(cross, real, what="cross")


check(other_sentences_have_their_masks, translation_masks)

# %% [markdown] exercise="DecoderBlock" difficulty=3 minutes=25 forbids="torch.nn.functional.multi_head_attention_forward,torch.nn.Transformer,torch.nn.TransformerDecoder,torch.nn.TransformerDecoderLayer,torch.nn.TransformerEncoder,torch.nn.TransformerEncoderLayer,torch.ops,torch._C,course.models.transformer,course.models.translator,torch_block" allows="course.models.multi_head_attention,course.models.layer_norm"
# ### 16. A block of the decoder
#
# In the order of 2017 (post-norm), each of three steps adds what it found and normalises the sum:
#
# $$\mathbf x \leftarrow \text{norm}(\mathbf x + \text{self-attention}(\mathbf x)) \qquad
# \mathbf x \leftarrow \text{norm}(\mathbf x + \text{cross-attention}(\mathbf x, \text{memory})) \qquad
# \mathbf x \leftarrow \text{norm}(\mathbf x + \text{feed-forward}(\mathbf x))$$
#
# where the feed-forward layer is `contract(relu(expand(x)))`.
#
# Write the class `DecoderBlock`, an `nn.Module`. `DecoderBlock(d_model, n_heads, d_ff)` has, under these names,
#
# | attribute | what | from |
# |---|---|---|
# | `self_attention`, `cross_attention` | `MultiHeadAttention(d_model, n_heads)` | the course |
# | `expand`, `contract` | `nn.Linear`, D → F and F → D | torch |
# | `norm_self`, `norm_cross`, `norm_feed_forward` | `LayerNorm(d_model)` | the course |
#
# all in float64: end `__init__` with `self.double()`. `forward(x, memory, self_mask, cross_mask)` takes `x`
# (B, T, D), `memory` (B, S, D) and the masks `decoder` and `cross` of the last exercise, and returns (B, T, D).
# A `MultiHeadAttention` is called with `(query, key, value, mask)`: vectors whose queries, keys and values it
# will make, and a mask.
#
# **Example.** When all of a block's matrices and biases are zero, no attention finds anything, and what is left
# of it is three norms: the vector $(1, 3)$ becomes $(-1, 1)$.
#
# <details><summary>Hint 1</summary>
#
# Who asks in the cross-attention, and who is asked? Which of the two masks has a column for each position of
# the memory?
#
# </details>
#
# <details><summary>Hint 2</summary>
#
# Three lines of the same form, and `x` stands twice on the right of each: once inside the step, once beside it.
#
# </details>


# %% solution="DecoderBlock"
class DecoderBlock(nn.Module):
    """Self-attention, cross-attention, feed-forward, each followed by residual and norm (post-norm)."""

    def __init__(self, d_model: int, n_heads: int, d_ff: int):
        super().__init__()
        ### BEGIN SOLUTION
        self.self_attention = MultiHeadAttention(d_model, n_heads)
        self.cross_attention = MultiHeadAttention(d_model, n_heads)
        self.expand, self.contract = nn.Linear(d_model, d_ff), nn.Linear(d_ff, d_model)
        self.norm_self, self.norm_cross = LayerNorm(d_model), LayerNorm(d_model)
        self.norm_feed_forward = LayerNorm(d_model)
        self.double()
        ### END SOLUTION

    def forward(self, x: Tensor, memory: Tensor, self_mask: Tensor, cross_mask: Tensor) -> Tensor:
        """The vectors of the target after the block: (B, T, D)."""
        ### BEGIN SOLUTION
        x = self.norm_self(x + self.self_attention(x, x, x, self_mask))
        x = self.norm_cross(x + self.cross_attention(x, memory, memory, cross_mask))
        return self.norm_feed_forward(x + self.contract(functional.relu(self.expand(x))))
        ### END SOLUTION


# %% provided="block_weights"
TORCH_NAMES = {"self_attn": "self_attention", "multihead_attn": "cross_attention"}
TORCH_NAMES |= {"linear1": "expand", "linear2": "contract"}
TORCH_NAMES |= {"norm1": "norm_self", "norm2": "norm_cross", "norm3": "norm_feed_forward"}


def torch_block(draw, d_model, n_heads, d_ff):
    """torch's own decoder layer with random weights, and the same weights under the names of this homework."""
    theirs = nn.TransformerDecoderLayer(d_model, n_heads, d_ff, 0.0, batch_first=True, dtype=torch.float64)
    theirs.load_state_dict({name: draw.normal(*w.shape) / 2 for name, w in theirs.state_dict().items()})
    ours = {}
    for name, weight in theirs.state_dict().items():
        ours |= translate_weight(name, weight, TORCH_NAMES, is_norm=False)
    return theirs, ours


def causal(batch_size, n_targets):
    """The triangle for every sentence: (B, 1, T, T)."""
    return torch.ones(n_targets, n_targets, dtype=torch.bool).tril().expand(batch_size, 1, -1, -1)


def decoded_by_torch(theirs, x, memory, real_x, real):
    """What torch's layer makes of x under the triangle; padding, False in `real_x` and `real`, is hidden."""
    triangle = causal(len(x), x.shape[1])[0, 0]
    hidden = {"tgt_key_padding_mask": ~real_x, "memory_key_padding_mask": ~real}
    return theirs(x, memory, tgt_mask=~triangle, **hidden)


# %% check="with_nothing_found_three_norms_are_left" points=1
def with_nothing_found_three_norms_are_left(DecoderBlock, draw):
    """With all matrices and biases zero, (1, 3) becomes (-1, 1), and so does (5, 9)."""
    _, weights = torch_block(draw, 2, 1, 3)
    zeros = {name: torch.zeros_like(weight) for name, weight in weights.items()}
    gains = {name: torch.ones_like(weight) for name, weight in weights.items() if name.endswith("gain")}
    block = with_weights(DecoderBlock(2, 1, 3), zeros | gains)
    x = torch.tensor([[[1.0, 3.0], [5.0, 9.0]]], dtype=torch.float64)
    answer = block(x, torch.ones(1, 3, 2, dtype=torch.float64), causal(1, 2), all_keys(1, 3))
    assert_close(answer, torch.tensor([[[-1.0, 1.0]] * 2], dtype=torch.float64), tolerance=1e-4)


check(with_nothing_found_three_norms_are_left, DecoderBlock)


# %% check="the_future_does_not_change_the_past" points=1
def the_future_does_not_change_the_past(DecoderBlock, draw):
    """Another vector at position 2 changes positions from there on only; in float64, gradients flow back."""
    block = with_weights(DecoderBlock(6, 3, 5), torch_block(draw, 6, 3, 5)[1])
    x, memory = draw.normal(2, 4, 6), draw.normal(2, 5, 6)
    other = x.clone()
    other[:, 2] += draw.normal(2, 6)
    masks = causal(2, 4), all_keys(2, 5)
    change = (block(other, memory, *masks) - block(x, memory, *masks)).abs().amax(-1)
    assert_equal(change > 1e-9, torch.tensor([[False, False, True, True]] * 2), what="positions that change")
    assert_dtype(DecoderBlock(6, 3, 5).parameters(), torch.float64, what="a parameter")
    assert_differentiable(block, x, memory, *masks)


check(the_future_does_not_change_the_past, DecoderBlock)


# %% check="the_first_word_reads_the_end_of_the_source" points=1
def the_first_word_reads_the_end_of_the_source(DecoderBlock, draw):
    """Another vector at any place of a memory longer than the target changes every position."""
    block = with_weights(DecoderBlock(6, 2, 4), torch_block(draw, 6, 2, 4)[1])
    x, memory = draw.normal(2, 3, 6), draw.normal(2, 5, 6)
    answer = block(x, memory, causal(2, 3), all_keys(2, 5))
    for place in range(5):
        other = memory.clone()
        other[:, place] += draw.normal(2, 6)
        change = (block(x, other, causal(2, 3), all_keys(2, 5)) - answer).abs().amax(-1)
        assert_true(bool((change > 1e-9).all()), f"Some position does not read place {place} of the source.")


check(the_first_word_reads_the_end_of_the_source, DecoderBlock)


# %% check="the_source_s_padding_is_not_read" points=1
def the_source_s_padding_is_not_read(DecoderBlock, draw):
    """Other vectors at masked places of a memory shorter than the target change nothing."""
    block = with_weights(DecoderBlock(6, 3, 5), torch_block(draw, 6, 3, 5)[1])
    x, memory = draw.normal(2, 4, 6), draw.normal(2, 3, 6)
    mask = (torch.arange(3) < torch.tensor([[2], [3]]))[:, None, None]
    answer = block(x, memory, causal(2, 4), mask)
    other = memory.clone()
    other[0, 2] += 3
    assert_close(block(x, other, causal(2, 4), mask), answer)
    assert_depends(answer, block(x, other, causal(2, 4), all_keys(2, 3)))


check(the_source_s_padding_is_not_read, DecoderBlock)


# %% check="one_block_computes_what_torch_computes" points=1
def one_block_computes_what_torch_computes(DecoderBlock, draw):
    """With the same weights and masks, a block gives the numbers of torch's decoder layer."""
    theirs, weights = torch_block(draw, 6, 3, 7)
    x, memory = draw.normal(2, 4, 6), draw.normal(2, 5, 6)
    real_x, real = torch.arange(4) < torch.tensor([[4], [3]]), torch.arange(5) < torch.tensor([[5], [2]])
    expected = decoded_by_torch(theirs, x, memory, real_x, real)
    block = with_weights(DecoderBlock(6, 3, 7), weights)
    answer = block(x, memory, causal(2, 4) & real_x[:, None, None], real[:, None, None])
    assert_close(answer, expected.detach())


check(one_block_computes_what_torch_computes, DecoderBlock)


# %% check="other_blocks_compute_what_torch_computes" points=2 hidden
def other_blocks_compute_what_torch_computes(DecoderBlock, draw):
    """With other sizes, outputs and gradients are those of torch's decoder layer with these weights."""
    for d_model, n_heads, d_ff, n_targets, n_sources in ((6, 2, 7, 5, 3), (8, 4, 3, 4, 6)):
        theirs, weights = torch_block(draw, d_model, n_heads, d_ff)
        x, memory = draw.normal(3, n_targets, d_model), draw.normal(3, n_sources, d_model)
        real_x = torch.arange(n_targets) < torch.tensor([[n_targets], [2], [n_targets - 1]])
        real = torch.arange(n_sources) < torch.tensor([[n_sources], [n_sources - 1], [1]])
        expected = decoded_by_torch(theirs, x, memory, real_x, real)
        block = with_weights(DecoderBlock(d_model, n_heads, d_ff), weights)
        answer = block(x, memory, causal(3, n_targets) & real_x[:, None, None], real[:, None, None])
        assert_close(answer, expected.detach())
        weighting = draw.normal(3, n_targets, d_model)
        (answer * weighting).sum().backward()
        (expected * weighting).sum().backward()
        own = block.gradients()
        for name in (
            "linear1.weight",
            "multihead_attn.out_proj.weight",
            "norm2.bias",
            "self_attn.in_proj_bias",
        ):
            grad = theirs.get_parameter(name).grad
            for ours, part in translate_weight(name, grad, TORCH_NAMES, is_norm=False).items():
                assert_close(own[ours], part, what=f"the gradient of {ours}")


check(other_blocks_compute_what_torch_computes, DecoderBlock)

# %% [markdown] exercise="EncoderDecoder" difficulty=3 minutes=30 forbids="course.models.translator,torch.nn.Transformer,torch.nn.TransformerDecoder,torch.nn.TransformerEncoder,torch_translator" allows="course.models.transformer,course.models.positions"
# ### 17. The whole translator
#
# Write the class `EncoderDecoder`, an `nn.Module`, from ready-made stacks of blocks.
#
# `EncoderDecoder(source_vocab_size, target_vocab_size, d_model, n_heads, d_ff, n_layers, pad)` has, in float64,
#
# | attribute | what |
# |---|---|
# | `source_embedding`, `target_embedding` | `nn.Embedding(…, d_model)` |
# | `encoder`, `decoder` | `Encoder(config)` and `Decoder(config)` of the course, where `config = TransformerConfig(d_model=…, n_heads=…, n_layers=…, d_ff=…, is_pre_norm=True)` |
# | `output` | `nn.Linear`, D → words of the target |
#
# and the methods
#
# - `encode(source)`, (B, S) → the tuple `(memory, mask)`, (B, S, D) and (B, 1, 1, S);
# - `decode(target, memory, mask)`, (B, T) → **logits** of the next word after each position, (B, T, V);
# - `forward(source, target)`: both, one after the other.
#
# Norms stand in front of the steps here (pre-norm), which trains more easily. Tokens are embedded as $\sqrt D$
# times their embedding plus `sinusoidal_positions(n_positions, d_model)` of the course (T, D). `Encoder` is called
# with `(x, mask)`. `Decoder` is called with `(x, memory, mask, memory_mask)`; it applies the causal triangle by
# itself, and as targets are padded on the right its `mask` may be `None`: no real word sees the padding behind it.
#
# **Example.** With the weights of `output` zero and its bias $(1, 2, 3)$, every position has the logits
# $(1, 2, 3)$, whatever the sentences are.
#
# <details><summary>Hint 1</summary>
#
# Whose padding does the mask of the cross-attention show? At which moment of `encode` do you have it?
#
# </details>
#
# <details><summary>Hint 2</summary>
#
# Logits are any numbers; the loss takes the softmax. `self.double()` at the end of `__init__` makes all of it
# float64, and the positions follow when they are added.
#
# </details>
#
# <details><summary>Hint 3</summary>
#
# If a source shorter or longer than the target crashes, a mask of one has come to the attention of the other.
#
# </details>


# %% solution="EncoderDecoder"
class EncoderDecoder(nn.Module):
    """Encoder, decoder with cross-attention, embeddings with positions, and an output layer."""

    def __init__(
        self,
        source_vocab_size: int,
        target_vocab_size: int,
        d_model: int,
        n_heads: int,
        d_ff: int,
        n_layers: int,
        pad: int,
    ):
        super().__init__()
        ### BEGIN SOLUTION
        self.d_model, self.pad = d_model, pad
        blocks = TransformerConfig(
            d_model=d_model, n_heads=n_heads, n_layers=n_layers, d_ff=d_ff, is_pre_norm=True
        )
        self.source_embedding = nn.Embedding(source_vocab_size, d_model)
        self.target_embedding = nn.Embedding(target_vocab_size, d_model)
        self.encoder, self.decoder = Encoder(blocks), Decoder(blocks)
        self.output = nn.Linear(d_model, target_vocab_size)
        for embedding in (self.source_embedding, self.target_embedding):
            nn.init.normal_(embedding.weight, std=1 / math.sqrt(d_model))  # 1 once it is scaled
        self.double()
        ### END SOLUTION

    def encode(self, source: Tensor) -> tuple[Tensor, Tensor]:
        """The memory (B, S, D) and the mask of its real positions (B, 1, 1, S)."""
        ### BEGIN SOLUTION
        mask = (source != self.pad)[:, None, None]
        return self.encoder(self.embedded(source, self.source_embedding), mask), mask

    def embedded(self, tokens: Tensor, embedding: nn.Embedding) -> Tensor:
        """Scaled embeddings plus positions: (B, T, D)."""
        x = math.sqrt(self.d_model) * embedding(tokens)
        return x + sinusoidal_positions(tokens.shape[1], self.d_model).to(x)
        ### END SOLUTION

    def decode(self, target: Tensor, memory: Tensor, mask: Tensor) -> Tensor:
        """Logits (B, T, V) of the word after each position of the target (B, T)."""
        ### BEGIN SOLUTION
        return self.output(self.decoder(self.embedded(target, self.target_embedding), memory, None, mask))
        ### END SOLUTION

    def forward(self, source: Tensor, target: Tensor) -> Tensor:
        """Teacher forcing: logits (B, T, V) for a source (B, S) and the words of a target (B, T)."""
        ### BEGIN SOLUTION
        return self.decode(target, *self.encode(source))
        ### END SOLUTION


# %% provided="translator_weights"
def torch_translator(draw, n_source, n_target, d_model, n_heads, d_ff, n_layers):
    """torch's stacks with random weights, and all weights of an EncoderDecoder, by name."""
    kinds = {"dropout": 0.0, "batch_first": True, "norm_first": True, "dtype": torch.float64}
    encoder_block = nn.TransformerEncoderLayer(d_model, n_heads, d_ff, **kinds)
    decoder_block = nn.TransformerDecoderLayer(d_model, n_heads, d_ff, **kinds)
    norms = [nn.LayerNorm(d_model, dtype=torch.float64) for _ in range(2)]
    theirs = (
        nn.TransformerEncoder(encoder_block, n_layers, norms[0], enable_nested_tensor=False),
        nn.TransformerDecoder(decoder_block, n_layers, norms[1]),
    )
    weights = {
        "source_embedding.weight": draw.normal(n_source, d_model) / 2,
        "target_embedding.weight": draw.normal(n_target, d_model) / 2,
        "output.weight": draw.normal(n_target, d_model),
        "output.bias": draw.normal(n_target),
    }
    for kind, stack, names in zip(
        ("encoder", "decoder"), theirs, (NAMES_IN_ENCODER, NAMES_IN_DECODER), strict=True
    ):
        stack.load_state_dict({name: draw.normal(*w.shape) / 2 for name, w in stack.state_dict().items()})
        for name, weight in stack.state_dict().items():
            found = translate_weight(name, weight, names, is_norm=False)
            weights |= {f"{kind}.{ours}": part for ours, part in found.items()}
    return theirs, weights


def translated_by_torch(stacks, weights, source, target, pad):
    """Memory (B, S, D) and logits (B, T, V) of torch's stacks with these weights."""
    encoder, decoder = stacks
    x, y = (
        embedding.shape[1] ** 0.5 * embedding[tokens]
        + sinusoidal_positions(tokens.shape[1], embedding.shape[1]).double()
        for embedding, tokens in (
            (weights["source_embedding.weight"], source),
            (weights["target_embedding.weight"], target),
        )
    )
    memory = encoder(x, src_key_padding_mask=source == pad)
    triangle = ~causal(1, target.shape[1])[0, 0]
    decoded = decoder(y, memory, tgt_mask=triangle, memory_key_padding_mask=source == pad)
    return memory.detach(), (decoded @ weights["output.weight"].T + weights["output.bias"]).detach()


# %% check="without_output_weights_the_bias_is_left" points=1
def without_output_weights_the_bias_is_left(EncoderDecoder, draw):
    """With output weights 0 and bias (1, 2, 3), every position has the logits 1, 2, 3."""
    _, weights = torch_translator(draw, 7, 3, 4, 2, 5, 1)
    bias = torch.tensor([1.0, 2.0, 3.0], dtype=torch.float64)
    weights |= {"output.weight": torch.zeros(3, 4, dtype=torch.float64), "output.bias": bias}
    model = with_weights(EncoderDecoder(7, 3, 4, 2, 5, 1, 0), weights)
    answer = model(torch.tensor([[4, 6, 0], [3, 5, 2]]), torch.tensor([[1, 2], [2, 1]]))
    assert_close(answer, bias.expand(2, 2, 3))


check(without_output_weights_the_bias_is_left, EncoderDecoder)


# %% check="later_words_do_not_change_earlier_logits" points=1
def later_words_do_not_change_earlier_logits(EncoderDecoder, draw):
    """Another word at position 2 of the target changes the logits from there on only; gradients flow back."""
    model = with_weights(EncoderDecoder(9, 8, 6, 2, 5, 2, 0), torch_translator(draw, 9, 8, 6, 2, 5, 2)[1])
    source, target = torch.tensor([[4, 6, 5]]), torch.tensor([[1, 5, 3, 7]])
    other = torch.tensor([[1, 5, 6, 7]])
    change = (model(source, other) - model(source, target)).abs().amax(-1)
    assert_equal(change > 1e-9, torch.tensor([[False, False, True, True]]), what="positions that change")
    assert_dtype(EncoderDecoder(9, 8, 6, 2, 5, 2, 0).parameters(), torch.float64, what="a parameter")
    assert_differentiable(model, source, target)


check(later_words_do_not_change_earlier_logits, EncoderDecoder)


# %% check="every_source_word_reaches_the_first_prediction" points=1
def every_source_word_reaches_the_first_prediction(EncoderDecoder, draw):
    """Another word anywhere in the source changes the memory at every place and all logits."""
    model = with_weights(EncoderDecoder(9, 8, 6, 3, 5, 1, 0), torch_translator(draw, 9, 8, 6, 3, 5, 1)[1])
    source, target = torch.tensor([[4, 6, 5, 8]]), torch.tensor([[1, 5]])
    memory, _ = model.encode(source)
    answer = model(source, target)
    for place in range(4):
        other = source.clone()
        other[0, place] = 2
        change = (model.encode(other)[0] - memory).abs().amax(-1)
        assert_true(
            bool((change > 1e-9).all()), f"Some place of the memory does not read source word {place}."
        )
        change = (model(other, target) - answer).abs().amax(-1)
        assert_true(bool((change > 1e-9).all()), f"Some prediction does not depend on source word {place}.")


check(every_source_word_reaches_the_first_prediction, EncoderDecoder)


# %% check="more_padding_changes_no_logits" points=1
def more_padding_changes_no_logits(EncoderDecoder, draw):
    """Two more padding tokens behind the sources, or behind the targets, leave the logits as they are."""
    model = with_weights(EncoderDecoder(9, 8, 6, 2, 5, 2, 0), torch_translator(draw, 9, 8, 6, 2, 5, 2)[1])
    source, target = torch.tensor([[4, 6, 5], [3, 8, 0]]), torch.tensor([[1, 5, 3, 7], [1, 2, 0, 0]])
    answer = model(source, target)
    assert_close(model(functional.pad(source, (0, 2)), target), answer, what="longer sources")
    longer = model(source, functional.pad(target, (0, 2)))
    assert_close(longer[:, :4], answer, what="longer targets")
    assert_depends(answer, model(source.flip(0), target))


check(more_padding_changes_no_logits, EncoderDecoder)


# %% check="exchanged_sentences_have_exchanged_logits" points=1
def exchanged_sentences_have_exchanged_logits(EncoderDecoder, draw):
    """Sentences in another order have the same logits in that order, and each word's place matters."""
    model = with_weights(EncoderDecoder(9, 8, 6, 2, 5, 1, 0), torch_translator(draw, 9, 8, 6, 2, 5, 1)[1])
    source, target = torch.tensor([[4, 6, 5, 7], [3, 8, 2, 0]]), torch.tensor([[1, 5], [1, 2]])
    answer = model(source, target)
    assert_close(model(source.flip(0), target.flip(0)), answer.flip(0))
    turned = torch.tensor([[6, 4, 5, 7], [8, 3, 2, 0]])
    change = (model(turned, target) - answer).abs().amax()
    assert_true(change > 1e-9, "The order of the source's words makes no difference.")


check(exchanged_sentences_have_exchanged_logits, EncoderDecoder)


# %% check="one_translator_computes_what_torch_computes" points=1
def one_translator_computes_what_torch_computes(EncoderDecoder, draw):
    """With the same weights, the logits are those of torch's stacks; the padding is word 4 here."""
    stacks, weights = torch_translator(draw, 9, 7, 6, 3, 5, 1)
    source, target = torch.tensor([[5, 3, 8, 1, 2], [6, 0, 4, 4, 4]]), torch.tensor([[1, 6, 3], [1, 2, 4]])
    _, expected = translated_by_torch(stacks, weights, source, target, 4)
    assert_close(with_weights(EncoderDecoder(9, 7, 6, 3, 5, 1, 4), weights)(source, target), expected)


check(one_translator_computes_what_torch_computes, EncoderDecoder)


# %% check="other_translators_compute_what_torch_computes" points=2 hidden
def other_translators_compute_what_torch_computes(EncoderDecoder, draw):
    """With other sizes and lengths, logits are those of torch's stacks with these weights."""
    for sizes, n_sources, n_targets, pad in (((9, 7, 6, 3, 5, 2), 4, 6, 0), ((5, 11, 8, 2, 3, 1), 7, 3, 4)):
        stacks, weights = torch_translator(draw, *sizes)
        model = with_weights(EncoderDecoder(*sizes, pad), weights)
        source, target = draw.integers(1, 4, 3, n_sources), draw.integers(1, 4, 3, n_targets)
        source[1, 2:] = pad
        real = source != pad
        memory, expected = translated_by_torch(stacks, weights, source, target, pad)
        assert_close(model(source, target), expected)
        found, mask = model.encode(source)
        assert_close(found[real], memory[real], what="the memory")
        assert_equal(mask, real[:, None, None], what="the mask")


check(other_translators_compute_what_torch_computes, EncoderDecoder)

# %% [markdown] exercise="translation_loss" difficulty=1 minutes=10 forbids="course.models"
# ### 18. What a step of training looks at
#
# A target is `<s> w1 w2 … </s>` and then padding, (B, T) int64. In training the decoder reads
# `target[:, :-1]`, all tokens but the last, and gives logits of the shape (B, T − 1, V): `logits[:, t]` is
# about the token **after** position t. Write `translation_loss(logits, target, pad)`, one number: the mean
# surprise in nats over all real tokens that have to be predicted, `</s>` included, `<s>` and padding not.
# Torch's losses may be used.
#
# **Example.** `target = [[1, 3, 2]]`, where 1 is `<s>` and 2 is `</s>`; after `<s>` the model gives the word 3 the
# probability 1/2, and after 3 it gives `</s>` the probability 1/8: the loss is
# $(\ln 2 + \ln 8) / 2 = 2 \ln 2 \approx 1.386$.
#
# <details><summary>Hint 1</summary>
#
# Write the target `<s> a b </s>` in a row, and under each logit the token that it is about. Which slice of
# `target` is that?
#
# </details>
#
# <details><summary>Hint 2</summary>
#
# The inputs have been shifted already by whoever called the decoder. How often may the targets be shifted?
#
# </details>


# %% solution="translation_loss"
def translation_loss(logits: Tensor, target: Tensor, pad: int) -> Tensor:
    """The mean surprise, in nats, at target[:, 1:] without padding, under logits (B, T − 1, V)."""
    ### BEGIN SOLUTION
    return functional.cross_entropy(logits.flatten(0, 1), target[:, 1:].flatten(), ignore_index=pad)
    ### END SOLUTION


# %% check="the_example_costs_2_ln_2" points=1
def the_example_costs_2_ln_2(translation_loss):
    """The example costs the mean of ln 2 and ln 8, and gradients flow back."""
    rows = [[1 / 4, 1 / 16, 1 / 8, 1 / 2, 1 / 16], [1 / 2, 1 / 4, 1 / 8, 1 / 32, 3 / 32]]
    probs = torch.tensor([rows], dtype=torch.float64)
    target = torch.tensor([[1, 3, 2]])
    assert_close(translation_loss(probs.log(), target, 0), 2 * math.log(2))
    assert_differentiable(translation_loss, probs.log(), target, 0)


check(the_example_costs_2_ln_2, translation_loss)


# %% check="foreseeing_the_next_word_costs_nothing" points=1
def foreseeing_the_next_word_costs_nothing(translation_loss):
    """Logits that name each next word cost nothing; logits that name the word just read cost much."""
    target = torch.tensor([[1, 4, 3, 5, 2], [1, 5, 2, 0, 0]])
    names = 60.0 * torch.eye(6, dtype=torch.float64)
    assert_close(translation_loss(names[target[:, 1:]], target, 0), 0.0, what="the next word is named")
    loss = float(translation_loss(names[target[:, :-1]], target, 0))
    assert_true(loss > 10, f"Naming the word just read costs {loss:.2f} nats only.")


check(foreseeing_the_next_word_costs_nothing, translation_loss)


# %% check="padding_costs_and_counts_nothing" points=1
def padding_costs_and_counts_nothing(translation_loss, draw):
    """More padding behind the targets, word 5 here, leaves the loss as it is, with any logits."""
    logits, target = draw.normal(2, 4, 6), torch.tensor([[1, 4, 3, 0, 2], [1, 0, 2, 5, 5]])
    answer = translation_loss(logits, target, 5)
    longer = torch.cat([logits, draw.normal(2, 3, 6)], dim=1)
    assert_close(translation_loss(longer, functional.pad(target, (0, 3), value=5), 5), answer)
    assert_depends(answer, translation_loss(2 * logits, target, 5))


check(padding_costs_and_counts_nothing, translation_loss)


# %% check="every_word_counts_the_same" points=1
def every_word_counts_the_same(translation_loss):
    """Four words of ln 8 in one sentence and a sure </s> in another cost 4/5 ln 8 together."""
    target = torch.tensor([[1, 4, 5, 6, 2], [1, 2, 0, 0, 0]])
    logits = torch.zeros(2, 4, 8, dtype=torch.float64)
    logits[1, 0, 2] = 60.0
    assert_close(translation_loss(logits, target, 0), 0.8 * math.log(8))


check(every_word_counts_the_same, translation_loss)


# %% check="other_targets_have_their_loss" points=2 hidden
def other_targets_have_their_loss(translation_loss, draw):
    """Other targets, of very different lengths, have the mean surprise over all their tokens together."""
    for batch_size, length, vocab_size, pad in ((3, 7, 8, 0), (4, 5, 6, 5)):
        logits = 3 * draw.normal(batch_size, length - 1, vocab_size)
        target = draw.integers(3, vocab_size - 1, batch_size, length)
        target[:, 0], target[0, -1], target[1, 2], target[1, 3:] = 1, 2, 2, pad
        log_probs = logits - logits.logsumexp(-1, keepdim=True)
        places = [(i, t) for i in range(batch_size) for t in range(length - 1) if target[i, t + 1] != pad]
        total = -sum(log_probs[i, t, target[i, t + 1]] for i, t in places)
        assert_close(translation_loss(logits, target, pad), (total / len(places)).item())


check(other_targets_have_their_loss, translation_loss)


# %% provided="toy_translator"
class ToyTranslator:
    """A translator that only looks at the first source word and the last word written, and keeps a log.

    `tables` is (N, V, V): tables[s, w] are the logits of the next word when the source begins with word s and
    w has just been written.
    """

    def __init__(self, tables):
        self.tables, self.log = tables, []

    def encode(self, source):
        """The memory of sources (B, S): (B, V, V)."""
        self.log.append("encode")
        return self.tables[source[:, 0]]

    def decode(self, target, memory):
        """Logits (B, T, V) of the word after each position of the target (B, T)."""
        self.log.append("decode")
        return memory[torch.arange(len(target))[:, None], target]


# %% [markdown] exercise="greedy_translate" difficulty=2 minutes=20 forbids="course.models,course.sampling"
# ### 19. Translate
#
# Nobody knows the target now. The decoder starts from `<s>`, and each step takes the likeliest next word and
# reads it in the following step. The source does not change meanwhile, so the encoder runs **once**.
#
# `ToyTranslator(tables)` above has the two methods of a translator, `encode(source)` and
# `decode(target, memory)`, and writes down in `.log` which of them was called. Write
# `greedy_translate(tables, source, bos, eos, max_length)`: make a `ToyTranslator`, translate the sources, (B, S),
# and return the tuple `(tokens, log)` of what was written and the model's log.
#
# - `tokens`, (B, n): what was written, without `<s>`; after the `</s>` of a sentence only further `</s>`.
# - The loop ends when every sentence has ended, and after `max_length` words at the latest: n is the number of
#   steps taken.
#
# **Example.** Two sentences, `eos = 2`; one would write 5, 4, 2, the other 3, 2 and then whatever. The tokens
# are `[[5, 4, 2], [3, 2, 2]]`, and the log is `["encode", "decode", "decode", "decode"]`. With
# `max_length = 2` the tokens are `[[5, 4], [3, 2]]`.
#
# <details><summary>Hint 1</summary>
#
# Keep two things from step to step: the tokens so far, beginning with a column of `bos`, and which sentences
# have ended, (B,) bool. Which position of the logits is about the next word?
#
# </details>
#
# <details><summary>Hint 2</summary>
#
# `torch.where(has_ended, eos, words)` writes `</s>` for those that have ended. When may the loop stop: when one
# has ended or when all have?
#
# </details>


# %% solution="greedy_translate"
def greedy_translate(
    tables: Tensor, source: Tensor, bos: int, eos: int, max_length: int
) -> tuple[Tensor, list[str]]:
    """The likeliest next word, again and again: tokens (B, n), and which methods were called."""
    ### BEGIN SOLUTION
    model = ToyTranslator(tables)
    memory = model.encode(source)
    tokens = torch.full((len(source), 1), bos)
    has_ended = torch.zeros(len(source), dtype=torch.bool)
    while tokens.shape[1] <= max_length and not has_ended.all():
        words = model.decode(tokens, memory)[:, -1].argmax(dim=-1)  # (B,)
        words = torch.where(has_ended, eos, words)
        tokens, has_ended = torch.cat([tokens, words[:, None]], dim=1), words == eos
    return tokens[:, 1:], model.log
    ### END SOLUTION


# %% provided="spelling_tables"
def spelling_tables(draw, sentences, vocab_size, bos=1):
    """Tables of a ToyTranslator that writes sentences[s] when the source begins with word s.

    No sentence holds a word twice, all begin after the word `bos`, and after its last word comes any.
    """
    tables = draw.uniform(len(sentences), vocab_size, vocab_size)
    for s, sentence in enumerate(sentences):
        for before, word in zip([bos, *sentence], sentence, strict=False):
            tables[s, before, word] = 3.0
    return tables


# %% check="the_example_writes_5_4_2_and_3_2_2" points=1
def the_example_writes_5_4_2_and_3_2_2(greedy_translate, draw):
    """The sentences of the example become 5, 4, 2 and 3, 2, 2."""
    tables = spelling_tables(draw, [[5, 4, 2, 6], [3, 2, 7]], 8)
    tokens, _ = greedy_translate(tables, torch.tensor([[0, 1], [1, 0]]), 1, 2, 9)
    assert_equal(tokens, torch.tensor([[5, 4, 2], [3, 2, 2]]))


check(the_example_writes_5_4_2_and_3_2_2, greedy_translate)


# %% check="the_encoder_runs_once" points=1
def the_encoder_runs_once(greedy_translate, draw):
    """For three words, the log holds one `encode` and then three `decode`."""
    tables = spelling_tables(draw, [[5, 4, 2], [3, 2], [6, 2]], 8)
    _, log = greedy_translate(tables, torch.tensor([[0, 1], [1, 0], [2, 2]]), 1, 2, 9)
    assert_equal(log, ["encode", "decode", "decode", "decode"])


check(the_encoder_runs_once, greedy_translate)


# %% check="no_sentence_waits_for_the_others" points=1
def no_sentence_waits_for_the_others(greedy_translate, draw):
    """Each sentence is translated in a batch as it is alone, </s> behind it."""
    tables = spelling_tables(draw, [[5, 4, 6, 3, 2, 7], [3, 2, 5], [2, 4], [7, 6, 2, 3]], 9)
    source = torch.tensor([[2, 5, 0], [0, 5, 1], [3, 5, 2], [1, 5, 3]])
    tokens, _ = greedy_translate(tables, source, 1, 2, 12)
    assert_equal(list(tokens.shape), [4, 5], what="the shape of all sentences together")
    for row in range(4):
        alone, _ = greedy_translate(tables, source[row : row + 1], 1, 2, 12)
        filled = functional.pad(alone[0], (0, 5 - alone.shape[1]), value=2)
        assert_equal(tokens[row], filled, what=f"sentence {row}")


check(no_sentence_waits_for_the_others, greedy_translate)


# %% check="max_length_is_kept" points=1
def max_length_is_kept(greedy_translate, draw):
    """A sentence that never ends has exactly max_length words; sentences begin after word 8 here."""
    tables = spelling_tables(draw, [[5, 4, 6, 3, 5], [7, 2]], 9, bos=8)
    for max_length in (1, 2, 6):
        tokens, _ = greedy_translate(tables, torch.tensor([[0, 3], [1, 3]]), 8, 2, max_length)
        sentences = [[5, 4, 6, 3, 5, 4], [7, 2, 2, 2, 2, 2]]
        assert_equal(tokens, torch.tensor(sentences)[:, :max_length], what=f"max_length {max_length}")


check(max_length_is_kept, greedy_translate)


# %% check="other_sentences_are_written_greedily" points=2 hidden
def other_sentences_are_written_greedily(greedy_translate, draw):
    """Other sentences come out word by word, with the encoder run once."""
    for vocab_size, lengths, max_length, bos in ((14, (3, 9, 5, 1), 11, 1), (12, (6, 2, 4), 4, 2)):
        words = list(range(3, vocab_size))
        sentences = []
        for length in lengths:
            order = [words[place] for place in draw.permutation(len(words))]
            sentences.append([*order[: length - 1], 0, order[length - 1]])
        tables = spelling_tables(draw, sentences, vocab_size, bos)
        source = torch.tensor([[s, 0] for s in draw.permutation(len(lengths))])
        tokens, log = greedy_translate(tables, source, bos, 0, max_length)
        n_steps = min(max_length, max(lengths))
        expected = [(sentences[s][: lengths[s]] + [0] * n_steps)[:n_steps] for s in source[:, 0].tolist()]
        assert_equal(tokens, torch.tensor(expected))
        assert_equal(log, ["encode"] + ["decode"] * n_steps, what="the log")


check(other_sentences_are_written_greedily, greedy_translate)

# %% [markdown] exercise="free_accuracy" difficulty=2 minutes=15 forbids="course.models,course.sampling"
# ### 20. How much of it is right?
#
# Write `free_accuracy(tables, source, target)`, which lets a `ToyTranslator(tables)` translate **freely** and
# returns the tuple `(words, sentences)` of two floats: the share of all words that are right at their place,
# and the share of sentences that are right in every word. `target`, (B, T), holds the right translations, `<s>`
# first; all of them are T tokens long and none is padded, so T − 1 steps are taken for every sentence. In each
# step the model reads `<s>` and what it has written itself; only the comparison knows the target, and `<s>` is
# not compared.
#
# **Example.** `target = [[1, 5, 4, 3], [1, 3, 6, 7]]`. The model writes 5, 4, 3 for the first source and 7, 6, 3 for
# the second. Four of six words are right at their place and one of two sentences: `(2/3, 1/2)`.
#
# <details><summary>Hint 1</summary>
#
# Which words does your model read in its second step? If you call `decode` only once, it must have read the
# target.
#
# </details>
#
# <details><summary>Hint 2</summary>
#
# Compare word by word, (B, T − 1) of True and False. `all(dim=…)` says for each sentence whether all are True.
#
# </details>


# %% solution="free_accuracy"
def free_accuracy(tables: Tensor, source: Tensor, target: Tensor) -> tuple[float, float]:
    """The shares of right words and of right sentences when the model reads its own words."""
    ### BEGIN SOLUTION
    model = ToyTranslator(tables)
    memory = model.encode(source)
    tokens = target[:, :1]
    for _ in range(target.shape[1] - 1):
        words = model.decode(tokens, memory)[:, -1].argmax(dim=-1, keepdim=True)  # (B, 1)
        tokens = torch.cat([tokens, words], dim=1)
    is_right = tokens[:, 1:] == target[:, 1:]  # (B, T − 1)
    return is_right.double().mean().item(), is_right.all(dim=1).double().mean().item()
    ### END SOLUTION


# %% check="the_example_is_right_in_four_words_of_six" points=1
def the_example_is_right_in_four_words_of_six(free_accuracy, draw):
    """In the example 4 of 6 words and 1 of 2 sentences are right."""
    tables = spelling_tables(draw, [[5, 4, 3, 2], [7, 6, 3, 2]], 8)
    target = torch.tensor([[1, 5, 4, 3], [1, 3, 6, 7]])
    assert_close(list(free_accuracy(tables, torch.tensor([[0, 3], [1, 3]]), target)), [2 / 3, 0.5])


check(the_example_is_right_in_four_words_of_six, free_accuracy)


# %% check="a_wrong_word_is_read_again" points=1
def a_wrong_word_is_read_again(free_accuracy, draw):
    """A model that goes wrong in the first word is not led back, though it knows what follows the right one."""
    tables = spelling_tables(draw, [[7, 3, 2, 0], [4, 5, 6, 2]], 8)
    tables[0, 5, 4], tables[0, 4, 6] = 3.0, 3.0
    source, target = torch.tensor([[0, 1], [1, 1]]), torch.tensor([[1, 5, 4, 6], [1, 4, 5, 6]])
    words, sentences = free_accuracy(tables, source, target)
    assert_close(words, 0.5, what="words")
    assert_close(sentences, 0.5, what="sentences")


check(a_wrong_word_is_read_again, free_accuracy)


# %% check="one_wrong_word_spoils_a_sentence" points=1
def one_wrong_word_spoils_a_sentence(free_accuracy, draw):
    """Four sentences that are wrong in their last word only have 2/3 of the words and no sentence right."""
    written = [[5, 4, 3], [3, 5, 7], [6, 7, 4], [4, 6, 5]]
    tables, source = spelling_tables(draw, written, 8), torch.arange(4)[:, None]
    target = torch.tensor([[1, *words[:2], 2] for words in written])
    words, sentences = free_accuracy(tables, source, target)
    assert_close(words, 2 / 3, what="words")
    assert_close(sentences, 0.0, what="sentences")


check(one_wrong_word_spoils_a_sentence, free_accuracy)


# %% check="other_translations_are_counted" points=2 hidden
def other_translations_are_counted(free_accuracy, draw):
    """Other batches have the shares that a walk through the tables finds."""
    for n_sentences, n_wrong, length in ((7, 4, 6), (9, 5, 4)):
        sentences = [[3 + place for place in draw.permutation(9)][:length] for _ in range(n_sentences)]
        tables = spelling_tables(draw, sentences, 13)
        for row in range(n_wrong):
            before = [1, *sentences[row]][row % 3]
            tables[row, before, 12], tables[row, 12, 2] = 5.0, 5.0  # word 12 slips in, and word 2 follows
        n_words = n_whole = 0
        for table, sentence in zip(tables, sentences, strict=True):
            word, written = 1, []
            for _ in sentence:
                word = int(table[word].argmax())
                written.append(word)
            n_words += sum(a == b for a, b in zip(written, sentence, strict=True))
            n_whole += written == sentence
        order = draw.permutation(n_sentences)
        target = torch.tensor([[1, *sentence] for sentence in sentences])[order]
        words, whole = free_accuracy(tables, torch.tensor(order)[:, None], target)
        assert_close(words, n_words / (n_sentences * length), what="words")
        assert_close(whole, n_whole / n_sentences, what="sentences")


check(other_translations_are_counted, free_accuracy)

# %% [markdown] written="ninety_seven_percent" points=4 minutes=15
# ### 21. Ninety-seven percent
#
# A paper's code reports "97 % accuracy" for a translator: it feeds the right translation into the decoder, takes
# the likeliest word at each position, and counts how many agree with the right ones. The sentences have 20 words.
#
# a) Why can the share of right words be much lower when the model translates freely? Use an example with the
# model's own first word wrong.
#
# b) Somebody replaces the count by *exact matches of whole sentences*, still feeding the right translation.
# Does that inflate the number, too, when each word is the likeliest one? Prove your answer in two or three
# sentences.
#
# c) The 3 % wrong words are spread evenly and independently. Roughly how many sentences are exactly right? Why
# is exact match nevertheless a fair measure for the generated pair of languages of this course and hardly for
# real French?
#
# ### BEGIN SOLUTION
# a) (1 point) Fed with the right words, the model is put back on the right path after every mistake; freely, it
# reads its wrong word and goes on from a place where it may never have been in training. One wrong first word
# (a synonym, another gender) can make all that follows differ, or shift it by one place.
#
# b) (2 points: one for "no", one for the proof.) No. If every word is right under teacher forcing, then the
# model's likeliest first word is the right one, so freely it reads the same word, and by induction the same
# prefix at each step: it writes the same sentence. Conversely, if it writes the right sentence freely, it has read
# just what teacher forcing would have fed. So both agree for greedy decoding; the share of words does not.
#
# c) (1 point) 0.97^20 ≈ 0.54. In the generated pair each source has exactly one translation; real sentences have
# many good ones, and a single reference does not list them.
# ### END SOLUTION

# %% provided="probed_translator"
# For the next exercise: what a broken translator did when one thing at a time was changed.
PROBES = {
    "A: last source word exchanged → prediction after <s>": "changes",
    "B: last target word exchanged → prediction after <s>": "stays",
    "C: padding put behind the source → prediction after <s>": "stays",
    "D: first source word exchanged → memory at the last place": "changes",
    "E: last source word exchanged → memory at the first place": "changes",
    "F: memory at the last place exchanged → prediction after <s>": "stays",
}

# %%
for probe, outcome in PROBES.items():
    print(f"{probe:<62} {outcome}")

# %% [markdown] exercise="name_the_broken_mask" difficulty=2 minutes=15
# ### 22. Find the fault
#
# Somebody else's translator has one encoder block and one decoder block, runs without an error and translates
# badly. Before training, with random weights, one thing at a time was changed, and the cell above says whether
# something else changed with it. In a right translator, A, D, E and F change, and B and C stay.
#
# Exactly one thing is wrong. Write `name_the_broken_mask()`, which takes nothing and returns the name of the
# fault:
#
# | name | what the program would do |
# |---|---|
# | `"causal_mask_left_out"` | the decoder's self-attention sees the whole target |
# | `"triangle_on_the_cross_attention"` | target position t sees only the memory's places 0 … t |
# | `"cross_attention_reads_the_target"` | keys and values come from the decoder's own vectors |
# | `"encoder_left_to_right"` | the encoder has a causal mask |
# | `"padding_not_masked"` | padding of the source may be attended to |
# | `"memory_skips_the_encoder"` | the memory is the embedded source itself |
#
# **Example of the reasoning.** If the encoder were causal, the first place of the memory could not know the
# last source word, and E would stay.
#
# <details><summary>Hint 1</summary>
#
# Which probe differs from a right translator? Which faults could cause just that?
#
# </details>
#
# <details><summary>Hint 2</summary>
#
# The prediction after `<s>` depends on the last source word (A) but not on the last place of the memory (F). On
# which way has the last word come?
#
# </details>


# %% solution="name_the_broken_mask"
def name_the_broken_mask() -> str:
    """The name of the one fault behind the six probes."""
    ### BEGIN SOLUTION
    return "triangle_on_the_cross_attention"
    ### END SOLUTION


# %% check="the_fault_leaves_encoder_and_decoder_whole" points=1
def the_fault_leaves_encoder_and_decoder_whole(name_the_broken_mask):
    """The answer is one of the six names, and probes B to E do not show that fault."""
    shown_by = {
        "causal_mask_left_out": "probe B",
        "triangle_on_the_cross_attention": "",
        "cross_attention_reads_the_target": "",
        "encoder_left_to_right": "probe E",
        "padding_not_masked": "probe C",
        "memory_skips_the_encoder": "probes D and E",
    }
    answer = name_the_broken_mask()
    assert_true(answer in shown_by, f"{answer!r} is not one of the six names.")
    assert_true(not shown_by[answer], f"{shown_by[answer]} would show that fault already.")


check(the_fault_leaves_encoder_and_decoder_whole, name_the_broken_mask)


# %% check="the_fault_answers_every_probe_so" points=3 hidden
def the_fault_answers_every_probe_so(name_the_broken_mask, draw):
    """A translator with the fault you name answers all six probes as the table says."""
    config = TransformerConfig(d_model=6, n_heads=2, n_layers=1, d_ff=5)
    encoder, decoder = EncoderLayer(config).double(), DecoderLayer(config).double()
    for layer in (encoder, decoder):
        layer.load_state_dict({name: draw.normal(*w.shape) / 2 for name, w in layer.state_dict().items()})
    words, target = draw.normal(5, 6), draw.normal(1, 3, 6)
    triangle = torch.ones(3, 5, dtype=torch.bool).tril()
    answer = str(name_the_broken_mask())

    @torch.no_grad()
    def memory_of(source, real):
        if answer == "memory_skips_the_encoder":
            return source
        return encoder(source, real, is_causal=answer == "encoder_left_to_right")

    @torch.no_grad()
    def prediction(target, memory, real):
        if answer == "cross_attention_reads_the_target":
            memory, real = target, None
        if answer == "triangle_on_the_cross_attention":
            real = real & triangle[:, : memory.shape[1]]
        return decoder(target, memory, None, real, is_causal=answer != "causal_mask_left_out")[0, 0]

    def real_places(n_places, n_real):
        hides = answer != "padding_not_masked"
        return ((torch.arange(n_places) < n_real) | (not hides))[None, None, None]

    source, real = words[None, :4], real_places(4, 4)
    first, last = source.clone(), source.clone()
    first[0, 0], last[0, 3] = words[4], words[4]
    memory, longer = memory_of(source, real), words[None, [0, 1, 2, 3, 4]]
    other_target, other_memory = target.clone(), memory.clone()
    other_target[0, 2] += 1 + draw.normal(6)
    other_memory[0, 3] += 1 + draw.normal(6)
    before = prediction(target, memory, real)
    padded = real_places(5, 4)
    differences = [
        prediction(target, memory_of(last, real), real) - before,
        prediction(other_target, memory, real) - before,
        prediction(target, memory_of(longer, padded), padded) - before,
        (memory_of(first, real) - memory)[0, 3],
        (memory_of(last, real) - memory)[0, 0],
        prediction(target, other_memory, real) - before,
    ]
    for (probe, shown), difference in zip(PROBES.items(), differences, strict=True):
        found = "changes" if difference.abs().max() > 1e-9 else "stays"
        assert_equal(found, shown, what=probe)


check(the_fault_answers_every_probe_so, name_the_broken_mask)

# %% [markdown]
# ## A translator of your own
#
# The last exercise trains. The pair of languages is generated: an English-like source and a French-like target,
# in which words change places, agree and turn into several; each source has exactly one translation. Lengths
# here are 4 to 7 words (`COURSE_SCALE=full`: 4 to 30). A sentence is **held out** when a checksum of its words
# is a multiple of four; the others are for training, and no sentence is both.

# %% provided="translation_data"
IS_FULL = os.environ.get("COURSE_SCALE", "small") == "full"
SENTENCES = TranslationConfig(min_length=4, max_length=30 if IS_FULL else 7)
SOURCE_WORDS, TARGET_WORDS = translation_vocabularies(SENTENCES.lexicon)
PAD = SOURCE_WORDS.pad  # the same in both


def is_held_out(pair):
    """Whether a sentence is kept for the examination, by a checksum of its words."""
    return zlib.crc32(" ".join(pair.source).encode()) % 4 == 0


def some_pairs(n_pairs, seed, held_out=False):
    """Sentence pairs for training, or held out, drawn with a seed of your choice."""
    rng, pairs = Random(seed), []
    while len(pairs) < n_pairs:
        drawn = translation_pairs(SENTENCES, n_pairs, rng)
        pairs += [pair for pair in drawn if is_held_out(pair) == held_out]
    return pairs[:n_pairs]


def as_tensors(pairs):
    """Sources (B, S) without special tokens, targets (B, T) between <s> and </s>, both padded with PAD."""
    sources = pad_sequences([SOURCE_WORDS.encode(pair.source) for pair in pairs], PAD)
    targets = [TARGET_WORDS.encode(pair.target, bos=True, eos=True) for pair in pairs]
    return sources.tokens, pad_sequences(targets, PAD).tokens


def memory_in_use():
    """The most memory so far, in gigabytes, of the GPU if there is one and else of this process."""
    if torch.cuda.is_available():
        return torch.cuda.max_memory_allocated() / 1e9
    import resource

    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6


# %%
for pair in some_pairs(3, seed=1):
    print(" ".join(pair.source), "→", " ".join(pair.target))

# %% [markdown] exercise="translate" difficulty=3 minutes=30 allows="course.models.translator,course.training"
# ### 23. Train it
#
# Train a translator, and let it be examined. Two functions:
#
# - `trained_translator()` returns your trained model, whatever you need for translating. `@cache` above it sees
#   to it that it trains once, when it is first called. `some_pairs(n_pairs, seed)` draws sentences for training;
#   on two cores, 300 to 500 batches of 48 pairs and a model of D = 48 to 64 with one or two layers are enough,
#   and take **less than a minute**. Your `EncoderDecoder` and `translation_loss` may be used, in float32
#   (`.float()` is twice as fast), and so may `Translator` of `course.models.translator`.
# - `translate(sentences)` takes a list of sentences, each a list of words, and returns their translations in the
#   same form, without special tokens. It is never told what is right.
#
# The examination: of 150 held-out sentences, **at least 75 % exactly right** in every word. A model of this size
# reaches about 95 %. The checks compare the words themselves.
#
# **Example.** `translate([["the", "cat", "sleeps", "."]])` should be `[["le", "chat", "dort", "."]]`.
#
# <details><summary>Hint 1</summary>
#
# One step: draw rows, cut off the columns in which all rows are padded, `model(source, target[:, :-1])`, loss,
# `zero_grad`, `backward`, `step`. Print the loss every fifty steps: it should be below 0.1 in the end.
#
# </details>
#
# <details><summary>Hint 2</summary>
#
# Draw the embeddings with a deviation of 1/√D, so that √D times an embedding is as large as a position. Let the
# learning rate rise over the first tenth of the steps and fall afterwards: `torch.optim.lr_scheduler.OneCycleLR`.
#
# </details>
#
# <details><summary>Hint 3</summary>
#
# If the loss is small and the translations are wrong: does your decoder read `<s>` first, as in training? Does it
# stop at `</s>`? Is padding masked, so that a sentence alone is translated as in a batch?
#
# </details>


# %% solution="translate"
@cache
def trained_translator():
    """Your model after training, which happens when this is called for the first time."""
    ### BEGIN SOLUTION
    device = best_device()
    width, n_layers, n_steps, batch_size = (256, 4, 4000, 256) if IS_FULL else (48, 1, 350, 48)
    source, target = (part.to(device) for part in as_tensors(some_pairs(30_000 if IS_FULL else 4000, seed=7)))
    torch.manual_seed(0)
    model = EncoderDecoder(len(SOURCE_WORDS), len(TARGET_WORDS), width, 4, 2 * width, n_layers, PAD)
    model = model.float().to(device)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3 if IS_FULL else 6e-3)
    schedule = torch.optim.lr_scheduler.OneCycleLR(
        optimizer, optimizer.defaults["lr"], total_steps=n_steps, pct_start=0.1
    )
    for _ in range(n_steps):
        rows = torch.randint(len(source), (batch_size,), device=device)
        x, y = (part[rows][:, : (part[rows] != PAD).any(0).sum()] for part in (source, target))
        with torch.autocast(device.type, torch.bfloat16, enabled=IS_FULL and device.type == "cuda"):
            logits = model(x, y[:, :-1])
        loss = translation_loss(logits.float(), y, PAD)
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        schedule.step()
    return model.eval()
    ### END SOLUTION


def translate(sentences: list[list[str]]) -> list[list[str]]:
    """The translation of each sentence, by the trained model alone."""
    ### BEGIN SOLUTION
    model = trained_translator()
    device = next(model.parameters()).device
    source = pad_sequences([SOURCE_WORDS.encode(words) for words in sentences], PAD).tokens.to(device)
    with torch.no_grad():
        memory, mask = model.encode(source)
        tokens = torch.full_like(source[:, :1], TARGET_WORDS.bos)
        has_ended = torch.zeros(len(source), dtype=torch.bool, device=device)
        while tokens.shape[1] < 60 and not has_ended.all():
            words = model.decode(tokens, memory, mask)[:, -1].argmax(dim=-1)
            words = torch.where(has_ended, PAD, words)
            tokens = torch.cat([tokens, words[:, None]], dim=1)
            has_ended = has_ended | (words == TARGET_WORDS.eos)
    return [TARGET_WORDS.decode(row) for row in tokens.tolist()]
    ### END SOLUTION


# %%
began, examples = time.perf_counter(), some_pairs(4, seed=2, held_out=True)
translations = translate([list(pair.source) for pair in examples])
print(f"trained in {time.perf_counter() - began:.0f} s, {memory_in_use():.1f} GB at most")
for pair, words in zip(examples, translations, strict=True):
    print(" ".join(pair.source), "→", " ".join(words))


# %% provided="examination"
def share_translated(translate, pairs):
    """The share of pairs whose source is translated exactly."""
    answers = translate([list(pair.source) for pair in pairs])
    assert_equal(len(answers), len(pairs), what="the number of translations")
    return sum(list(answer) == list(pair.target) for answer, pair in zip(answers, pairs, strict=True)) / len(
        pairs
    )


# %% check="the_example_is_translated" points=1
def the_example_is_translated(translate):
    """`the cat sleeps .` becomes `le chat dort .`, and `the old queen sleeps .` `la vieille reine dort .`"""
    answers = translate([["the", "cat", "sleeps", "."], ["the", "old", "queen", "sleeps", "."]])
    expected = [["le", "chat", "dort", "."], ["la", "vieille", "reine", "dort", "."]]
    assert_equal([list(answer) for answer in answers], expected)


check(the_example_is_translated, translate)


# %% check="company_changes_no_translation" points=1
def company_changes_no_translation(translate):
    """A sentence has the same translation alone as in a batch, and no special tokens are in it."""
    sentences = [list(pair.source) for pair in some_pairs(6, seed=3, held_out=True)]
    together = translate(sentences)
    for sentence, answer in zip(sentences, together, strict=True):
        assert_equal(translate([sentence])[0], answer, what=" ".join(sentence))
    special = {word for answer in together for word in answer} - set(TARGET_WORDS.words[4:])
    assert_equal(special, set(), what="words that are no words of the target")
    n_words = sum(len(answer) for answer in together)
    assert_true(n_words >= 18, f"Six translations have {n_words} words together.")


check(company_changes_no_translation, translate)


# %% check="three_quarters_are_exactly_right" points=4
def three_quarters_are_exactly_right(translate):
    """Of 150 held-out sentences at least 75 % are translated exactly right."""
    share = share_translated(translate, some_pairs(150, seed=4, held_out=True))
    assert_true(share >= 0.75, f"{share:.0%} are exactly right; 75 % are asked for.")


check(three_quarters_are_exactly_right, translate)


# %% check="other_sentences_are_translated" points=4 hidden
def other_sentences_are_translated(translate, draw):
    """Of 150 other held-out sentences at least 75 % are translated exactly right."""
    share = share_translated(translate, some_pairs(150, seed=draw.integers(10, 10**6), held_out=True))
    assert_true(share >= 0.75, f"{share:.0%} are exactly right; 75 % are asked for.")


check(other_sentences_are_translated, translate)
