"""Rules that hold for every exercise: what is handed in stays as it is, and gradients flow back."""

import pytest
import torch

from course.checks import LocalLink, Mismatch, assert_close, assert_differentiable, assert_dtype, examine
from course.checks.claim import parameters


def rms_norm_in_place(x, gain, epsilon):
    x /= (x.square().mean(-1, keepdim=True) + epsilon).sqrt()
    return gain * x


def vectors_have_length_one(rms_norm):
    """Vectors have length one."""
    answer = rms_norm(torch.tensor([[3.0, 4.0]]).double(), torch.ones(2).double(), 0.0)
    assert_close(answer.square().mean(), 1.0)


def found(claim, exempt=(), **things):
    return examine(claim, LocalLink(things), exempt=exempt, written=things.get)


def test_a_right_answer_that_changed_its_argument_fails_and_the_argument_is_named():
    finding = found(vectors_have_length_one, rms_norm=rms_norm_in_place)
    assert finding.result == "failed"
    assert finding.message == "`rms_norm` changed its argument 1, `x`, in place."


def test_an_exercise_may_say_that_its_arguments_are_changed():
    assert found(vectors_have_length_one, ("in_place",), rms_norm=rms_norm_in_place).result == "passed"


def test_a_decorated_claim_is_about_what_the_claim_inside_is_about():
    assert parameters(torch.no_grad()(lambda f, *, draw: None)) == ["f", "draw"]
    claim = torch.no_grad()(vectors_have_length_one)
    assert found(claim, ("in_place",), rms_norm=rms_norm_in_place).result == "passed"


def test_an_argument_of_a_function_without_a_signature_has_its_number():
    finding = found(vectors_have_length_one, rms_norm=lambda *given: rms_norm_in_place(*given))
    assert finding.message == "`rms_norm` changed its argument 1 in place."


def test_the_change_is_said_before_what_else_is_wrong():
    finding = found(vectors_have_length_one, rms_norm=lambda x, g, e: 2 * rms_norm_in_place(x, g, e))
    assert finding.message.startswith(
        "`rms_norm` changed its argument 1, `x`, in place. `answer.square().mean()`: 4 where 1 is expected."
    )


def test_the_change_of_an_argument_after_the_first_difference_is_not_said_before_it():
    def twice(f):
        """Doubled, twice."""
        for size in (2, 3):
            assert_close(f(torch.ones(size)), 2 * torch.ones(size))

    def changes_the_second(x):
        return 3 * (x if len(x) == 2 else x.mul_(1.5))

    finding = found(twice, f=changes_the_second)
    assert finding.message == "every value is 3 where 2 is expected"
    assert finding.trace.events[1].outcome.changed is not None
    assert found(twice, f=lambda x: x.mul_(3)).message.startswith(
        "`f` changed its argument 1, `x`, in place."
    )


class Counter(torch.nn.Module):
    def forward(self, x, *, words):
        words.append("another")
        return x


def words_are_counted(Counter):
    """Words are counted."""
    Counter()(torch.zeros(2), words=["one"])


def test_a_list_handed_over_by_its_name_is_named_by_it():
    message = found(words_are_counted, Counter=Counter).message
    assert message == "`Counter` changed its argument `words` in place."


class Scaled(torch.nn.Module):
    def forward(self, x):
        return x.mul_(2)


def test_an_argument_of_a_module_is_named_after_that_of_forward():
    finding = found(lambda Scaled: Scaled()(torch.ones(2)), Scaled=Scaled)
    assert finding.message == "`Scaled` changed its argument 1, `x`, in place."


def slope(x):
    """The derivative of x², by autograd."""
    return torch.autograd.grad(x.square().sum(), x)[0]


def slopes_double_the_numbers(slope):
    """The slope of x² is 2x, for a tensor and for one that requires a gradient."""
    x = torch.tensor([1.0, 3.0]).double()
    assert_close(slope(x), 2 * x)
    assert_close(slope(x.clone().requires_grad_()).detach(), 2 * x)


def test_an_argument_that_requires_a_gradient_after_the_call_was_changed():
    message = found(slopes_double_the_numbers, slope=lambda x: slope(x.requires_grad_())).message
    assert message == (
        "`slope` changed its argument 1, `x`, in place. Its numbers are the same, but it requires a gradient "
        "now: something was added to it, as in `x += …`, or `requires_grad_()` was called on it. Work on a "
        "copy."
    )


