"""Other right answers."""

from itertools import accumulate

from autograder.catalogue import alternative


@alternative(of="moving_average")
def by_running_totals(values, width):
    totals = [0.0, *accumulate(values)]
    return [(end - start) / width for start, end in zip(totals, totals[width:], strict=False)]
