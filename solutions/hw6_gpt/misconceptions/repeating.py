"""What goes wrong in homework 6, exercise 21: penalties on what has been said already."""

import math

import torch

from autograder.catalogue import misconception


def _agreeing(text, i):
    """How many tokens before place i equal the last ones of the text."""
    n = 0
    while n < i and text[i - 1 - n] == text[-1 - n]:
        n += 1
    return n


def _apart(text, i):
    """The same, but no further than the end of the text reaches back to place i."""
    return min(_agreeing(text, i), len(text) - i)


def _longest(lengths):
    return max(lengths)


def _numbers(logits, history, agreeing=_agreeing, chosen=_longest):
    """How often each token occurs, and how long a repeat it would continue, (B, V) each."""
    counts, lengths = torch.zeros_like(logits), torch.zeros_like(logits)
    for row, text in enumerate(history.tolist()):
        for v in set(text):
            places = [i for i, token in enumerate(text) if token == v]
            counts[row, v] = len(places)
            lengths[row, v] = chosen([agreeing(text, i) for i in places])
    return counts, lengths


def _dry(lengths, *, least=2, offset=2):
    return 1.75 ** (lengths - offset) * (lengths >= least)


def _less(logits, numbers, presence, frequency, dry, ngram, *, cost=_dry, shorter=1, forbidden=-math.inf):
    counts, lengths = numbers
    after = logits - presence * (counts > 0) - frequency * counts - dry * cost(lengths)
    return after.masked_fill(lengths >= ngram - shorter, forbidden) if ngram else after


@misconception(of="unrepeated")
def presence_paid_each_time(logits, history, presence, frequency, dry, ngram):
    """The presence penalty is paid for every occurrence; that is what the frequency penalty does.

    A token has occurred twice. How much does the presence penalty take from it, and how much in your code?
    """
    numbers = _numbers(logits, history)
    return _less(logits, numbers, 0.0, presence + frequency, dry, ngram)


@misconception(of="unrepeated")
def frequency_paid_once(logits, history, presence, frequency, dry, ngram):
    """The frequency penalty is paid once, however often a token has occurred.

    What should a token pay that has occurred three times? Does your code count, or only look?
    """
    numbers = _numbers(logits, history)
    return _less(logits, numbers, presence + frequency, 0.0, dry, ngram)


@misconception(of="unrepeated")
def penalties_added(logits, history, presence, frequency, dry, ngram):
    """Presence and frequency are added to the logits, which rewards what has been said already.

    Is a token with a larger logit more or less probable? Which of the two should a penalty make it?
    """
    numbers = _numbers(logits, history)
    return _less(logits, numbers, -presence, -frequency, dry, ngram)


@misconception(of="unrepeated")
def histories_shared_by_all_rows(logits, history, presence, frequency, dry, ngram):
    """What has occurred in any row counts in all of them.

    Two texts are written side by side. Should a word of the first be less probable in the second?
    """
    counts, lengths = _numbers(logits, history)
    together = counts.sum(0, keepdim=True).expand_as(counts)
    return _less(logits, (together, lengths), presence, frequency, dry, ngram)


@misconception(of="unrepeated")
def penalised_in_place(logits, history, presence, frequency, dry, ngram):
    """Your function modifies the logits it was given, so the caller finds different values afterwards.

    Print the logits before and after your function is called. Which line wrote into them?
    """
    return logits.copy_(_less(logits, _numbers(logits, history), presence, frequency, dry, ngram))


@misconception(of="unrepeated")
def dry_from_one_equal_token(logits, history, presence, frequency, dry, ngram):
    """DRY takes something from tokens that came after only one equal token.

    In 1 4 2 3 1 the last token, 1, was followed by 4. How large is n for token 4, and what does DRY take?
    """
    numbers = _numbers(logits, history)
    return _less(logits, numbers, presence, frequency, dry, ngram, cost=lambda n: _dry(n, least=1))


@misconception(of="unrepeated")
def dry_from_three_equal_tokens(logits, history, presence, frequency, dry, ngram):
    """DRY takes nothing where exactly two tokens are equal.

    In the example n is 2 for token 2. Does it lose `dry`, or nothing?
    """
    numbers = _numbers(logits, history)
    return _less(logits, numbers, presence, frequency, dry, ngram, cost=lambda n: _dry(n, least=3))


@misconception(of="unrepeated")
def dry_without_a_threshold(logits, history, presence, frequency, dry, ngram):
    """DRY takes something from every token, also where n is 0 or 1.

    What is 1.75⁻²? From which n on does the table subtract anything?
    """
    numbers = _numbers(logits, history)
    return _less(logits, numbers, presence, frequency, dry, ngram, cost=lambda n: _dry(n, least=0))


@misconception(of="unrepeated")
def exponent_not_reduced(logits, history, presence, frequency, dry, ngram):
    """The exponent of DRY is the length of the repeat itself, without the 2.

    How much does token 2 of the example lose: `dry`, or more than three times as much? What is 1.75⁰?
    """
    numbers = _numbers(logits, history)
    return _less(logits, numbers, presence, frequency, dry, ngram, cost=lambda n: _dry(n, offset=0))


@misconception(of="unrepeated")
def dry_grows_by_steps(logits, history, presence, frequency, dry, ngram):
    """The penalty of DRY grows by the same amount with every equal token; it should grow by the same factor.

    How much is taken after two, three and four equal tokens in the statement: `dry` times 1, 2, 3, or
    times 1, 1.75, 3.06?
    """
    numbers = _numbers(logits, history)
    return _less(logits, numbers, presence, frequency, dry, ngram, cost=lambda n: (n - 1) * (n >= 2))


