"""Which answer a check could not go on with, and why: the message names the call that gave it."""

from types import SimpleNamespace

import numpy as np
import pytest
import torch

from course.checks import (
    LocalLink,
    assert_close,
    assert_differentiable,
    assert_equal,
    assert_true,
    attribute,
    examine,
    with_weights,
)


def found(claim, **things):
    return examine(claim, LocalLink(things), written=things.get)


class Value:
    def __init__(self, data):
        self.data, self.grad = data, 0.0

    def add(self, other):
        return type(self)(self.data + other.data)

    def mul(self, other):
        return type(self)(self.data * other.data)

    def tanh(self):
        return type(self)(self.data)

    def backward(self):
        self.grad = 1.0


def sums_and_products(Value):
    """Sums and products."""
    two, three = Value(2.0), Value(3.0)
    made = [two.add(three), two.mul(three), three.tanh()]
    assert_close([attribute(value, "data") for value in made], [5.0, 6.0, 3.0])


def with_method(name, answer):
    return type("Value", (Value,), {name: lambda self, *others: answer})


@pytest.mark.parametrize("name", ["add", "mul", "tanh"])
@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (None, "`Value.{}` returned None; is a `return` missing?"),
        (7.5, "`Value.{}` returned 7.5, a number, where an object with `data` is expected"),
        ([1], "`Value.{}` returned [1], a list of 1, where an object with `data` is expected"),
        (
            torch.ones(2),
            "`Value.{}` returned a tensor of shape (2,), where an object with `data` is expected",
        ),
    ],
)
def test_an_answer_that_is_no_object_is_named_by_the_call_that_gave_it(name, answer, said):
    finding = found(sums_and_products, Value=with_method(name, answer))
    assert finding.message == said.format(name)
    assert finding.is_plain


def test_a_method_of_an_answer_that_is_no_object_is_what_is_missing():
    def chain(Value):
        """A chain."""
        attribute(Value(2.0).mul(Value(3.0)).add(Value(1.0)), "data")

    assert found(chain, Value=with_method("mul", 6.0)).message == (
        "`Value.mul` returned 6, a number, where an object with `add` is expected"
    )
    assert found(chain, Value=with_method("mul", None)).message == (
        "`Value.mul` returned None; is a `return` missing?"
    )


def test_an_answer_given_on_to_another_call_is_named_where_that_call_fails_on_it():
    def given_on(Value):
        """The sum is given on."""
        Value(1.0).add(Value(2.0).tanh())

    for answer, said in ((None, "returned None; is a `return` missing?"), (0.25, "returned 0.25, a number")):
        finding = found(given_on, Value=with_method("tanh", answer))
        assert finding.message.startswith("`Value.add` raised AttributeError")
        assert finding.message.endswith(f"Its argument 1 came from another answer: `Value.tanh` {said}")


def test_backward_returns_nothing_and_is_not_blamed_for_it():
    def after_backward(Value):
        """After the backward pass."""
        made = Value(1.0).tanh()
        Value(1.0).backward()
        attribute(made, "grad")

    assert found(after_backward, Value=with_method("tanh", None)).message.startswith("`Value.tanh` returned")


def test_an_attribute_that_is_none_asks_for_no_return():
    def gradient(Value):
        """The gradient is zero."""
        assert_close(attribute(Value(1.0), "grad"), 0.0)

    class WithoutGradient(Value):
        def __init__(self, data):
            self.grad = None

    assert found(gradient, Value=WithoutGradient).message == "`WithoutGradient.grad` is None"


def test_an_attribute_that_is_missing_is_named_as_it_is_read():
    def gradient(Value):
        """The gradient is zero."""
        attribute(Value(1.0), "slope")

    said = "`Value.slope` raised AttributeError: 'Value' object has no attribute 'slope'"
    assert found(gradient, Value=Value).message == said


