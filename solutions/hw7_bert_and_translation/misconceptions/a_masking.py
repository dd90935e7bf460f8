"""What goes wrong where tokens are hidden (homework 7, part A): which ones, and what is read there."""

import torch

from autograder.catalogue import misconception

# 1. positions_to_predict


@misconception(of="positions_to_predict", seen="https://github.com/huggingface/transformers/issues/1395")
def special_tokens_asked_for_too(tokens, is_special, uniforms, fraction):
    """Special tokens are asked for like any others.

    What would the model learn from predicting `<pad>` behind the end of a text? Which argument knows the
    special words?
    """
    return uniforms < fraction


@misconception(of="positions_to_predict")
def only_word_0_left_out(tokens, is_special, uniforms, fraction):
    """Only word 0 is spared, as if padding were the only special word.

    In the example, which words are special? Is `<s>` among those that you spare?
    """
    return (uniforms < fraction) & (tokens != 0)


@misconception(of="positions_to_predict")
def share_that_is_kept(tokens, is_special, uniforms, fraction):
    """The fraction is what is left alone, so 85 % of the tokens are asked for.

    With `fraction = 0.15`, is a number drawn from [0, 1) more often below or above it?
    """
    return (uniforms >= fraction) & ~is_special[tokens]


@misconception(of="positions_to_predict")
def same_places_in_every_sequence(tokens, is_special, uniforms, fraction):
    """The numbers of the first sequence decide for the whole batch.

    Print your answer for two sequences with different numbers. Which row of `uniforms` does each follow?
    """
    return (uniforms[:1] < fraction) & ~is_special[tokens]


@misconception(of="positions_to_predict")
def a_fixed_number_per_sequence(tokens, is_special, uniforms, fraction):
    """Each sequence has a fixed number of tokens asked for, those with the smallest numbers.

    If every token is asked for independently of the others, can one sequence have none and another one
    three? Which comparison decides about a token, without a look at its neighbours?
    """
    numbers = uniforms.masked_fill(is_special[tokens], 2.0)
    places = numbers.argsort(dim=1)[:, : max(1, round(fraction * tokens.shape[1]))]
    return torch.zeros_like(tokens, dtype=torch.bool).scatter(1, places, True)


@misconception(of="positions_to_predict")
def one_condition_is_enough(tokens, is_special, uniforms, fraction):
    """One of two conditions is enough: all ordinary tokens are asked for, and some special ones.

    An ordinary token with the number 0.9: is it asked for in your answer? Which of `&` and `|` have you
    written?
    """
    return (uniforms < fraction) | ~is_special[tokens]


@misconception(of="positions_to_predict")
def only_special_tokens_asked_for(tokens, is_special, uniforms, fraction):
    """Special tokens are asked for and ordinary ones are spared: the condition is the wrong way round.

    What does True mean in `is_special`? Which operator turns a truth value round?
    """
    return (uniforms < fraction) & is_special[tokens]


@misconception(of="positions_to_predict")
def asked_for_above_the_share(tokens, is_special, uniforms, fraction):
    """A token is asked for when its number is larger than the fraction, 85 % of them where 15 % are meant.

    In the example, is the token with the number 0.90 asked for? Which way does your comparison point?
    """
    return (uniforms > fraction) & ~is_special[tokens]


@misconception(of="positions_to_predict")
def share_written_in(tokens, is_special, uniforms, fraction):
    """The fraction is a number in the code, 0.15, whatever `fraction` says.

    Which line of your code reads `fraction`?
    """
    return (uniforms < 0.15) & ~is_special[tokens]


@misconception(of="positions_to_predict")
def words_taken_for_positions(tokens, is_special, uniforms, fraction):
    """`is_special` is used as it is, with one entry for each word of the vocabulary, not for each position.

    What are the shapes of `uniforms` and of `is_special`? Which word stands at position 0 of the example?
    """
    return (uniforms < fraction) & ~is_special


@misconception(of="positions_to_predict")
def share_itself_asked_for(tokens, is_special, uniforms, fraction):
    """A number equal to the fraction is taken for smaller.

    "When its number is smaller than this": is 0.15 smaller than 0.15?
    """
    return (uniforms <= fraction) & ~is_special[tokens]


# 2. corrupt


@misconception(of="corrupt", seen="https://github.com/huggingface/transformers/issues/2858")
def a_tenth_of_the_rest(tokens, is_asked, kinds, replacements, mask_token):
    """A tenth of what the mask leaves over is replaced, 2 % of those asked for instead of 10 %.

    Of 1000 asked for, 800 are hidden and 200 left over. How many of these have to be replaced, and which
    fraction of the 200 is that?
    """
    inputs = torch.where(is_asked & (kinds < 0.8), mask_token, tokens)
    return torch.where(is_asked & (kinds >= 0.8) & (kinds < 0.82), replacements, inputs)


@misconception(of="corrupt", seen="https://github.com/lucidrains/mlm-pytorch/issues/6")
def replacement_hidden_again(tokens, is_asked, kinds, replacements, mask_token):
    """Where a random word is to be read, a mask is read as well: 90 % masks and no replacement.

    Follow one position with kind 0.85 through your lines. Which line is the last to write there?
    """
    inputs = torch.where(is_asked & (kinds >= 0.8) & (kinds < 0.9), replacements, tokens)
    return torch.where(is_asked & (kinds < 0.9), mask_token, inputs)


