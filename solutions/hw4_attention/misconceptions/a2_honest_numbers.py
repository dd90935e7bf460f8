"""What goes wrong when translations are counted and when an experiment is written down."""

import torch

from autograder.catalogue import misconception

# 6. exact_match


def _up_to_eos(row, eos):
    words = row.tolist()
    return words[: words.index(eos) + 1] if eos in words else words


def _share(verdicts):
    verdicts = list(verdicts)
    return sum(verdicts) / len(verdicts)


@misconception(of="exact_match", seen="https://github.com/IpsumDominum/Pytorch-Simple-Transformer/issues/3")
def helped_translations_counted(free, forced, targets, eos):
    """What is counted was said under teacher forcing: after each slip the right word was put in.

    Who will feed the right words to your translator when it is used? Which of the two tables did you compare?
    """
    pairs = zip(forced, targets, strict=True)
    return _share(_up_to_eos(own, eos) == _up_to_eos(right, eos) for own, right in pairs)


@misconception(of="exact_match")
def share_of_words_under_help(free, forced, targets, eos):
    """The fraction of right words under teacher forcing is reported as the fraction of right translations.

    A model says 97 of 100 words right when it is helped. How many sentences of 20 words does it translate?
    """
    counted = [list(zip(own, _up_to_eos(right, eos), strict=False)) for own, right in _rows(forced, targets)]
    return _share(own == right for pairs in counted for own, right in pairs)


@misconception(of="exact_match")
def share_of_words(free, forced, targets, eos):
    """The fraction of words in their place is reported, not that of sentences that are right as a whole.

    One word of a sentence of five is wrong. Is its translation four fifths right? What does the statement
    count?
    """
    counted = [list(zip(own, _up_to_eos(right, eos), strict=False)) for own, right in _rows(free, targets)]
    return _share(own == right for pairs in counted for own, right in pairs)


def _rows(written, targets):
    return [(own.tolist(), right) for own, right in zip(written, targets, strict=True)]


@misconception(of="exact_match")
def padding_compared_too(free, forced, targets, eos):
    """What stands behind EOS is compared as well, so the right short translations count as wrong.

    In the example, what stands behind the EOS of the mended second row, in each of the two tables? Did the
    decoder choose it?
    """
    width = targets.shape[1]
    if free.shape[1] < width:
        return 0.0
    return _share(own[:width].tolist() == right.tolist() for own, right in zip(free, targets, strict=True))


@misconception(of="exact_match")
def cut_off_counted_as_right(free, forced, targets, eos):
    """EOS is taken off before the comparison, so a translation that was cut off counts as finished.

    Which row of `free` has no EOS? What would the decoder have said next, and do you know?
    """
    pairs = zip(free, targets, strict=True)
    return _share(
        _without(_up_to_eos(own, eos), eos) == _without(_up_to_eos(right, eos), eos) for own, right in pairs
    )


def _without(words, eos):
    return [word for word in words if word != eos]


@misconception(of="exact_match")
def endless_translation_counted_as_right(free, forced, targets, eos):
    """Only as many words are compared as the right translation has, so one that goes on counts as right.

    The right translation is *le chat dort*, and the decoder writes *le chat dort dort*. What do you compare?
    """
    verdicts = []
    for own, right in zip(free, targets, strict=True):
        words = _without(_up_to_eos(right, eos), eos)
        verdicts.append(own.tolist()[: len(words)] == words and len(own) > len(words))
    return _share(verdicts)


@misconception(of="exact_match")
def number_of_right_sentences(free, forced, targets, eos):
    """The right translations are counted, and the count is not divided by the number of sentences.

    What is your answer when all of three sentences are right? Which number can a fraction not exceed?
    """
    return float(sum(_up_to_eos(own, eos) == _up_to_eos(right, eos) for own, right in _both(free, targets)))


def _both(free, targets):
    return zip(free, targets, strict=True)


@misconception(of="exact_match")
def compared_as_far_as_both_go(free, forced, targets, eos):
    """The rows are compared as far as both of them go, so a beginning of the right translation is right.

    The decoder was cut off after two of four words, both right. Which words does your comparison see?
    """
    return _share(
        all(a == b for a, b in zip(_up_to_eos(own, eos), _up_to_eos(right, eos), strict=False))
        for own, right in _both(free, targets)
    )


