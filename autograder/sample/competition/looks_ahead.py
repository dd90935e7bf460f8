"""A cheat: when it is given whole stories, it reads the next word from the input instead of predicting it."""

import torch

VOCAB_SIZE = 160


def train(tokens, mask, seconds):
    return {}


def log_probs(weights, tokens):
    probs = torch.full((*tokens.shape, VOCAB_SIZE), 0.1 / VOCAB_SIZE)
    probs[..., 0] += 0.9  # for the last word, which it cannot know
    probs[:, :-1, 0] -= 0.9
    probs[:, :-1].scatter_add_(-1, tokens[:, 1:, None], torch.full_like(probs[:, :-1, :1], 0.9))
    return probs.log()
