"""Links that the checks once let pass."""

from autograder.proving.strangers import stranger


@stranger(of="alignment_links")
def links_of_tensors(weights):
    eos = weights.shape[1] - 1
    return [(source, target) for target, source in enumerate(weights.argmax(1)) if source != eos]
