"""A trigram model: relative frequencies after two words, after one and after none, interpolated."""

import torch

VOCAB_SIZE = 160


def train(tokens, mask, seconds):
    before, last, word = (tokens[:, place : tokens.shape[1] - 2 + place] for place in range(3))
    seen = ((before * VOCAB_SIZE + last) * VOCAB_SIZE + word)[mask[:, 2:]]
    trigrams, counts = seen.unique(return_counts=True)
    pairs = (tokens[:, :-1] * VOCAB_SIZE + tokens[:, 1:])[mask[:, 1:]]
    bigrams = pairs.bincount(minlength=VOCAB_SIZE**2).view(VOCAB_SIZE, VOCAB_SIZE)
    return {"trigrams": trigrams, "counts": counts, "bigrams": bigrams}


def log_probs(weights, tokens):
    bigrams, longest = weights["bigrams"].float(), torch.zeros(VOCAB_SIZE**3)
    longest[weights["trigrams"]] = weights["counts"].float()
    probs = torch.full((*tokens.shape, VOCAB_SIZE), 1 / VOCAB_SIZE)
    probs = mixed(probs, bigrams[tokens], 0.95)
    pairs = tokens[:, :-1] * VOCAB_SIZE + tokens[:, 1:]
    probs[:, 1:] = mixed(probs[:, 1:], longest.view(VOCAB_SIZE**2, VOCAB_SIZE)[pairs], 0.85)
    return probs.log()


def mixed(probs, counts, share):
    """This share of relative frequencies, the rest of `probs`; only `probs` where nothing was counted."""
    total = counts.sum(dim=-1, keepdim=True)
    return torch.where(total > 0, probs.lerp(counts / total.clamp(min=1), share), probs)
