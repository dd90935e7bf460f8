"""What goes wrong in homework 6, exercise 25: beam search."""

import math

from autograder.catalogue import misconception


def _extended(beam, log_probs, prompt):
    return [
        ([*tokens, token], total + log_prob)
        for tokens, total in beam
        for token, log_prob in enumerate(log_probs[[*prompt, *tokens][-1]])
    ]


def _score(tokens, total, length_penalty):
    return total / len(tokens) ** length_penalty


def _winner(found, length_penalty, score=_score):
    tokens, total = max(found, key=lambda one: score(*one, length_penalty))
    return tokens, score(tokens, total, length_penalty)


def _search(arguments, *, score=_score, extended=_extended, width=None, normalise=True, with_unfinished=True):
    table, prompt, eos, n_tokens, beam_width, length_penalty = arguments
    log_probs = (table.log_softmax(-1) if normalise else table).tolist()
    beam, finished = [([], 0.0)], []
    for _ in range(n_tokens):
        kept = sorted(extended(beam, log_probs, prompt), key=lambda one: -one[1])[: width or beam_width]
        finished += [one for one in kept if one[0][-1] == eos]
        beam = [one for one in kept if one[0][-1] != eos]
    found = finished + beam if with_unfinished else finished or beam
    return _winner(found, length_penalty, score)


@misconception(of="beam_search", seen="https://github.com/batra-mlp-lab/visdial/issues/5")
def length_not_counted(table, prompt, eos, n_tokens, beam_width, length_penalty):
    """The log-probabilities are summed and never divided by the length, so short texts win.

    Every further token makes log P smaller. What does α = 1 compare instead of log P?
    """
    return _search(
        (table, prompt, eos, n_tokens, beam_width, length_penalty), score=lambda tokens, total, alpha: total
    )


@misconception(of="beam_search", seen="https://github.com/huggingface/transformers/issues/26624")
def prompt_counted_in_the_length(table, prompt, eos, n_tokens, beam_width, length_penalty):
    """The length that divides log P includes the prompt, whose tokens cost nothing.

    What does a longer prompt do to your score? Did the text become any better?
    """

    def score(tokens, total, alpha):
        return total / (len(prompt) + len(tokens)) ** alpha

    return _search((table, prompt, eos, n_tokens, beam_width, length_penalty), score=score)


@misconception(of="beam_search", seen="https://github.com/huggingface/transformers/issues/8722")
def end_not_counted_in_the_length(table, prompt, eos, n_tokens, beam_width, length_penalty):
    """The log-probability of `eos` is in the sum, but `eos` is not in the length.

    A text of two words and its end is a sum of how many terms? By how many do you divide?
    """

    def score(tokens, total, alpha):
        return total / max(1, len([token for token in tokens if token != eos])) ** alpha

    return _search((table, prompt, eos, n_tokens, beam_width, length_penalty), score=score)


@misconception(of="beam_search", seen="https://github.com/awslabs/sockeye/issues/483")
def end_costs_nothing(table, prompt, eos, n_tokens, beam_width, length_penalty):
    """The log-probability of `eos` is not added, so a text may end anywhere for free.

    Of all texts, do your probabilities still sum to one? What does a text pay that ends where no text ends?
    """
    log_probs = table.log_softmax(-1)

    def score(tokens, total, alpha):
        last = [*prompt, *tokens][-2]
        cost = float(log_probs[last, eos]) if tokens[-1] == eos else 0.0
        return (total - cost) / len(tokens) ** alpha

    return _search((table, prompt, eos, n_tokens, beam_width, length_penalty), score=score)


@misconception(of="beam_search", seen="https://github.com/joeynmt/joeynmt/pull/149")
def stopped_at_the_first_end(table, prompt, eos, n_tokens, beam_width, length_penalty):
    """The search stops as soon as the best extension has ended, although a longer text may still win.

    A finished text has −0.60 per token, one in the beam −0.80 / 5. Which of them is ahead at α = 1?
    """
    log_probs = table.log_softmax(-1).tolist()
    beam, finished = [([], 0.0)], []
    for _ in range(n_tokens):
        kept = sorted(_extended(beam, log_probs, prompt), key=lambda one: -one[1])[:beam_width]
        finished += [one for one in kept if one[0][-1] == eos]
        beam = [one for one in kept if one[0][-1] != eos]
        if kept[0][0][-1] == eos:
            return _winner(finished, length_penalty)
    return _winner(finished + beam, length_penalty)


@misconception(of="beam_search")
def stopped_at_any_end(table, prompt, eos, n_tokens, beam_width, length_penalty):
    """The answer is the text that ended first, even where another in the beam or a later one scores higher.

    In the example `[0]` has ended after the first step. Which texts end later, and where does your code
    compare its score with theirs?
    """
    log_probs = table.log_softmax(-1).tolist()
    beam, finished = [([], 0.0)], []
    for _ in range(n_tokens):
        kept = sorted(_extended(beam, log_probs, prompt), key=lambda one: -one[1])[:beam_width]
        finished += [one for one in kept if one[0][-1] == eos]
        beam = [one for one in kept if one[0][-1] != eos]
        if finished:
            break
    return _winner(finished or beam, length_penalty)


