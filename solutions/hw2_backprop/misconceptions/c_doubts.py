"""What goes wrong when a gradient is doubted, and when a fault is named."""

import torch

from autograder.catalogue import misconception

from ..notebook import with_dropout

# 18. numerical_gradient


def _generators(seed):
    while True:
        yield torch.Generator().manual_seed(seed)


def _one_generator(seed):
    generator = torch.Generator().manual_seed(seed)
    while True:
        yield generator


def _losses_named(name):
    return {
        "cubic": lambda x, generator: (x**3).sum(),
        "with_dropout": with_dropout,
        "neighbours": lambda x, generator: (x.flatten()[1:] * x.flatten()[:-1]).sum(),
    }[name]


def _differences(loss_name, x, seed, *, step=1e-5, is_central=True, generators=_generators, n_entries=None):
    generator = generators(seed)

    def loss_at(index, distance):
        moved = x.flatten().clone()
        moved[index] += distance
        return _losses_named(loss_name)(moved.reshape(x.shape), next(generator)).item()

    slopes = torch.zeros(x.numel(), dtype=torch.float64)
    for i in range(x.numel() if n_entries is None else n_entries):
        low = -step if is_central else 0.0
        slopes[i] = (loss_at(i, step) - loss_at(i, low)) / (step - low)
    return slopes.reshape(x.shape)


@misconception(of="numerical_gradient", seen="https://github.com/PaddlePaddle/Paddle/issues/4283")
def differences_in_float32(loss_name, x, seed):
    """The differences are taken in float32, where rounding is as large as the difference itself.

    Print the two losses of one difference with all their digits. How many digits differ, and how many does a
    float32 have?
    """
    return _differences(loss_name, x, seed)


@misconception(of="numerical_gradient")
def dropout_drawn_anew(loss_name, x, seed):
    """Every call of the loss draws a dropout of its own, so the difference compares two different losses.

    Call the loss twice at the same x with your generator. How large is the difference, divided by 2ε?
    """
    return _differences(loss_name, x.double(), seed, generators=_one_generator)


@misconception(of="numerical_gradient")
def one_generator_for_both_sides(loss_name, x, seed):
    """The generator is seeded once per entry, so the second of the two losses sees another dropout.

    What does the first call of the loss leave behind in the generator? What must be done before the second
    call, so that it draws the same?
    """

    def generators(seed):
        while True:
            generator = torch.Generator().manual_seed(seed)
            yield generator
            yield generator

    return _differences(loss_name, x.double(), seed, generators=generators)


@misconception(of="numerical_gradient")
def difference_to_one_side(loss_name, x, seed):
    """The difference is taken to one side only, whose error is as large as ε and not as ε².

    Compute both differences of x³ at 2 by hand, with ε = 0.1. Which of the two is nearer to 12?
    """
    return _differences(loss_name, x.double(), seed, is_central=False)


@misconception(of="numerical_gradient")
def only_the_first_entry_moved(loss_name, x, seed):
    """Only the first entry is moved; a mistake in any other one would not be seen.

    How many entries has x, and how many of your slopes are not zero?
    """
    return _differences(loss_name, x.double(), seed, n_entries=1)


@misconception(of="numerical_gradient")
def divided_by_one_step(loss_name, x, seed):
    """The difference is divided by ε, although the two places lie 2ε apart.

    How far apart are the two places whose losses you subtract?
    """
    return 2 * _differences(loss_name, x.double(), seed)


@misconception(of="numerical_gradient")
def entries_not_put_back(loss_name, x, seed):
    """An entry that was moved is not put back, so the next slope is taken at another place.

    After the first slope, is your copy of x what it was? Print the largest difference.
    """
    loss, generators = _losses_named(loss_name), _generators(seed)
    moved = x.double().flatten().clone()
    slopes = torch.zeros_like(moved)
    for i in range(len(moved)):
        moved[i] += 1e-5
        above = loss(moved.reshape(x.shape), next(generators)).item()
        moved[i] -= 2e-5
        slopes[i] = (above - loss(moved.reshape(x.shape), next(generators)).item()) / 2e-5
    return slopes.reshape(x.shape)


@misconception(of="numerical_gradient")
def all_entries_moved_at_once(loss_name, x, seed):
    """All entries are moved together, so each slope is the sum of all of them.

    In the example, what do 3 and 12 add up to? How many entries differ between your two calls of the loss?
    """
    loss, generators = _losses_named(loss_name), _generators(seed)
    above, below = (loss(x.double() + step, next(generators)) for step in (1e-5, -1e-5))
    return ((above - below) / 2e-5).expand_as(x).clone()


