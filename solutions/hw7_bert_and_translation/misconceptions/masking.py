"""What goes wrong where tokens are hidden (homework 7, part A): which ones, and what is read there."""

import torch

from autograder.catalogue import misconception

IGNORED = -100

# 1. positions_to_predict

ASKED_VALUES = {"the_example_asks_for_one_token", "other_texts_are_asked_for_by_their_numbers"}


@misconception(
    of="positions_to_predict",
    fails=ASKED_VALUES | {"special_tokens_are_never_asked_for"},
    seen="https://github.com/huggingface/transformers/issues/1395",
)
def special_tokens_asked_for_too(tokens, is_special, uniforms, share):
    """Special tokens are asked for like any others.

    What would the model learn from predicting `<pad>` behind the end of a text? Which argument knows the
    special words?
    """
    return uniforms < share


@misconception(of="positions_to_predict", fails=ASKED_VALUES | {"special_tokens_are_never_asked_for"})
def only_word_0_left_out(tokens, is_special, uniforms, share):
    """Only word 0 is spared, as if padding were the only special word.

    In the example, which words are special? Is `<s>` among those that you spare?
    """
    return (uniforms < share) & (tokens != 0)


@misconception(
    of="positions_to_predict",
    fails=ASKED_VALUES
    | {
        "special_tokens_are_never_asked_for",
        "the_share_decides_how_many",
        "each_sequence_has_places_of_its_own",
    },
)
def share_that_is_kept(tokens, is_special, uniforms, share):
    """The share is what is left alone, so 85 % of the tokens are asked for.

    With `share = 0.15`, is a number drawn from [0, 1) more often below or above it?
    """
    return (uniforms >= share) & ~is_special[tokens]


@misconception(
    of="positions_to_predict",
    fails={
        "the_share_decides_how_many",
        "each_sequence_has_places_of_its_own",
        "other_texts_are_asked_for_by_their_numbers",
    },
)
def same_places_in_every_sequence(tokens, is_special, uniforms, share):
    """The numbers of the first sequence decide for the whole batch.

    Print your answer for two sequences with different numbers. Which row of `uniforms` does each follow?
    """
    return (uniforms[:1] < share) & ~is_special[tokens]


@misconception(
    of="positions_to_predict",
    fails={
        "special_tokens_are_never_asked_for",
        "the_share_decides_how_many",
        "each_sequence_has_places_of_its_own",
        "other_texts_are_asked_for_by_their_numbers",
    },
)
def a_fixed_number_per_sequence(tokens, is_special, uniforms, share):
    """Each sequence has a fixed number of tokens asked for, those with the smallest numbers.

    If every token is asked for independently of the others, can one sequence have none and another one
    three? Which comparison decides about a token, without a look at its neighbours?
    """
    numbers = uniforms.masked_fill(is_special[tokens], 2.0)
    places = numbers.argsort(dim=1)[:, : max(1, round(share * tokens.shape[1]))]
    return torch.zeros_like(tokens, dtype=torch.bool).scatter(1, places, True)


# 2. corrupt

CORRUPTED = {
    "the_example_is_3_10_7_8",
    "of_a_thousand_800_are_hidden_and_100_replaced",
    "other_texts_are_corrupted_by_their_kinds",
}


@misconception(
    of="corrupt",
    fails={"of_a_thousand_800_are_hidden_and_100_replaced", "other_texts_are_corrupted_by_their_kinds"}
    | {"the_example_is_3_10_7_8", "what_is_not_asked_for_stays"},
    seen="https://github.com/huggingface/transformers/issues/2858",
)
def a_tenth_of_the_rest(tokens, is_asked, kinds, replacements, mask_token):
    """A tenth of what the mask leaves over is replaced, 2 % of those asked for instead of 10 %.

    Of 1000 asked for, 800 are hidden and 200 left over. How many of these have to be replaced, and which
    share of the 200 is that?
    """
    inputs = torch.where(is_asked & (kinds < 0.8), mask_token, tokens)
    return torch.where(is_asked & (kinds >= 0.8) & (kinds < 0.82), replacements, inputs)


@misconception(
    of="corrupt",
    fails=CORRUPTED | {"what_is_not_asked_for_stays"},
    seen="https://github.com/lucidrains/mlm-pytorch/issues/6",
)
def replacement_hidden_again(tokens, is_asked, kinds, replacements, mask_token):
    """The random words are put in first and then hidden as well: 90 % masks and no replacement.

    Follow one position with kind 0.85 through your lines. Which line is the last to write there?
    """
    inputs = torch.where(is_asked & (kinds >= 0.8) & (kinds < 0.9), replacements, tokens)
    return torch.where(is_asked & (kinds < 0.9), mask_token, inputs)


@misconception(of="corrupt", fails=CORRUPTED | {"what_is_not_asked_for_stays"})
def everything_hidden(tokens, is_asked, kinds, replacements, mask_token):
    """Every token asked for is hidden; none is replaced and none stays.

    In use a text holds no `<mask>`. What has a model learned about tokens that are not hidden?
    """
    return torch.where(is_asked, mask_token, tokens)


@misconception(
    of="corrupt",
    fails={
        "the_example_is_3_10_7_8",
        "what_is_not_asked_for_stays",
        "other_texts_are_corrupted_by_their_kinds",
    },
)
def everything_corrupted(tokens, is_asked, kinds, replacements, mask_token):
    """The kinds decide alone, so that tokens are corrupted that nobody asks for.

    In the example the last token is not asked for. How is it read?
    """
    inputs = torch.where(kinds < 0.8, mask_token, tokens)
    return torch.where((kinds >= 0.8) & (kinds < 0.9), replacements, inputs)


