"""Readers of texts that the checks once took for known mistakes."""

from autograder.proving.strangers import stranger


@stranger(of="best_span")
def ends_beyond_the_text(first_logits, last_logits, longest):
    n = len(last_logits)
    pairs = [
        (float(first_logits[i] + last_logits[j % n]), i, j % n)
        for i in range(len(first_logits))
        for j in range(i, i + longest)
    ]
    return max(pairs)[1:]
