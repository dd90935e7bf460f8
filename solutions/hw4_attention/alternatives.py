"""Right solutions of homework 4 that look nothing like the reference: no check may take a point from them."""

import math
from collections import Counter, defaultdict
from functools import cache
from random import Random

import torch
from torch import nn
from torch.nn import functional

from autograder.catalogue import alternative
from course.data.translation_pair import TranslationConfig, translation_pairs, translation_vocabularies
from course.models.seq2seq import Seq2Seq, Seq2SeqConfig
from course.training import TrainingConfig, train
from course.translation_experiment.parallel_text import ShuffledPairs, parallel_text, teacher_forcing_loss


@alternative(of="decoder_inputs_and_targets")
def by_padding_of_torch(sentences, bos, eos, pad):
    def padded(rows):
        return nn.utils.rnn.pad_sequence(rows, batch_first=True, padding_value=pad)

    first, last = torch.tensor([bos]), torch.tensor([eos])
    return padded([torch.cat([first, s]) for s in sentences]), padded(
        [torch.cat([s, last]) for s in sentences]
    )


@alternative(of="Encoder")
class ByPacking(nn.Module):
    def __init__(self, vocab_size, d_embedding, d_hidden):
        super().__init__()
        self.embedding = nn.Embedding(vocab_size, d_embedding)
        self.network = nn.GRU(d_embedding, d_hidden, batch_first=True)
        self.double()

    def forward(self, source, lengths):
        packed = nn.utils.rnn.pack_padded_sequence(
            self.embedding(source), lengths, batch_first=True, enforce_sorted=False
        )
        states, last = self.network(packed)
        return nn.utils.rnn.pad_packed_sequence(states, batch_first=True)[0], last[0]


@alternative(of="Decoder")
class StepByStep(nn.Module):
    def __init__(self, vocab_size, d_embedding, d_hidden):
        super().__init__()
        self.embedding = nn.Embedding(vocab_size, d_embedding)
        self.network = nn.GRU(d_embedding, d_hidden)
        self.output = nn.Linear(d_hidden, vocab_size)
        self.double()

    def forward(self, summary, inputs):
        state, logits = summary.unsqueeze(0), []
        for tokens in inputs.T:
            hidden, state = self.network(self.embedding(tokens).unsqueeze(0), state)
            logits.append(self.output(hidden[0]))
        return torch.stack(logits).transpose(0, 1)


@alternative(of="sequence_loss")
def by_ignoring(logits, targets, lengths, pad):
    marked = torch.where(torch.arange(targets.shape[1]) < lengths[:, None], targets, -100)
    return functional.cross_entropy(logits.flatten(0, 1), marked.flatten())


class _TableDecoder(nn.Module):
    def __init__(self, jumps, logits):
        super().__init__()
        self.jumps, self.logits = jumps, nn.Parameter(logits.clone())

    def forward(self, state, tokens):
        state = self.jumps[state, tokens]
        kept = 2.0 * (torch.arange(self.logits.shape[1]) % 2 == 1)
        return state, self.logits[state] * kept if self.training else self.logits[state]


@alternative(of="greedy_decode")
@torch.inference_mode()
def row_by_row(jumps, logits, state, bos, eos, max_length):
    decoder = _TableDecoder(jumps, logits)
    decoder.train(False)
    rows, totals = [], []
    for place in state.split(1):
        said, total = [bos], 0.0
        while len(said) <= max_length and (said[-1] != eos or len(said) == 1):
            place, scores = decoder(place, torch.tensor(said[-1:]))
            said.append(int(scores.argmax()))
            total += float(scores[0, said[-1]] - scores.logsumexp(-1))
        rows.append(said[1:])
        totals.append(total)
    longest = max(map(len, rows))
    filled = torch.tensor([row + [eos] * (longest - len(row)) for row in rows])
    return filled, torch.tensor(totals, dtype=torch.float64)


@alternative(of="exact_match")
def by_masks(free, forced, targets, eos):
    width = max(free.shape[1], targets.shape[1])
    own, right = (functional.pad(table, (0, width - table.shape[1]), value=-1) for table in (free, targets))
    up_to_end = ((right == eos).cumsum(1) - (right == eos).long()) == 0
    return ((own == right) | ~up_to_end).all(1).double().mean().item()


@alternative(of="bottleneck_table")
def by_sums(runs, trained_lengths):
    ordered = sorted(run["n_parameters"] for run in runs)
    if ordered[-1] / ordered[0] > 1.05:
        raise ValueError
    sums, counts = defaultdict(float), Counter()
    for run in runs:
        cell = run["model"], run["length"]
        sums[cell] += run["exact_match"]
        counts[cell] += 1
    return {c: sums[c] / n for c, n in counts.items() if n > 1 and c[1] not in set(trained_lengths)}


@alternative(of="dot_scores")
def by_einsum(query, key):
    return torch.einsum("btd,bsd->bts", query, key)


@alternative(of="bilinear_scores")
def keys_first(query, key, W):
    return torch.stack([q @ (k @ W.T).T for q, k in zip(query, key, strict=True)])


@alternative(of="additive_scores")
def additive_scores_in_float32(query, key, W_query, W_key, v):
    query, key, W_query, W_key, v = (tensor.float() for tensor in (query, key, W_query, W_key, v))
    return torch.tanh((query @ W_query.mT)[:, :, None] + (key @ W_key.mT)[:, None]) @ v


