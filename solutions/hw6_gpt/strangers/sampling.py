"""Filters that the checks once took for known mistakes."""

import math

import torch

from autograder.proving.strangers import stranger


@stranger(of="top_k")
def k_smallest(logits, k):
    threshold = logits.topk(k, dim=-1, largest=False).values[..., -1:]
    return logits.masked_fill(logits < threshold, -torch.inf)


@stranger(of="min_p")
def logarithm_forgotten(logits, p):
    relative = logits - logits.max(dim=-1, keepdim=True).values
    return logits.masked_fill(relative < p, -torch.inf)


@stranger(of="mirostat")
def more_surprising_kept(logits, target, learning_rate, generator):
    tokens, mus = [], [2.0 * target]
    for row in logits.double():
        surprises = -row.log_softmax(dim=-1) / math.log(2)
        kept = surprises >= mus[-1]
        kept[row.argmax()] = True
        probs = row.masked_fill(~kept, -torch.inf).softmax(dim=-1)
        token = torch.multinomial(probs, num_samples=1, generator=generator)
        mus.append(mus[-1] - learning_rate * (float(surprises[token]) - target))
        tokens.append(int(token))
    return torch.tensor(tokens), torch.tensor(mus, dtype=torch.float64)


@stranger(of="beam_search")
def one_step_too_many(table, prompt, eos, n_tokens, beam_width, length_penalty):
    return _searched(table, prompt, eos, n_tokens + 1, beam_width, length_penalty)


@stranger(of="beam_search")
def multiplied_by_the_length(table, prompt, eos, n_tokens, beam_width, length_penalty):
    return _searched(table, prompt, eos, n_tokens, beam_width, -length_penalty)


def _searched(table, prompt, eos, n_tokens, beam_width, length_penalty):
    log_probs = table.log_softmax(dim=-1).tolist()
    beam, finished = [([], 0.0)], []
    for _ in range(n_tokens):
        extensions = [
            ([*tokens, token], total + log_prob)
            for tokens, total in beam
            for token, log_prob in enumerate(log_probs[[*prompt, *tokens][-1]])
        ]
        kept = sorted(extensions, key=lambda one: -one[1])[:beam_width]
        finished += [one for one in kept if one[0][-1] == eos]
        beam = [one for one in kept if one[0][-1] != eos]
    scored = [(total / len(tokens) ** length_penalty, tokens) for tokens, total in finished + beam]
    score, tokens = max(scored, key=lambda one: one[0])
    return tokens, score
