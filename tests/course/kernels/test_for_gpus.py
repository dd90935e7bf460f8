"""What a GPU would run, run on the CPU: the kernels for GPUs give the numbers of the equations."""

import pytest
import torch
from torch import nn

from course.kernels import without_kernels
from course.kernels.one_product import heads_in_one_product
from course.kernels.recurrence_on_gpu import is_on_gpu, recurrence_on_gpu
from course.models import GRUCell, Linear, LSTMCell, RNNCell
from course.models.multi_head_attention import MultiHeadAttention, is_self_attention_on_gpu

T, B, D_INPUT, D = 7, 3, 5, 4
CELLS = pytest.mark.parametrize("cell_type", [RNNCell, LSTMCell, GRUCell])


class Elsewhere:
    """Stands for a tensor on a GPU."""

    is_cuda = True


def results(compute, cell, x, state):
    """What a way to compute the recurrence returns, and the gradients of everything it read."""
    hidden, last = compute(cell, x, state)
    weights = torch.arange(1, T + 1, device=x.device)[:, None, None]
    total = (hidden * weights).sum() + sum(part.square().sum() for part in last)
    return hidden, *last, *torch.autograd.grad(total, [x, *state, *cell.parameters()])


def drawn(cell_type):
    torch.manual_seed(0)
    cell = cell_type(D_INPUT, D).double()
    for parameter in cell.parameters():
        nn.init.normal_(parameter)  # a candidate's bias begins as zero, which would hide a mistake
    x = torch.randn(T, B, D_INPUT, dtype=torch.float64, requires_grad=True)
    state = tuple(
        torch.randn(B, D, dtype=torch.float64, requires_grad=True) for _ in range(cell_type.n_states)
    )
    return cell, x, state


@CELLS
def test_the_kernel_gives_the_states_and_gradients_of_our_own_steps(cell_type):
    cell, x, state = drawn(cell_type)
    ours = results(lambda cell, *given: cell.read(*given), cell, x, state)
    theirs = results(recurrence_on_gpu, cell, x, state)
    for mine, other in zip(ours, theirs, strict=True):
        torch.testing.assert_close(other, mine, rtol=1e-9, atol=1e-11)


@CELLS
def test_the_kernel_is_for_gpus_only(cell_type):
    cell, x, state = drawn(cell_type)
    assert not is_on_gpu(cell, x, state)
    assert is_on_gpu(cell, Elsewhere(), state)


@CELLS
def test_a_cell_with_other_steps_keeps_them(cell_type):
    class Otherwise(cell_type):
        def step(self, projected, state):
            return tuple(-part for part in super().step(projected, state))

    assert not is_on_gpu(Otherwise(D_INPUT, D), Elsewhere(), ())


@CELLS
def test_weights_lie_in_one_piece_in_the_order_of_pytorchs_layers(cell_type):
    from course.kernels.recurrence_on_gpu import in_one_piece

    cell, _, _ = drawn(cell_type)
    pieces = in_one_piece(cell)
    layer = {"rnn_tanh": nn.RNN, "lstm": nn.LSTM, "gru": nn.GRU}[cell.kernel](D_INPUT, D)
    assert [piece.shape for piece in pieces] == [weight.shape for weight in layer.parameters()]
    places = [piece.data_ptr() for piece in pieces]
    sizes = [8 * piece.numel() for piece in pieces]
    assert [place + size for place, size in zip(places, sizes, strict=True)][:-1] == places[1:]


@pytest.mark.skipif(not torch.cuda.is_available(), reason="runs cuDNN's kernels")
@CELLS
def test_on_a_gpu_the_kernel_is_taken_and_gives_the_numbers_of_our_own_steps(cell_type, monkeypatch):
    monkeypatch.setattr(torch.backends.cudnn, "allow_tf32", False)
    cell = cell_type(D_INPUT, D).cuda()
    x = torch.randn(T, B, D_INPUT, device="cuda", requires_grad=True)
    state = tuple(torch.randn(B, D, device="cuda", requires_grad=True) for _ in range(cell_type.n_states))
    assert is_on_gpu(cell, x, state)
    theirs = results(lambda cell, *given: cell.read(*given), cell, x, state)
    with without_kernels():
        ours = results(lambda cell, *given: cell.read(*given), cell, x, state)
    for mine, other in zip(ours, theirs, strict=True):
        torch.testing.assert_close(other, mine, rtol=1e-4, atol=1e-5)


def test_one_product_gives_what_three_give():
    torch.manual_seed(0)
    attention, x = MultiHeadAttention(6, 2).double(), torch.randn(3, 5, 6).double()
    three = attention._projected(x, x, x)
    for one, each in zip(heads_in_one_product(attention, x, x, x), three, strict=True):
        torch.testing.assert_close(one, each)


def test_one_product_is_for_one_input_on_a_gpu():
    attention, there = MultiHeadAttention(6, 2), Elsewhere()
    assert is_self_attention_on_gpu(attention, there, there, there)
    assert not is_self_attention_on_gpu(attention, there, Elsewhere(), there)
    assert not is_self_attention_on_gpu(attention, *(torch.ones(2, 5, 6),) * 3)


@pytest.mark.parametrize("other", [Linear(6, 6, bias=False), nn.Sequential(Linear(6, 6))])
def test_a_matrix_that_was_replaced_is_not_left_out(other):
    attention, there = MultiHeadAttention(6, 2), Elsewhere()
    attention.W_key = other
    assert not is_self_attention_on_gpu(attention, there, there, there)
