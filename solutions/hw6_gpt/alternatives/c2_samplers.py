"""Right samplers of homework 6 that look nothing like the reference."""

import math

import numpy as np
import torch
from torch.nn import functional

from autograder.catalogue import alternative


@alternative(of="temperature")
def temperature_in_float32(logits, t):
    if t == 0:
        best = functional.one_hot(logits.argmax(-1), logits.shape[-1]).bool()
        return torch.where(best, 0.0, -torch.inf)
    return logits.float() / t


@alternative(of="temperature")
def by_powers_of_probabilities(logits, t):
    if t == 0:
        best = torch.nn.functional.one_hot(logits.argmax(-1), logits.shape[-1]).bool()
        return logits.masked_fill(~best, -math.inf)
    return logits.log_softmax(-1) / t


@alternative(of="top_k")
def in_numpy(logits, k):
    values = logits.numpy().copy()
    threshold = np.sort(values, axis=-1)[..., -k, None]
    values[values < threshold] = -np.inf
    return torch.from_numpy(values)


@alternative(of="top_p")
def token_after_token(logits, p):
    flat = logits.reshape(-1, logits.shape[-1]).clone()
    for row in flat:
        probs, mass = row.softmax(-1), 0.0
        order = sorted(range(len(row)), key=lambda v, probs=probs: (-float(probs[v]), v))
        for token in order:
            if mass >= p:
                row[token] = -math.inf
            mass += float(probs[token])
    return flat.reshape(logits.shape)


@alternative(of="min_p")
def by_ratios(logits, p):
    probs = logits.softmax(-1)
    return torch.where(probs / probs.amax(-1, keepdim=True) >= p, logits, torch.full_like(logits, -math.inf))


@alternative(of="combined_filters")
def by_joining_filters(logits, t, k, p, least):
    kept = in_numpy(logits, k).isfinite() & token_after_token(logits, p).isfinite()
    return by_powers_of_probabilities(logits.where(kept & by_ratios(logits, least).isfinite(), -math.inf), t)


@alternative(of="repetition_penalty")
def token_by_token(logits, history, penalty):
    penalised = logits.clone()
    for row, tokens in enumerate(history.tolist()):
        for token in set(tokens):
            z = logits[row, token]
            penalised[row, token] = z / penalty if z > 0 else z * penalty
    return penalised


@alternative(of="mirostat")
def in_nats_throughout(logits, target, learning_rate, generator):
    mu, tokens, mus = 2 * target * math.log(2), [], [2 * target]
    for log_probs in logits.log_softmax(-1):
        left = log_probs.where(-log_probs <= max(mu, float(-log_probs.max())), -math.inf).exp()
        tokens += torch.multinomial(left / left.sum(), 1, generator=generator).tolist()
        mu -= learning_rate * (-float(log_probs[tokens[-1]]) - target * math.log(2))
        mus.append(mu / math.log(2))
    return torch.tensor(tokens), torch.tensor(mus, dtype=torch.float64)
