"""What goes wrong in homework 6, exercise 28: the feed-forward layer with a gate."""

import torch
from torch.nn import functional

from autograder.catalogue import misconception


def _gated(x, gate, expand, contract, *, opened=functional.silu, passed=lambda gates, wide: gates * wide):
    return passed(opened(x @ gate.T), x @ expand.T) @ contract.T


@misconception(of="gated")
def silu_on_the_other_layer(x, W_gate, W_expand, W_contract):
    """silu bends the expanded numbers, and the gate passes as it is.

    In the example, what is silu(4), and what is silu(ln 3)? Which of the two is in the answer?
    """
    return _gated(x, W_expand, W_gate, W_contract)


@misconception(of="gated")
def sigmoid_for_silu(x, W_gate, W_expand, W_contract):
    """The gate is a sigmoid, as in an LSTM, and never lets through more than there is.

    What is silu(100), and what does your gate make of 100?
    """
    return _gated(x, W_gate, W_expand, W_contract, opened=lambda a: a.sigmoid())


@misconception(of="gated")
def gelu_for_silu(x, W_gate, W_expand, W_contract):
    """The gate is bent by gelu, which is GPT-2's, not by silu.

    What is ln 3 / (1 + 1/3), and what is gelu(ln 3)?
    """
    return _gated(x, W_gate, W_expand, W_contract, opened=functional.gelu)


@misconception(of="gated")
def relu_for_silu(x, W_gate, W_expand, W_contract):
    """The gate is bent by relu, so a gate below 0 lets nothing through at all.

    In the example, which gate belongs to x = -1, and what should pass there?
    """
    return _gated(x, W_gate, W_expand, W_contract, opened=functional.relu)


@misconception(of="gated")
def gate_not_bent(x, W_gate, W_expand, W_contract):
    """The two layers are multiplied as they are, without silu.

    If a gate is at -100, how much should pass, and how much does in your layer?
    """
    return _gated(x, W_gate, W_expand, W_contract, opened=lambda a: a)


@misconception(of="gated")
def layers_added(x, W_gate, W_expand, W_contract):
    """The gate is added to the expanded numbers, not multiplied with them.

    If a gate is 0, how much of the other number passes, and how much in your layer?
    """
    return _gated(x, W_gate, W_expand, W_contract, passed=lambda gates, wide: gates + wide)


@misconception(of="gated")
def silu_of_the_product(x, W_gate, W_expand, W_contract):
    """silu is applied to the product of both layers, not to the gate alone.

    If the gate and the other number are both far below 0, is the gate open? What is their product?
    """
    bent = {"opened": lambda a: a, "passed": lambda gates, wide: functional.silu(gates * wide)}
    return _gated(x, W_gate, W_expand, W_contract, **bent)


@misconception(of="gated")
def both_layers_bent(x, W_gate, W_expand, W_contract):
    """silu bends both layers, where it should bend the gate alone.

    In the example with x = -1, the expanded number is -4. What does silu leave of it?
    """
    passed = {"passed": lambda gates, wide: gates * functional.silu(wide)}
    return _gated(x, W_gate, W_expand, W_contract, **passed)


@misconception(of="gated")
def gate_not_used(x, W_gate, W_expand, W_contract):
    """There is one wide layer, bent by silu, and the gate is not used.

    Change W_gate. Does your output change?
    """
    return _gated(x, W_expand, W_expand, W_contract, passed=lambda gates, wide: gates)


@misconception(of="gated")
def three_axes_assumed(x, W_gate, W_expand, W_contract):
    """The layer is written for a batch (B, T, D), and a single vector stops it.

    How many axes has (…, D)? Which product takes any number of them?
    """
    gate, wide = (torch.einsum("btd,fd->btf", x, W) for W in (W_gate, W_expand))
    return torch.einsum("btf,df->btd", functional.silu(gate) * wide, W_contract)


@misconception(of="gated")
def input_added(x, W_gate, W_expand, W_contract):
    """x is added to what comes out, as the block does around this layer.

    In the example with x = 1, by how much is your answer too large? Where does the statement leave the
    residual?
    """
    return x + _gated(x, W_gate, W_expand, W_contract)