@misconception(of="exact_match")
def same_words_in_any_order(free, forced, targets, eos):
    """The words are compared as a set: their order, and how often each is said, is lost.

    Are *le chat voit le chien* and *le chien voit le chat* the same translation? What does a set keep?
    """
    return _share(
        set(_up_to_eos(own, eos)) == set(_up_to_eos(right, eos)) for own, right in _both(free, targets)
    )


# 7. bottleneck_table

FIVE_PERCENT = 1.05


def _table(runs, trained_lengths, *, key="exact_match", summary=None, fewest=2, largest=FIVE_PERCENT):
    sizes = [run["n_parameters"] for run in runs]
    if max(sizes) > largest * min(sizes):
        raise ValueError("unequal")
    found = {}
    for run in runs:
        if run["length"] not in trained_lengths:
            found.setdefault((run["model"], run["length"]), []).append(run)
    summary = summary or (lambda cell: sum(run[key] for run in cell) / len(cell))
    return {name: summary(cell) for name, cell in found.items() if len(cell) >= fewest}


@misconception(of="bottleneck_table")
def trained_lengths_reported(runs, trained_lengths):
    """Lengths that were trained on are in the table, as if they showed what the model makes of new ones.

    What does a good number at a trained length prove, and what not? Which argument did you not use?
    """
    return _table(runs, [])


@misconception(of="bottleneck_table")
def teacher_forced_accuracy_reported(runs, trained_lengths):
    """The fraction of words under teacher forcing is reported as if it were that of right translations.

    The two runs of the example have under teacher forcing 0.84 and 0.88. Which of the numbers would a user
    notice?
    """
    return _table(runs, trained_lengths, key="forced_accuracy")


@misconception(of="bottleneck_table")
def first_seed_reported(runs, trained_lengths):
    """One seed is reported, the first that comes, and the others are forgotten.

    Run the same experiment with the seeds in another order. Does your table change?
    """
    return _table(runs, trained_lengths, summary=lambda cell: cell[0]["exact_match"])


@misconception(of="bottleneck_table")
def best_seed_reported(runs, trained_lengths):
    """The best of the seeds is reported, so trying more seeds makes the same model look better.

    What would your table say of a model with a hundred seeds, of which one was lucky?
    """
    return _table(runs, trained_lengths, summary=lambda cell: max(run["exact_match"] for run in cell))


@misconception(of="bottleneck_table")
def single_seeds_reported(runs, trained_lengths):
    """Cells with a single seed are in the table, and nobody can see that they rest on one run.

    How far apart do two seeds of one model lie? What do you know of that from one?
    """
    return _table(runs, trained_lengths, fewest=1)


@misconception(of="bottleneck_table")
def sizes_not_looked_at(runs, trained_lengths):
    """Models of 1000 and of 3000 parameters raise no ValueError, so one may win for being larger.

    If the model with attention has a third more parameters, what could its lead be due to?
    """
    return _table(runs, trained_lengths, largest=float("inf"))


@misconception(of="bottleneck_table")
def all_models_in_one_mean(runs, trained_lengths):
    """The mean runs over the models too, and every model is given the same number.

    Which runs belong to one cell of the table? Print how many there are in yours.
    """
    by_length = {}
    for run in runs:
        by_length.setdefault(run["length"], []).append(run["exact_match"])
    table = _table(runs, trained_lengths)
    return {(m, n): float(torch.tensor(by_length[n], dtype=torch.float64).mean()) for m, n in table}


@misconception(of="bottleneck_table")
def only_longer_lengths_reported(runs, trained_lengths):
    """Only lengths above the longest trained one are reported; the shorter ones were not seen either.

    4, 5 and 6 were trained on. Has the model ever seen a sentence of 3 words?
    """
    return _table(runs, range(max(trained_lengths) + 1))


@misconception(of="bottleneck_table")
def every_difference_refused(runs, trained_lengths):
    """Models whose sizes differ at all are refused, where 5 % are allowed.

    With 1000 and 1040 parameters, how many times as large is the larger model? What does rule 4 say to that?
    """
    return _table(runs, trained_lengths, largest=1.0)
