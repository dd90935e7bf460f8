"""What goes wrong when counts are smoothed."""

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


@misconception(of="add_k_prob")
def k_in_the_denominator_alone(counts, context, token, words, k):
    """The denominator gains k for every token, but the count of the token gains nothing.

    What do you give a token that never followed? Add up your probabilities: who received the k?
    """
    followers = counts.get(context, {})
    return followers.get(token, 0) / (sum(followers.values()) + k * (len(words) + 1))


@misconception(of="add_k_prob")
def parentheses_forgotten(counts, context, token, words, k):
    """The fraction is taken first and k times V is added to it: the denominator has lost its parentheses.

    Python divides before it adds. What do you get for `2 / 4 + 4`, and what for `2 / (4 + 4)`?
    """
    followers = counts.get(context, {})
    return (followers.get(token, 0) + k) / sum(followers.values()) + k * (len(words) + 1)


@misconception(of="add_k_prob")
def endings_left_out_of_the_denominator(counts, context, token, words, k):
    """The denominator adds up the counts of the words alone; those of `</s>` are missing.

    After `("a",)` the example has the counts 3 and 1. By how many do you divide, and do your probabilities
    sum to one?
    """
    followers = counts.get(context, {})
    total = sum(followers.get(word, 0) for word in words)
    return (followers.get(token, 0) + k) / (total + k * (len(words) + 1))


@misconception(of="add_k_prob")
def zero_after_an_unseen_context(counts, context, token, words, k):
    """After a context that never occurred, every token gets the probability zero.

    Put counts of zero into the formula. What does it say by itself?
    """
    return _smoothed(counts[context], token, k, len(words) + 1) if context in counts else 0.0