@misconception(
    of="corrupt", fails={"what_is_not_asked_for_stays", "other_texts_are_corrupted_by_their_kinds"}
)
def text_overwritten(tokens, is_asked, kinds, replacements, mask_token):
    """The masks are written into the text itself, so the next epoch finds them there and no answers.

    Print `tokens` after a call. Where does a training loop get the text of the next epoch from?
    """
    tokens[is_asked & (kinds < 0.8)] = mask_token
    is_replaced = is_asked & (kinds >= 0.8) & (kinds < 0.9)
    tokens[is_replaced] = replacements[is_replaced]
    return tokens


# 3. masked_batch

HIDDEN_BATCH = {"other_texts_are_masked_as_stated"}


def _masked(tokens, is_special, mask_token, generator, *, spares=True, words=None, borders=(0.8, 0.9)):
    draws, kinds = torch.rand(2, *tokens.shape, generator=generator)
    words = (~is_special).nonzero()[:, 0] if words is None else words
    replacements = words[torch.randint(len(words), tokens.shape, generator=generator)]
    is_asked = (draws < 0.15) & ~is_special[tokens] if spares else draws < 0.15
    inputs = torch.where(is_asked & (kinds < borders[0]), mask_token, tokens)
    is_replaced = is_asked & (kinds >= borders[0]) & (kinds < borders[1])
    return torch.where(is_replaced, replacements, inputs), torch.where(is_asked, tokens, IGNORED)


@misconception(
    of="masked_batch",
    fails=HIDDEN_BATCH | {"eighty_percent_are_hidden_and_ten_replaced"},
    seen="https://github.com/huggingface/transformers/issues/2858",
)
def batch_with_a_tenth_of_the_rest(tokens, is_special, mask_token, generator):
    """A tenth of what the masks leave over is replaced, which is 2 % of those asked for.

    After 80 % are hidden, a fifth is left. Which share of the rest must be replaced so that it is a tenth of
    the whole?
    """
    return _masked(tokens, is_special, mask_token, generator, borders=(0.8, 0.82))


@misconception(
    of="masked_batch",
    fails=HIDDEN_BATCH | {"eighty_percent_are_hidden_and_ten_replaced", "replacements_are_ordinary_words"},
    seen="https://github.com/lucidrains/mlm-pytorch/issues/6",
)
def batch_with_replacements_hidden(tokens, is_special, mask_token, generator):
    """The random words are hidden again by the masks: 90 % masks, no replacements.

    Which of your two lines writes last, and does its condition hold at the replaced positions?
    """
    return _masked(tokens, is_special, mask_token, generator, borders=(0.9, 0.9))


@misconception(
    of="masked_batch",
    fails=HIDDEN_BATCH | {"targets_hold_what_stood_there"},
    seen="https://github.com/huggingface/transformers/issues/1395",
)
def batch_with_special_tokens_hidden(tokens, is_special, mask_token, generator):
    """Special tokens are asked for, padding and all.

    Count the targets that are special words. Where does `is_special` enter your choice?
    """
    return _masked(tokens, is_special, mask_token, generator, spares=False)


@misconception(
    of="masked_batch",
    fails=HIDDEN_BATCH | {"replacements_are_ordinary_words"},
    seen="https://github.com/CompEpigen/methylbert/issues/28",
)
def batch_with_special_replacements(tokens, is_special, mask_token, generator):
    """The random words are drawn from the whole vocabulary, special words included.

    Could one of your replacements be `<pad>`, or the mask itself? From which list do you draw?
    """
    return _masked(tokens, is_special, mask_token, generator, words=torch.arange(len(is_special)))


@misconception(
    of="masked_batch",
    fails=HIDDEN_BATCH | {"targets_hold_what_stood_there"},
    seen="https://github.com/huggingface/transformers/issues/144",
)
def batch_with_targets_of_the_inputs(tokens, is_special, mask_token, generator):
    """The targets are taken after the corruption, so most of them are the mask itself.

    What stands in your targets at a hidden position? Which word should the model have said?
    """
    inputs, targets = _masked(tokens, is_special, mask_token, generator)
    return inputs, torch.where(targets == IGNORED, IGNORED, inputs)


@misconception(
    of="masked_batch",
    fails=HIDDEN_BATCH
    | {
        "targets_hold_what_stood_there",
        "one_token_in_seven_is_asked_for",
        "eighty_percent_are_hidden_and_ten_replaced",
        "the_generator_decides",
    },
    seen="https://github.com/mosaicml/examples/issues/457",
)
def batch_that_asks_for_everything(tokens, is_special, mask_token, generator):
    """The targets hold every token, so copying what can be read is most of the task.

    How many of your targets are IGNORED? For which positions does the model see the answer?
    """
    inputs, _ = _masked(tokens, is_special, mask_token, generator)
    return inputs, tokens.clone()


@misconception(of="masked_batch", fails=HIDDEN_BATCH | {"the_generator_decides"})
def gaps_fixed_for_all_epochs(tokens, is_special, mask_token, generator):
    """The gaps come from a generator with a fixed seed, so every epoch asks for the same places.

    Call your function twice with different generators and compare. What is the argument `generator` for?
    """
    return _masked(tokens, is_special, mask_token, torch.Generator().manual_seed(0))
