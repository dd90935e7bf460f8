"""Beam searches that the checks once took for known mistakes or let pass."""

from autograder.proving.strangers import stranger

from ..notebook import beam_search


@stranger(of="beam_search")
def one_step_too_many(table, prompt, eos, n_tokens, beam_width, length_penalty):
    return beam_search(table, prompt, eos, n_tokens + 1, beam_width, length_penalty)


@stranger(of="beam_search")
def multiplied_by_the_length(table, prompt, eos, n_tokens, beam_width, length_penalty):
    return beam_search(table, prompt, eos, n_tokens, beam_width, -length_penalty)


@stranger(of="extend_beams")
def totals_along_the_tokens(totals, logits, beam_width):
    is_square = len(totals) == logits.shape[1]
    candidates = ((totals[None] if is_square else totals[:, None]) + logits.log_softmax(-1)).flatten()
    best, places = candidates.topk(min(beam_width, len(candidates)))
    return best, places // logits.shape[1], places % logits.shape[1]
