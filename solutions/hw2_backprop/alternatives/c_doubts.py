"""Right solutions of part C of homework 2 that look nothing like the reference."""

import math

import numpy as np
import torch
from torch.nn import functional

from autograder.catalogue import alternative

from ..notebook import with_dropout


@alternative(of="numerical_gradient")
def along_unit_vectors(loss_name, x, seed):
    losses = {
        "cubic": lambda v, generator: v.pow(3).sum(),
        "with_dropout": with_dropout,
        "neighbours": lambda v, generator: (v.flatten()[1:] * v.flatten()[:-1]).sum(),
    }
    gradient = torch.zeros(x.shape, dtype=torch.float64)
    for index in np.ndindex(*x.shape):
        direction = torch.zeros_like(gradient)
        direction[index] = 1e-5
        ends = [
            losses[loss_name](x.double() + sign * direction, torch.Generator().manual_seed(seed))
            for sign in (1, -1)
        ]
        gradient[index] = (ends[0] - ends[1]) / 2e-5
    return gradient


@alternative(of="wrong_entries")
def entry_by_entry(right, left, claimed):
    verdicts = []
    for r, m, c in zip(
        right.flatten().tolist(), left.flatten().tolist(), claimed.flatten().tolist(), strict=True
    ):
        is_smooth = abs(r - m) <= 0.01 * max(abs(r), abs(m))
        verdicts.append(is_smooth and not math.isclose((r + m) / 2, c, rel_tol=1e-4))
    return torch.tensor(verdicts).reshape(right.shape)


@alternative(of="forward_and_backward")
def with_one_hot_rows(E, W, b, U, c, windows, targets):
    x = functional.one_hot(windows, E.shape[1]).to(E.dtype)  # (B, N, V)
    e = torch.einsum("dv,bnv->bnd", E, x).flatten(1)
    a = torch.addmm(b, e, W.T)
    h = 1 - 2 / (torch.exp(2 * a) + 1)
    z = torch.addmm(c, h, U.T)
    y_hat = torch.exp(z) / torch.exp(z).sum(1, keepdim=True)
    L = -y_hat.gather(1, targets[:, None]).log().sum() / len(targets)
    dz = (y_hat - functional.one_hot(targets, len(U))) / len(targets)
    dh = torch.einsum("bv,vk->bk", dz, U)
    da = dh * (1 - h) * (1 + h)
    de = torch.einsum("bk,km->bm", da, W)
    dE = torch.einsum("bnd,bnv->dv", de.unflatten(1, windows.shape[1:] + E.shape[:1]), x)
    forwards = {"e": e, "a": a, "h": h, "z": z, "y_hat": y_hat, "L": L.item()}
    return forwards | {
        "dE": dE, "de": de, "da": da, "dh": dh, "dz": dz, "db": da.sum(0), "dc": dz.sum(0),
        "dW": torch.einsum("bk,bm->km", da, e), "dU": torch.einsum("bv,bk->vk", dz, h),
    }  # fmt: skip


@alternative(of="name_the_broken_line")
def put_together():
    return "_".join(["repeated", "word", "overwritten"])
