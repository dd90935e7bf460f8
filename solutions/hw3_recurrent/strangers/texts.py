"""Readers of whole texts that the checks once let pass, or let pass until hidden ones were asked."""

import torch

from autograder.proving.strangers import stranger

from ..notebook import RNN, LSTMCell


@stranger(of="RNN")
class StateNotTransposed(RNN):
    def forward(self, x, h_0=None):
        h, states = x.new_zeros(len(x), len(self.b)) if h_0 is None else h_0, []
        for x_t in x.unbind(dim=1):
            h = torch.tanh(x_t @ self.W.T + h @ self.U + self.b)
            states.append(h)
        return torch.stack(states, dim=1), h


@stranger(of="LSTMCell")
class StateBeforeNotHeard(LSTMCell):
    def forward(self, x, state):
        return super().forward(x, (torch.zeros_like(state[0]), state[1]))


@stranger(of="gradient_norms")
def constant_left_out(x, W, U, b, v):
    h, states = torch.zeros_like(b).requires_grad_(), []
    for x_t in x:
        h = torch.tanh(W @ x_t + U @ h)
        states.append(h)
    return torch.stack([gradient.norm() for gradient in torch.autograd.grad(v @ h, states)])


@stranger(of="clipped")
def clipped_beyond_one(gradients, threshold):
    length = torch.cat([gradient.flatten() for gradient in gradients.values()]).norm()
    return {
        name: gradient * (threshold / length if length > 1 else 1.0) for name, gradient in gradients.items()
    }


@stranger(of="stream_batches")
def two_words_too_few(tokens, batch_size, n_steps):
    length = (len(tokens) - 2) // batch_size
    inputs, targets = (
        tokens[start : start + batch_size * length].reshape(batch_size, length) for start in (0, 1)
    )
    return list(zip(inputs.split(n_steps, 1), targets.split(n_steps, 1), strict=True))


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


@stranger(of="piece_gradients", may_be=["state_not_detached"])
def loss_added_to_from_piece_to_piece(W, U, b, pieces, h_0):
    U, h, loss, results = U.clone().requires_grad_(), h_0, 0.0, []
    for x, weighting, is_new in pieces:
        h = torch.where(is_new[:, None], 0.0, h).detach()
        for x_t, weighting_t in zip(x.unbind(1), weighting.unbind(1), strict=True):
            h = torch.tanh(x_t @ W.T + h @ U.T + b)
            loss = loss + (weighting_t * h).sum()
        results.append((loss.detach(), torch.autograd.grad(loss, U)[0]))
    return results