@misconception(of="numerical_gradient")
def seed_not_used(loss_name, x, seed):
    """The generator's seed is not the one given: the draw is the same every time, but another one.

    Which dropout belongs to seed 11, and which one did your losses see? Which argument did you not use?
    """
    return _differences(loss_name, x.double(), 0)


# 19. wrong_entries


def _differs(right, left, claimed, size=torch.maximum):
    mean = (right + left) / 2
    return (mean - claimed).abs() > 1e-4 * size(mean.abs(), claimed.abs())


def _is_kink(right, left):
    return (right - left).abs() > 0.01 * torch.maximum(right.abs(), left.abs())


@misconception(of="wrong_entries")
def loose_absolute_tolerance(right, left, claimed):
    """The bound is an absolute 0.01, so gradients smaller than that never fail the test.

    If all gradients are about 0.001, which claims pass your test? Would 0 pass, everywhere?
    """
    return (((right + left) / 2 - claimed).abs() > 1e-2) & ~_is_kink(right, left)


@misconception(of="wrong_entries")
def both_bounds_absolute(right, left, claimed):
    """Both bounds are the numbers 0.01 and 0.0001 themselves, not those fractions of what is compared.

    If all slopes and claims become a thousand times larger, should a verdict change? In your code, which
    numbers grow with them, and which do not?
    """
    mean = (right + left) / 2
    return ((mean - claimed).abs() > 1e-4) & ((right - left).abs() <= 0.01)


@misconception(of="wrong_entries")
def small_number_added_to_the_divisor(right, left, claimed):
    """A small number is added to what is divided by, so that small gradients are never wrong.

    If all gradients are about 1e-10, by which number do you divide? Does a comparison with a product need
    a division at all?
    """
    mean = (right + left) / 2
    apart = (right - left).abs() / (torch.maximum(right.abs(), left.abs()) + 1e-8)
    off = (mean - claimed).abs() / (torch.maximum(mean.abs(), claimed.abs()) + 1e-8)
    return (off > 1e-4) & (apart <= 0.01)


@misconception(of="wrong_entries")
def share_of_the_mean_alone(right, left, claimed):
    """The claim has no part in the bound, also where it is larger than the mean of the slopes.

    The mean is 1 and the claim 1.000100005. By how much do they differ, and how much is 0.01 % of either?
    """
    return _differs(right, left, claimed, lambda mean, claim: mean) & ~_is_kink(right, left)


@misconception(of="wrong_entries")
def share_of_the_claim_alone(right, left, claimed):
    """The bound is a fraction of the claim, also where the mean of the slopes is the larger number.

    The mean is 1 and the claim 0.999900005. By how much do they differ, and how much is 0.01 % of either?
    """
    return _differs(right, left, claimed, lambda mean, claim: claim) & ~_is_kink(right, left)


@misconception(of="wrong_entries")
def sums_for_the_larger_number(right, left, claimed):
    """The bounds are fractions of the sum of two numbers, where the larger of them is asked for.

    The slopes are 1 and 0.985. How far apart are they, and how much is 1 % of the larger, and of their sum?
    """
    is_kink = (right - left).abs() > 0.01 * (right.abs() + left.abs())
    return _differs(right, left, claimed, torch.add) & ~is_kink


@misconception(of="wrong_entries")
def share_of_the_slope_to_the_right(right, left, claimed):
    """A kink is 1 % of the slope to the right, whichever of the two slopes is the larger.

    Exchange the two slopes. May the verdict change? Which of the two does your bound look at?
    """
    return _differs(right, left, claimed) & ((right - left).abs() <= 0.01 * right.abs())


@misconception(of="wrong_entries")
def mean_not_halved(right, left, claimed):
    """The two slopes are added and not divided by 2, so the mean is twice as large as it should be.

    In the example both slopes of the first entry are 2 and so is the claim. Which number do you compare with
    the claim?
    """
    total = right + left
    is_off = (total - claimed).abs() > 1e-4 * torch.maximum(total.abs(), claimed.abs())
    return is_off & ~_is_kink(right, left)


@misconception(of="wrong_entries")
def zeros_taken_for_kinks(right, left, claimed):
    """Two slopes of 0 count as a kink: their difference is not below a bound of 0, but it does not exceed it.

    Is 0 more than 1 % of 0? Which claim would you then find wrong in a unit of relu that is off?
    """
    is_smooth = (right - left).abs() < 0.01 * torch.maximum(right.abs(), left.abs())
    return _differs(right, left, claimed) & is_smooth


