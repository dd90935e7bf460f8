"""A student's progress in a homework: exercises done, points, and what is left."""

import textwrap
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from course.language import ENGLISH, Language, say

WIDTH = 100


@dataclass(frozen=True)
class Score:
    """The last result of an exercise's checks: `held` of its `claims` hold."""

    held: int = 0
    claims: int = 0
    earned: float = 0
    worth: float = 0
    later: float = 0  # points that are given after the homework is handed in

    @property
    def is_done(self) -> bool:
        """Whether nothing is left to do in the exercise."""
        return bool(self.claims) and self.held == self.claims


def untried(fingerprints: Mapping) -> dict[str, Score]:
    """Exercise → its score before its checks have run, in the order of the notebook."""
    visible: dict[str, list[float]] = {}
    for check in fingerprints["checks"].values():
        visible.setdefault(check["exercise"], []).append(check.get("points", 1))
    exercises = fingerprints["exercises"]
    scores = {}
    for name in sorted(exercises, key=lambda name: exercises[name].get("place", 0)):
        points = visible.get(name, [])
        whole = exercises[name].get("points", sum(points))
        scores[name] = Score(claims=len(points), worth=sum(points), later=whole - sum(points))
    return scores


def in_words(scores: Mapping[str, Score], language: Language = ENGLISH) -> str:
    """A line of counts, and below it the exercises begun and the exercises left, once any has been tried."""
    return "\n".join(_lines(scores, language))


def _lines(scores: Mapping[str, Score], language: Language) -> Iterator[str]:
    done = sum(score.is_done for score in scores.values())
    earned, worth, later = (
        sum(getattr(score, what) for score in scores.values()) for what in ("earned", "worth", "later")
    )
    counted: dict[str, object] = {"done": done, "total": len(scores), "earned": earned, "worth": worth}
    if later:
        yield language(
            say(
                "{done} of {total} exercises done · {earned:g} of {worth:g} points, "
                "and {later:g} more after you hand in",
                **counted,
                later=later,
            )
        )
    else:
        yield language(say("{done} of {total} exercises done · {earned:g} of {worth:g} points", **counted))
    if not any(score.held for score in scores.values()):
        return
    begun = [
        language(say("{name} ({held} of {total})", name=name, held=score.held, total=score.claims))
        for name, score in scores.items()
        if score.held and not score.is_done
    ]
    left = [name for name, score in scores.items() if not score.held]
    for label, names in (
        (say("Begun: {names}", names=", ".join(begun)), begun),
        (say("Left: {names}", names=", ".join(left)), left),
    ):
        if names:
            yield textwrap.fill(language(label), WIDTH, break_on_hyphens=False)
