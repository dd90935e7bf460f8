"""The names that are taken for one mistake exist, and join what several homeworks' catalogues keep apart."""

from pathlib import Path

import pytest

from autograder.marks.persisting import one_spelling
from autograder.marks.synonyms import SHOWN, SYNONYMS
from autograder.source.loading import load, names

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def homeworks_of():
    """Name of a mistake → the homeworks whose catalogue has it."""
    found = {}
    for homework in names(ROOT):
        for mistake in load(ROOT / "solutions" / homework).misconceptions:
            found.setdefault(one_spelling(mistake.name), set()).add(homework)
    return found


@pytest.mark.parametrize("shown", SYNONYMS)
def test_every_name_exists_and_each_group_joins_homeworks(shown, homeworks_of):
    group = [shown, *SYNONYMS[shown]]
    assert [name for name in group if name not in homeworks_of] == []
    for name in SYNONYMS[shown]:
        others = set.union(*(homeworks_of[other] for other in group if other != name))
        assert others - homeworks_of[name], f"{name} joins nothing"


def test_no_name_is_in_two_groups():
    assert len(SHOWN) == sum(map(len, SYNONYMS.values()))
    assert SHOWN.keys().isdisjoint(SYNONYMS)
