"""What goes wrong in a batch to practise on (homework 7, part A): fractions, targets, replacements."""

import torch

from autograder.catalogue import misconception

IGNORED = -100

# 3. masked_batch


def _masked(tokens, is_special, mask_token, generator, *, spares=True, words=None, borders=(0.8, 0.9)):
    draws, kinds = torch.rand(2, *tokens.shape, generator=generator)
    words = (~is_special).nonzero()[:, 0] if words is None else words
    replacements = words[torch.randint(len(words), tokens.shape, generator=generator)]
    is_asked = (draws < 0.15) & ~is_special[tokens] if spares else draws < 0.15
    inputs = torch.where(is_asked & (kinds < borders[0]), mask_token, tokens)
    is_replaced = is_asked & (kinds >= borders[0]) & (kinds < borders[1])
    return torch.where(is_replaced, replacements, inputs), torch.where(is_asked, tokens, IGNORED)


@misconception(of="masked_batch", seen="https://github.com/huggingface/transformers/issues/2858")
def batch_with_a_tenth_of_the_rest(tokens, is_special, mask_token, generator):
    """A tenth of what the masks leave over is replaced, which is 2 % of those asked for.

    After 80 % are masked, a fifth is left. What fraction of it must be replaced so that it is a tenth of
    the whole?
    """
    return _masked(tokens, is_special, mask_token, generator, borders=(0.8, 0.82))


@misconception(of="masked_batch", seen="https://github.com/lucidrains/mlm-pytorch/issues/6")
def batch_with_replacements_hidden(tokens, is_special, mask_token, generator):
    """Where random words are to be read, masks are read as well: 90 % masks, no replacements.

    Which of your two lines writes last, and does its condition hold at the replaced positions?
    """
    return _masked(tokens, is_special, mask_token, generator, borders=(0.9, 0.9))


@misconception(of="masked_batch", seen="https://github.com/huggingface/transformers/issues/1395")
def batch_with_special_tokens_hidden(tokens, is_special, mask_token, generator):
    """Special tokens, including padding, are chosen as targets.

    Count the targets that are special words. Where does `is_special` enter your choice?
    """
    return _masked(tokens, is_special, mask_token, generator, spares=False)


@misconception(of="masked_batch", seen="https://github.com/CompEpigen/methylbert/issues/28")
def batch_with_special_replacements(tokens, is_special, mask_token, generator):
    """The random words are drawn from the whole vocabulary, special words included.

    Could one of your replacements be `<pad>`, or the mask itself? From which list do you draw?
    """
    return _masked(tokens, is_special, mask_token, generator, words=torch.arange(len(is_special)))


@misconception(of="masked_batch", seen="https://github.com/huggingface/transformers/issues/144")
def batch_with_targets_of_the_inputs(tokens, is_special, mask_token, generator):
    """The targets are taken after the corruption, so most of them are the mask itself.

    What stands in your targets at a hidden position? Which word should the model have said?
    """
    inputs, targets = _masked(tokens, is_special, mask_token, generator)
    return inputs, torch.where(targets == IGNORED, IGNORED, inputs)


@misconception(of="masked_batch", seen="https://github.com/mosaicml/examples/issues/457")
def batch_that_asks_for_everything(tokens, is_special, mask_token, generator):
    """The targets hold every token, so copying what can be read is most of the task.

    How many of your targets are IGNORED? For which positions does the model see the answer?
    """
    inputs, _ = _masked(tokens, is_special, mask_token, generator)
    return inputs, tokens.clone()


@misconception(of="masked_batch")
def gaps_fixed_for_all_epochs(tokens, is_special, mask_token, generator):
    """The gaps come from a generator with a fixed seed, so every epoch asks for the same places.

    Call your function twice with different generators and compare. What is the argument `generator` for?
    """
    return _masked(tokens, is_special, mask_token, torch.Generator().manual_seed(0))


@misconception(of="masked_batch")
def batch_of_masks_only(tokens, is_special, mask_token, generator):
    """Every token asked for is hidden; none is replaced and none stays.

    Count your masks among the tokens asked for. Do you draw a second number for each of them?
    """
    return _masked(tokens, is_special, mask_token, generator, borders=(1.0, 1.0))


@misconception(of="masked_batch")
def batch_in_which_nothing_stays(tokens, is_special, mask_token, generator):
    """Everything that is not hidden is replaced, 20 %; nothing stays as it is.

    How many of the tokens asked for can the model still read?
    """
    return _masked(tokens, is_special, mask_token, generator, borders=(0.8, 1.0))


@misconception(of="masked_batch")
def batch_with_targets_at_masks_only(tokens, is_special, mask_token, generator):
    """Only what is hidden has a target; replaced words and words that stay are not asked for.

    How would the model know which words without a mask it is asked about? What is the use of the 10 % that
    stay?
    """
    inputs, _ = _masked(tokens, is_special, mask_token, generator)
    return inputs, torch.where(inputs == mask_token, tokens, IGNORED)


@misconception(of="masked_batch")
def batch_with_targets_where_words_changed(tokens, is_special, mask_token, generator):
    """Only what reads differently has a target; words that stay are not asked for.

    10 % of those asked for stay as they are. How many targets of yours equal what can be read?
    """
    inputs, _ = _masked(tokens, is_special, mask_token, generator)
    return inputs, torch.where(inputs != tokens, tokens, IGNORED)
