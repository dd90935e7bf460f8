"""What goes wrong when the estimates of several orders are mixed."""

import math
from statistics import mean

from autograder.catalogue import misconception

# 11. interpolated_prob


def _estimate(counts, context, token):
    """The relative frequency of a token after a context, None if the context never occurred."""
    followers = counts.get(context, {})
    total = sum(followers.values())
    return followers.get(token, 0) / total if total else None


def _estimates(counts_by_order, context, token):
    lengths = range(len(counts_by_order))
    return [
        _estimate(counts, context[len(context) - length :], token)
        for counts, length in zip(counts_by_order, lengths, strict=True)
    ]


def _mixed(prob, estimates, weights):
    for estimate, weight in zip(estimates, weights, strict=True):
        if estimate is not None:
            prob = weight * estimate + (1 - weight) * prob
    return prob


@misconception(of="interpolated_prob", seen="https://github.com/nltk/nltk/issues/367")
def backed_off_without_discount(counts_by_order, weights, context, token, words):
    """The longest context that knows the token answers alone, so the probabilities exceed one in sum.

    After one context, add up your probabilities over all tokens. The seen tokens take everything there; from
    whom do the unseen ones get theirs?
    """
    for estimate in reversed(_estimates(counts_by_order, context, token)):
        if estimate:
            return estimate
    return 1 / (len(words) + 1)


@misconception(of="interpolated_prob")
def unseen_context_keeps_its_weight(counts_by_order, weights, context, token, words):
    """A context that was never seen counts as a prediction of zero, and its weight is lost.

    Add up your probabilities after a context that never occurred. What is missing, and to whom does the
    statement give it?
    """
    estimates = [estimate or 0.0 for estimate in _estimates(counts_by_order, context, token)]
    return _mixed(1 / (len(words) + 1), estimates, weights)


@misconception(of="interpolated_prob")
def weights_the_other_way_round(counts_by_order, weights, context, token, words):
    """The weight is given to the shorter context and the rest to the longer one.

    With every weight 1, whom should your function listen to? Try it on the example.
    """
    opposite = [1 - weight for weight in weights]
    return _mixed(1 / (len(words) + 1), _estimates(counts_by_order, context, token), opposite)


@misconception(of="interpolated_prob")
def context_cut_at_the_wrong_end(counts_by_order, weights, context, token, words):
    """Shorter contexts keep the first tokens of the context, which are farthest from the predicted one.

    The context is `("the", "cat")` and a verb is to be predicted. Which one word would you keep, and which
    one does your slice keep?
    """
    estimates = [_estimate(counts, context[:m], token) for m, counts in enumerate(counts_by_order)]
    return _mixed(1 / (len(words) + 1), estimates, weights)


@misconception(of="interpolated_prob")
def empty_context_never_reached(counts_by_order, weights, context, token, words):
    """`context[-m:]` is the whole context for m = 0, so the order without context is never asked.

    Print `("x", "y")[-2:]`, `[-1:]` and `[-0:]`. Which of the three surprises you?
    """
    estimates = [_estimate(counts, context[-m:], token) for m, counts in enumerate(counts_by_order)]
    return _mixed(1 / (len(words) + 1), estimates, weights)


@misconception(of="interpolated_prob")
def nothing_below_the_unigram(counts_by_order, weights, context, token, words):
    """The mixture starts from zero and not from the uniform distribution, so an unseen word gets nothing.

    What does your function give a word that is in `words` but in no table? What do all your probabilities sum
    to?
    """
    return _mixed(0.0, _estimates(counts_by_order, context, token), weights)


@misconception(of="interpolated_prob")
def uniform_without_the_end(counts_by_order, weights, context, token, words):
    """The uniform distribution is taken over the words alone; `</s>` is missing from V.

    Set every weight to zero and add up your probabilities over the words and `</s>`. How many tokens share
    the one?
    """
    return _mixed(1 / len(words), _estimates(counts_by_order, context, token), weights)


@misconception(of="interpolated_prob")
def estimates_added_with_their_weights(counts_by_order, weights, context, token, words):
    """The weighted estimates are added up; the (1 - weight) that the longer ones leave over is missing.

    With weights 0.9, 0.7 and 0.4, what do your probabilities sum to? In the formula, how much is left for
    order 1 after orders 3 and 2 have taken their parts?
    """
    estimates = _estimates(counts_by_order, context, token)
    mixed = [weight * (estimate or 0.0) for weight, estimate in zip(weights, estimates, strict=True)]
    return sum(mixed) + math.prod(1 - weight for weight in weights) / (len(words) + 1)


@misconception(of="interpolated_prob")
def orders_averaged_without_weights(counts_by_order, weights, context, token, words):
    """The orders are averaged with equal weights; `weights` plays no role.

    Set every weight to zero, then to one. Which two answers does the formula give, and which do you?
    """
    estimates = [e for e in _estimates(counts_by_order, context, token) if e is not None]
    return mean([1 / (len(words) + 1), *estimates])


