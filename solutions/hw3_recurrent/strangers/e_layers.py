"""Readers of whole texts that the checks once let pass until hidden ones were asked."""

import torch

from autograder.proving.strangers import stranger


@stranger(of="text_vectors", may_be=["forward_half_from_the_padding"])
def one_place_too_far_but_never_outside(states, n_words):
    d_hidden, last = states.shape[2] // 2, n_words.clamp(max=states.shape[1] - 1)
    there = states[torch.arange(len(states)), last, :d_hidden]
    return torch.cat([there, states[:, 0, d_hidden:]], dim=-1)


@stranger(of="text_vectors", may_be=["places_of_all_texts_for_each"])
def no_place_is_gathered(states, n_words):
    forwards, backwards = states.chunk(2, dim=-1)
    places = (n_words - 1).view(-1, 1, 1).expand(-1, 0, forwards.shape[-1])
    return torch.cat([forwards.gather(1, places).squeeze(1), backwards[:, 0]], dim=-1)
