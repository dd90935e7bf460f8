"""The switch decides which lines are run, and the numbers agree either way."""

import pytest
import torch

from course.kernels import convolution, faster_by, without_kernels
from course.models import LSTM, Linear


@faster_by(lambda x: "kernel", where=lambda x: x > 0)
def which(x):
    """Says which of the two was run."""
    return "equation"


def steps_back(output: torch.Tensor) -> set[str]:
    """The names of all steps of the backward pass from this output."""
    names, waiting = set(), [output.grad_fn]
    while waiting:
        step = waiting.pop()
        names.add(type(step).__name__)
        waiting += [before for before, _ in step.next_functions if before is not None]
    return names


def test_the_kernel_is_used_where_it_applies_and_nowhere_else():
    assert (which(1), which(x=1), which(-1)) == ("kernel", "kernel", "equation")


def test_inside_the_block_the_equation_is_used_and_afterwards_the_kernel_again():
    with without_kernels():
        with without_kernels():
            assert which(1) == "equation"
        assert which(1) == "equation"
    assert which(1) == "kernel"


def test_an_error_inside_the_block_switches_the_kernels_on_again():
    with pytest.raises(KeyError), without_kernels():
        raise KeyError
    assert which(1) == "kernel"


def test_a_decorated_equation_keeps_its_name_and_docstring():
    assert which.__name__ == "which"
    assert which.__doc__ == "Says which of the two was run."


def test_without_kernels_an_lstm_runs_step_by_step_to_the_same_numbers():
    torch.manual_seed(0)
    network, x = LSTM(3, 4).double(), torch.randn(2, 5, 3, dtype=torch.float64)
    fast, _ = network(x)
    with without_kernels():
        step_by_step, _ = network(x)
    assert "LSTMThroughTimeBackward" in steps_back(fast)
    assert "LSTMThroughTimeBackward" not in steps_back(step_by_step)
    torch.testing.assert_close(fast, step_by_step)


def test_without_kernels_a_product_is_no_convolution_and_gives_the_same_numbers(monkeypatch):
    monkeypatch.setattr(convolution, "convolution_may_be_faster", lambda x: True)
    torch.manual_seed(0)
    layer, x = Linear(6, 5), torch.randn(convolution.FEWEST_ROWS, 6)
    by_kernel = layer(x)
    with without_kernels():
        by_equation = layer(x)
    assert "ConvolutionBackward0" in steps_back(by_kernel)
    assert "ConvolutionBackward0" not in steps_back(by_equation)
    torch.testing.assert_close(by_kernel, by_equation)


def test_the_switch_is_no_obstacle_to_compilation():
    from torch import _dynamo

    explained = _dynamo.explain(Linear(6, 5))(torch.randn(4, 6))
    assert explained.graph_break_count == 0
    assert explained.graph_count == 1