@misconception(of="interpolated_prob")
def weights_in_reverse_order(counts_by_order, weights, context, token, words):
    """The weights are read from the wrong end: the longest context gets the first weight.

    Which order does `weights[0]` belong to? Follow the example with its weights 1/2 and 3/4 through your
    code.
    """
    return _mixed(1 / (len(words) + 1), _estimates(counts_by_order, context, token), weights[::-1])


@misconception(of="interpolated_prob")
def estimate_of_zero_passed_over(counts_by_order, weights, context, token, words):
    """Where the token never followed, the order is passed over as if its context had never occurred.

    If a context was seen a hundred times and the token never after it, has the context nothing to say?
    """
    estimates = [estimate or None for estimate in _estimates(counts_by_order, context, token)]
    return _mixed(1 / (len(words) + 1), estimates, weights)


@misconception(of="interpolated_prob")
def shorter_contexts_keep_their_full_weight(counts_by_order, weights, context, token, words):
    """What the shorter contexts say is added whole, without the factor 1 - λ.

    Add up your probabilities over all tokens. Which two parts of each step must together weigh one?
    """
    prob = 1 / (len(words) + 1)
    for estimate, weight in zip(_estimates(counts_by_order, context, token), weights, strict=True):
        prob += weight * (estimate or 0.0)
    return prob


@misconception(of="interpolated_prob")
def unseen_context_votes_for_uniform(counts_by_order, weights, context, token, words):
    """A context that was never seen says "all tokens alike", with its full weight.

    `mle_probs` answers so after an unseen context. What does the statement say of $P_m$ there, and whom does
    the uniform distribution push aside?
    """
    vocab_size = len(words) + 1
    estimates = [
        1 / vocab_size if estimate is None else estimate
        for estimate in _estimates(counts_by_order, context, token)
    ]
    return _mixed(1 / vocab_size, estimates, weights)


@misconception(of="interpolated_prob")
def one_order_too_few(counts_by_order, weights, context, token, words):
    """The mixture ends one order early: the longest context is never asked.

    Which values does your m take for n = 2? For the example you answer 7/24. Which of the P is that?
    """
    estimates = _estimates(counts_by_order, context, token)[:-1]
    return _mixed(1 / (len(words) + 1), estimates, weights[:-1])


@misconception(of="interpolated_prob")
def starts_from_the_unigram(counts_by_order, weights, context, token, words):
    """The mixture starts from the relative frequencies of order 1, without the uniform distribution.

    What do you give a word that is in `words` but in no table? What is $P_1$ in the statement made of?
    """
    estimates = _estimates(counts_by_order, context, token)
    return _mixed(estimates[0] or 0.0, estimates[1:], weights[1:])


@misconception(of="interpolated_prob")
def uniform_below_every_order(counts_by_order, weights, context, token, words):
    """Every order is mixed with the uniform distribution, and so the orders below it are lost.

    Change the counts of order 1 and call your function with n = 2. Should the answer change, and does it?
    """
    uniform = 1 / (len(words) + 1)
    prob = uniform
    for estimate, weight in zip(_estimates(counts_by_order, context, token), weights, strict=True):
        if estimate is not None:
            prob = weight * estimate + (1 - weight) * uniform
    return prob


@misconception(of="interpolated_prob")
def weights_taken_as_shares_of_the_whole(counts_by_order, weights, context, token, words):
    """Each order gets its weight as a fraction of the whole, and the uniform distribution what is left.

    The weights of the example are 1/2 and 3/4. What is left of one? In the formula, of what is
    $\\lambda_1$ a fraction?
    """
    estimates = _estimates(counts_by_order, context, token)
    mixed = sum(weight * (estimate or 0.0) for weight, estimate in zip(weights, estimates, strict=True))
    return mixed + (1 - sum(weights)) / (len(words) + 1)


@misconception(of="interpolated_prob")
def longest_seen_context_alone(counts_by_order, weights, context, token, words):
    """The longest context that was seen answers alone; `weights` plays no role.

    That is backing off, not mixing. Set every weight to zero: what does the formula say, and what do you?
    """
    seen = [e for e in _estimates(counts_by_order, context, token) if e is not None]
    return seen[-1] if seen else 1 / (len(words) + 1)


@misconception(of="interpolated_prob")
def mixed_from_the_longest_down(counts_by_order, weights, context, token, words):
    """The orders are mixed in from the longest to the shortest, so the shortest has the last word.

    Set every weight to one. Which order does the formula listen to, and which one do you?
    """
    estimates = _estimates(counts_by_order, context, token)
    return _mixed(1 / (len(words) + 1), estimates[::-1], weights[::-1])
