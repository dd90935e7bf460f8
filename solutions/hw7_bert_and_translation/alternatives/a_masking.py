"""Right solutions of part A of homework 7 that look nothing like the reference."""

import numpy as np
import torch

from autograder.catalogue import alternative


@alternative(of="positions_to_predict")
def word_by_word(tokens, is_special, uniforms, fraction):
    special = {word for word, flag in enumerate(is_special.tolist()) if flag}
    rows = zip(tokens.tolist(), uniforms.tolist(), strict=True)
    asked = [[u < fraction and w not in special for w, u in zip(*row, strict=True)] for row in rows]
    return torch.tensor(asked)


@alternative(of="corrupt")
def by_writing_into_a_copy(tokens, is_asked, kinds, replacements, mask_token):
    inputs = tokens.clone()
    inputs[is_asked & (kinds < 0.8)] = mask_token
    is_replaced = is_asked & (kinds - 0.85).abs().le(0.05) & (kinds < 0.9) & (kinds >= 0.8)
    inputs[is_replaced] = replacements[is_replaced]
    return inputs


@alternative(of="masked_batch")
def by_two_coins(tokens, is_special, mask_token, generator):
    probs = torch.full(tokens.shape, 0.15).masked_fill(is_special[tokens], 0.0)
    is_asked = torch.bernoulli(probs, generator=generator).bool()
    targets = tokens.masked_fill(~is_asked, -100)
    is_hidden = torch.bernoulli(torch.full(tokens.shape, 0.8), generator=generator).bool() & is_asked
    coin = torch.bernoulli(torch.full(tokens.shape, 0.5), generator=generator).bool()
    words = torch.multinomial((~is_special).double(), tokens.numel(), True, generator=generator)
    inputs = torch.where(is_asked & ~is_hidden & coin, words.reshape(tokens.shape), tokens)
    return inputs.masked_fill(is_hidden, mask_token), targets


@alternative(of="mlm_loss")
def mlm_loss_in_float32(logits, targets):
    surprises = -logits.float().log_softmax(-1).gather(-1, targets.clamp(min=0)[..., None])[..., 0]
    return surprises[targets >= 0].mean()


@alternative(of="mlm_loss")
def by_picking_out_the_gaps(logits, targets):
    asked = targets != -100
    log_probs = torch.log_softmax(logits[asked], dim=-1)
    return -log_probs[torch.arange(len(log_probs)), targets[asked]].mean()


@alternative(of="encoder_mask")
def in_numpy(tokens, pad):
    return np.expand_dims(tokens.numpy() != pad, (1, 2))
