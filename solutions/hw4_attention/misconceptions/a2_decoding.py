"""What goes wrong when a decoder runs free."""

import torch

from autograder.catalogue import misconception

from ..notebook import TableDecoder

# 5. greedy_decode


def _decoded(
    jumps,
    logits,
    state,
    bos,
    eos,
    max_length,
    *,
    kind=TableDecoder,
    training=False,
    until=torch.all,
    fed=None,
    fill=True,
    pays=False,
):
    """Greedy decoding with the places in which it is gone wrong left open."""
    decoder = kind(jumps, logits).train(training)
    token, has_ended = torch.full_like(state, bos), torch.zeros(len(state), dtype=torch.bool)
    total, written = torch.zeros(len(state), dtype=torch.float64), []
    while len(written) < max_length and not until(has_ended):
        state, logits = decoder(state, token if fed is None else torch.full_like(token, fed))
        log_probs = logits.log_softmax(-1)
        token = log_probs.argmax(-1).masked_fill(has_ended & fill, eos)
        of_token = log_probs.gather(1, token[:, None])[:, 0]
        total = total + of_token.masked_fill(has_ended & (not pays), 0.0)
        has_ended = has_ended | (token == eos)
        written.append(token)
    return torch.stack(written, dim=1), total


@misconception(of="greedy_decode")
@torch.no_grad()
def batch_stopped_at_the_first_eos(jumps, logits, state, bos, eos, max_length):
    """The whole batch stops as soon as one row has said EOS, and the others are cut off.

    In the example, what has the first row said when the second is done? Which rows must have ended before the
    loop may?
    """
    return _decoded(jumps, logits, state, bos, eos, max_length, until=torch.any)


@misconception(of="greedy_decode")
@torch.no_grad()
def words_behind_eos_kept(jumps, logits, state, bos, eos, max_length):
    """A row that has ended goes on talking while it waits for the others, and its words are kept.

    Print the row that ends first. What stands behind its EOS, and who said that?
    """
    return _decoded(jumps, logits, state, bos, eos, max_length, fill=False)


@misconception(of="greedy_decode")
@torch.no_grad()
def words_behind_eos_kept_and_scored(jumps, logits, state, bos, eos, max_length):
    """A row that has ended goes on talking while it waits for the others; its words are kept, and paid for.

    Print the row that ends first. What stands behind its EOS, and who said that? Is its sum the one that it
    has alone?
    """
    return _decoded(jumps, logits, state, bos, eos, max_length, fill=False, pays=True)


@misconception(of="greedy_decode")
@torch.no_grad()
def one_word_more_than_allowed(jumps, logits, state, bos, eos, max_length):
    """One word more than `max_length` may be written.

    With `max_length` = 1, how many rounds does your loop make? Count the words, not the comparisons.
    """
    return _decoded(jumps, logits, state, bos, eos, max_length + 1)


@misconception(of="greedy_decode")
@torch.no_grad()
def bos_counted_as_a_word(jumps, logits, state, bos, eos, max_length):
    """One word too few may be written, as when BOS is counted among the `max_length` words.

    Which words of yours are counted when the loop begins? Is BOS one that the decoder has said?
    """
    return _decoded(jumps, logits, state, bos, eos, max_length - 1)


@misconception(of="greedy_decode")
@torch.no_grad()
def left_in_training_mode(jumps, logits, state, bos, eos, max_length):
    """The decoder is still in training mode, and its dropout takes half of the words away.

    In which mode is a module that has just been made? Which words can your decoder never say?
    """
    return _decoded(jumps, logits, state, bos, eos, max_length, training=True)


@misconception(of="greedy_decode")
def graph_for_gradients_kept(jumps, logits, state, bos, eos, max_length):
    """The graph for gradients is built and kept through all steps, though nobody will go backwards.

    What is kept of every step as long as gradients are on, and who would use it? What turns them off?
    """
    return _decoded(jumps, logits, state, bos, eos, max_length)


@misconception(of="greedy_decode")
@torch.no_grad()
def own_word_never_read(jumps, logits, state, bos, eos, max_length):
    """Every step reads BOS again, so the decoder never learns what it has said.

    Print what you feed in the second round. Which line should have changed it?
    """
    return _decoded(jumps, logits, state, bos, eos, max_length, fed=bos)


@misconception(of="greedy_decode")
@torch.no_grad()
def zero_for_bos(jumps, logits, state, bos, eos, max_length):
    """The word 0 is read first, whatever `bos` is.

    Print the first word that your decoder reads when `bos` is 8. Which line has chosen it?
    """
    return _decoded(jumps, logits, state, 0, eos, max_length)


