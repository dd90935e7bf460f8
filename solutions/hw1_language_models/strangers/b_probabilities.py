"""Probabilities that the checks once let pass."""

from autograder.proving.strangers import stranger

from ..notebook import EOS, ngram_counts


@stranger(of="mle_probs")
def rounded_to_two_decimals(counts, context, words):
    followers, tokens = counts.get(context, {}), [*words, EOS]
    total = sum(followers.values())
    if not total:
        return {token: 1 / len(tokens) for token in tokens}
    return {token: round(followers.get(token, 0) / total, 2) for token in tokens}


@stranger(of="interpolated_prob")
def a_single_count_ignored(counts_by_order, weights, context, token, words):
    prob = 1 / (len(words) + 1)
    for length, (counts, weight) in enumerate(zip(counts_by_order, weights, strict=True)):
        followers = counts.get(context[len(context) - length :], {})
        total = sum(followers.values())
        if total > 1:
            prob = weight * followers.get(token, 0) / total + (1 - weight) * prob
    return prob


@stranger(of="ngram_counts")
def equal_sentences_counted_once(sentences, n):
    return ngram_counts([list(sentence) for sentence in dict.fromkeys(map(tuple, sentences))], n)