def both(f):
    """Both are right."""
    one, other = f(2.0)
    assert_equal(one, torch.tensor([1]))
    assert_equal(other, torch.tensor([2]))


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (None, "`f` returned None; is a `return` missing?"),
        (3.0, "`f` returned 3, a number, where a tuple is expected"),
        ((1, 2, 3), "`f` returned (1, 2, 3), a tuple of 3, where a tuple of 2 is expected"),
        (torch.zeros(3), "`f` returned a tensor of shape (3,), where a tuple of 2 is expected"),
        ((torch.tensor([1]), None), "entry 1 of what `f` returned is None"),
    ],
)
def test_an_answer_that_does_not_come_apart_as_it_should(answer, said):
    finding = found(both, f=lambda x: answer)
    assert finding.message == said
    assert finding.is_plain


def test_an_answer_with_an_object_in_it_is_named_as_well():
    class Pairs(Value):
        def add(self, other):
            return Value(1.0), 2.0

    assert found(sums_and_products, Value=Pairs).message == (
        "`Pairs.add` returned (an object of class Value, 2), a tuple of 2, where an object with `data` is "
        "expected"
    )


def test_a_generator_that_does_not_come_apart_is_named_as_one():
    def yields(x):
        yield from (1, 2, 3)

    assert found(both, f=yields).message.startswith("`f` returned a generator; is there a `yield`")


@pytest.mark.parametrize("use", [lambda answer: answer[0], len, list])
def test_one_number_where_there_should_be_several_is_named(use):
    assert found(lambda f: use(f(1)), f=lambda x: 0.5).message == (
        "`f` returned 0.5, a number, where a sequence is expected"
    )


@pytest.mark.parametrize(
    ("use", "expected"),
    [
        (lambda answer: answer.softmax(-1), "a tensor"),
        (lambda answer: answer.items(), "a dictionary"),
        (list, "a sequence"),
        (len, "a sequence"),
        (lambda answer: answer[0], "a sequence"),
        (lambda answer: answer(1), "a function"),
        (lambda answer: attribute(answer, "data"), "an object with `data`"),
    ],
)
def test_an_object_of_a_class_that_was_not_asked_for_is_named(use, expected):
    finding = found(lambda f: use(f(1)), f=lambda x: SimpleNamespace())
    said = f"`f` returned an object of class SimpleNamespace, where {expected} is expected"
    assert finding.message == said
    assert finding.is_plain


def test_an_error_inside_an_object_keeps_its_own_words():
    class Own:
        def total(self):
            return self.values

    said = found(lambda f: f(1).total(), f=lambda x: Own()).message
    assert said.startswith(
        "`Own.total` raised AttributeError: 'Own' object has no attribute 'values', at line"
    )


def test_a_method_that_was_not_called_is_told_as_one():
    def total(f):
        """The total is three."""
        assert_close(f(torch.ones(3)), torch.tensor(3.0))

    assert (
        found(total, f=lambda x: x.sum).message == "a method that was not called where a number is expected"
    )


def rows_and_columns(f):
    """Rows and columns."""
    _rows, _columns = f(0).shape


def two_numbers(f):
    """Two numbers."""
    answer = f(0)
    _one, _other = answer.tolist()


def pairs(f):
    """Pairs."""
    for _one, _other in f(0):
        pass


@pytest.mark.parametrize("claim", [rows_and_columns, two_numbers, pairs])
def test_what_was_made_of_an_answer_is_not_taken_for_it(claim):
    said = found(claim, f=lambda x: torch.zeros(3, 3, 3)).message
    assert "tuple" not in said
    assert said.startswith("the check could not go on with what `f` returned, a tensor of shape (3, 3, 3)")


def test_a_generator_that_is_wanted_is_not_doubted_for_its_entries():
    def yields(x):
        yield 1, 2, 3

    assert "yield" not in found(pairs, f=yields).message


