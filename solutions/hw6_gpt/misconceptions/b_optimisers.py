"""What goes wrong in homework 6, exercise 6: AdamW, and the rate of a schedule."""

from dataclasses import dataclass

import torch

from autograder.catalogue import misconception


@dataclass
class _Moment:
    """A parameter before one of its steps, with what the step is made of."""

    theta: torch.Tensor
    g: torch.Tensor
    m: torch.Tensor
    v: torch.Tensor
    t: int
    rate: float
    betas: tuple
    eps: float
    decay: float

    @property
    def m_hat(self):
        return self.m / (1 - self.betas[0] ** self.t)

    @property
    def v_hat(self):
        return self.v / (1 - self.betas[1] ** self.t)

    @property
    def direction(self):
        return self.m_hat / (self.v_hat.sqrt() + self.eps)


def _right(now):
    return now.theta - now.rate * (now.direction + now.decay * now.theta)


def _plain(g, theta, decay):
    return g


def _stepped(arguments, *, step=_right, g_of=_plain, keeps=True, skips=True, counts_all=False):
    """The weights after all steps, with one part of the optimiser exchanged."""
    weights, gradients, rates, betas, eps, decay = arguments
    after, state = dict(weights), {}
    for n, (gradient, rate) in enumerate(zip(gradients, rates, strict=True), 1):
        for name, theta in after.items():
            g = gradient[name]
            if g is None and skips:
                continue
            g = g_of(torch.zeros_like(theta) if g is None else g, theta, decay)
            t, m, v = state.get(name, (0, torch.zeros_like(theta), torch.zeros_like(theta)))
            t = n if counts_all else t + 1
            m, v = betas[0] * m + (1 - betas[0]) * g, betas[1] * v + (1 - betas[1]) * g**2
            after[name] = step(_Moment(theta, g, m, v, t, rate, betas, eps, decay))
            if keeps:
                state[name] = t, m, v
    return after


@misconception(of="adamw_weights")
def decay_added_to_the_gradient(weights, gradients, rates, betas, eps, weight_decay):
    """The decay is added to the gradient, so it goes through both means: that is Adam with L2, and not AdamW.

    Where the gradient is 0, by which fraction should a weight become smaller? By how much does yours?
    """
    return _stepped(
        (weights, gradients, rates, betas, eps, weight_decay),
        g_of=lambda g, theta, decay: g + decay * theta,
        step=lambda now: now.theta - now.rate * now.direction,
    )


@misconception(of="adamw_weights")
def decay_at_the_corrected_rate(weights, gradients, rates, betas, eps, weight_decay):
    """The decay is multiplied by the rate that holds the bias corrections, and not by the rate itself.

    What is the rate at which your weights decay in the first step, and what in the hundredth? Is there a
    correction in the formula's last term?
    """

    def step(now):
        rate = now.rate * (1 - now.betas[1] ** now.t) ** 0.5 / (1 - now.betas[0] ** now.t)
        return now.theta - now.rate * now.direction - rate * now.decay * now.theta

    return _stepped((weights, gradients, rates, betas, eps, weight_decay), step=step)


@misconception(of="adamw_weights")
def bias_not_corrected(weights, gradients, rates, betas, eps, weight_decay):
    """The means are used as they are, without dividing by 1 − βᵗ.

    After the first step of the example, what are m and √v? How far should it go, and how far does yours?
    """

    def step(now):
        return now.theta - now.rate * (now.m / (now.v.sqrt() + now.eps) + now.decay * now.theta)

    return _stepped((weights, gradients, rates, betas, eps, weight_decay), step=step)


@misconception(of="adamw_weights")
def only_the_first_mean_corrected(weights, gradients, rates, betas, eps, weight_decay):
    """The running mean of the gradient is corrected, and that of its square is not.

    Both means begin at 0. After one step with g = 2, what is v, and what should stand under the root?
    """

    def step(now):
        return now.theta - now.rate * (now.m_hat / (now.v.sqrt() + now.eps) + now.decay * now.theta)

    return _stepped((weights, gradients, rates, betas, eps, weight_decay), step=step)


@misconception(of="adamw_weights")
def rate_of_the_beginning_kept(weights, gradients, rates, betas, eps, weight_decay):
    """The rate that the optimiser was made with is used in every step, so no schedule has any effect.

    Where does a schedule write the rate of the next step, and from where does your `step()` read it?
    """
    made_with = [rates[0]] * len(rates)  # which a schedule of torch sets before it starts
    return _stepped((weights, gradients, made_with, betas, eps, weight_decay))