@misconception(of="wrong_entries")
def share_of_the_smaller_slope(right, left, claimed):
    """A kink is 1 % of the smaller of the two slopes, where the larger one is asked for.

    The slopes are 1 and 0.99002. How much is 1 % of either, and how far are they apart?
    """
    is_kink = (right - left).abs() > 0.01 * torch.minimum(right.abs(), left.abs())
    return _differs(right, left, claimed) & ~is_kink


@misconception(of="wrong_entries")
def kinks_judged(right, left, claimed):
    """Claims at a kink are judged as well, although there is no derivative to compare them with.

    What is the slope of relu to the right of 0, and to the left? What does the mean of the two mean?
    """
    return _differs(right, left, claimed)


@misconception(of="wrong_entries")
def right_entries_reported(right, left, claimed):
    """True and False are exchanged: True stands where the claim agrees.

    Does your test ask whether two numbers are close, or whether they are not? Which of the two is "wrong"?
    """
    return ~_differs(right, left, claimed)


@misconception(of="wrong_entries")
def one_verdict_for_all(right, left, claimed):
    """There is one verdict for the whole tensor, so nobody learns which entry is wrong.

    Which shape is asked for? Which entry would you mend first, knowing only that some entry is wrong?
    """
    return (_differs(right, left, claimed) & ~_is_kink(right, left)).any()


@misconception(of="wrong_entries")
def bounds_without_absolute_values(right, left, claimed):
    """The larger of the two numbers is taken with its sign, and a negative bound is always exceeded.

    The slopes are -2 and -2 on both sides. What is your bound for a kink there, and is it exceeded?
    """
    mean = (right + left) / 2
    is_kink = (right - left).abs() > 0.01 * torch.maximum(right, left)
    return ~is_kink & ((mean - claimed).abs() > 1e-4 * torch.maximum(mean, claimed))


@misconception(of="wrong_entries")
def only_the_slope_to_one_side(right, left, claimed):
    """The claim is compared with the slope to one side alone, not with the mean of both.

    The slopes are 1.004 and 0.996 and the claim is 1. Which number should be compared with it?
    """
    return _differs(right, right, claimed) & ~_is_kink(right, left)


@misconception(of="wrong_entries")
def differences_with_their_sign(right, left, claimed):
    """The differences keep their signs, so that only deviations in one direction are found.

    The slope is 0.001 and the claim 0.002. Is their difference, as you take it, above 0? Should the order
    matter?
    """
    mean = (right + left) / 2
    is_kink = (right - left) > 0.01 * torch.maximum(right.abs(), left.abs())
    return ~is_kink & ((mean - claimed) > 1e-4 * torch.maximum(mean.abs(), claimed.abs()))


@misconception(of="wrong_entries")
def kinks_called_wrong(right, left, claimed):
    """A kink itself is reported as wrong, whatever is claimed there.

    Whose fault is it that a loss has no derivative at some place? What does the example say about its second
    entry?
    """
    return _differs(right, left, claimed) | _is_kink(right, left)


@misconception(of="wrong_entries")
def strict_absolute_tolerance(right, left, claimed):
    """The bound is 0.0001 itself, not that fraction of the numbers, so that small gradients are never wrong.

    If all gradients are about 0.000001, which claims pass your test? Would 0 pass, everywhere?
    """
    return (((right + left) / 2 - claimed).abs() > 1e-4) & ~_is_kink(right, left)


# 21. name_the_broken_line


@misconception(of="name_the_broken_line")
def said_the_mean_is_forgotten():
    """The missing 1/B is named, but run B has two windows and is whole.

    In run B, by which number would dz be too large? Does the table show it?
    """
    return "mean_of_the_batch_forgotten"


@misconception(of="name_the_broken_line")
def said_the_bias_of_the_first_window():
    """The bias is named, but run B has two windows, and its db is right.

    Which line does this fault break, and is that line in the table?
    """
    return "bias_taken_from_the_first_window"


@misconception(of="name_the_broken_line")
def said_the_slope_of_tanh():
    """The slope of tanh is named, which would break da in every run.

    In which run of the table does da depart?
    """
    return "slope_of_tanh_forgotten"


@misconception(of="name_the_broken_line")
def said_overwritten_within_a_window():
    """Overwriting within a window is named, but in run D no window holds a word twice, and dE departs.

    Where does the repeated word of run D stand? What would this fault do with its two gradients?
    """
    return "repeated_word_overwritten_within_a_window"


@misconception(of="name_the_broken_line")
def said_averaged_over_windows():
    """Averaging is named, which would halve dE in run B.

    How many windows has run B? Is its dE right?
    """
    return "gradients_of_a_word_averaged"
