"""What goes wrong where words get tags and answers are found (homework 7, part B)."""

import math

import torch

from autograder.catalogue import misconception

# 9. tags_of_words


@misconception(of="tags_of_words")
def last_piece_speaks(logits, word_of_piece):
    """The last piece of each word decides instead of the first.

    In the example, which pieces make up the second word, and which of them has tag 0?
    """
    after = torch.cat([word_of_piece[1:], torch.tensor([-1])])
    return logits[(word_of_piece != after) & (word_of_piece >= 0)].argmax(-1)


@misconception(of="tags_of_words")
def pieces_averaged(logits, word_of_piece):
    """The logits of all pieces of a word are added up, so later pieces have a say.

    Later pieces get no label in training. What do their logits mean?
    """
    words = range(int(word_of_piece.max()) + 1)
    return torch.stack([logits[word_of_piece == word].sum(0).argmax() for word in words])


@misconception(of="tags_of_words")
def one_tag_for_each_piece(logits, word_of_piece):
    """Every piece has a tag of its own, so there are more tags than words.

    How many words does the example have, and how many tags your answer?
    """
    return logits[word_of_piece >= 0].argmax(-1)


@misconception(of="tags_of_words")
def special_tokens_tagged(logits, word_of_piece):
    """Special tokens have tags too, as if they were words.

    Which number marks a special token in `word_of_piece`? Does your condition look at it?
    """
    before = torch.cat([torch.tensor([-2]), word_of_piece[:-1]])
    return logits[word_of_piece != before].argmax(-1)


@misconception(of="tags_of_words")
def special_tokens_behind_tagged(logits, word_of_piece):
    """A special token behind the sentence is tagged, as if it began a word.

    Which number marks a special token in `word_of_piece`? Does your condition look at it?
    """
    before = torch.cat([torch.tensor([-1]), word_of_piece[:-1]])
    return logits[word_of_piece != before].argmax(-1)


@misconception(of="tags_of_words")
def shifted_by_the_first_special_token(logits, word_of_piece):
    """The rows are counted from the first word on, though the first row is that of a special token.

    Which row of `logits` belongs to word 0 of the example?
    """
    before = torch.cat([torch.tensor([-1]), word_of_piece[:-1]])
    firsts = ((word_of_piece != before) & (word_of_piece >= 0)).nonzero()[:, 0]
    return logits[firsts - 1].argmax(-1)


@misconception(of="tags_of_words")
def surest_piece_speaks(logits, word_of_piece):
    """The piece with the largest logit decides, whichever it is.

    Later pieces get no label in training. What does it mean if one of them is very sure?
    """
    words = range(int(word_of_piece.max()) + 1)
    return torch.stack([logits[word_of_piece == word].amax(0).argmax() for word in words])


@misconception(of="tags_of_words")
def row_of_the_words_number(logits, word_of_piece):
    """Word w is looked up in row w + 1, as if every word before it were a single piece.

    The first word has three pieces. In which row does the second one begin?
    """
    return logits[1 : int(word_of_piece.max()) + 2].argmax(-1)


# 10. span_logits


@misconception(of="span_logits")
def zero_outside_the_passage(hidden, W, b, in_passage):
    """Outside the passage the logits are 0, which is no small logit.

    What is $e^0$? Where the best word of the passage has the logit −1, which position wins?
    """
    first, last = (hidden @ W.T + b).masked_fill(~in_passage[..., None], 0.0).unbind(-1)
    return first, last


@misconception(of="span_logits")
def answers_in_the_question(hidden, W, b, in_passage):
    """Nothing is excluded, so the answer may lie in the question or in the padding.

    Which argument says where the passage is? Where does your code use it?
    """
    first, last = (hidden @ W.T + b).unbind(-1)
    return first, last


@misconception(of="span_logits")
def first_and_last_exchanged(hidden, W, b, in_passage):
    """The two logits come back in the wrong order.

    Which row of W is about the beginning? In the example, which logits should stand first?
    """
    first, last = (hidden @ W.T + b).masked_fill(~in_passage[..., None], -math.inf).unbind(-1)
    return last, first


@misconception(of="span_logits")
def mask_the_wrong_way_round(hidden, W, b, in_passage):
    """The passage is excluded, and what is outside is left: the mask is used the wrong way round.

    Is `in_passage` True where an answer may lie or where it may not? What does `masked_fill` fill?
    """
    first, last = (hidden @ W.T + b).masked_fill(in_passage[..., None], -math.inf).unbind(-1)
    return first, last


@misconception(of="span_logits")
def constants_forgotten(hidden, W, b, in_passage):
    """The constants b are not added.

    In the example, last is 3·1 + 1 at the second position. What do you have?
    """
    first, last = (hidden @ W.T).masked_fill(~in_passage[..., None], -math.inf).unbind(-1)
    return first, last


@misconception(of="span_logits")
def infinity_times_zero_in_the_passage(hidden, W, b, in_passage):
    """The mask is multiplied by minus infinity, and 0 times infinity is NaN in the passage.

    Print what you add to a position of the passage. Which function puts in a number without multiplying?
    """
    first, last = (hidden @ W.T + b + (~in_passage[..., None]) * -math.inf).unbind(-1)
    return first, last


@misconception(of="span_logits")
def probabilities_of_the_positions(hidden, W, b, in_passage):
    """A softmax over the positions is taken, so probabilities come out where logits are asked for.

    Sum your `first` over the positions. Does the formula end with a softmax?
    """
    logits = (hidden @ W.T + b).masked_fill(~in_passage[..., None], -math.inf)
    first, last = logits.softmax(1).unbind(-1)
    return first, last