@misconception(of="adamw_weights")
def rate_of_the_constructor_kept(weights, gradients, rates, betas, eps, weight_decay):
    """No schedule has any effect: there is no rate in your step, or always the `lr` given to the constructor.

    Which rate does `adamw_weights` hand to your class, and which do the schedule and the example want? Which
    line of `step()` reads it?
    """
    return _stepped((weights, gradients, [1.0] * len(rates), betas, eps, weight_decay))


@misconception(of="adamw_weights")
def decay_without_the_rate(weights, gradients, rates, betas, eps, weight_decay):
    """The decay takes λθ off in every step, whatever the rate is.

    At a rate of 0, may a weight change? Which two numbers is the weight multiplied by in the last term?
    """
    return _stepped(
        (weights, gradients, rates, betas, eps, weight_decay),
        step=lambda now: now.theta - now.rate * now.direction - now.decay * now.theta,
    )


@misconception(of="adamw_weights")
def decay_forgotten(weights, gradients, rates, betas, eps, weight_decay):
    """The weights do not decay: the last term of the formula is missing.

    Where the gradient is 0, what becomes of a weight of 1 at rate 0.1 and decay 0.5?
    """
    return _stepped((weights, gradients, rates, betas, eps, 0.0))


@misconception(of="adamw_weights")
def decay_after_the_step(weights, gradients, rates, betas, eps, weight_decay):
    """The decay is a fraction of the weight after the step, and not of the weight before it.

    In the example, is it 1 or 0.9 of which 5 % are taken off?
    """
    return _stepped(
        (weights, gradients, rates, betas, eps, weight_decay),
        step=lambda now: (now.theta - now.rate * now.direction) * (1 - now.rate * now.decay),
    )


@misconception(of="adamw_weights")
def missing_gradient_taken_for_zero(weights, gradients, rates, betas, eps, weight_decay):
    """A parameter without a gradient is treated as if its gradient were 0, so it decays and counts its steps.

    What is `.grad` of an embedding that nobody asked for? Should what was not used shrink?
    """
    return _stepped((weights, gradients, rates, betas, eps, weight_decay), skips=False)


@misconception(of="adamw_weights")
def one_count_for_all_parameters(weights, gradients, rates, betas, eps, weight_decay):
    """The steps are counted once for the whole optimiser, also for parameters that had no gradient in them.

    A parameter gets its first gradient in the third step. How many gradients are in its m then?
    """
    return _stepped((weights, gradients, rates, betas, eps, weight_decay), counts_all=True)


@misconception(of="adamw_weights")
def means_begin_anew(weights, gradients, rates, betas, eps, weight_decay):
    """Both means are 0 again at the beginning of every step, so nothing is remembered.

    Where do m and v live between two calls of `step()`?
    """
    return _stepped((weights, gradients, rates, betas, eps, weight_decay), keeps=False)


@misconception(of="adamw_weights")
def only_the_first_group_moved(weights, gradients, rates, betas, eps, weight_decay):
    """Only the parameters of the first group are moved; those of every other group stay as they were.

    How many dicts does `self.param_groups` hold after `add_param_group`, and how many does your `step()` go
    through?
    """
    first = dict([*weights.items()][:2])
    return weights | _stepped((first, gradients, rates, betas, eps, weight_decay))


@misconception(of="adamw_weights")
def epsilon_under_the_root(weights, gradients, rates, betas, eps, weight_decay):
    """ε is added under the root, where it stands beside it.

    With v̂ = 0 and ε = 0.01, what is the denominator: 0.01 or 0.1?
    """

    def step(now):
        direction = now.m_hat / (now.v_hat + now.eps).sqrt()
        return now.theta - now.rate * (direction + now.decay * now.theta)

    return _stepped((weights, gradients, rates, betas, eps, weight_decay), step=step)


@misconception(of="adamw_weights")
def root_forgotten(weights, gradients, rates, betas, eps, weight_decay):
    """The mean is divided by the mean of the squares, without the root.

    If all gradients were ten times as long, how much longer should a step be, and how much shorter is yours?
    """

    def step(now):
        return now.theta - now.rate * (now.m_hat / (now.v_hat + now.eps) + now.decay * now.theta)

    return _stepped((weights, gradients, rates, betas, eps, weight_decay), step=step)


@misconception(of="adamw_weights")
def parameters_used_up(weights, gradients, rates, betas, eps, weight_decay):
    """No weight ever moves: your `step()` changes none, or it goes through a generator that is used up.

    Print the parameters that your `step()` goes through, and how far it moves each. If there are none, who
    has read the generator before? Which list has the parameters for good?
    """
    return dict(weights)
