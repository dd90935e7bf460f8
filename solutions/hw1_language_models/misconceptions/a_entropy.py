"""What goes wrong with the entropy of a distribution and of a source."""

import math

import torch

from autograder.catalogue import misconception, not_code

# 3. branching_factor


@misconception(of="branching_factor")
def outcomes_counted(probs):
    """The possible outcomes are counted, and how likely each of them is plays no role.

    One operator hears 30,003 things equally often, another hears three of them nearly always. Which has the
    easier job, and what do you answer for each?
    """
    return float((probs > 0).sum())


@misconception(of="branching_factor")
def surprises_averaged_without_weights(probs):
    """The surprises of the outcomes are averaged as if each outcome happened equally often.

    A name is 30,000 times rarer than "sales" and far more surprising. In a thousand calls, how often do you
    meet the surprise of one particular name?
    """
    return math.exp(-probs[probs > 0].log().mean().item())


@misconception(of="branching_factor")
def two_to_the_entropy_in_nats(probs):
    """The entropy is computed with natural logarithms, but 2 is raised to it.

    For ten equally likely digits you answer 4.93. What is their entropy in nats, what in bits, and which of
    the two belongs above a 2?
    """
    return 2 ** -torch.xlogy(probs, probs).sum().item()


@misconception(of="branching_factor")
def e_to_the_entropy_in_bits(probs):
    """The entropy is computed in bits, but e is raised to it.

    For ten equally likely digits you answer 27.7. What is their entropy in bits, and which number must be
    raised to it to get back to ten?
    """
    return math.exp(-torch.xlogy(probs, probs).sum().item() / math.log(2))


@misconception(of="branching_factor")
def zero_times_minus_infinity(probs):
    """An outcome of probability zero makes the whole result NaN, as 0 times minus infinity does in torch.

    Print `p * p.log()` for `p = torch.tensor([0.5, 0.0])`. What should an outcome that never happens
    contribute?
    """
    return 2 ** -(probs * probs.log2()).sum().item()


@misconception(of="branching_factor")
def logarithm_of_zero_attempted(probs):
    """The logarithm is taken of every probability, also of zero, where Python's `math.log2` raises an error.

    Which outcomes can be left out of a sum over what happens, and do you meet them before or after the
    logarithm?
    """
    return 2 ** -sum(p * math.log2(p) for p in probs.tolist())


@misconception(of="branching_factor")
def likeliest_outcome_alone(probs):
    """The answer is one over the largest probability: only the likeliest outcome counts.

    An operator who hears "sales" half of the time: does the rest of the calls matter for how hard the job is?
    Compare your answers for one other request and for a thousand.
    """
    return 1 / probs.max().item()


@misconception(of="branching_factor")
def inverse_of_the_sum_of_squares(probs):
    """The answer is one over the sum of the squared probabilities, which is another measure of diversity.

    It agrees with perplexity when all outcomes are equally likely. For the example, work out both by hand:
    where does the logarithm of the formula appear in yours?
    """
    return 1 / probs.square().sum().item()


@misconception(of="branching_factor")
def entropy_instead_of_perplexity(probs):
    """The entropy in bits is returned, not two to the power of it.

    For ten equally likely digits you answer 3.32. How many choices is that number of bits worth?
    """
    return -torch.xlogy(probs, probs).sum().item() / math.log(2)


@misconception(of="branching_factor")
def minus_sign_of_the_entropy_lost(probs):
    """The minus sign of the entropy is missing, so the answer is one over the perplexity.

    Is the logarithm of a probability above or below zero? Can a line branch less than once?
    """
    return 2 ** (torch.xlogy(probs, probs).sum().item() / math.log(2))


@misconception(of="branching_factor")
def entropy_shared_among_the_outcomes(probs):
    """The entropy is divided by the number of outcomes: the mean of $p \\log p$ stands for its sum.

    The probabilities are weights already, and sum to one. What do you answer for ten equally likely digits,
    and what for a hundred?
    """
    return 2 ** (torch.xlogy(probs, probs)[probs > 0].mean().item() / -math.log(2))


# 4. entropy_rate


def _shares(transition):
    return torch.linalg.matrix_power((transition + torch.eye(len(transition))) / 2, 4096)[0]


def _row_entropies(transition):
    return -torch.xlogy(transition, transition).sum(1) / math.log(2)


def _alike(transition):
    return torch.full_like(transition[0], 1 / len(transition))


def _rate_at_one_moment(transition, fractions, steps):
    return (fractions @ torch.linalg.matrix_power(transition, steps) @ _row_entropies(transition)).item()


