"""Decoders, losses and tables that the checks once let pass."""

from itertools import pairwise

import torch
from torch import nn

from autograder.proving.strangers import stranger

from ..notebook import AttentionDecoder, TableDecoder, bottleneck_table, small_translator


@stranger(of="greedy_decode")
def one_for_eos(jumps, logits, state, bos, eos, max_length):
    return _decoded(jumps, logits, state, bos, 1, max_length)


def _decoded(jumps, logits, state, bos, eos, max_length):
    decoder, token = TableDecoder(jumps, logits).eval(), torch.full_like(state, bos)
    has_ended, total, written = torch.zeros(len(state), dtype=torch.bool), 0.0, []
    with torch.no_grad():
        while len(written) < max_length and not has_ended.all():
            state, scores = decoder(state, token)
            best = scores.log_softmax(dim=-1).max(dim=-1)
            total = total + best.values.masked_fill(has_ended, 0.0)
            token = best.indices.masked_fill(has_ended, eos)
            has_ended |= token == eos
            written.append(token)
    return torch.stack(written, dim=1), total


@stranger(of="exact_match")
def words_in_any_order(free, forced, targets, eos):
    def sentence(row):
        words = row.tolist()
        return [*sorted(words[: words.index(eos)]), eos] if eos in words else words

    pairs = zip(free, targets, strict=True)
    return sum(sentence(own) == sentence(right) for own, right in pairs) / len(targets)


@stranger(of="sequence_loss")
def padding_times_zero(logits, targets, lengths, pad):
    is_real = torch.arange(targets.shape[1]) < lengths[:, None]
    losses = -logits.log_softmax(-1).gather(-1, targets[..., None])[..., 0]
    return (losses * is_real).sum() / is_real.sum()


@stranger(of="sequence_loss")
def logarithms_of_bare_exponentials(logits, targets, lengths, pad):
    is_real = torch.arange(targets.shape[1]) < lengths[:, None]
    exponentials = logits[is_real].exp()
    probabilities = exponentials / exponentials.sum(-1, keepdim=True)
    return -probabilities.gather(1, targets[is_real][:, None]).log().mean()


@stranger(of="bottleneck_table")
def neighbouring_runs_compared(runs, trained_lengths):
    sizes = [run["n_parameters"] for run in runs]
    if any(one > 1.05 * other for one, other in pairwise(sizes)):
        raise ValueError("models of unequal size")
    return _table(runs, runs[:1], trained_lengths)


@stranger(of="bottleneck_table")
def first_size_of_each_model_compared(runs, trained_lengths):
    return _table(runs, [*{run["model"]: run for run in runs[::-1]}.values()], trained_lengths)


@stranger(of="bottleneck_table")
def sizes_compared_at_new_lengths_only(runs, trained_lengths):
    new = [run for run in runs if run["length"] not in trained_lengths]
    return _table(new, new, trained_lengths)


@stranger(of="bottleneck_table")
def lengths_between_the_trained_ones_left_out(runs, trained_lengths):
    return _table(runs, runs, range(min(trained_lengths), max(trained_lengths) + 1))


@stranger(of="bottleneck_table")
def last_trained_length_reported(runs, trained_lengths):
    return _table(runs, runs, trained_lengths[:-1])


@stranger(of="bottleneck_table")
def last_run_not_measured(runs, trained_lengths):
    return _table(runs, runs[:-1], trained_lengths)


def _table(runs, measured, left_out):
    sizes = [run["n_parameters"] for run in measured]
    if max(sizes) > 1.05 * min(sizes):
        raise ValueError("models of unequal size")
    found = {}
    for run in runs:
        if run["length"] not in left_out:
            found.setdefault((run["model"], run["length"]), []).append(run["exact_match"])
    return {cell: sum(shares) / len(shares) for cell, shares in found.items() if len(shares) > 1}


@stranger(of="alignment_links")
def links_of_tensors(weights):
    eos = weights.shape[1] - 1
    return [(source, target) for target, source in enumerate(weights.argmax(1)) if source != eos]


@stranger(of="attend")
def padding_at_minus_a_hundred(query, key, value, mask):
    weights = (query @ key.mT).masked_fill(~mask[:, None], -100.0).softmax(dim=-1)
    return weights @ value, weights


@stranger(of="bilinear_scores")
def scores_without_their_sign(query, key, W):
    return (query @ W @ key.mT).abs()


@stranger(of="weights_after", may_be={"steep_steps_not_shortened"})
def each_number_of_the_gradient_clipped(weights, batches, learning_rate):
    model = small_translator(weights)
    for source, target in batches:
        log_probs = model(source, target[:, :-1]).gather(-1, target[:, 1:, None])[..., 0]
        model.zero_grad()
        (-log_probs[target[:, 1:] != 0].mean()).backward()
        nn.utils.clip_grad_value_(model.parameters(), 1.0)
        torch.optim.SGD(model.parameters(), lr=learning_rate).step()
    return model.state_dict()


@stranger(of="AttentionDecoder")
class PaddingAtMinusAHundred(AttentionDecoder):
    at_padding = -100.0

    def forward(self, state, inputs, memory, mask):
        output, logits, weights = torch.zeros_like(state), [], []
        for x in self.embedding(inputs).unbind(dim=1):
            state = self.cell(torch.cat([x, output], dim=-1), state)
            scores = (memory @ (state @ self.W)[:, :, None])[:, :, 0]
            weights.append(scores.masked_fill(~mask, self.at_padding).softmax(dim=-1))
            context = (weights[-1][:, None] @ memory)[:, 0]
            output = torch.tanh(self.combine(torch.cat([state, context], dim=-1)))
            logits.append(self.output(output))
        return torch.stack(logits, dim=1), torch.stack(weights, dim=1)


@stranger(of="AttentionDecoder")
class PaddingAtMinusTenThousand(PaddingAtMinusAHundred):
    at_padding = -10_000.0


@stranger(of="additive_scores")
def ones_for_the_matrix_of_the_query(query, key, W_query, W_key, v):
    from_query = query @ torch.ones_like(W_query).T
    return torch.tanh(from_query[:, :, None] + (key @ W_key.T)[:, None]) @ v


@stranger(of="bottleneck_table")
def twice_as_large_is_compared(runs, trained_lengths):
    sizes = [run["n_parameters"] for run in runs]
    if max(sizes) > 2.1 * min(sizes):
        raise ValueError("the models are of unequal size")
    return bottleneck_table([run | {"n_parameters": 1} for run in runs], trained_lengths)


@stranger(of="attend")
def padding_filled_with_infinity(query, key, value, mask):
    scores = (query @ key.transpose(1, 2)).masked_fill(~mask[:, None, :], torch.inf)
    weights = scores.softmax(dim=-1)
    return weights @ value, weights


@stranger(of="attention_weights", may_be=["finite_number_at_the_padding"])
def minus_a_thousand_at_the_padding(scores, mask):
    return scores.masked_fill(~mask[:, None], -1000.0).softmax(dim=-1)
