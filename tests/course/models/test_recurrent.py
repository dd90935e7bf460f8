"""RNN, LSTM and GRU against torch.nn with the same weights, and what padding and state must not do."""

import pytest
import torch
from model_equality import assert_equal, assert_equal_gradients
from torch import nn

from course.kernels.lstm_through_time import LSTMThroughTime
from course.models import GRU, LSTM, RNN
from course.models.recurrent import LSTMCell, RNNCell

NETWORKS = [(RNN, nn.RNN), (LSTM, nn.LSTM), (GRU, nn.GRU)]
B, T, D_INPUT, D = 3, 7, 5, 4


def pair(ours, theirs, n_layers=1, is_bidirectional=False):
    reference = theirs(D_INPUT, D, n_layers, bidirectional=is_bidirectional, batch_first=True)
    network = ours(D_INPUT, D, n_layers, is_bidirectional)
    network.copy_from_torch(reference)
    return network, reference


def random_state(network):
    cells = len(network.cells)
    return tuple(torch.randn(cells, B, D) for _ in range(network.cell_type.n_states))


def as_theirs(state):
    return state if len(state) == 2 else state[0]


@pytest.mark.parametrize(("ours", "theirs"), NETWORKS)
@pytest.mark.parametrize("n_layers", [1, 3])
@pytest.mark.parametrize("is_bidirectional", [False, True])
@pytest.mark.parametrize("has_state", [False, True])
def test_outputs_states_and_gradients_equal_torch(
    precision, ours, theirs, n_layers, is_bidirectional, has_state
):
    network, reference = pair(ours, theirs, n_layers, is_bidirectional)
    x = torch.randn(B, T, D_INPUT, requires_grad=True)
    state = random_state(network) if has_state else None
    outputs, last = network(x, state)
    expected, expected_last = reference(x, None if state is None else as_theirs(state))
    expected_last = expected_last if isinstance(expected_last, tuple) else (expected_last,)
    assert_equal(outputs, expected)
    for part, expected_part in zip(last, expected_last, strict=True):
        assert_equal(part, expected_part)
    assert_equal_gradients(
        torch.cat([outputs.flatten(), last[-1].flatten()]),
        [x, *(weight for cell in network.cells for weight in (cell.W, cell.U))],
        torch.cat([expected.flatten(), expected_last[-1].flatten()]),
        [x, *(weight for weights in reference.all_weights for weight in weights[:2])],
    )


def test_the_gru_bias_gradients_equal_torch_where_there_are_two(precision):
    network, reference = pair(GRU, nn.GRU)
    x = torch.randn(B, T, D_INPUT)
    ours = torch.autograd.grad(network(x)[0].sum(), [network.cells[0].b, network.cells[0].b_candidate])
    theirs = torch.autograd.grad(reference(x)[0].sum(), [reference.bias_ih_l0, reference.bias_hh_l0])
    assert_equal(ours[0], theirs[0])
    assert_equal(ours[1], theirs[1][-D:])


@pytest.mark.parametrize(("ours", "theirs"), NETWORKS)
def test_reading_in_two_pieces_equals_reading_at_once(ours, theirs):
    network = ours(D_INPUT, D, n_layers=2)
    x = torch.randn(B, T, D_INPUT)
    whole, last = network(x)
    first_half, state = network(x[:, :3])
    second_half, last_of_pieces = network(x[:, 3:], state)
    assert_equal(torch.cat([first_half, second_half], dim=1), whole)
    for part, expected in zip(last_of_pieces, last, strict=True):
        assert_equal(part, expected)


@pytest.mark.parametrize(("ours", "theirs"), NETWORKS)
def test_padding_is_skipped_as_torch_skips_it_in_packed_sequences(precision, ours, theirs):
    network, reference = pair(ours, theirs, n_layers=2, is_bidirectional=True)
    lengths = torch.tensor([4, 7, 1])
    mask = torch.arange(T) < lengths[:, None]
    x = torch.randn(B, T, D_INPUT)
    outputs, last = network(x, mask=mask)
    packed = nn.utils.rnn.pack_padded_sequence(x, lengths, batch_first=True, enforce_sorted=False)
    expected, expected_last = reference(packed)
    expected, _ = nn.utils.rnn.pad_packed_sequence(expected, batch_first=True, total_length=T)
    assert_equal(outputs, expected)
    expected_last = expected_last if isinstance(expected_last, tuple) else (expected_last,)
    for part, expected_part in zip(last, expected_last, strict=True):
        assert_equal(part, expected_part)


