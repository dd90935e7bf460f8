"""What goes wrong in the loss of padded sentences and when a decoder runs free."""

import torch
from torch import nn

from autograder.catalogue import misconception

# 4. sequence_loss

LOSS_VALUES = {"the_example_costs_four_thirds_of_ln_2", "other_batches_have_their_loss"}


def _surprises(logits, targets):
    return -logits.log_softmax(dim=-1).gather(-1, targets[..., None])[..., 0]


def _is_real(targets, lengths):
    return torch.arange(targets.shape[1]) < lengths[:, None]


@misconception(
    of="sequence_loss",
    fails=LOSS_VALUES
    | {
        "padding_costs_nothing",
        "wider_batches_cost_the_same",
        "every_word_counts_once",
        "eos_is_learned_though_it_looks_like_padding",
    },
    seen="https://github.com/huggingface/transformers/issues/2759",
)
def mean_over_all_positions(logits, targets, lengths, pad):
    """The mean runs over all positions, those of padding included.

    How many numbers does your mean average in the example, and how many words are there? What does the model
    learn from being right about padding?
    """
    return _surprises(logits, targets).mean()


@misconception(
    of="sequence_loss",
    fails=LOSS_VALUES
    | {
        "wider_batches_cost_the_same",
        "every_word_counts_once",
        "eos_is_learned_though_it_looks_like_padding",
    },
    seen="https://github.com/tensorflow/docs/pull/1460",
)
def masked_sum_over_all_positions(logits, targets, lengths, pad):
    """The surprises of padding are set to 0, but the sum is divided by the number of all positions.

    With two more places of padding, which of your two numbers changes, the one above or the one below the
    fraction line?
    """
    return (_surprises(logits, targets) * _is_real(targets, lengths)).mean()


@misconception(
    of="sequence_loss",
    fails=LOSS_VALUES | {"every_word_counts_once"},
    seen="https://github.com/pytorch/tutorials/issues/663",
)
def mean_of_step_means(logits, targets, lengths, pad):
    """First a mean is taken at each step, then the mean of these: the words of long sentences weigh more.

    At the last step of a batch only the longest sentence is left. How much does its word count in your loss,
    and how much does each word of the first step?
    """
    is_real = _is_real(targets, lengths)
    per_step = (_surprises(logits, targets) * is_real).sum(0) / is_real.sum(0).clamp(min=1)
    return per_step[is_real.any(0)].mean()


@misconception(of="sequence_loss", fails=LOSS_VALUES | {"every_word_counts_once"})
def mean_of_sentence_means(logits, targets, lengths, pad):
    """First a mean is taken for each sentence, then the mean of these: words of short sentences weigh more.

    In a batch of one sentence of one word and one of nine, what share of your loss does the one word have?
    """
    per_sentence = (_surprises(logits, targets) * _is_real(targets, lengths)).sum(1) / lengths
    return per_sentence.mean()


@misconception(
    of="sequence_loss",
    fails=LOSS_VALUES
    | {
        "padding_costs_nothing",
        "wider_batches_cost_the_same",
        "every_word_counts_once",
        "eos_is_learned_though_it_looks_like_padding",
    },
    seen="https://github.com/ml-explore/mlx-lm/pull/1697",
)
def one_pad_too_many(logits, targets, lengths, pad):
    """The mask is one place too long: behind every EOS one word of padding is learned.

    Write down the mask for a sentence of length 2 in a batch of width 4. How many places are True?
    """
    surprises = _surprises(logits, targets)
    return surprises[torch.arange(targets.shape[1]) <= lengths[:, None]].mean()


@misconception(
    of="sequence_loss",
    fails={"eos_is_learned_though_it_looks_like_padding", "other_batches_have_their_loss"},
    seen="https://github.com/open-jarvis/OpenJarvis/pull/521",
)
def eos_masked_with_the_padding(logits, targets, lengths, pad):
    """Every target that equals the padding word is masked, and where EOS is the same word, EOS is masked too.

    What does your mask say about the last word of a sentence when `eos == pad`? Which argument tells a real
    word from padding without looking at the word?
    """
    surprises = _surprises(logits, targets)
    return surprises[targets != pad].mean()


@misconception(
    of="sequence_loss",
    fails=LOSS_VALUES | {"every_word_counts_once", "eos_is_learned_though_it_looks_like_padding"},
)
def sum_instead_of_mean(logits, targets, lengths, pad):
    """The surprises are added up and not divided, so that a larger batch takes a larger step.

    What happens to your loss when every sentence stands twice in the batch?
    """
    return _surprises(logits, targets)[_is_real(targets, lengths)].sum()


# 5. greedy_decode

WORDS = {
    "the_shorter_row_waits_in_eos",
    "each_word_is_read_before_the_next",
    "never_more_than_max_length_words",
    "nothing_is_dropped_while_decoding",
    "long_translations_fit_into_memory",
    "other_tables_are_decoded",
}
LOG_PROBS = {"the_log_probs_are_those_of_the_words_said"}


class _TableDecoder(nn.Module):
    """As in the notebook."""

    def __init__(self, jumps, logits):
        super().__init__()
        self.jumps, self.logits, self.n_kept = jumps, nn.Parameter(logits.clone()), 0

    def forward(self, state, tokens):
        self.n_kept += torch.is_grad_enabled()
        if self.n_kept > 8:
            raise MemoryError("the steps kept for a backward pass do not fit into memory")
        state = self.jumps[state, tokens]
        logits = self.logits[state]
        kept = 2.0 * (torch.arange(logits.shape[-1]) % 2 == 1)
        return state, logits * kept if self.training else logits


