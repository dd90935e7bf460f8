"""Pairs of submissions with more in common than the homework explains, for a person to review.

Answers are compared by fingerprints that do not depend on names, comments and spacing. Text that also occurs
in the release, the reference, the catalogue or many submissions is not evidence. Neither are short answers:
everyone who solves a one-line exercise writes that line.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from autograder.extras import needs

with needs("pygments", "instructor"):
    from pygments.lexers.python import PythonLexer
    from pygments.token import Comment, Name, String, Text

# Every run of this length is kept, not a sample of them: answers are short, so no agreement need be missed.
GRAM = 25  # consecutive characters that must agree, counted as in `_signs`
LONGEST = 20_000  # characters of an answer that are compared; an honest one has a tenth of that

VARIABLES = (Name, Name.Variable, Name.Attribute)  # without those of Python itself: print, None, __init__


class Prints:
    """The places of each fingerprint in a text; in prose, words are compared as they are, except for case."""

    def __init__(self, text: str, *, is_prose: bool = False) -> None:
        text = text[:LONGEST]
        text = " ".join(text.lower().split()) if is_prose else "".join(_signs(text))
        self.length = len(text)
        places: defaultdict[int, list[int]] = defaultdict(list)
        for place in range(self.length - GRAM + 1):
            places[hash(text[place : place + GRAM])].append(place)
        self.places = dict(places)

    def covered(self, marks: Iterable[int]) -> int:
        """How many characters these fingerprints cover."""
        starts = np.array([place for mark in marks for place in self.places[mark]], dtype=int)
        steps = np.zeros(self.length + 1, dtype=int)
        steps[starts] += 1  # each place once, because no two marks begin at the same place
        steps[starts + GRAM] -= 1
        return int((steps.cumsum() > 0).sum())


def _signs(code: str) -> Iterator[str]:
    """Python code without spaces and comments, with each name and each piece of a string as one letter."""
    for kind, text in PythonLexer().get_tokens(code):
        if kind in VARIABLES:
            yield "V"
        elif kind in Name.Function or kind in Name.Class:
            yield "F" if kind in Name.Function else "O"
        elif kind in String:
            yield '"' if text in ("'", '"') else "S"
        elif kind not in Text and kind not in Comment:
            yield text


LEAST_IN_AN_ANSWER = 100  # characters shared in one answer, names and strings counted as one each
LEAST_SHARE = 0.6  # of the shorter answer's own text
LEAST_IN_ALL = 150
FEW = 4  # most students who may share a text that still counts as evidence
SHORTEST_LINE = 20
MOST_LINES = 5

Answers = Mapping[str, Mapping[str, str]]  # student → exercise → the text of the answer cell


@dataclass(frozen=True)
class SharedAnswer:
    """One exercise: how many characters both answers share, and how many are the shorter one's own."""

    exercise: str
    shared: int
    own: int

    @property
    def share(self) -> float:
        return self.shared / self.own

    @property
    def in_short(self) -> str:
        return f"{self.exercise}: {self.share:.0%} of the shorter answer's own text"


@dataclass(frozen=True)
class Pair:
    """Two students, the answers they share, and lines that only these two wrote, word for word."""

    first: str
    second: str
    answers: tuple[SharedAnswer, ...]
    lines: tuple[str, ...]

    @property
    def shared(self) -> int:
        return sum(answer.shared for answer in self.answers)


def similar_pairs(
    answers: Answers, explained: Mapping[str, Iterable[str]], prose: Collection[str] = ()
) -> list[Pair]:
    """The pairs worth reviewing, those who share most first.

    explained: for each exercise, the texts that students have from the course or can be expected to write.
    prose: the exercises that are answered in words.
    """
    shared: defaultdict[tuple[str, str], list[SharedAnswer]] = defaultdict(list)
    for exercise, texts in explained.items():
        given = {student: found[exercise] for student, found in answers.items() if found.get(exercise)}
        for pair, answer in shared_answers(exercise, given, texts, is_prose=exercise in prose):
            shared[pair].append(answer)
    shared_lines = {name: _lines_of_two(name, answers, texts) for name, texts in explained.items()}
    found = [
        Pair(
            *pair,
            tuple(sorted(parts, key=lambda part: -part.shared)),
            lines_of(*pair, parts, answers, shared_lines),
        )
        for pair, parts in shared.items()
        if sum(part.shared for part in parts) >= LEAST_IN_ALL
    ]
    return sorted(found, key=lambda pair: (-pair.shared, pair.first, pair.second))


def shared_answers(
    exercise: str, given: Mapping[str, str], explained: Iterable[str], *, is_prose: bool = False
) -> Iterator[tuple[tuple[str, str], SharedAnswer]]:
    """The pairs of students whose answers to one exercise share more than is explained."""
    known = {mark for text in explained for mark in Prints(text, is_prose=is_prose).places}
    by_text = {text: Prints(text, is_prose=is_prose) for text in set(given.values())}
    prints = {student: by_text[text] for student, text in sorted(given.items())}
    marks = {student: own_marks(student, prints, known) for student in prints}
    pairs = _meeting(marks)
    lengths = {student: prints[student].covered(marks[student]) for student in prints}
    for first, second in pairs:
        common = marks[first] & marks[second]
        own = min(lengths[first], lengths[second])
        both = min(prints[student].covered(common) for student in (first, second))
        if both >= LEAST_IN_AN_ANSWER and both >= LEAST_SHARE * own:
            yield (first, second), SharedAnswer(exercise, both, own)


def own_marks(student: str, prints: Mapping[str, Prints], known: Collection[int]) -> set[int]:
    """A student's fingerprints without those that are explained."""
    return prints[student].places.keys() - known


def _meeting(marks: dict[str, set[int]]) -> list[tuple[str, str]]:
    """The pairs who share anything, after removing what too many share."""
    holders: defaultdict[int, list[str]] = defaultdict(list)
    for student, own in marks.items():
        for mark in own:
            holders[mark].append(student)
    many = max(FEW, len(marks) // 10)
    everybodys = {mark for mark, students in holders.items() if len(students) > many}
    for own in marks.values():
        own -= everybodys
    groups = {tuple(students) for mark, students in holders.items() if 1 < len(students) <= many}
    return sorted({pair for students in groups for pair in combinations(students, 2)})


def _lines_of_two(exercise: str, answers: Answers, explained: Iterable[str]) -> set[str]:
    """The longer lines that occur in the answers of exactly two students, and nowhere else."""
    holders = Counter(line for texts in answers.values() for line in long_lines(texts.get(exercise, "")))
    known = {line for text in explained for line in long_lines(text)}
    return {line for line, count in holders.items() if count == 2} - known


def lines_of(
    first: str, second: str, parts: Iterable[SharedAnswer], answers: Answers, only: Mapping[str, set[str]]
) -> tuple[str, ...]:
    """The longest lines that these two, and nobody else, wrote word for word."""
    found: set[str] = set()
    for part in parts:
        theirs = (long_lines(answers[student][part.exercise]) for student in (first, second))
        found |= only[part.exercise].intersection(*theirs)
    return tuple(sorted(found, key=lambda line: (-len(line), line))[:MOST_LINES])


def long_lines(text: str) -> set[str]:
    return {line.strip() for line in text[:LONGEST].splitlines() if len(line.strip()) >= SHORTEST_LINE}