@misconception(of="unrepeated")
def dry_paid_once_for_all_lengths(logits, history, presence, frequency, dry, ngram):
    """DRY takes the same from every token that continues a repeat, however long this is.

    Two tokens would continue repeats of two and of nine tokens. Which of them should lose more?
    """
    numbers = _numbers(logits, history)
    return _less(logits, numbers, presence, frequency, dry, ngram, cost=lambda n: 1.0 * (n >= 2))


@misconception(of="unrepeated")
def last_place_counts(logits, history, presence, frequency, dry, ngram):
    """Of several places of a token the last one counts, because it overwrites those before.

    A token came after a long repeat and later after a short one. Which number does your table hold?
    """
    numbers = _numbers(logits, history, chosen=lambda lengths: lengths[-1])
    return _less(logits, numbers, presence, frequency, dry, ngram)


@misconception(of="unrepeated")
def first_place_counts(logits, history, presence, frequency, dry, ngram):
    """Only the first place of a token in the history is looked at.

    Where does `list.index` find a token that occurs twice? Where was the longer repeat?
    """
    numbers = _numbers(logits, history, chosen=lambda lengths: lengths[0])
    return _less(logits, numbers, presence, frequency, dry, ngram)


@misconception(of="unrepeated")
def all_places_added_up(logits, history, presence, frequency, dry, ngram):
    """The lengths of all repeats that a token would continue are added up.

    A token came after two equal tokens, in two places. Is the repeat two tokens long, or four?
    """
    numbers = _numbers(logits, history, chosen=sum)
    return _less(logits, numbers, presence, frequency, dry, ngram)


@misconception(of="unrepeated")
def repeats_that_do_not_overlap(logits, history, presence, frequency, dry, ngram):
    """A repeat is not allowed to overlap the end of the text that it equals.

    In 7 7 7 7 7, how many tokens stand before the last one, and how many of them equal the end? Where does
    your comparison stop?
    """
    numbers = _numbers(logits, history, agreeing=_apart)
    return _less(logits, numbers, presence, frequency, dry, ngram)


@misconception(of="unrepeated")
def compared_with_the_token_itself(logits, history, presence, frequency, dry, ngram):
    """The comparison begins at the token itself, not at the one before it, and penalises what was said last.

    In 3 1 2 3 1 the end 3 1 was followed by 2. Which token does your code forbid, 2 or 1?
    """

    def shifted(text, i):
        n = 0
        while n <= i < len(text) - 1 and text[i - n] == text[-1 - n]:
            n += 1
        return n

    return _less(logits, _numbers(logits, history, agreeing=shifted), presence, frequency, dry, ngram)


@misconception(of="unrepeated")
def end_compared_with_itself(logits, history, presence, frequency, dry, ngram):
    """The comparison begins at the token itself, so the end of the text is compared with itself, too.

    In 3 1 2 3 1, which places do you compare for the last token, j = 0? Which token stands just before it?
    """

    def shifted(text, i):
        n = 0
        while n <= i and text[i - n] == text[-1 - n]:
            n += 1
        return n

    return _less(logits, _numbers(logits, history, agreeing=shifted), presence, frequency, dry, ngram)


@misconception(of="unrepeated")
def places_before_the_first(logits, history, presence, frequency, dry, ngram):
    """The comparison goes on before the first token, where a negative index reads from the end of the text.

    What is `text[-1]` in Python? How many tokens stand before the first one?
    """

    def around(text, i):
        n = 0
        while n < len(text) and text[i - 1 - n] == text[-1 - n]:
            n += 1
        return n

    return _less(logits, _numbers(logits, history, agreeing=around), presence, frequency, dry, ngram)


@misconception(of="unrepeated")
def ngrams_of_one_more(logits, history, presence, frequency, dry, ngram):
    """A token is forbidden only if `ngram` tokens before it are equal, so that n-grams of one more are.

    An n-gram of three tokens: how many of them stand in the history already, and which one is v?
    """
    return _less(logits, _numbers(logits, history), presence, frequency, dry, ngram, shorter=0)


@misconception(of="unrepeated")
def ngrams_of_one_less(logits, history, presence, frequency, dry, ngram):
    """A token is forbidden if `ngram` − 2 tokens before it are equal, so that shorter n-grams are.

    With `ngram` = 3 and one equal token before v, how many tokens in a row would come twice?
    """
    return _less(logits, _numbers(logits, history), presence, frequency, dry, ngram, shorter=2)


@misconception(of="unrepeated")
def ngrams_of_exactly_this_length(logits, history, presence, frequency, dry, ngram):
    """A token is forbidden only if exactly `ngram` − 1 tokens are equal; after more of them it is allowed.

    Five equal tokens before v: do they repeat a trigram, too?
    """
    counts, lengths = _numbers(logits, history)
    after = _less(logits, (counts, lengths), presence, frequency, dry, 0)
    return after.masked_fill(lengths == ngram - 1, -math.inf) if ngram else after


@misconception(of="unrepeated")
def ngrams_get_the_logit_zero(logits, history, presence, frequency, dry, ngram):
    """Forbidden tokens get the logit 0 instead of minus infinity, and keep a probability.

    What is $e^0$? Which logit stands for a probability of 0?
    """
    return _less(logits, _numbers(logits, history), presence, frequency, dry, ngram, forbidden=0.0)


@misconception(of="unrepeated")
def none_taken_for_a_length(logits, history, presence, frequency, dry, ngram):
    """With `ngram` = 0 everything is forbidden, because every length is at least −1.

    What does `ngram` = 0 mean in the statement? For which tokens is n ≥ −1?
    """
    counts, lengths = _numbers(logits, history)
    after = _less(logits, (counts, lengths), presence, frequency, dry, 0)
    return after.masked_fill(lengths >= ngram - 1, -math.inf)