@misconception(of="greedy_decode")
@torch.no_grad()
def eos_not_scored(jumps, logits, state, bos, eos, max_length):
    """The log-probability of EOS is left out, as if ending cost nothing.

    In the example, which word does `log_probs[1]` belong to? What is your sum for a row that says EOS at
    once?
    """
    tokens, total = _decoded(jumps, logits, state, bos, eos, max_length)
    decoder, token, ends = TableDecoder(jumps, logits).eval(), torch.full_like(state, bos), 0.0
    has_ended = torch.zeros(len(state), dtype=torch.bool)
    for said in tokens.unbind(dim=1):
        state, step_logits = decoder(state, token)
        is_end = (said == eos) & ~has_ended
        ends = ends + step_logits.log_softmax(-1)[:, eos] * is_end
        token, has_ended = said, has_ended | is_end
    return tokens, total - ends


@misconception(of="greedy_decode")
@torch.no_grad()
def waiting_scored_too(jumps, logits, state, bos, eos, max_length):
    """A row that has ended still pays for words while it waits for the others.

    Let two rows write together, one of which ends at once. Is its sum the one that it has alone? Which of its
    words do you add?
    """
    decoder, has_ended = TableDecoder(jumps, logits).eval(), torch.zeros(len(state), dtype=torch.bool)
    token, total, written = torch.full_like(state, bos), 0.0, []
    while len(written) < max_length and not has_ended.all():
        state, step_logits = decoder(state, token)
        best = step_logits.log_softmax(-1).max(-1)
        total, token = total + best.values, best.indices.masked_fill(has_ended, eos)
        has_ended = has_ended | (token == eos)
        written.append(token)
    return torch.stack(written, dim=1), total


@misconception(of="greedy_decode")
@torch.no_grad()
def filling_scored_too(jumps, logits, state, bos, eos, max_length):
    """A row that has ended still pays for each EOS with which it is filled up.

    Let two rows write together, one of which ends at once. Is its sum the one that it has alone? How many EOS
    do you add?
    """
    return _decoded(jumps, logits, state, bos, eos, max_length, pays=True)


@misconception(of="greedy_decode")
@torch.no_grad()
def always_to_the_greatest_length(jumps, logits, state, bos, eos, max_length):
    """The loop always makes `max_length` rounds, although every row has ended long before.

    In the example, how wide is your table, and which of its columns hold nothing but EOS?
    """
    return _decoded(jumps, logits, state, bos, eos, max_length, until=lambda has_ended: False)


@misconception(of="greedy_decode")
@torch.no_grad()
def waiting_for_one_common_eos(jumps, logits, state, bos, eos, max_length):
    """No row is remembered to have ended, so a row goes on after its EOS while another is still writing.

    One row says EOS in the first round and the other in the third. In which round does your loop stop?
    """
    decoder, token = TableDecoder(jumps, logits).eval(), torch.full_like(state, bos)
    total, written = torch.zeros(len(state), dtype=torch.float64), []
    while len(written) < max_length and not (written and (token == eos).all()):
        state, step_logits = decoder(state, token)
        best = step_logits.log_softmax(-1).max(-1)
        total, token = total + best.values, best.indices
        written.append(token)
    return torch.stack(written, dim=1), total


class _StaysWhereItIs(TableDecoder):
    def forward(self, state, tokens):
        _, logits = super().forward(state, tokens)
        return state, logits


@misconception(of="greedy_decode")
@torch.no_grad()
def place_not_carried_on(jumps, logits, state, bos, eos, max_length):
    """Every step starts from the first states again: what the decoder returns as its new state is dropped.

    Print `state` in each round. Which line should change it?
    """
    return _decoded(jumps, logits, state, bos, eos, max_length, kind=_StaysWhereItIs)


@misconception(of="greedy_decode")
@torch.no_grad()
def logits_summed_up(jumps, logits, state, bos, eos, max_length):
    """The logits of the words are added up, not their log-probabilities.

    Can the logarithm of a probability be above 0? What must happen to a row of logits first?
    """
    decoder, token = TableDecoder(jumps, logits).eval(), torch.full_like(state, bos)
    tokens, _ = _decoded(jumps, logits, state, bos, eos, max_length)
    total, has_ended = torch.zeros(len(state), dtype=torch.float64), torch.zeros(len(state), dtype=torch.bool)
    for said in tokens.unbind(dim=1):
        state, step_logits = decoder(state, token)
        total = total + step_logits.gather(1, said[:, None])[:, 0].masked_fill(has_ended, 0.0)
        token, has_ended = said, has_ended | (said == eos)
    return tokens, total


@misconception(of="greedy_decode")
@torch.no_grad()
def bos_among_the_words(jumps, logits, state, bos, eos, max_length):
    """BOS stands in front of every row, although the decoder has not said it.

    What is the first word of your rows? Was it read or said?
    """
    tokens, total = _decoded(jumps, logits, state, bos, eos, max_length)
    return torch.cat([torch.full((len(tokens), 1), bos), tokens], dim=1), total