def _summed_powers(transition, steps):
    """The sum of the powers of `transition` from the 0th on, `steps` of them."""
    if steps == 1:
        return torch.eye(len(transition), dtype=transition.dtype)
    half = _summed_powers(transition, steps // 2)
    both = half + half @ torch.linalg.matrix_power(transition, steps // 2)
    return both + torch.linalg.matrix_power(transition, steps - 1) if steps % 2 else both


def _rate_over_all_steps(transition, steps):
    fractions = _alike(transition) @ _summed_powers(transition, steps) / steps
    return (fractions @ _row_entropies(transition)).item()


@misconception(of="entropy_rate")
def shares_after_many_steps(transition):
    """The fractions are those after a fixed number of steps, which a source with a period never settles on.

    A source is at token 0 at every second step. What is its probability after 4096 steps, and after 4097?
    What would change if it also stayed where it is now and then?
    """
    return _rate_at_one_moment(transition, torch.eye(len(transition), dtype=torch.float64)[0], 4096)


@misconception(of="entropy_rate")
def shares_after_many_steps_from_equal_ones(transition):
    """The fractions are those after a fixed number of steps, which a source with a period never settles on.

    A source is at token 0 at every second step. What is its probability after 4096 steps, and after 4097?
    What would change if it also stayed where it is now and then?
    """
    return _rate_at_one_moment(transition, _alike(transition), 1000)


@misconception(of="entropy_rate")
def thousand_steps_averaged(transition):
    """The fractions are averaged over all steps, and the first ones, before the source settled, still count.

    Print your answer for the example after 1,000, 10,000 and 100,000 steps. By how much does ten times the
    work improve it, and how many steps would six digits take?
    """
    return _rate_over_all_steps(transition, 1000)


@misconception(of="entropy_rate")
def ten_thousand_steps_averaged(transition):
    """The fractions are averaged over all steps, and the first ones, before the source settled, still count.

    Print your answer for the example after 1,000, 10,000 and 100,000 steps. By how much does ten times the
    work improve it, and how many steps would six digits take?
    """
    return _rate_over_all_steps(transition, 10_000)


@misconception(of="entropy_rate")
def hundred_thousand_steps_averaged(transition):
    """The fractions are averaged over all steps, and the first ones, before the source settled, still count.

    Print your answer for the example after 1,000, 10,000 and 100,000 steps. By how much does ten times the
    work improve it, and how many steps would six digits take?
    """
    return _rate_over_all_steps(transition, 100_000)


@misconception(of="entropy_rate")
def shares_of_length_one(transition):
    """The fractions do not sum to one: an eigenvector comes with length one.

    Add up the fractions of the example. Which multiple of an eigenvector is an eigenvector too, and which one
    satisfies the second equation of the statement?
    """
    fractions = _shares(transition)
    return (fractions / fractions.norm() @ _row_entropies(transition)).item()


@misconception(of="entropy_rate")
def last_two_steps_averaged(transition):
    """The fractions of the last two steps are averaged, which settles a period of two and no other.

    A source is at token 0 at every third step. How probable is each token after 999, 1000 and 1001 steps?
    """
    now = torch.linalg.matrix_power(transition, 9999)
    return (_alike(transition) @ (now + now @ transition) / 2 @ _row_entropies(transition)).item()


@misconception(of="entropy_rate")
def entropy_of_the_shares(transition):
    """The answer is the entropy of the fractions: the price of a token when the one before it is unknown.

    A source that always emits 0, 1, 2, 0, 1, 2, … emits each a third of the time. How many bits does the next
    token cost somebody who sees the present one?
    """
    return _row_entropies(_shares(transition)[None]).item()


@misconception(of="entropy_rate")
def rows_averaged_alike(transition):
    """The entropies of the rows are averaged with equal weights, however rarely the source is there.

    Let token 2 occur once in a million tokens. How much should the entropy of its row matter, and how much
    does it in your average? (If you looked for fractions that reproduce themselves and found equal ones: on
    which side of `transition` were they multiplied?)
    """
    return _row_entropies(transition).mean().item()


@misconception(of="entropy_rate")
def entropy_rate_in_nats(transition):
    """The answer is in nats: it is ln 2 times the entropy rate in bits.

    A fair coin costs one bit per toss. What does your function say for a source whose rows are all 1/2, 1/2?
    """
    return (_shares(transition) @ _row_entropies(transition)).item() * math.log(2)


@misconception(of="entropy_rate")
def shares_after_a_single_step(transition):
    """The rows are weighted by the fractions after one step, not by the fractions in the long run.

    Print your fractions after 1, 2, 5 and 50 steps. Do those that you use satisfy the statement's equation?
    """
    return (transition.mean(0) @ _row_entropies(transition)).item()


@misconception(of="entropy_rate")
def zero_probability_makes_nan(transition):
    """A zero in `transition` makes the whole result NaN, as 0 times minus infinity does in torch.

    Print `p * p.log()` for `p = torch.tensor([0.5, 0.0])`. What should a token that never follows contribute?
    """
    return -(_shares(transition) @ (transition * transition.log2()).sum(1)).item()


@misconception(of="entropy_rate")
def entropy_of_pairs(transition):
    """The answer is the entropy of a pair of neighbouring tokens, and so charges for the first of them too.

    For a fair coin you answer two bits. What is the entropy of a pair made of, and which part of it is the
    price of the next token?
    """
    pairs = _shares(transition)[:, None] * transition
    return -torch.xlogy(pairs, pairs).sum().item() / math.log(2)


@misconception(of="entropy_rate")
def columns_taken_for_rows(transition):
    """The entropy is taken along the columns of `transition`, which do not sum to one.

    `transition[i, j]` is the probability of j after i. Which index must vary while the present token stays
    the same?
    """
    return (_shares(transition) @ _row_entropies(transition.T)).item()


@misconception(of="entropy_rate")
def perplexity_of_the_source(transition):
    """Two to the power of the entropy rate is returned: the perplexity of the source, not its bits per token.

    A source without choice costs nothing per token. What do you answer for it, and which unit has your
    answer?
    """
    return 2 ** (_shares(transition) @ _row_entropies(transition)).item()


not_code(
    "4d",
    "belief that a better model can go below the floor",
    why="a conclusion drawn from a number, not a way of computing one; asked in below_the_floor",
)
not_code(
    "4e",
    "floor compared with the training loss",
    why="a choice of which two numbers to set side by side; asked in below_the_floor",
)


@misconception(of="entropy_rate")
def shares_after_five_steps(transition):
    """The source takes a few steps, and the fractions have not settled yet.

    Print your fractions after 5, 50 and 500 steps. How many digits of the rate are right?
    """
    fractions = torch.full((len(transition),), 1 / len(transition), dtype=torch.float64)
    for _ in range(5):
        fractions = fractions @ transition
    return (fractions @ _row_entropies(transition)).item()
