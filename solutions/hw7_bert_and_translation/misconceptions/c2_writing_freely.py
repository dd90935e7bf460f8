"""What goes wrong when a translator writes by itself and is measured (homework 7, part C)."""

import torch
from torch.nn import functional

from autograder.catalogue import misconception

from ..notebook import ToyTranslator

# 19. greedy_translate


def _written(model, source, bos, eos, n_steps, *, place=-1, encodes=False, fills=True, ended=torch.all):
    memory = model.encode(source)
    tokens, has_ended = torch.full((len(source), 1), bos), torch.zeros(len(source), dtype=torch.bool)
    while tokens.shape[1] <= n_steps and not ended(has_ended):
        memory = model.encode(source) if encodes and tokens.shape[1] > 1 else memory
        words = model.decode(tokens, memory)[:, place].argmax(-1)
        words = torch.where(has_ended, eos, words) if fills else words
        tokens, has_ended = torch.cat([tokens, words[:, None]], 1), has_ended | (words == eos)
    return tokens, model.log


@misconception(of="greedy_translate")
def encoder_run_at_every_step(tables, source, bos, eos, max_length):
    """The encoder runs again at every step, though the source has not changed.

    What does your log hold? Which line of the loop gives the same result each time?
    """
    tokens, log = _written(ToyTranslator(tables), source, bos, eos, max_length, encodes=True)
    return tokens[:, 1:], log


@misconception(of="greedy_translate")
def encoder_run_before_and_at_every_step(tables, source, bos, eos, max_length):
    """The encoder runs before the loop and again at every step, though the source has not changed.

    What does your log hold? Which line of the loop gives the same result each time?
    """
    model = ToyTranslator(tables)
    model.encode(source)
    tokens, log = _written(model, source, bos, eos, max_length, encodes=True)
    return tokens[:, 1:], log


@misconception(of="greedy_translate")
def stopped_at_the_first_end(tables, source, bos, eos, max_length):
    """The whole batch stops as soon as one sentence has ended.

    In the example one sentence ends after two words. Is the other one finished? Do you ask `any` or `all`?
    """
    tokens, log = _written(ToyTranslator(tables), source, bos, eos, max_length, ended=torch.any)
    return tokens[:, 1:], log


@misconception(of="greedy_translate")
def text_after_the_end_kept(tables, source, bos, eos, max_length):
    """A sentence that has ended goes on writing until the others have ended too.

    In the example, what does the second sentence write after its 2? Should anybody read that?
    """
    tokens, log = _written(ToyTranslator(tables), source, bos, eos, max_length, fills=False)
    return tokens[:, 1:], log


@misconception(of="greedy_translate")
def one_word_less_than_allowed(tables, source, bos, eos, max_length):
    """One word less than allowed is written, as when the column of `<s>` is counted as a word.

    With `max_length = 1`, how many words do you write?
    """
    tokens, log = _written(ToyTranslator(tables), source, bos, eos, max_length - 1)
    return tokens[:, 1:], log


@misconception(of="greedy_translate")
def one_word_more_than_allowed(tables, source, bos, eos, max_length):
    """One word more than allowed is written.

    With `max_length = 1`, how often does your loop run? Is the condition tested before or after a word?
    """
    tokens, log = _written(ToyTranslator(tables), source, bos, eos, max_length + 1)
    return tokens[:, 1:], log


@misconception(of="greedy_translate")
def logits_of_the_first_position(tables, source, bos, eos, max_length):
    """The next word is read off position 0, so the first word comes again and again.

    `decode` gives logits for every position. Which one is about the word that comes next?
    """
    tokens, log = _written(ToyTranslator(tables), source, bos, eos, max_length, place=0)
    return tokens[:, 1:], log


@misconception(of="greedy_translate")
def beginning_left_in(tables, source, bos, eos, max_length):
    """The column of `<s>` is returned with the words.

    In the example, does a sentence begin with 1? Was that written by the model?
    """
    return _written(ToyTranslator(tables), source, bos, eos, max_length)


@misconception(of="greedy_translate")
def always_as_long_as_allowed(tables, source, bos, eos, max_length):
    """The loop goes on to `max_length`, though all sentences have ended.

    How many steps does the example need? Which line of your loop asks whether all have ended?
    """
    tokens, log = _written(ToyTranslator(tables), source, bos, eos, max_length, ended=lambda has_ended: False)
    return tokens[:, 1:], log


@misconception(of="greedy_translate")
def zeros_after_the_end(tables, source, bos, eos, max_length):
    """After the end of a sentence stands 0, where `eos` should.

    In the example, what should follow the 2 of the second sentence?
    """
    tokens, log = _written(ToyTranslator(tables), source, bos, eos, max_length)
    ended = ((tokens == eos).cumsum(1) > 1) & (tokens == eos)
    return tokens.masked_fill(ended, 0)[:, 1:], log


@misconception(of="greedy_translate")
def end_cut_off(tables, source, bos, eos, max_length):
    """The column in which the last sentence ends is left out.

    In the example, does your first sentence end with 2? How many columns have you for three steps?
    """
    tokens, log = _written(ToyTranslator(tables), source, bos, eos, max_length)
    return (tokens[:, 1:-1] if (tokens == eos).any(1).all() else tokens[:, 1:]), log


