"""What goes wrong when n and k are chosen."""

import math
from statistics import mean, median, pstdev, stdev, variance

from autograder.catalogue import misconception, not_code

# 12. choose_n_and_k


def _cost(results, part="heldout"):
    return {setting: mean(bits[part]) for setting, bits in results.items()}


def _standard_error(bits):
    return stdev(bits) / math.sqrt(len(bits))


def _smallest_n(cost, limit):
    return min((s for s in cost if cost[s] <= limit), key=lambda setting: (setting[0], cost[setting]))


def _one_standard_error(results, part):
    cost = _cost(results, part)
    best = min(cost, key=cost.get)
    return _smallest_n(cost, cost[best] + _standard_error(results[best][part]))


@misconception(of="choose_n_and_k")
def chosen_on_the_training_text(results):
    """The choice is made by the cost on the training text, where a longer context always looks better.

    Which n would you choose if n could go up to 100? What has such a model learned from its text?
    """
    return _one_standard_error(results, "training")


@misconception(of="choose_n_and_k")
def chosen_on_all_text_together(results):
    """The held-out bits are averaged with those of the training text, which the models have already seen.

    Half of your average is measured on tokens that the model was trained on. What does that half reward?
    """
    pooled = {s: {"heldout": bits["heldout"] + bits["training"]} for s, bits in results.items()}
    return _one_standard_error(pooled, "heldout")


@misconception(of="choose_n_and_k")
def chosen_on_the_test_text(results):
    """The choice is made by the cost on the test text, which was to be kept for the report.

    After you have chosen what suits the test text best, is your test score still what to expect on new text?
    """
    return _one_standard_error(results, "test")


@misconception(of="choose_n_and_k")
def noise_ignored(results):
    """The setting of lowest held-out cost is chosen, however small its lead over a smaller n.

    Look at the folds of the two best settings of the example. If the text had been cut differently, would the
    same one have won?
    """
    cost = _cost(results)
    return min(cost, key=cost.get)


@misconception(of="choose_n_and_k")
def deviation_of_a_single_fold(results):
    """The limit lies more than one standard error above the lowest cost, as the deviation of one fold does.

    The mean of four folds is more certain than one of them. By which factor, and where is it in your code?
    """
    cost = _cost(results)
    best = min(cost, key=cost.get)
    return _smallest_n(cost, cost[best] + stdev(results[best]["heldout"]))


@misconception(of="choose_n_and_k")
def deviation_of_the_population(results):
    """The standard deviation is taken with F, not F - 1, in the denominator, so the limit is too low.

    `statistics` has `stdev` and `pstdev`, numpy has `ddof`, and torch has `correction`. Which of the two
    does the statement name, and what do you get for two folds?
    """
    cost = _cost(results)
    best = min(cost, key=cost.get)
    folds = results[best]["heldout"]
    return _smallest_n(cost, cost[best] + pstdev(folds) / math.sqrt(len(folds)))


@misconception(of="choose_n_and_k")
def largest_n_within_the_noise(results):
    """Among the settings that are good enough, the largest n is chosen.

    When several models are equally good as far as anybody can tell, which one does the rule prefer, and why?
    """
    cost = _cost(results)
    best = min(cost, key=cost.get)
    limit = cost[best] + _standard_error(results[best]["heldout"])
    return min((s for s in cost if cost[s] <= limit), key=lambda setting: (-setting[0], cost[setting]))


@misconception(of="choose_n_and_k")
def luckiest_fold(results):
    """The setting with the lowest bits on any single fold is chosen.

    Give one setting many folds with a wide spread. What happens to its lowest fold, and what to its mean?
    """
    return min(results, key=lambda setting: min(results[setting]["heldout"]))


@misconception(of="choose_n_and_k")
def first_good_enough(results):
    """Among the good-enough k of the smallest n, it is not the cheapest that is chosen.

    The smallest n may be there with several k. What decides among them in the statement, and what in your
    code?
    """
    cost = _cost(results)
    best = min(cost, key=cost.get)
    limit = cost[best] + _standard_error(results[best]["heldout"])
    return min((setting for setting in cost if cost[setting] <= limit), key=lambda setting: setting[0])


not_code(
    "8c",
    "perplexity plotted on a linear axis and misread",
    why="a way of reading a picture, not of writing a function; asked in reading_the_fall",
)


@misconception(of="choose_n_and_k")
def each_setting_with_its_own_error(results):
    """Each setting is allowed its own standard error, so a noisy one is good enough too easily.

    Whose standard error does step 2 of the rule speak of? How many limits are there?
    """
    cost = _cost(results)
    lowest = min(cost.values())
    good = [s for s in cost if cost[s] <= lowest + _standard_error(results[s]["heldout"])]
    return min(good, key=lambda setting: (setting[0], cost[setting]))


@misconception(of="choose_n_and_k")
def divided_by_the_folds_without_a_root(results):
    """The standard deviation is divided by F, not by the root of F, so the limit is too low.

    What is the root of the number of folds in the example, and what do you divide 0.2828 by?
    """
    cost = _cost(results)
    best = min(cost, key=cost.get)
    bits = results[best]["heldout"]
    return _smallest_n(cost, cost[best] + stdev(bits) / len(bits))


@misconception(of="choose_n_and_k")
def largest_k_of_the_smallest_n(results):
    """Among the good-enough settings of the smallest n, the largest k is chosen, not the cheapest.

    What decides between two k in step 3 of the rule?
    """
    cost = _cost(results)
    best = min(cost, key=cost.get)
    limit = cost[best] + _standard_error(results[best]["heldout"])
    return min((s for s in cost if cost[s] <= limit), key=lambda setting: (setting[0], -setting[1]))


@misconception(of="choose_n_and_k")
def variance_for_the_deviation(results):
    """The variance stands where the standard deviation belongs; its root has not been taken.

    For the folds 5.0 and 5.4 of the example, s is 0.2828. Which number do you have for it?
    """
    cost = _cost(results)
    best = min(cost, key=cost.get)
    bits = results[best]["heldout"]
    return _smallest_n(cost, cost[best] + variance(bits) / math.sqrt(len(bits)))


@misconception(of="choose_n_and_k")
def k_of_the_lowest_cost(results):
    """The smallest n that is good enough is paired with the k of the setting of lowest cost.

    Is the pair that you return among the settings that are good enough? Does it occur in `results` at all?
    """
    cost = _cost(results)
    best = min(cost, key=cost.get)
    n, _ = _smallest_n(cost, cost[best] + _standard_error(results[best]["heldout"]))
    return n, best[1]


@misconception(of="choose_n_and_k")
def cost_by_the_median(results):
    """The cost of a setting is the median of its folds, where the statement takes their mean.

    Three folds cost 5 bits and a fourth 9. What is the cost by the statement, and what is it for you?
    """
    cost = {setting: median(bits["heldout"]) for setting, bits in results.items()}
    best = min(cost, key=cost.get)
    return _smallest_n(cost, cost[best] + _standard_error(results[best]["heldout"]))


@misconception(of="choose_n_and_k")
def limit_itself_excluded(results):
    """Only settings that cost less than the limit are good enough, and without noise none is.

    All folds of the best setting cost the same: where is the limit then? What does the rule say of a setting
    that lies on it?
    """
    cost = _cost(results)
    best = min(cost, key=cost.get)
    limit = cost[best] + _standard_error(results[best]["heldout"])
    return min((s for s in cost if cost[s] < limit), key=lambda setting: (setting[0], cost[setting]))