def normalised(f):
    """Every row sums to one."""
    assert_close(f(torch.ones(2, 3)).softmax(-1).sum(-1), torch.ones(2))


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (lambda x: x.tolist(), "a list of 2, where a tensor is expected"),
        (lambda x: x.numpy(), "`f` returned a numpy array of shape (2, 3), where a tensor is expected"),
        (lambda x: x.numpy(), "; its values are right"),
        (
            lambda x: (row for row in x),
            "`f` returned a generator; is there a `yield` where a `return` is meant",
        ),
        (lambda x: None, "`f` returned None; is a `return` missing?"),
    ],
)
def test_an_answer_without_a_tensors_methods_is_named(answer, said):
    finding = found(normalised, f=answer)
    assert said in finding.message
    assert finding.is_plain


def test_a_numpy_array_with_wrong_values_is_not_called_right():
    def doubled(f):
        """Doubled."""
        assert_close(f(torch.ones(2)).clone(), 2 * torch.ones(2))

    assert found(doubled, f=lambda x: 3 * x.numpy()).message == (
        "`f` returned a numpy array of shape (2,), where a tensor is expected"
    )
    assert found(doubled, f=lambda x: 2 * x.numpy()).message.endswith("; its values are right")


def test_a_claims_own_words_about_a_type_give_way_to_what_came():
    def logits(f):
        """Logits."""
        answer = f(0)
        assert_true(isinstance(answer, torch.Tensor), f"A tensor of logits is expected, not {type(answer)}.")

    def yields(x):
        yield x

    assert found(logits, f=lambda x: None).message == "`f` returned None; is a `return` missing?"
    assert found(logits, f=lambda x: [1]).message.endswith("where a tensor is expected")
    assert found(logits, f=np.zeros).message.endswith("where a tensor is expected; its values are right")
    assert "`yield`" in found(logits, f=yields).message

    def counts(f):
        """Counts."""
        assert_true(isinstance(f(0), dict), "The answer is no dictionary but something else.")

    assert found(counts, f=lambda x: [1]).message == (
        "`f` returned [1], a list of 1, where a dictionary is expected"
    )


def test_a_module_is_asked_for_where_one_is_needed():
    def loads(Layer):
        """It takes weights."""
        with_weights(Layer(), {})

    def differentiable(Layer):
        """It can be differentiated."""
        assert_differentiable(Layer(), torch.ones(2))

    for claim in (loads, differentiable):
        assert found(claim, Layer=lambda: torch.ones(2)).message == (
            "`Layer` returned a tensor of shape (2,), where a module is expected"
        )
    assert found(loads, Layer=SimpleNamespace).message.endswith("Is it an `nn.Module`?")


def test_a_gradient_that_does_not_arrive_asks_for_no_return():
    def of_the_input(f):
        """The input has a gradient."""
        x = torch.ones(2, requires_grad=True)
        f(x)
        assert_close(x.grad, torch.ones(2))

    def of_the_parameter(Layer):
        """The parameter has a gradient."""
        layer = Layer(2, 1)
        assert_close(layer.gradients()["weight"], torch.ones(1, 2))

    assert found(of_the_input, f=lambda x: x).message.startswith("no gradient flows back")
    assert found(of_the_parameter, Layer=torch.nn.Linear).message == "the parameter `weight` got no gradient"


def test_a_missing_return_is_asked_for_and_not_a_gradient():
    def differentiable(f):
        """It can be differentiated."""
        assert_differentiable(f, torch.ones(2))

    assert "is a `return` missing?" in found(differentiable, f=lambda x: None).message


def test_a_message_never_breaks_on_what_a_student_returned(monkeypatch):
    def broken(*given):
        raise RuntimeError

    monkeypatch.setattr("course.checks.reason.origin", broken)
    assert found(normalised, f=lambda x: [1]).message == "'list' object has no attribute 'softmax'"


def test_outside_of_a_claim_an_attribute_of_plain_data_is_an_error():
    with pytest.raises(TypeError, match="no object of the student's"):
        attribute(2.0, "data")
