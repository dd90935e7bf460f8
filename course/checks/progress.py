"""A student's progress in a homework: exercises done, points, and what is left."""

import textwrap
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass

from course.language import ENGLISH, Language, Said, say

WIDTH = 100


@dataclass(frozen=True)
class Score:
    """The last result of an exercise's checks: `held` of its `claims` hold."""

    held: int = 0
    claims: int = 0
    earned: float = 0
    worth: float = 0
    later: float = 0  # points that are given after the homework is handed in
    bonus: bool = False  # whether its points are on top of the homework's maximum
    is_in_words: bool = False  # whether it is answered in words, which no check reads

    @property
    def is_done(self) -> bool:
        """Whether nothing is left to do in the exercise."""
        return bool(self.claims) and self.held == self.claims


def untried(fingerprints: Mapping) -> dict[str, Score]:
    """Exercise → its score before its checks have run, in the order of the notebook, those in words last."""
    visible: dict[str, list[float]] = {}
    for check in fingerprints["checks"].values():
        visible.setdefault(check["exercise"], []).append(check.get("points", 1))
    exercises = fingerprints["exercises"]
    scores = {}
    for name in sorted(exercises, key=lambda name: exercises[name].get("place", 0)):
        points = visible.get(name, [])
        whole = exercises[name].get("points", sum(points))
        bonus = exercises[name].get("bonus", False)
        scores[name] = Score(claims=len(points), worth=sum(points), later=whole - sum(points), bonus=bonus)
    for name, asked in fingerprints.get("in_words", {}).items():
        scores[name] = Score(later=asked["points"], bonus=asked.get("bonus", False), is_in_words=True)
    return scores


def in_words(scores: Mapping[str, Score], language: Language = ENGLISH) -> str:
    """A line of counts, and below it the exercises begun and the exercises left, once any has been tried."""
    return "\n".join(_lines(scores, language))


def _lines(scores: Mapping[str, Score], language: Language) -> Iterator[str]:
    regular = {name: score for name, score in scores.items() if not score.bonus}
    on_top = {name: score for name, score in scores.items() if score.bonus}
    yield language(_counted(regular.values()))
    if on_top:
        yield language(say("On top, as a bonus: {counted}", counted=_counted(on_top.values())))
    if not any(score.held for score in scores.values()):
        return
    begun = [
        language(say("{name} ({held} of {total})", name=name, held=score.held, total=score.claims))
        for name, score in scores.items()
        if score.held and not score.is_done
    ]
    left, left_on_top = (
        [name for name, one in some.items() if not one.held and not one.is_in_words]
        for some in (regular, on_top)
    )
    for label, names in (
        (say("Begun: {names}", names=", ".join(begun)), begun),
        (say("Left: {names}", names=", ".join(left)), left),
        (say("Left as a bonus: {names}", names=", ".join(left_on_top)), left_on_top),
    ):
        if names:
            yield textwrap.fill(language(label), WIDTH, break_on_hyphens=False)


def _counted(scores: Collection[Score]) -> Said:
    """`3 of 7 exercises done · 12 of 30 points, and 9 more after you hand in`."""
    earned, worth, later = (
        sum(getattr(score, what) for score in scores) for what in ("earned", "worth", "later")
    )
    checked = [score for score in scores if not score.is_in_words]
    done, total = sum(score.is_done for score in checked), len(checked)
    if not later:
        return say(
            "{done} of {total} exercises done · {earned:g} of {worth:g} points",
            done=done,
            total=total,
            earned=earned,
            worth=worth,
        )
    return say(
        "{done} of {total} exercises done · {earned:g} of {worth:g} points, "
        "and {later:g} more after you hand in",
        done=done,
        total=total,
        earned=earned,
        worth=worth,
        later=later,
    )
