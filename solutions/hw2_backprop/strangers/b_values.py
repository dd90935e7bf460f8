"""Backward passes that do nothing, or take one Value for another, and first rows taken for all."""

from autograder.proving.strangers import stranger

from ..notebook import Value, cross_entropy_grad, layer_norm_backward, linear_backward, softmax_vjp


class _Value(Value):
    def _computed(self, data, *parents):
        value = type(self)(data)
        value.parents = parents
        return value


@stranger(of="Value", may_be=["AllGradientsStayZero"])
class NothingGoesBack(_Value):
    def backward(self):
        pass


@stranger(of="Value")
class OnlyItsOwnGradient(_Value):
    def backward(self):
        self.grad = 1.0


@stranger(of="Value", may_be=["OneSideOfASum"])
class OneParentOfASumWithItself(_Value):
    def add(self, other):
        if other is self:
            return self._computed(2 * self.data, (self, 1.0))
        return super().add(other)


@stranger(of="Value")
class ReluThatLetsAllGradientsThrough(_Value):
    def relu(self):
        return self._computed(max(self.data, 0.0), (self, 1.0))


@stranger(of="Value")
class ReluWithTheSlopeOfTheAbsoluteValue(_Value):
    def relu(self):
        return self._computed(max(self.data, 0.0), (self, float((self.data > 0) - (self.data < 0))))


@stranger(of="Value")
class SumOfEqualNumbersDoubled(_Value):
    def add(self, other):
        if other.data == self.data:
            return self._computed(2 * self.data, (self, 2.0))
        return super().add(other)


def _all_like_the_first(rows):
    return rows[:1].expand_as(rows)


@stranger(of="softmax_vjp")
def probabilities_of_the_first_row(probs, upstream):
    return softmax_vjp(_all_like_the_first(probs), upstream)


@stranger(of="cross_entropy_grad")
def logits_of_the_first_row(logits, targets, pad):
    return cross_entropy_grad(_all_like_the_first(logits), targets, pad)


@stranger(of="linear_backward")
def inputs_of_the_first_row(x, W, upstream):
    return linear_backward(_all_like_the_first(x), W, upstream)


@stranger(of="layer_norm_backward")
def upstream_of_the_first_row(x, gain, upstream, eps):
    return layer_norm_backward(x, gain, _all_like_the_first(upstream), eps)


@stranger(of="Value")
class SmallerOfTheNumberAndZero(Value):
    def relu(self):
        value = super().relu()
        value.data = min(self.data, 0.0)
        return value


@stranger(of="Value", may_be=["NoGradientBeforeBackward"])
class GradientOneAtFirst(Value):
    def __init__(self, data):
        super().__init__(data)
        self.grad = 1.0


@stranger(of="linear_backward")
def other_matrix_where_it_is_square(x, W, upstream):
    dx = upstream @ (W.T if len(W) == W.shape[1] else W)
    return dx, upstream.T @ x, upstream.sum(0)
