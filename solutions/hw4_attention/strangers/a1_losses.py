"""Losses of padded sentences that the checks once let pass."""

import torch

from autograder.proving.strangers import stranger


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