@misconception(of="span_logits")
def only_the_beginning_is_excluded(hidden, W, b, in_passage):
    """The answer cannot begin outside the passage, but it can end there.

    On how many of your two tensors do you use `in_passage`?
    """
    first, last = (hidden @ W.T + b).unbind(-1)
    return first.masked_fill(~in_passage, -math.inf), last


@misconception(of="span_logits")
def both_ends_in_one_tensor(hidden, W, b, in_passage):
    """One tensor (B, T, 2) with both ends on its last axis is returned, and not a pair of tensors.

    How many tensors does the statement want, and of which shape? Along which axis would `unbind` give them?
    """
    return (hidden @ W.T + b).masked_fill(~in_passage[..., None], -torch.inf)


# 11. best_span


def _best(first_logits, last_logits, keep):
    sums = first_logits[:, None] + last_logits
    return divmod(sums.masked_fill(~keep, -math.inf).argmax().item(), len(last_logits))


def _triangle(first_logits, lowest, highest):
    return torch.ones(len(first_logits), len(first_logits), dtype=torch.bool).triu(lowest).tril(highest)


@misconception(of="best_span")
def ends_chosen_separately(first_logits, last_logits, longest):
    """The best beginning and the best end are chosen without regard to each other.

    In the example your answer begins at 2 and ends at 0. How many words is that?
    """
    return int(first_logits.argmax()), int(last_logits.argmax())


@misconception(of="best_span")
def ends_put_in_order(first_logits, last_logits, longest):
    """The best beginning and the best end are chosen separately and then put in order.

    In the example your answer would be 0 to 2. What do its ends score, as a beginning and as an end?
    """
    first, last = sorted((int(first_logits.argmax()), int(last_logits.argmax())))
    return first, last


@misconception(of="best_span")
def one_word_too_many(first_logits, last_logits, longest):
    """Spans of longest + 1 words are allowed.

    How many words does the span from 1 to 4 have, and how large is the difference of its ends?
    """
    return _best(first_logits, last_logits, _triangle(first_logits, 0, longest))


@misconception(of="best_span")
def length_not_limited(first_logits, last_logits, longest):
    """Spans of any length are allowed.

    Where does `longest` enter your code?
    """
    return _best(first_logits, last_logits, _triangle(first_logits, 0, len(first_logits)))


@misconception(of="best_span")
def one_word_is_no_answer(first_logits, last_logits, longest):
    """Answers of a single word are left out: first < last instead of first <= last.

    "Where is the ball?" "Here." How many words does `last - first + 1` count for (2, 2)?
    """
    return _best(first_logits, last_logits, _triangle(first_logits, 1, max(longest - 1, 1)))


@misconception(of="best_span")
def one_word_is_never_an_answer(first_logits, last_logits, longest):
    """Answers of a single word are left out, and with `longest = 1` no span remains.

    "Where is the ball?" "Here." How many words does `last - first + 1` count for (2, 2)?
    """
    return _best(first_logits, last_logits, _triangle(first_logits, 1, longest - 1))


@misconception(of="best_span")
def end_in_front_of_the_beginning(first_logits, last_logits, longest):
    """What ends before it begins counts as a span; only the length is limited.

    In the example, may an answer begin at 2 and end at 0? Which half of the table holds such pairs?
    """
    return _best(first_logits, last_logits, _triangle(first_logits, -len(first_logits), longest - 1))


@misconception(of="best_span")
def end_behind_the_last_word(first_logits, last_logits, longest):
    """The end is returned as the position behind the last word, as in a slice.

    In the example, at which position stands the last word of the answer?
    """
    first, last = _best(first_logits, last_logits, _triangle(first_logits, 0, longest - 1))
    return first, last + 1


@misconception(of="best_span")
def one_word_too_few(first_logits, last_logits, longest):
    """Spans of `longest` words are left out.

    How many words does the span from 1 to 4 have? For `longest = 4`, is it allowed in your code?
    """
    return _best(first_logits, last_logits, _triangle(first_logits, 0, longest - 2))


@misconception(of="best_span")
def no_span_counts_as_0(first_logits, last_logits, longest):
    """What is no span gets the sum 0, which is more than a negative sum.

    If all sums of spans are below 0, which entry of your table is the largest?
    """
    sums = (first_logits[:, None] + last_logits).nan_to_num(neginf=-1e9)
    sums = sums * _triangle(first_logits, 0, longest - 1)
    return divmod(sums.argmax().item(), len(last_logits))


@misconception(of="best_span")
def search_begun_at_0(first_logits, last_logits, longest):
    """The search starts with a best sum of 0, so that spans with negative sums are never found.

    With which number does your search begin? Which one is below every sum?
    """
    best, span = 0.0, (0, 0)
    for first in range(len(first_logits)):
        for last in range(first, min(first + longest, len(last_logits))):
            if first_logits[first] + last_logits[last] > best:
                best, span = first_logits[first] + last_logits[last], (first, last)
    return span


@misconception(of="best_span")
def end_chosen_after_the_beginning(first_logits, last_logits, longest):
    """The likeliest beginning is taken first, and then the best end that fits it.

    Could a less likely beginning with a much likelier end have a larger sum?
    """
    first = int(first_logits.argmax())
    return first, first + int(last_logits[first : first + longest].argmax())


@misconception(of="best_span")
def beginning_chosen_after_the_end(first_logits, last_logits, longest):
    """The likeliest end is taken first, and then the best beginning that fits it.

    In the example the likeliest end is at 0. What is the best sum with that end, and what the best of all?
    """
    last = int(last_logits.argmax())
    first = max(0, last - longest + 1)
    return first + int(first_logits[first : last + 1].argmax()), last
