"""What goes wrong in an automatic differentiation of one's own."""

import math

from autograder.catalogue import misconception

# 10. Value


class _Value:
    """A right Value in pieces to break."""

    seed = 1.0

    def __init__(self, data, parents=()):
        self.data, self.grad, self.parents = float(data), 0.0, parents

    def add(self, other):
        return type(self)(self.data + other.data, ((self, 1.0), (other, 1.0)))

    def mul(self, other):
        return type(self)(self.data * other.data, ((self, other.data), (other, self.data)))

    def power(self, n):
        return type(self)(self.data**n, ((self, n * self.data ** (n - 1)),))

    def relu(self):
        return type(self)(max(self.data, 0.0), ((self, float(self.data > 0)),))

    def tanh(self):
        return type(self)(math.tanh(self.data), ((self, 1 - math.tanh(self.data) ** 2),))

    def ancestors(self, seen):
        if id(self) in seen:
            return []
        seen.add(id(self))
        return [node for parent, _ in self.parents for node in parent.ancestors(seen)] + [self]

    def clear(self):
        for value in self.ancestors(set()):
            value.grad = 0.0

    def receive(self, gradient):
        self.grad += gradient

    def backward(self):
        self.clear()
        self.grad = self.seed
        for value in reversed(self.ancestors(set())):
            for parent, slope in value.parents:
                parent.receive(value.grad * slope)


@misconception(of="Value")
class GradientsOverwritten(_Value):
    """A Value that is used twice keeps only the gradient that came last.

    In the example y is used three times. Which parts of its gradient do you see arrive, and what does your
    code do with the part that is there already?
    """

    def receive(self, gradient):
        self.grad = gradient


@misconception(of="Value")
class GradientsOverwrittenFromTheRight(GradientsOverwritten):
    """A Value that is used twice keeps only the gradient that came last.

    In the example y is used three times. Which parts of its gradient do you see arrive, and what does your
    code do with the part that is there already?
    """

    def ancestors(self, seen):
        if id(self) in seen:
            return []
        seen.add(id(self))
        parents = reversed(self.parents)
        return [node for parent, _ in parents for node in parent.ancestors(seen)] + [self]


@misconception(of="Value")
class OneNumberOneValue(_Value):
    """Values of the same number are taken for one Value: what was computed of the second gets no gradient.

    Let x and y be two Values of 3. By what does your backward know which Values it has seen: the number, or
    the object?
    """

    def ancestors(self, seen):
        if self.data in seen:
            return []
        seen.add(self.data)
        return [node for parent, _ in self.parents for node in parent.ancestors(seen)] + [self]


@misconception(of="Value")
class BothSidesOneValue(_Value):
    """Where a Value is added to itself or multiplied by itself, only one of the two sides gets its part.

    For x + x, how many parts of its gradient does x get? How many parents does the sum have in your code?
    """

    def __init__(self, data, parents=()):
        super().__init__(data, tuple({id(parent): (parent, slope) for parent, slope in parents}.values()))


@misconception(of="Value")
class OneSideOfASum(_Value):
    """Where a Value is added to itself, only one of the two sides gets its part.

    For x + x, how many parts of its gradient does x get? How many parents does the sum have in your code?
    """

    def add(self, other):
        return super().add(other) if other is not self else type(self)(2 * self.data, ((self, 1.0),))


@misconception(of="Value")
class BackwardRunsOnce(_Value):
    """Only the first call of backward sets gradients: after one of another loss, a second call does nothing.

    Call `L.backward()`, then `K.backward()` for K = x², then `L.backward()`. Which number's derivative is
    `x.grad` now, and which should it be?
    """

    has_run = False

    def backward(self):
        if not self.has_run:
            self.has_run = True
            super().backward()


@misconception(of="Value")
class NoGradientBeforeBackward(_Value):
    """A new Value has no number for its gradient until backward has come to it.

    What should `Value(3.0).grad` be? To what are the parts of a gradient added when they arrive?
    """

    def __init__(self, data, parents=()):
        super().__init__(data, parents)
        self.grad = None


@misconception(of="Value")
class ReluOfTheSlopeAlone(_Value):
    """The number of relu is the slope, 1 or 0, and not the number that is let through.

    What is relu of 2? Which of your two formulas gives the number, and which the derivative?
    """

    def relu(self):
        return type(self)(float(self.data > 0), ((self, float(self.data > 0)),))