@misconception(of="corrupt")
def everything_hidden(tokens, is_asked, kinds, replacements, mask_token):
    """Every token asked for is hidden; none is replaced and none stays.

    At inference a text holds no `<mask>`. What has a model learned about tokens that are not masked?
    """
    return torch.where(is_asked, mask_token, tokens)


@misconception(of="corrupt")
def everything_corrupted(tokens, is_asked, kinds, replacements, mask_token):
    """The kinds decide alone, so that tokens are corrupted that nobody asks for.

    In the example the last token is not asked for. How is it read?
    """
    inputs = torch.where(kinds < 0.8, mask_token, tokens)
    return torch.where((kinds >= 0.8) & (kinds < 0.9), replacements, inputs)


@misconception(of="corrupt")
def text_overwritten(tokens, is_asked, kinds, replacements, mask_token):
    """The masks are written into the text itself, so the next epoch finds them there and no answers.

    Print `tokens` after a call. Where does a training loop get the text of the next epoch from?
    """
    tokens[is_asked & (kinds < 0.8)] = mask_token
    is_replaced = is_asked & (kinds >= 0.8) & (kinds < 0.9)
    tokens[is_replaced] = replacements[is_replaced]
    return tokens


@misconception(of="corrupt")
def all_that_is_not_hidden_replaced(tokens, is_asked, kinds, replacements, mask_token):
    """Everything that is asked for and not hidden is replaced, 20 %; nothing stays as it is.

    How is a position with kind 0.95 read? How many of 1000 do you replace?
    """
    inputs = torch.where(is_asked & (kinds < 0.8), mask_token, tokens)
    return torch.where(is_asked & (kinds >= 0.8), replacements, inputs)


@misconception(of="corrupt")
def what_should_stay_hidden_too(tokens, is_asked, kinds, replacements, mask_token):
    """What should stay is hidden as well: 90 % masks, 10 % random words.

    How is a position with kind 0.95 read? Which of your conditions looks at kinds from 0.9 on?
    """
    inputs = torch.where(is_asked, mask_token, tokens)
    return torch.where(is_asked & (kinds >= 0.8) & (kinds < 0.9), replacements, inputs)


@misconception(of="corrupt")
def mask_and_replacement_exchanged(tokens, is_asked, kinds, replacements, mask_token):
    """Mask and random word have changed places: 80 % are replaced and 10 % hidden.

    What should a position with kind 0.1 be read as?
    """
    inputs = torch.where(is_asked & (kinds < 0.8), replacements, tokens)
    return torch.where(is_asked & (kinds >= 0.8) & (kinds < 0.9), mask_token, inputs)


@misconception(of="corrupt")
def kept_and_replaced_exchanged(tokens, is_asked, kinds, replacements, mask_token):
    """The kinds from 0.8 to 0.9 stay and those from 0.9 on are replaced, the wrong way round.

    In the example, which of the kinds 0.85 and 0.95 belongs to the word that stays?
    """
    inputs = torch.where(is_asked & (kinds < 0.8), mask_token, tokens)
    return torch.where(is_asked & (kinds >= 0.9), replacements, inputs)


@misconception(of="corrupt")
def replaced_where_nobody_asks(tokens, is_asked, kinds, replacements, mask_token):
    """A random word is put in wherever the kind says so, asked for or not.

    Which of your two conditions looks at `is_asked`?
    """
    inputs = torch.where(is_asked & (kinds < 0.8), mask_token, tokens)
    return torch.where((kinds >= 0.8) & (kinds < 0.9), replacements, inputs)


@misconception(of="corrupt")
def replaced_wherever_no_mask_is(tokens, is_asked, kinds, replacements, mask_token):
    """A random word is put in wherever no mask is and the kind is below 0.9, asked for or not.

    Which of your two conditions looks at `is_asked`?
    """
    unhidden = torch.where(kinds < 0.9, replacements, tokens)
    return torch.where(is_asked & (kinds < 0.8), mask_token, unhidden)


@misconception(of="corrupt")
def mask_token_written_in(tokens, is_asked, kinds, replacements, mask_token):
    """The mask is a number in the code, 3, whatever `mask_token` says.

    Which line of your code reads `mask_token`?
    """
    inputs = torch.where(is_asked & (kinds < 0.8), 3, tokens)
    return torch.where(is_asked & (kinds >= 0.8) & (kinds < 0.9), replacements, inputs)


@misconception(of="corrupt")
def masks_replaced_afterwards(tokens, is_asked, kinds, replacements, mask_token):
    """The second step replaces all kinds below 0.9, those that the first has hidden too, so no mask is left.

    Which kinds are below 0.8, and which are below 0.9? Can both conditions of yours hold at one position?
    """
    hidden = torch.where(is_asked & (kinds < 0.8), mask_token, tokens)
    return torch.where(is_asked & (kinds < 0.9), replacements, hidden)
