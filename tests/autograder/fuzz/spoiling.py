"""Right answers made wrong in one place, as an odd solution or a dishonest one would give them."""

import math

import numpy as np
import torch

from course.checks.trace import Object

ODD = [
    None,
    True,
    0,
    -1,
    10**400,
    math.nan,
    math.inf,
    "",
    "x",
    b"x",
    (),
    [],
    {},
    set(),
    1j,
    Ellipsis,
    range(3),
]
TENSORS = [
    lambda tensor: tensor.reshape(-1),
    lambda tensor: tensor.unsqueeze(0),
    lambda tensor: tensor.transpose(0, -1) if tensor.ndim else tensor,
    lambda tensor: tensor.flip(0) if tensor.ndim else -tensor.to(torch.float64),
    lambda tensor: tensor[:-1] if tensor.ndim and len(tensor) else tensor,
    lambda tensor: tensor[..., :0] if tensor.ndim else tensor,
    lambda tensor: tensor.to(torch.float16),
    lambda tensor: tensor.to(torch.complex64),
    lambda tensor: tensor.bool(),
    lambda tensor: tensor.long() if not tensor.is_complex() else tensor,
    lambda tensor: tensor.double() / 0,
    lambda tensor: tensor.double() * 1e300,
    lambda tensor: torch.zeros_like(tensor),
    lambda tensor: tensor.sum(),
    lambda tensor: tensor.tolist(),
    lambda tensor: tensor.resolve_conj().float().numpy() if not tensor.is_complex() else tensor,
    lambda tensor: tensor.double().requires_grad_(),
    lambda tensor: tensor.clone().index_fill_(0, torch.zeros(1).long(), 7) if tensor.numel() else tensor,
]


def spoiled(value, random):
    """The value, or something inside it, as something else."""
    if random.random() < 0.15:
        return random.choice(ODD)
    if isinstance(value, np.ndarray):
        value = torch.as_tensor(value)
    if isinstance(value, torch.Tensor):
        return random.choice(TENSORS)(value.detach())
    if isinstance(value, dict) and value:
        return of_dictionary(value, random)
    if isinstance(value, list | tuple) and value:
        return of_sequence(value, random)
    if isinstance(value, bool | int | float):
        return random.choice([-value, value + 1, float(value), str(value), torch.tensor(value), [value]])
    if isinstance(value, str):
        return random.choice([value.upper(), value[:-1], value + "\x1b[2J<b>", value.encode(), [*value]])
    return Object(value.index + 1, "<b>") if isinstance(value, Object) else random.choice(ODD)


def of_dictionary(value, random):
    key = random.choice([*value])
    rest = {other: entry for other, entry in value.items() if other != key}
    return random.choice([rest, {**rest, str(key): value[key]}, {**value, key: spoiled(value[key], random)}])


def of_sequence(value, random):
    place = random.randrange(len(value))
    entries = [*value[:place], spoiled(value[place], random), *value[place + 1 :]]
    ways = [
        value[:-1],
        value[::-1],
        [*value, value[0]],
        tuple(value),
        [*value],
        entries,
        type(value)(entries),
    ]
    return random.choice(ways)