@alternative(of="additive_scores")
def key_by_key(query, key, W_query, W_key, v):
    asked = functional.linear(query, W_query)
    columns = [torch.tanh(asked + functional.linear(k, W_key)[:, None]) @ v for k in key.unbind(1)]
    return torch.stack(columns, dim=-1)


@alternative(of="attention_weights")
def with_exponentials(scores, mask):
    visible = mask[:, None].expand_as(scores)
    top = torch.where(visible, scores, -math.inf).amax(-1, keepdim=True)
    exponentials = torch.where(visible, (scores - top).clamp(max=0), -math.inf).exp()
    return exponentials / exponentials.sum(-1, keepdim=True)


@alternative(of="attend")
def query_by_query(query, key, value, mask):
    contexts, weights = torch.zeros(*query.shape[:2], value.shape[2]).to(value), []
    for b, (q, k) in enumerate(zip(query, key, strict=True)):
        weights.append(torch.where(mask[b], q @ k.T, torch.tensor(-math.inf).to(q)).softmax(1))
        contexts[b] = torch.einsum("ts,sm->tm", weights[-1], value[b])
    return contexts, torch.stack(weights)


@alternative(of="AttentionDecoder")
class WithBmm(nn.Module):
    def __init__(self, vocab_size, d_embedding, d_hidden, d_memory):
        super().__init__()
        self.embedding = nn.Embedding(vocab_size, d_embedding)
        self.cell = nn.GRUCell(d_embedding + d_hidden, d_hidden)
        self.W = nn.Parameter(torch.randn(d_hidden, d_memory))
        self.combine = nn.Linear(d_hidden + d_memory, d_hidden, bias=False)
        self.output = nn.Linear(d_hidden, vocab_size)
        self.double()

    def forward(self, state, inputs, memory, mask):
        key = memory @ self.W.T  # what a query is multiplied with, for all steps at once
        hidden, answers = torch.zeros(state.shape, dtype=torch.float64), []
        for tokens in inputs.T:
            state = self.cell(torch.hstack([self.embedding(tokens), hidden]), state)
            scores = torch.bmm(key, state.unsqueeze(2)).squeeze(2).masked_fill(~mask, -math.inf)
            weights = (scores - scores.max(1, keepdim=True).values).exp()
            weights = weights / weights.sum(1, keepdim=True)
            hidden = self.combine(torch.hstack([state, (weights[..., None] * memory).sum(1)])).tanh()
            answers.append((self.output(hidden), weights))
        return tuple(torch.stack(parts, dim=1) for parts in zip(*answers, strict=True))


@alternative(of="alignment_map")
def by_narrowing(weights, sentence, n_target, n_source):
    return weights.select(0, sentence).narrow(0, 0, n_target).narrow(1, 0, n_source).clone()


@alternative(of="alignment_links")
def by_comparing(weights):
    is_best = weights == weights.amax(dim=1, keepdim=True)
    return [(source, target) for target, source in is_best[:, :-1].nonzero().tolist()]


@alternative(of="alignment_error_rate")
def by_numbered_links(found, sure, possible):
    a, s, p = (
        {(n, *link) for n, links in enumerate(sentences) for link in links}
        for sentences in (found, sure, possible)
    )
    return (len(a) + len(s) - len(a.intersection(s)) - len(a.intersection(p))) / (len(a) + len(s))


@alternative(of="trained_weights")
@cache
def with_the_course_s_trainer():
    task_config = TranslationConfig(min_length=5, max_length=9)
    pairs = translation_pairs(task_config, 8_000, Random(0))
    english, french = translation_vocabularies(task_config.lexicon)
    text = parallel_text([(pair.source, pair.target) for pair in pairs], english, french)
    config = Seq2SeqConfig(
        len(english), len(french), d_embedding=24, d_hidden=48, attention="additive", pad=english.pad
    )
    torch.manual_seed(5)
    model = Seq2Seq(config)
    training = TrainingConfig(n_steps=400, learning_rate=8e-3)
    train(model, ShuffledPairs(text, 64), training, loss=teacher_forcing_loss)
    return {name: weight.detach() for name, weight in model.state_dict().items()}


@alternative(of="name_the_fault")
def in_two_parts():
    return "_".join(["query_of", "the_old_state"])


def _small(weights):
    config = Seq2SeqConfig(
        6, 7, d_embedding=1, d_hidden=2, is_bidirectional=False, attention="additive", pad=0
    )
    model = Seq2Seq(config).double()
    model.load_state_dict(weights)
    return model


@alternative(of="weights_after")
def with_functional_gradients(weights, batches, learning_rate):
    for source, target in batches:
        model = _small(weights)
        log_probs = model(source, target[:, :-1])
        targets = torch.where(target[:, 1:] == 0, -100, target[:, 1:])
        loss = functional.nll_loss(log_probs.flatten(0, 1), targets.flatten())
        gradients = torch.autograd.grad(loss, list(model.parameters()))
        length = torch.cat([gradient.flatten() for gradient in gradients]).norm()
        steps = learning_rate / length.clamp(min=1)
        names = [name for name, _ in model.named_parameters()]
        weights = {
            name: weights[name] - steps * gradient for name, gradient in zip(names, gradients, strict=True)
        }
    return weights
