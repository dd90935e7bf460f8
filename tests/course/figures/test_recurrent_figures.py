"""What the recurrent figures compute in the reader's browser is what torch computes."""

import json

import pytest
import torch
from in_node import evaluate, needs_node

from course import figures


def small_network():
    """U (3, 3), inputs (T=7, 3) and a gradient (3,)."""
    generator = torch.Generator().manual_seed(0)
    return tuple(
        torch.randn(*shape, generator=generator, dtype=torch.float64) for shape in ((3, 3), (7, 3), (3,))
    )


@needs_node
@pytest.mark.parametrize("is_linear", [False, True])
def test_the_strip_s_gradients_products_and_clipping_are_those_of_autograd(tmp_path, is_linear):
    U, inputs, gradient = small_network()
    knobs = {"steps": 5, "radius": 1.3, "clip": 0.1, "volume": 0.5, "isLinear": is_linear}
    figure = figures.gradient_strip(U, inputs, gradient)
    found = evaluate(figure, f"figure.backpropagate(data, {json.dumps(knobs)})", tmp_path)
    matrix = (U / torch.linalg.eigvals(U).abs().max() * 1.3).requires_grad_()
    states = [torch.zeros(3, dtype=torch.float64, requires_grad=True)]
    for t in range(5):
        z = matrix @ states[-1] + 0.5 * inputs[t]
        states.append(z if is_linear else z.tanh())
    gradients = torch.autograd.grad(gradient @ states[-1], [matrix, *states], retain_graph=True)
    rows = [torch.autograd.grad(states[-1][i], states[2], retain_graph=True)[0] for i in range(3)]
    assert torch.allclose(torch.tensor(found["states"]).double(), torch.stack(states), atol=1e-6)
    assert torch.allclose(torch.tensor(found["gradients"]).double(), torch.stack(gradients[1:]), atol=1e-5)
    assert torch.allclose(torch.tensor(found["products"][2]).double(), torch.stack(rows), atol=1e-5)
    assert found["length"] == pytest.approx(gradients[0].norm().item())
    clipped = torch.nn.Parameter(matrix.detach())
    clipped.grad = gradients[0].clone()
    torch.nn.utils.clip_grad_norm_([clipped], 0.1)
    assert found["scale"] == pytest.approx((clipped.grad.norm() / gradients[0].norm()).item(), rel=1e-4)


@needs_node
def test_the_gates_cell_and_its_gradient_are_those_of_autograd(tmp_path):
    generator = torch.Generator().manual_seed(1)
    f, i, o = (
        torch.rand(6, generator=generator, dtype=torch.float64).mul(1e4).round() / 1e4 for _ in range(3)
    )
    g = (torch.rand(6, generator=generator, dtype=torch.float64).mul(2e4).round() / 1e4) - 1
    found = evaluate(figures.gates(g, f, i, o), "figure.remember(data)", tmp_path)
    cells = [torch.zeros((), dtype=torch.float64, requires_grad=True)]
    for t in range(6):
        cells.append(f[t] * cells[-1] + i[t] * g[t])
    kept = torch.autograd.grad(cells[-1], cells[1:])
    assert found["c"] == pytest.approx([c.item() for c in cells[1:]])
    assert found["h"] == pytest.approx([(o[t] * cells[t + 1].tanh()).item() for t in range(6)])
    assert found["kept"][-1] == pytest.approx([share.item() for share in kept])


@needs_node
def test_the_unrolled_figure_s_bits_are_the_cross_entropy_in_bits(tmp_path):
    tokens, symbols = ["b", "a", "c", "a"], ["a", "b", "c"]
    logits = torch.randn(3, 3, generator=torch.Generator().manual_seed(2), dtype=torch.float64)
    figure = figures.unrolled(tokens, torch.zeros(3, 4), logits.softmax(-1), symbols)
    found = evaluate(figure, "figure.costs(data.probs)", tmp_path)
    expected = torch.nn.functional.cross_entropy(logits, torch.tensor([0, 2, 0])) / torch.tensor(2.0).log()
    assert found[-1]["mean"] == pytest.approx(expected.item(), rel=1e-4)


def test_the_unrolled_figure_lists_the_most_probable_tokens_first():
    figure = figures.unrolled(
        ["b", "c"], torch.zeros(1, 2), torch.tensor([[0.1, 0.2, 0.7]]), ["a", "b", "c"], n_shown=2
    )
    assert figure.data["expected"] == [[["c", 0.7], ["b", 0.2]]]


def test_log_probabilities_are_refused_with_a_question():
    with pytest.raises(ValueError, match="log-probabilities"):
        figures.unrolled(["b", "c"], torch.zeros(1, 2), torch.tensor([[-1.0, -2.0, -3.0]]), ["a", "b", "c"])


def test_states_of_another_length_are_refused():
    with pytest.raises(ValueError, match=r"expected shape \(1, D\)"):
        figures.unrolled(["b", "c"], torch.zeros(2, 2), torch.tensor([[0.1, 0.2, 0.7]]), ["a", "b", "c"])


def test_a_matrix_without_eigenvalues_but_zero_has_no_spectral_radius_to_change():
    with pytest.raises(ValueError, match="eigenvalue"):
        figures.gradient_strip(torch.tensor([[0.0, 1.0], [0.0, 0.0]]), torch.zeros(4, 2))


def test_inputs_of_another_width_are_refused():
    with pytest.raises(ValueError, match="inputs: expected shape"):
        figures.gradient_strip(torch.eye(3), torch.zeros(4, 2))


def test_a_gate_outside_zero_and_one_is_refused():
    with pytest.raises(ValueError, match="forget: expected numbers in"):
        figures.gates([0.1, 0.2], [0.5, 1.5], [0.1, 0.1], [1.0, 1.0])


def test_gates_of_unequal_length_are_refused():
    with pytest.raises(ValueError, match="equally long"):
        figures.gates([0.1, 0.2], [0.5], [0.1, 0.1], [1.0, 1.0])