@misconception(of="Value", seen="https://github.com/karpathy/micrograd/issues/68")
class PassedOnAtOnce(_Value):
    """A Value passes its gradient on with every part that arrives, the earlier parts again each time.

    With y = x³ and L = y² + y, how often does y pass something on to x? What had it received at each of these
    moments?
    """

    def backward(self):
        self.clear()
        self.grad = 1.0
        self.pass_on()

    def pass_on(self):
        for parent, slope in self.parents:
            parent.grad += self.grad * slope
            parent.pass_on()


@misconception(of="Value")
class PassedOnAtOnceAndKept(PassedOnAtOnce):
    """A Value passes on all it has with every part that arrives, and nothing is set to 0 before the first.

    With y = x³ and L = y² + y, how often does y pass something on to x, and what had it received by then?
    Which gradient does x have when a second `backward()` begins?
    """

    def clear(self):
        pass


@misconception(of="Value")
class OnlyTheFirstNumbersCleared(_Value):
    """Only Values that were not computed are set back to 0; those in between keep what they had.

    In the second call, what is `.grad` of xy before anything has arrived there? Which Values does your code
    set to 0?
    """

    def clear(self):
        for value in self.ancestors(set()):
            value.grad = value.grad if value.parents else 0.0


@misconception(of="Value")
class AnotherLossAdds(_Value):
    """A second call of backward does nothing, but another loss of the same numbers adds to their gradients.

    After `L.backward()`, let K = x² and call `K.backward()`. What is `x.grad` before the first part arrives,
    and of which number is that the derivative?
    """

    has_run = False

    def clear(self):
        pass

    def backward(self):
        if not self.has_run:
            self.has_run = True
            super().backward()


@misconception(of="Value", seen="https://github.com/karpathy/micrograd/issues/53")
class SecondBackwardAdds(_Value):
    """A second call of backward adds to the gradients of the first.

    What is `.grad` of x when your second `backward()` begins? Is it part of the derivative that is asked for?
    """

    def clear(self):
        pass


@misconception(of="Value")
class PowerDividesByItsBase(_Value):
    """The derivative of a power is computed as n times the power divided by the base, which fails at 0.

    What is the derivative of x³ at 0? Which form of it needs no division?
    """

    def power(self, n):
        return type(self)(self.data**n, ((self, n * self.data**n / self.data),))


@misconception(of="Value")
class ReluSlopeOneAtZero(_Value):
    """The derivative of relu at 0 is taken to be 1, where 0 is agreed.

    Which comparison decides whether a gradient passes your relu, and what does it say for exactly 0?
    """

    def relu(self):
        return type(self)(max(self.data, 0.0), ((self, float(self.data >= 0)),))


@misconception(of="Value")
class AllGradientsStayZero(_Value):
    """After backward all gradients are still 0, that of L itself too.

    What is the derivative of L with respect to L itself? Which line of your backward writes it into `L.grad`?
    """

    seed = 0.0


@misconception(of="Value")
class SeededWithItsOwnValue(_Value):
    """Backward begins with the value of L as its gradient, not with 1.

    By how much does L change when L grows by 0.001? Which number does your backward begin with?
    """

    def backward(self):
        self.seed = self.data
        super().backward()


@misconception(of="Value")
class NearestFirst(_Value):
    """Values pass on their gradients in the order of their distance from L, some before the last part came.

    In L = y + (y²)³, how many steps is y away from L, on the short way and on the long one? When has y got
    all of its gradient?
    """

    def backward(self):
        self.clear()
        self.grad, queue, seen = self.seed, [self], {id(self)}
        for value in queue:
            for parent, slope in value.parents:
                parent.receive(value.grad * slope)
                if id(parent) not in seen:
                    seen.add(id(parent))
                    queue.append(parent)


@misconception(of="Value")
class TanhSlopeOfTheInput(_Value):
    """The slope of tanh is computed as 1 − a², of the number that goes in and not of the one that comes out.

    At a = 3, what is your slope? How steep is tanh there?
    """

    def tanh(self):
        return type(self)(math.tanh(self.data), ((self, 1 - self.data**2),))
