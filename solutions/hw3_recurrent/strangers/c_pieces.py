"""Streams and gradients of pieces that the checks once let pass."""

import torch

from autograder.proving.strangers import stranger


@stranger(of="stream_batches")
def two_words_too_few(tokens, batch_size, n_steps):
    length = (len(tokens) - 2) // batch_size
    inputs, targets = (
        tokens[start : start + batch_size * length].reshape(batch_size, length) for start in (0, 1)
    )
    return list(zip(inputs.split(n_steps, 1), targets.split(n_steps, 1), strict=True))


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
