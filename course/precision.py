"""In which precision a training step computes, chosen by what the device can do."""

from __future__ import annotations

import torch

Capability = tuple[int, int]  # NVIDIA's number for a generation of GPUs: (7, 5) is a T4, (9, 0) an H100

TURING_AND_VOLTA: Capability = (7, 0)  # from here on matrices are multiplied fast in float16
FEWEST_PARAMETERS = 5_000_000  # below, products are so small that casts cost more than they save
AMPERE: Capability = (8, 0)  # from here on in bfloat16, too


def step_precision(device_type: str, n_parameters: int, capability: Capability | None = None) -> torch.dtype:
    """The precision of a step's large products; parameters and their updates are float32 in any case.

    float32 without CUDA, for small models, and on GPUs before Volta. bfloat16 has the range of float32, so it
    is taken where the GPU has it. float16 has not: gradients below 6e-8 would be 0, so the loss is multiplied
    by a large number before the backward pass, and the gradients are divided by it before the step
    (Micikevicius et al. 2018).
    """
    if device_type != "cuda" or capability is None or n_parameters < FEWEST_PARAMETERS:
        return torch.float32
    if capability >= AMPERE:
        return torch.bfloat16
    return torch.float16 if capability >= TURING_AND_VOLTA else torch.float32


def capability_of(device: torch.device) -> Capability | None:
    """The generation of a CUDA device; None for any other device."""
    return torch.cuda.get_device_capability(device) if device.type == "cuda" else None
