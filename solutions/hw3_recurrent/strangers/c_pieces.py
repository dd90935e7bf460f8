"""A stream that the checks once let pass."""

from autograder.proving.strangers import stranger


@stranger(of="stream_batches")
def two_words_too_few(tokens, batch_size, n_steps):
    length = (len(tokens) - 2) // batch_size
    inputs, targets = (
        tokens[start : start + batch_size * length].reshape(batch_size, length) for start in (0, 1)
    )
    return list(zip(inputs.split(n_steps, 1), targets.split(n_steps, 1), strict=True))