@misconception(of="greedy_translate")
def begun_with_word_1(tables, source, bos, eos, max_length):
    """The sentences begin with word 1, whatever `bos` says.

    Which line of your code reads `bos`?
    """
    tokens, log = _written(ToyTranslator(tables), source, 1, eos, max_length)
    return tokens[:, 1:], log


@misconception(of="greedy_translate")
def ended_by_word_2(tables, source, bos, eos, max_length):
    """Word 2 ends a sentence, whatever `eos` says.

    Which line of your code reads `eos`?
    """
    tokens, log = _written(ToyTranslator(tables), source, bos, 2, max_length)
    return tokens[:, 1:], log


@misconception(of="greedy_translate")
def end_looked_for_as_word_2(tables, source, bos, eos, max_length):
    """A sentence is taken to have ended at word 2, whatever `eos` says, and is then filled with `eos`.

    Where does your code compare a word with the end, and with which number?
    """
    model, n_steps = ToyTranslator(tables), 0
    memory, tokens = model.encode(source), torch.full((len(source), 1), bos)
    has_ended = torch.zeros(len(source), dtype=torch.bool)
    while n_steps < max_length and not has_ended.all():
        n_steps += 1
        words = torch.where(has_ended, eos, model.decode(tokens, memory)[:, -1].argmax(-1))
        tokens, has_ended = torch.cat([tokens, words[:, None]], 1), has_ended | (words == 2)
    return tokens[:, 1:], model.log


# 20. free_accuracy


def _right(tables, source, target, *, bos=None, eos=-1):
    bos, n_words = int(target[0, 0]) if bos is None else bos, target.shape[1] - 1
    tokens, _ = _written(ToyTranslator(tables), source, bos, eos, n_words)
    return functional.pad(tokens, (0, 1 + n_words - tokens.shape[1]), value=eos) == target


def _shares(is_right):
    return is_right.double().mean().item(), is_right.all(dim=1).double().mean().item()


@misconception(of="free_accuracy", seen="https://github.com/IpsumDominum/Pytorch-Simple-Transformer/issues/3")
def accuracy_under_teacher_forcing(tables, source, target):
    """The model reads the right words instead of its own, so each mistake is forgotten at once.

    What does your model read in its second step? Who would give it the right translation at inference?
    """
    model = ToyTranslator(tables)
    words = model.decode(target[:, :-1], model.encode(source)).argmax(-1)
    return _shares(words == target[:, 1:])


@misconception(of="free_accuracy")
def beginning_counted_as_a_word(tables, source, target):
    """`<s>` is compared as well, and is always right.

    In the example, how many words are compared: six or eight?
    """
    return _shares(_right(tables, source, target))


@misconception(of="free_accuracy")
def sentences_begun_with_word_1(tables, source, target):
    """The sentences begin with word 1, whatever the first column of `target` holds.

    Where does your code take the first word from? May `<s>` have another number?
    """
    return _shares(_right(tables, source, target, bos=1)[:, 1:])


@misconception(of="free_accuracy")
def word_2_ends_the_count(tables, source, target):
    """A sentence ends at the word 2, though T - 1 steps are taken for every sentence.

    Does the statement name a word that ends a sentence? What do you compare behind a 2?
    """
    return _shares(_right(tables, source, target, eos=2)[:, 1:])


@misconception(of="free_accuracy")
def places_taken_for_sentences(tables, source, target):
    """The second number is the fraction of places right in all sentences, not of sentences right everywhere.

    Which axis of your table (B, T - 1) are the sentences? Along which one does `all` go?
    """
    is_right = _right(tables, source, target)[:, 1:]
    return is_right.double().mean().item(), is_right.all(dim=0).double().mean().item()


@misconception(of="free_accuracy")
def one_right_word_is_enough(tables, source, target):
    """A sentence counts as right when any of its words is right.

    In the example one word of the second sentence is right. Is the sentence?
    """
    is_right = _right(tables, source, target)[:, 1:]
    return is_right.double().mean().item(), is_right.any(dim=1).double().mean().item()


@misconception(of="free_accuracy")
def words_reported_as_sentences(tables, source, target):
    """Both numbers are the fraction of right words.

    In the example the two numbers differ. What is compared for the second one, a word or a sentence?
    """
    words, _ = _shares(_right(tables, source, target)[:, 1:])
    return words, words


@misconception(of="free_accuracy")
def shares_in_the_wrong_order(tables, source, target):
    """The two fractions come back in the wrong order.

    Which of the two numbers does the statement name first? Can more sentences be right than words?
    """
    words, sentences = _shares(_right(tables, source, target)[:, 1:])
    return sentences, words


@misconception(of="free_accuracy")
def words_found_anywhere(tables, source, target):
    """A word counts as right wherever it stands in the right translation.

    In the example the second sentence has the word 7 at its first place. Where should it stand?
    """
    tokens, _ = _written(ToyTranslator(tables), source, int(target[0, 0]), -1, target.shape[1] - 1)
    return _shares((tokens[:, 1:, None] == target[:, None, 1:]).any(-1))


@misconception(of="free_accuracy")
def shares_in_percent(tables, source, target):
    """The fractions come back in percent.

    Which number is the fraction of all words, if all are right: 1 or 100?
    """
    words, sentences = _shares(_right(tables, source, target)[:, 1:])
    return 100 * words, 100 * sentences