def _stopped(arguments, is_enough):
    """A search that stops early; what is in the beam then competes."""
    table, prompt, eos, n_tokens, beam_width, length_penalty = arguments
    log_probs = table.log_softmax(-1).tolist()
    beam, finished = [([], 0.0)], []
    for _ in range(n_tokens):
        kept = sorted(_extended(beam, log_probs, prompt), key=lambda one: -one[1])[:beam_width]
        finished += [one for one in kept if one[0][-1] == eos]
        beam = [one for one in kept if one[0][-1] != eos]
        if is_enough(finished):
            break
    return _winner(finished + beam, length_penalty)


@misconception(of="beam_search")
def cut_short_at_any_end(table, prompt, eos, n_tokens, beam_width, length_penalty):
    """When any text has ended the search stops, and what is in the beam competes as it is, cut short.

    In the example `[0]` has ended after the first step. Has `[2]` had its second token when your search
    compares the two?
    """
    return _stopped((table, prompt, eos, n_tokens, beam_width, length_penalty), bool)


@misconception(of="beam_search")
def stopped_after_enough_ends(table, prompt, eos, n_tokens, beam_width, length_penalty):
    """The search stops when `beam_width` texts have ended, although a longer one may still win.

    Two texts have ended, and in the beam a third has more log P per token. Does the statement stop there, or
    after `n_tokens` steps?
    """

    def is_enough(finished):
        return len(finished) >= beam_width

    return _stopped((table, prompt, eos, n_tokens, beam_width, length_penalty), is_enough)


@misconception(of="beam_search")
def winner_chosen_by_log_p(table, prompt, eos, n_tokens, beam_width, length_penalty):
    """The winner is the text with the largest log P; the length divides only the score that is returned.

    Which number decides between a finished text of one token and one of five: log P, or the score? Which of
    them does your `max` compare?
    """
    tokens, total = _search(
        (table, prompt, eos, n_tokens, beam_width, length_penalty), score=lambda tokens, total, alpha: total
    )
    return tokens, _score(tokens, total, length_penalty)


@misconception(of="beam_search")
def finished_texts_take_places(table, prompt, eos, n_tokens, beam_width, length_penalty):
    """Finished texts stay in the beam and take up places, so fewer texts than `beam_width` are extended.

    One of two texts has ended. How many of the extensions of the other does the statement keep in the next
    step, and how many do you?
    """
    log_probs = table.log_softmax(-1).tolist()
    beam = [([], 0.0)]
    for _ in range(n_tokens):
        ended = [one for one in beam if one[0] and one[0][-1] == eos]
        going = [one for one in beam if not one[0] or one[0][-1] != eos]
        beam = sorted(ended + _extended(going, log_probs, prompt), key=lambda one: -one[1])[:beam_width]
    return _winner(beam, length_penalty)


@misconception(of="beam_search")
def logits_summed_for_log_probs(table, prompt, eos, n_tokens, beam_width, length_penalty):
    """The logits are summed without being normalised.

    Add a number to all logits of one row of the table. Does your score change? Does any probability?
    """
    return _search((table, prompt, eos, n_tokens, beam_width, length_penalty), normalise=False)


@misconception(of="beam_search")
def probabilities_multiplied(table, prompt, eos, n_tokens, beam_width, length_penalty):
    """The probabilities are multiplied, and a long text gets the probability 0.

    What is 0.1 to the power 400 as a float? What is its logarithm, and how else could you have got that?
    """
    probs = table.softmax(-1).tolist()
    beam, finished = [([], 1.0)], []
    for _ in range(n_tokens):
        extensions = [
            ([*tokens, token], product * q)
            for tokens, product in beam
            for token, q in enumerate(probs[[*prompt, *tokens][-1]])
        ]
        kept = sorted(extensions, key=lambda one: -one[1])[:beam_width]
        finished += [one for one in kept if one[0][-1] == eos]
        beam = [one for one in kept if one[0][-1] != eos]
    logarithms = [(tokens, math.log(q) if q > 0 else -math.inf) for tokens, q in finished + beam]
    return _winner(logarithms, length_penalty)


@misconception(of="beam_search")
def finished_texts_extended(table, prompt, eos, n_tokens, beam_width, length_penalty):
    """Texts that have ended stay in the beam and are extended beyond their end.

    What does the table say about the token after `eos`, and who needs to know? Where may `eos` stand in a
    text?
    """
    log_probs = table.log_softmax(-1).tolist()
    beam, finished = [([], 0.0)], []
    for _ in range(n_tokens):
        beam = sorted(_extended(beam, log_probs, prompt), key=lambda one: -one[1])[:beam_width]
        finished += [one for one in beam if one[0][-1] == eos]
    return _winner(finished + beam, length_penalty)


@misconception(of="beam_search")
def beam_of_one(table, prompt, eos, n_tokens, beam_width, length_penalty):
    """Only the best extension is kept at each step, whatever the width of the beam.

    How many continuations are in your beam after the first step? What can a single one never take back?
    """
    return _search((table, prompt, eos, n_tokens, beam_width, length_penalty), width=1)


@misconception(of="beam_search")
def unfinished_texts_forgotten(table, prompt, eos, n_tokens, beam_width, length_penalty):
    """Texts that are still in the beam after the last step do not compete if any other text has ended.

    In the example `[2, 1]` has not ended after two tokens. Does the statement let it win?
    """
    return _search((table, prompt, eos, n_tokens, beam_width, length_penalty), with_unfinished=False)
