"""What goes wrong when counts are smoothed and contexts mixed."""

import math
from statistics import mean

from autograder.catalogue import misconception

# 10. add_k_prob


def _smoothed(followers, token, k, vocab_size):
    return (followers.get(token, 0) + k) / (sum(followers.values()) + k * vocab_size)


@misconception(of="add_k_prob")
def denominator_left_as_it_was(counts, context, token, words, k):
    """k is added to the count of the token but nothing to the denominator.

    Add up your probabilities over all tokens. How much more than one is it, and where did that come from?
    """
    followers = counts.get(context, {})
    return (followers.get(token, 0) + k) / (sum(followers.values()) or 1)


@misconception(of="add_k_prob")
def denominator_gains_one_k(counts, context, token, words, k):
    """The denominator gains a single k, although every token that can be predicted gained one.

    How many numerators are there after one context, and how much did they gain together?
    """
    return _smoothed(counts.get(context, {}), token, k, 1)


@misconception(of="add_k_prob")
def vocabulary_without_the_end(counts, context, token, words, k):
    """V counts the words but not `</s>`, which can be predicted too.

    Add up your probabilities, `</s>` included. How many tokens share what smoothing gives away?
    """
    return _smoothed(counts.get(context, {}), token, k, len(words))


@misconception(of="add_k_prob")
def vocabulary_with_the_beginning(counts, context, token, words, k):
    """V counts `<s>` beside the words and `</s>`, although `<s>` is never predicted.

    Add up your probabilities over the words and `</s>`. To which token did you give the rest, and when would
    it come?
    """
    return _smoothed(counts.get(context, {}), token, k, len(words) + 2)


@misconception(of="add_k_prob")
def vocabulary_of_the_text(counts, context, token, words, k):
    """V counts the different tokens that occur in `counts`, not all that the model can predict.

    A word that is in `words` but not in the text gets a probability from you. Is it among the V that you
    divide by?
    """
    occurred = {token for followers in counts.values() for token in followers}
    return _smoothed(counts.get(context, {}), token, k, len(occurred))


@misconception(of="add_k_prob")
def vocabulary_of_the_context(counts, context, token, words, k):
    """V counts the different tokens that followed this context, not all that the model can predict.

    Smoothing is for tokens that did not follow. Are they among the V that you divide by? What is your V after
    a context that never occurred?
    """
    followers = counts.get(context, {})
    return _smoothed(followers, token, k, len(followers) or 1)


@misconception(of="add_k_prob")
def always_add_one(counts, context, token, words, k):
    """One is added to every count, whatever k is.

    Call your function with k = 0.001 and k = 10. What should change?
    """
    return _smoothed(counts.get(context, {}), token, 1, len(words) + 1)


@misconception(of="add_k_prob")
def only_unseen_tokens_gain(counts, context, token, words, k):
    """Only tokens that did not follow the context gain k; the counts of the others stay as they are.

    Add up your numerators over all tokens and compare the sum with your denominator. Who pretends to have
    been seen k times more, according to the statement?
    """
    followers = counts.get(context, {})
    return (followers.get(token, 0) or k) / (sum(followers.values()) + k * (len(words) + 1))


@misconception(of="add_k_prob")
def smoothed_over_the_corpus(counts, context, token, words, k):
    """The denominator counts the tokens of the whole corpus, not those after this context.

    Change the counts after another context and call your function again. Should the probability after this
    one change?
    """
    corpus = sum(sum(followers.values()) for followers in counts.values())
    return (counts.get(context, {}).get(token, 0) + k) / (corpus + k * (len(words) + 1))


@misconception(of="add_k_prob")
def unseen_context_not_smoothed(counts, context, token, words, k):
    """A context that never occurred is looked up all the same, and Python raises KeyError.

    Smoothing is there for what was never seen. What are the counts after such a context, and what does the
    formula make of them?
    """
    return _smoothed(counts[context], token, k, len(words) + 1)


@misconception(of="add_k_prob")
def denominator_gains_v_instead_of_k_times_v(counts, context, token, words, k):
    """The denominator gains V, as if k were 1, and the numerator gains k.

    Add up your numerators over all tokens. Is the sum your denominator when k is 0.25?
    """
    followers = counts.get(context, {})
    return (followers.get(token, 0) + k) / (sum(followers.values()) + len(words) + 1)


@misconception(of="add_k_prob")
def token_that_never_followed_looked_up(counts, context, token, words, k):
    """A token that never followed the context is looked up all the same, and Python raises KeyError.

    For which tokens is smoothing made? What is their count?
    """
    followers = counts.get(context, {})
    return (followers[token] + k) / (sum(followers.values()) + k * (len(words) + 1))


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
    order 1 after orders 3 and 2 have taken their shares?
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
