"""The parts of a homework's living end: the student's where they are right, ready-made where they are not."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping
from importlib import import_module
from types import SimpleNamespace

from course.checks.check import Homework
from course.checks.progress import WIDTH
from course.language import joined, say


class Parts(SimpleNamespace):
    """Functions and classes under the names of their exercises, and whose they are.

    own: the names of the student's parts. ready_made: the names of the others.
    """

    own: tuple[str, ...]
    ready_made: tuple[str, ...]

    def __str__(self) -> str:
        return textwrap.fill(self.sentence, WIDTH)

    @property
    def sentence(self) -> str:
        """Whose the parts are."""
        own, ready_made = ", ".join(self.own), ", ".join(self.ready_made)
        if not ready_made:
            return say("Every part is yours: {names}.", names=own)
        whose = say("Yours: {names}.", names=own) if own else say("None of these parts is yours yet.")
        others = say(
            "Ready-made, until your own have passed their checks in this session: {names}.", names=ready_made
        )
        return joined(" ", [whose, others])


def parts(check: Homework, **answers: object) -> Parts:
    """The answers, given by their names, with a ready-made part in place of each that is not right yet.

    An answer is right if all its checks have run in this session and hold. Prints which parts are whose.
    Raises KeyError for a name that has no ready-made part.
    """
    ready = ready_made(check.name)
    if missing := answers.keys() - ready.keys():
        raise KeyError(f"no ready-made part: {', '.join(sorted(missing))}")
    done = {name for name, score in check.scores.items() if score.is_done}
    chosen = {name: thing if name in done else ready[name] for name, thing in answers.items()}
    found = Parts(
        **chosen,
        own=tuple(name for name in answers if name in done),
        ready_made=tuple(name for name in answers if name not in done),
    )
    print(textwrap.fill(check.language(found.sentence), WIDTH))
    return found


def ready_made(homework: str) -> Mapping[str, object]:
    """The ready-made parts of a homework, by the names of their exercises."""
    module = import_module(f"course.mine.ready.{homework}")
    return {name: getattr(module, name) for name in module.__all__}
