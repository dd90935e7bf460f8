"""What goes wrong in homework 6, exercise 24: one step of a beam search."""

import torch

from autograder.catalogue import misconception


def _best(candidates, beam_width):
    best, places = candidates.flatten().topk(min(beam_width, candidates.numel()))
    return best, places // candidates.shape[1], places % candidates.shape[1]


@misconception(of="extend_beams")
def logits_added_up(totals, logits, beam_width):
    """The logits are added to the totals as they are; they are no log-probabilities.

    Add 30 to all logits of one beginning. Has any token become more probable? And in your beam?
    """
    return _best(totals[:, None] + logits, beam_width)


@misconception(of="extend_beams")
def probabilities_added_to_logarithms(totals, logits, beam_width):
    """Probabilities are added to log-probabilities.

    The probability of a text is a product. Which operation on logarithms is a product of probabilities?
    """
    return _best(totals[:, None] + logits.softmax(-1), beam_width)


@misconception(of="extend_beams")
def beginnings_forgotten(totals, logits, beam_width):
    """What the beginnings cost so far is not counted; only the next token is.

    In the example beginning 0 is twice as probable as beginning 1. Where is that in your totals?
    """
    return _best(logits.log_softmax(-1), beam_width)


@misconception(of="extend_beams")
def one_extension_for_each_beginning(totals, logits, beam_width):
    """Every beginning is extended by its best token only, so a good beginning cannot have two successors.

    With one far better beginning, how many of the best extensions begin with it? How many does your beam
    keep?
    """
    best, tokens = (totals[:, None] + logits.log_softmax(-1)).max(-1)
    best, rows = best.topk(min(beam_width, len(best)))
    return best, rows, tokens[rows]


@misconception(of="extend_beams")
def row_and_token_exchanged(totals, logits, beam_width):
    """The place in the flat table is taken apart the wrong way: rows and tokens are exchanged.

    A row has V entries. Is entry V of the flat table in row 0 or in row 1, and in which column?
    """
    best, rows, tokens = _best(totals[:, None] + logits.log_softmax(-1), beam_width)
    return best, tokens, rows


@misconception(of="extend_beams")
def normalised_over_the_whole_beam(totals, logits, beam_width):
    """The softmax runs over the logits of all beginnings together, not over those of each.

    Do the probabilities of the tokens after beginning 0 sum to one in your code?
    """
    together = logits.flatten().log_softmax(-1).reshape(logits.shape)
    return _best(totals[:, None] + together, beam_width)


@misconception(of="extend_beams")
def divided_by_the_number_of_beginnings(totals, logits, beam_width):
    """The place in the flat table is divided by W, the number of rows; a row has V entries.

    In the example W is 2 and V is 3. In which row of the table is entry 3 of the flat one, and in which row
    by your division?
    """
    candidates = (totals[:, None] + logits.log_softmax(-1)).flatten()
    best, places = candidates.topk(min(beam_width, len(candidates)))
    return best, places // len(totals), places % logits.shape[1]


@misconception(of="extend_beams")
def beginnings_filled_in_turn(totals, logits, beam_width):
    """The best extensions of the first beginning fill the beam; the others get what room is left.

    In the example, your second extension has 4/32, and beginning 1 has one of 6/32. Which tensor did you
    search?
    """
    best, tokens = (totals[:, None] + logits.log_softmax(-1)).topk(min(beam_width, logits.shape[1]), dim=1)
    rows = torch.arange(len(totals))[:, None].expand_as(tokens)
    return tuple(each.flatten()[:beam_width] for each in (best, rows, tokens))
