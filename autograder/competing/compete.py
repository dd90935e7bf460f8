"""Train and evaluate every entry of a class on the same stories, one at a time, each in its own sandbox."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path

import torch

from autograder.competing.entry import Place, Task, place
from autograder.grading.standin import Sitting
from autograder.isolation import Limits, Warm, choose
from autograder.isolation.limits import GIGABYTE
from autograder.markup import one_line
from autograder.submissions.collect import Unreadable, read
from course.data.story_language import StoryLanguage
from course.data.vocabulary import Batch
from course.evaluation import score


class NoEntries(ValueError):
    """There are no entries to compare."""


@dataclass(frozen=True)
class Competition:
    """The terms, which are the same for every entry. Anyone who knows the seed knows the hidden stories."""

    seed: int
    seconds: float = 60.0  # of the processor, for training
    most_parameters: int = 500_000
    n_training: int = 20_000  # stories
    n_hidden: int = 100

    def task(self) -> Task:
        """The stories, which depend on the seed alone, and the floor of the hidden ones."""
        language, generator = StoryLanguage(), torch.Generator().manual_seed(self.seed)
        training, hidden = (language.sample(n, generator) for n in (self.n_training, self.n_hidden))
        hidden = filled(hidden, language.vocabulary.eos)
        floor = score(language, hidden).bits_per_token
        return Task(
            filled(training, language.vocabulary.eos),
            hidden,
            language.vocab_size,
            floor,
            self.seconds,
            self.most_parameters,
        )

    @property
    def limits(self) -> Limits:
        """An entry's limits: `seconds` for training, as long again plus a minute for the rest."""
        total = 2 * self.seconds + 60
        return replace(
            Limits(),
            cell_seconds=self.seconds,
            submission_seconds=total,
            cpu_seconds=round(total),
            answers_bytes=2 * GIGABYTE,
        )


def filled(stories: Batch, word: int) -> Batch:
    """The same stories, with one word of the vocabulary as padding."""
    return Batch(stories.tokens.masked_fill(~stories.mask, word), stories.mask)


def compete(
    folder: Path, competition: Competition, isolation: str = "best", tell: Callable[[str], object] = str
) -> tuple[Sequence[Place], Task]:
    """The place of every NAME.py in a folder (best first, those without a rank last), and the task.

    Raises NoEntries if there is none, and IsolationUnavailable if no sandbox works.
    """
    paths = sorted(folder.glob("*.py"))
    if not paths:
        raise NoEntries(f"{folder} contains no entry; an entry is a file NAME.py.")
    task, places = competition.task(), []
    with Warm(lambda: choose(isolation), competition.limits) as warm:
        for path in paths:
            name = one_line(path.stem)
            tell(f"Training and evaluating {name}.")
            with closing(Sitting(warm.student, competition.limits)) as sitting:
                try:
                    places.append(place(name, read(path).decode(), sitting, task))
                except (Unreadable, UnicodeDecodeError) as problem:
                    places.append(Place(name, problem=f"could not be read: {problem}"))
    return sorted(places, key=_rank), task


def _rank(entry: Place) -> tuple[bool, float, str]:
    bits = entry.bits_per_token
    return bits is None, bits or 0.0, entry.name