def _decoded(
    jumps, logits, state, bos, eos, max_length, *, training=False, until=torch.all, fed=None, fill=True
):
    """Greedy decoding with the places in which it is gone wrong left open."""
    decoder = _TableDecoder(jumps, logits).train(training)
    token, has_ended = torch.full_like(state, bos), torch.zeros(len(state), dtype=torch.bool)
    total, written = torch.zeros(len(state), dtype=torch.float64), []
    while len(written) < max_length and not until(has_ended):
        state, logits = decoder(state, token if fed is None else torch.full_like(token, fed))
        best = logits.log_softmax(-1).max(-1)
        counts_not = has_ended if fill else torch.zeros_like(has_ended)
        total = total + best.values.masked_fill(counts_not, 0.0)
        token = best.indices.masked_fill(counts_not, eos)
        has_ended = has_ended | (token == eos)
        written.append(token)
    return torch.stack(written, dim=1), total


@misconception(of="greedy_decode", fails={"the_shorter_row_waits_in_eos", "other_tables_are_decoded"})
@torch.no_grad()
def batch_stopped_at_the_first_eos(jumps, logits, state, bos, eos, max_length):
    """The whole batch stops as soon as one row has said EOS, and the others are cut off.

    In the example, what has the first row said when the second is done? Which rows must have ended before the
    loop may?
    """
    return _decoded(jumps, logits, state, bos, eos, max_length, until=torch.any)


@misconception(of="greedy_decode", fails={"the_shorter_row_waits_in_eos", "other_tables_are_decoded"})
@torch.no_grad()
def words_behind_eos_kept(jumps, logits, state, bos, eos, max_length):
    """A row that has ended goes on talking while it waits for the others, and its words are kept.

    Print the row that ends first. What stands behind its EOS, and who said that?
    """
    return _decoded(jumps, logits, state, bos, eos, max_length, fill=False)


@misconception(of="greedy_decode", fails={"never_more_than_max_length_words", "other_tables_are_decoded"})
@torch.no_grad()
def one_word_more_than_allowed(jumps, logits, state, bos, eos, max_length):
    """One word more than `max_length` may be written.

    With `max_length` = 1, how many rounds does your loop make? Count the words, not the comparisons.
    """
    return _decoded(jumps, logits, state, bos, eos, max_length + 1)


@misconception(
    of="greedy_decode",
    fails=(WORDS | LOG_PROBS) - {"the_shorter_row_waits_in_eos"},
)
@torch.no_grad()
def bos_counted_as_a_word(jumps, logits, state, bos, eos, max_length):
    """BOS is counted among the `max_length` words, so one word too few may be written.

    Which words of yours are counted when the loop begins? Is BOS one that the decoder has said?
    """
    return _decoded(jumps, logits, state, bos, eos, max_length - 1)


@misconception(
    of="greedy_decode",
    fails={"nothing_is_dropped_while_decoding", "other_tables_are_decoded"} | LOG_PROBS,
)
@torch.no_grad()
def left_in_training_mode(jumps, logits, state, bos, eos, max_length):
    """The decoder is still in training mode, and its dropout takes half of the words away.

    In which mode is a module that has just been made? Which words can your decoder never say?
    """
    return _decoded(jumps, logits, state, bos, eos, max_length, training=True)


@misconception(of="greedy_decode", fails={"long_translations_fit_into_memory", "other_tables_are_decoded"})
def graph_for_gradients_kept(jumps, logits, state, bos, eos, max_length):
    """The graph for gradients is built and kept through all steps, though nobody will go backwards.

    What is kept of every step as long as gradients are on, and who would use it? What turns them off?
    """
    return _decoded(jumps, logits, state, bos, eos, max_length)


@misconception(of="greedy_decode", fails=WORDS | LOG_PROBS)
@torch.no_grad()
def own_word_never_read(jumps, logits, state, bos, eos, max_length):
    """Every step reads BOS again, so the decoder never learns what it has said.

    Print what you feed in the second round. Which line should have changed it?
    """
    return _decoded(jumps, logits, state, bos, eos, max_length, fed=bos)


@misconception(of="greedy_decode", fails={"other_tables_are_decoded"} | LOG_PROBS)
@torch.no_grad()
def eos_not_scored(jumps, logits, state, bos, eos, max_length):
    """The log-probability of EOS is left out, as if ending cost nothing.

    In the example, which word does `log_probs[1]` belong to? What is your sum for a row that says EOS at
    once?
    """
    tokens, total = _decoded(jumps, logits, state, bos, eos, max_length)
    decoder, token, ends = _TableDecoder(jumps, logits).eval(), torch.full_like(state, bos), 0.0
    has_ended = torch.zeros(len(state), dtype=torch.bool)
    for said in tokens.unbind(dim=1):
        state, step_logits = decoder(state, token)
        is_end = (said == eos) & ~has_ended
        ends = ends + step_logits.log_softmax(-1)[:, eos] * is_end
        token, has_ended = said, has_ended | is_end
    return tokens, total - ends