def test_an_argument_that_was_detached_in_place_was_changed():
    message = found(slopes_double_the_numbers, slope=lambda x: 2 * x.detach_()).message
    assert message == (
        "`slope` changed its argument 1, `x`, in place. Its numbers are the same, but it no longer requires "
        "a gradient; `detach()` makes a new tensor."
    )


@pytest.mark.parametrize(
    "own",
    [
        lambda x: x.detach().clone().requires_grad_(),
        lambda x: torch.nn.Parameter(x),
        lambda x: (x + 0).detach_().requires_grad_(),
    ],
)
def test_a_tensor_of_ones_own_may_require_a_gradient(own):
    assert found(slopes_double_the_numbers, slope=lambda x: slope(own(x))).result == "passed"


def numbers_are_drawn(draw_one):
    """Numbers are drawn."""
    draw_one(torch.Generator().manual_seed(1))


def test_a_generator_may_be_drawn_from():
    assert found(numbers_are_drawn, draw_one=lambda g: torch.rand(2, generator=g)).result == "passed"


def mean_surprise(logits, targets):
    return torch.nn.functional.cross_entropy(logits, targets)


def loss_is_differentiable(loss):
    """The loss can be differentiated."""
    assert_differentiable(loss, torch.tensor([[1.0, 2.0], [0.5, 3.0]]), torch.tensor([0, 1]))


@pytest.mark.parametrize("cut", [float, torch.detach, lambda loss: torch.tensor(loss.item())])
def test_a_loss_through_which_no_gradient_flows_fails(cut):
    finding = found(loss_is_differentiable, loss=lambda *given: cut(mean_surprise(*given)))
    assert finding.message.startswith("no gradient flows back")


def test_a_loss_that_can_be_differentiated_passes():
    assert found(loss_is_differentiable, loss=mean_surprise).result == "passed"


def bent(x):
    return torch.relu(x - x.new_tensor([1 - 2e-6, 0.0]))  # at (1, 3) next to the bend of a relu


@pytest.mark.parametrize(("answer", "result"), [(bent, "passed"), (lambda x: bent(x) * x.detach(), "failed")])
def test_a_bend_close_by_is_not_taken_for_a_gradient_that_was_cut_off(answer, result):
    def bend_is_differentiable(answer):
        """The bend can be differentiated."""
        assert_differentiable(answer, torch.tensor([1.0, 3.0]).double())

    assert found(bend_is_differentiable, answer=answer).result == result


class LayerNorm(torch.nn.Module):
    def __init__(self, is_cut=False):
        super().__init__()
        self.is_cut = is_cut
        self.gain = torch.nn.Parameter(torch.tensor([1.0, 2.0, 3.0]))
        self.register_buffer("n_features", torch.tensor(3.0))

    def forward(self, x):
        centred = x - x.mean(-1, keepdim=True)
        variance = centred.square().mean(-1, keepdim=True)
        return self.gain * centred / (variance.detach() if self.is_cut else variance).sqrt()


def layer_is_differentiable(LayerNorm):
    """The layer can be differentiated."""
    assert_differentiable(LayerNorm(), torch.tensor([[1.0, -2.0, 4.0], [0.0, 5.0, 1.0]]))


def test_a_layer_with_a_detached_variance_fails():
    finding = found(layer_is_differentiable, LayerNorm=lambda: LayerNorm(is_cut=True))
    assert finding.message.startswith(
        "the gradient that flows back is not the slope of what `LayerNorm` computes"
    )


class DetachedGain(LayerNorm):
    def forward(self, x):
        return super().forward(x) * self.gain.detach() / self.gain


class Tied(LayerNorm):
    def __init__(self):
        super().__init__()
        self.second_name = self.gain


@pytest.mark.parametrize(
    ("layer", "result"), [(LayerNorm, "passed"), (Tied, "passed"), (DetachedGain, "failed")]
)
def test_the_parameters_of_a_layer_are_moved_as_well(layer, result):
    assert found(layer_is_differentiable, LayerNorm=layer).result == result


def test_a_precision_that_is_asked_for_is_compared():
    assert_dtype({"W": torch.zeros(2).double(), "n": 3}, torch.float64)
    with pytest.raises(Mismatch, match="the answer is in float32 where float64 is expected"):
        assert_dtype([torch.zeros(2)], torch.float64)