@pytest.mark.parametrize("ours", [RNN, LSTM, GRU])
def test_padding_anywhere_is_as_if_it_were_not_there(precision, ours):
    network = ours(D_INPUT, D, is_bidirectional=True)
    mask = torch.tensor([[False, True, True, False, True, False, True], [False] * 7, [True] * 7])
    x, state = torch.randn(B, T, D_INPUT), random_state(network)
    outputs, last = network(x, state, mask)
    for row in range(B):
        start = tuple(part[:, row : row + 1] for part in state)
        if not mask[row].any():
            assert all(part[:, row].equal(first[:, 0]) for part, first in zip(last, start, strict=True))
            continue
        expected, expected_last = network(x[row : row + 1, mask[row]], start)
        assert_equal(outputs[row, mask[row]], expected[0])
        for part, expected_part in zip(last, expected_last, strict=True):
            assert_equal(part[:, row], expected_part[:, 0])
    assert outputs[~mask].abs().max() == 0


@pytest.mark.parametrize(("ours", "theirs"), NETWORKS)
def test_one_step_of_a_cell_equals_the_first_step_of_the_network(ours, theirs):
    network = ours(D_INPUT, D)
    x, state = torch.randn(B, T, D_INPUT), random_state(network)
    after_one_step = network.cells[0](x[:, 0], tuple(part[0] for part in state))
    assert_equal(after_one_step[0], network(x, state)[0][:, 0])


def test_the_lstm_s_written_out_backward_pass_equals_autograd_step_by_step(precision):
    cell = LSTMCell(D_INPUT, D)
    x = torch.randn(T, B, D_INPUT, requires_grad=True)
    state = tuple(torch.randn(2, B, D, requires_grad=True).unbind(0))
    fast, step_by_step = torch.cat(cell.run(x, state)), torch.cat(RNNCell.run(cell, x, state))
    wanted = [x, *state, *cell.parameters()]
    assert_equal(fast, step_by_step)
    assert_equal_gradients(fast, wanted, step_by_step, wanted)


def test_the_written_out_backward_pass_agrees_with_finite_differences():
    shapes = [(4, 2, 12), (2, 3), (2, 3), (12, 3)]  # projected (T, B, 4D), h_0, c_0, U
    inputs = [torch.randn(shape, dtype=torch.float64, requires_grad=True) for shape in shapes]
    assert torch.autograd.gradcheck(LSTMThroughTime.apply, inputs)


@pytest.mark.parametrize("ours", [RNN, LSTM, GRU])
def test_mixed_precision_reads_as_full_precision_does_to_three_digits(ours):
    network = ours(D_INPUT, D, n_layers=2)
    x = torch.randn(B, T, D_INPUT)
    with torch.autocast("cpu", torch.bfloat16):
        outputs, _ = network(x)
    outputs.float().sum().backward()
    assert (outputs - network(x)[0]).abs().max() < 2e-2


def test_a_new_lstm_remembers_because_its_forget_bias_is_one():
    cell = LSTMCell(D_INPUT, D)
    assert (cell.b[D : 2 * D] == 1).all()
    assert (cell.b[:D].abs() < 1).all()


@pytest.mark.parametrize("ours", [RNN, LSTM, GRU])
def test_sequences_of_a_batch_do_not_see_each_other(ours):
    network = ours(D_INPUT, D, n_layers=2, is_bidirectional=True)
    x = torch.randn(B, T, D_INPUT)
    order = torch.tensor([2, 0, 1])
    assert_equal(network(x[order])[0], network(x)[0][order])


def test_a_state_of_the_wrong_shape_is_refused_with_both_shapes(as_students_run_it):
    with pytest.raises(ValueError, match=r"expected 2 tensor\(s\) of shape \(1, 3, 4\).*got \[\(3, 4\)\]"):
        LSTM(D_INPUT, D)(torch.randn(B, T, D_INPUT), (torch.zeros(B, D),))


def test_a_mask_of_the_wrong_shape_is_refused_with_both_shapes(as_students_run_it):
    with pytest.raises(ValueError, match=r"mask: expected shape \(3, 7\) \(B, T\), got \(3, 6\)"):
        GRU(D_INPUT, D)(torch.randn(B, T, D_INPUT), mask=torch.ones(B, T - 1, dtype=torch.bool))
