"""An answer computed in float32 where float64 is asked costs nothing, unless that is the point."""

import pytest
import torch

from course.checks import (
    LocalLink,
    assert_close,
    assert_differentiable,
    assert_dtype,
    examine,
    homework,
)
from course.checks.precision import COUNTS

CROSSINGS = torch.arange(3) * (torch.pi / 2)  # float32, as torch makes it


def centred(x):
    return x - x.mean(-1, keepdim=True)


def in_float32(x):
    return centred(x.float())


def float32_inside(x):
    return centred(x.float()).double()


def with_angles_in_float32(x):
    return centred(x) * CROSSINGS.cos()


def wrong_in_the_fifth_digit(x):
    return centred(x) * (1 + 1e-5)


def it_is_centred(f, draw):
    """Each row has mean zero."""
    x = draw.normal(4, 3) + 10
    assert_close(f(x), centred(x))


def it_is_turned(f, draw):
    """Each number is multiplied by the cosine of its angle."""
    x = draw.normal(4, 3)
    assert_close(f(x), centred(x) * (torch.arange(3.0, dtype=torch.float64) * torch.pi / 2).cos())


def it_is_centred_to_nine_digits(f, draw):
    """Each row has mean zero, to nine digits."""
    x = draw.normal(4, 3) + 10
    assert_close(f(x), centred(x), tolerance=1e-9)


def it_takes_float32(f, draw):
    """Numbers in float32 are taken as well."""
    x = draw.normal(4, 3, dtype=torch.float32)
    assert_close(f(x), centred(x.double()))


def it_is_in_float64(f, draw):
    """The answer is in float64."""
    assert_dtype(f(draw.normal(4, 3)), torch.float64)


def it_can_be_differentiated(f, draw):
    """Gradients flow back."""
    assert_differentiable(f, draw.normal(4, 3) + 10)


def found(claim, f, **options):
    return examine(claim, LocalLink({"f": f}), **options)


@pytest.mark.parametrize("f", [in_float32, float32_inside])
@pytest.mark.parametrize("claim", [it_is_centred, it_can_be_differentiated])
def test_an_answer_right_to_seven_digits_holds_and_is_told(claim, f):
    finding = found(claim, f)
    assert (finding.result, finding.message, finding.note) == ("passed", "", COUNTS)


def test_angles_in_float32_within_a_computation_in_float64_are_enough():
    assert found(it_is_turned, with_angles_in_float32, dtype="float64").result == "failed"
    finding = found(it_is_turned, with_angles_in_float32)
    assert (finding.result, finding.note) == ("passed", COUNTS)


@pytest.mark.parametrize("claim", [it_is_centred, it_can_be_differentiated])
def test_of_an_answer_in_float64_nothing_is_told(claim):
    assert (found(claim, centred).result, found(claim, centred).note) == ("passed", "")


def test_a_mistake_in_the_fifth_digit_is_no_matter_of_precision():
    assert found(it_is_centred, wrong_in_the_fifth_digit).result == "failed"


def test_a_gradient_cut_off_in_float32_is_none():
    def cut(x):
        return x.float() - x.float().mean(-1, keepdim=True).detach()

    assert found(it_can_be_differentiated, cut).result == "failed"


def weights_in_float32(x):
    """Of two factors one is computed in float32, so that the other's part of the slope stays exact."""
    return (x @ x.mT).float().softmax(-1).double() @ x


def weights_cut_off(x):
    return (x @ x.mT).float().softmax(-1).double().detach() @ x


def both_factors(f, draw):
    """Gradients flow back."""
    assert_differentiable(f, draw.normal(4, 3))


def test_a_computation_partly_in_float32_can_be_differentiated_whatever_is_drawn():
    assert {found(both_factors, weights_in_float32, seed=seed).result for seed in range(100)} == {"passed"}
    assert {found(both_factors, weights_cut_off, seed=seed).result for seed in range(100)} == {"failed"}


def test_where_the_dtype_is_the_point_seven_digits_are_not_enough():
    finding = found(it_is_centred, float32_inside, dtype="float64")
    assert finding.message.startswith("the values are right to seven digits and no further")
    assert found(it_is_in_float64, in_float32, dtype="float64").result == "failed"


def test_weights_that_were_rounded_before_float64_took_over_are_told_as_float32():
    finding = found(it_is_centred, lambda x: centred(x.float().double()), dtype="float64")
    assert finding.message.startswith("the values are right to seven digits and no further")
    assert finding.is_plain  # no hint of the exercise is about that


def test_a_claim_that_names_its_tolerance_means_it():
    assert found(it_is_centred_to_nine_digits, float32_inside).result == "failed"


def test_answers_in_float32_to_numbers_in_float32_are_not_remarked_upon():
    finding = found(it_takes_float32, centred)
    assert (finding.result, finding.note) == ("passed", "")


def test_in_a_notebook_every_point_is_given_and_the_sentence_is_said_once(capsys):
    session = homework("none", fingerprints={"homework": "none", "exercises": {}, "checks": {}})
    assert session(it_is_centred, it_can_be_differentiated, f=float32_inside) is None
    told = capsys.readouterr().out
    assert "2 of 2" in told
    assert told.count(COUNTS) == 1
