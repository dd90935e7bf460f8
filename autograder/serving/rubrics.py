"""Rubrics for written answers: items with points and a comment, each of which applies to many answers.

An answer's mark is the sum of the items chosen for it, at least 0 and at most the points of the question.
Changing an item changes the mark of all answers that have it. An answer without a word has its 0 points from
the grader, and waits for nobody.
"""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

import sqlalchemy as sql

from autograder.marks.database import in_a_sentence
from autograder.marks.hand_marks import HandMarks
from autograder.source.homework import title

TABLES = sql.MetaData()


def _key() -> list[sql.Column]:
    return [
        sql.Column(name, sql.String(200), primary_key=True) for name in ("homework", "question", "student")
    ]


QUESTION = sql.Table(
    "written_question",
    TABLES,
    sql.Column("homework", sql.String(200), primary_key=True),
    sql.Column("question", sql.String(200), primary_key=True),
    sql.Column("text", sql.Text, nullable=False),
    sql.Column("reference", sql.Text, nullable=False),
    sql.Column("most", sql.Float, nullable=False),
)
ANSWER = sql.Table("written_answer", TABLES, *_key(), sql.Column("text", sql.Text, nullable=False))
ITEM = sql.Table(
    "rubric_item",
    TABLES,
    sql.Column("number", sql.Integer, primary_key=True, autoincrement=True),
    sql.Column("homework", sql.String(200), nullable=False),
    sql.Column("question", sql.String(200), nullable=False),
    sql.Column("points", sql.Float, nullable=False),
    sql.Column("comment", sql.Text, nullable=False),
)
MARKED = sql.Table(
    "rubric_marked",
    TABLES,
    *_key(),
    sql.Column("digest", sql.String(64), nullable=False),  # of the answer that was marked
    sql.Column("comment", sql.Text, nullable=False),  # for this student only
    sql.Column("who", sql.String(200), nullable=False),
    sql.Column("entered", sql.Text),  # the points and comment last entered in the gradebook
)
CHOSEN = sql.Table(
    "rubric_chosen", TABLES, *_key(), sql.Column("item", sql.Integer, primary_key=True, autoincrement=False)
)
GIVEN = sql.Table(  # marks in the gradebook, of which those given in nbgrader's pages are only there
    "written_given",
    TABLES,
    *_key(),
    sql.Column("points", sql.Float, nullable=False),
    sql.Column("comment", sql.Text, nullable=False),
)


@dataclass(frozen=True)
class Question:
    """A question, its reference answer, and its points."""

    name: str
    text: str
    reference: str
    most: float

    @property
    def heading(self) -> str:
        """Its first heading, or its name in words."""
        return title(self.text) or self.name.replace("_", " ").capitalize()


@dataclass(frozen=True)
class Item:
    """Points, which may be negative, and the comment for the student."""

    number: int
    points: float
    comment: str


@dataclass(frozen=True)
class Answer:
    """One student's answer; `chosen` items are None while its present text has no mark by a rubric.

    given: points and comment by which a person marked it in nbgrader's pages instead.
    """

    student: str
    text: str
    chosen: frozenset[int] | None
    comment: str = ""
    given: tuple[float, str] | None = None

    @property
    def is_marked(self) -> bool:
        """Whether its present text has a mark."""
        return self.chosen is not None or self.given is not None


@dataclass(frozen=True)
class HandMark:
    """A manual mark for the gradebook."""

    student: str
    question: str
    points: float
    comment: str
    who: str

    @property
    def said(self) -> str:
        return f"{self.points:g}\n{self.comment}"


Marked = tuple[Question, HandMark | None]


def total(marked: Sequence[Marked]) -> str:
    """`2 of 7`, and how many answers are not marked yet; nothing where nothing was answered."""
    if not marked:
        return ""
    points = sum(mark.points for _, mark in marked if mark)
    unmarked = sum(mark is None for _, mark in marked)
    rest = f", {unmarked} not marked yet" if unmarked else ""
    return f"{points:g} of {sum(question.most for question, _ in marked):g}{rest}"


class Rubrics:
    """The rubrics in the database of the attempts."""

    def __init__(self, engine: sql.Engine) -> None:
        self.engine = engine
        with in_a_sentence():
            TABLES.create_all(engine)

    @contextmanager
    def _begin(self) -> Iterator[sql.Connection]:
        with in_a_sentence(), self.engine.begin() as connection:
            yield connection

    # ---- from the grader

    def ask(self, homework: str, questions: Sequence[Question]) -> None:
        """Store the questions of a homework, in place of earlier ones."""
        with self._begin() as connection:
            connection.execute(QUESTION.delete().where(QUESTION.c.homework == homework))
            for one in questions:
                row = {"text": one.text, "reference": one.reference, "most": one.most}
                connection.execute(QUESTION.insert().values(homework=homework, question=one.name, **row))

    def answered(self, homework: str, student: str, answers: Mapping[str, str]) -> None:
        """Store a student's answers by question; marks of unchanged answers are entered again."""
        with self._begin() as connection:
            for question, text in answers.items():
                connection.execute(GIVEN.delete().where(*_is(GIVEN, homework, question, student)))
                connection.execute(ANSWER.delete().where(*_is(ANSWER, homework, question, student)))
                row = {"homework": homework, "question": question, "student": student, "text": text}
                connection.execute(ANSWER.insert().values(**row))
                marked = _is(MARKED, homework, question, student)
                connection.execute(MARKED.update().where(*marked).values(entered=None))

    def to_enter(self, homework: str) -> list[HandMark]:
        """Marks that the gradebook does not have yet, or that have changed."""
        marks: list[HandMark] = []
        with self._begin() as connection:
            rows = connection.execute(sql.select(MARKED).where(MARKED.c.homework == homework)).all()
            entered = {(row.question, row.student): row.entered for row in rows}
            who = {(row.question, row.student): row.who for row in rows}
        for question in self.questions(homework):
            items = {item.number: item for item in self.items(homework, question.name)}
            for answer in self.answers(homework, question.name):
                key = (question.name, answer.student)
                if answer.chosen is not None and key in who:
                    mark = _mark(question, answer, items, who[key])
                    marks += [mark] if mark.said != entered[key] else []
        return marks

    def entered(self, homework: str, mark: HandMark) -> None:
        """The gradebook has a mark."""
        with self._begin() as connection:
            clause = _is(MARKED, homework, mark.question, mark.student)
            connection.execute(MARKED.update().where(*clause).values(entered=mark.said))

    def in_gradebook(self, homework: str, given: Mapping[str, HandMarks]) -> None:
        """Store the marks that the gradebook has for the questions of a homework, by student."""
        asked = {question.name for question in self.questions(homework)}
        rows = [
            {
                "homework": homework,
                "question": question,
                "student": student,
                "points": points,
                "comment": marks.comments.get(question, ""),
            }
            for student, marks in given.items()
            for question, points in marks.points.items()
            if question in asked
        ]
        with self._begin() as connection:
            connection.execute(GIVEN.delete().where(GIVEN.c.homework == homework))
            if rows:
                connection.execute(GIVEN.insert(), rows)

    # ---- for the pages

    def questions(self, homework: str) -> list[Question]:
        """The questions of a homework."""
        columns = (QUESTION.c.question, QUESTION.c.text, QUESTION.c.reference, QUESTION.c.most)
        with self._begin() as connection:
            rows = connection.execute(sql.select(*columns).where(QUESTION.c.homework == homework))
            return [Question(*row) for row in rows]

    def items(self, homework: str, question: str) -> list[Item]:
        """The items of a question, in the order in which they were made."""
        columns = sql.select(ITEM.c.number, ITEM.c.points, ITEM.c.comment).order_by(ITEM.c.number)
        with self._begin() as connection:
            return [Item(*row) for row in connection.execute(columns.where(*_is(ITEM, homework, question)))]

    def of(self, homework: str, student: str) -> list[Marked]:
        """A student's answers, each with its question and its mark; None as long as nobody has marked it."""
        found: list[Marked] = []
        for question in self.questions(homework):
            items = {item.number: item for item in self.items(homework, question.name)}
            for answer in self.answers(homework, question.name, student):
                found.append((question, _mark(question, answer, items, "") if answer.is_marked else None))
        return found

    def answers(self, homework: str, question: str, student: str | None = None) -> list[Answer]:
        """The answer of a student, or everybody's, by student."""
        with self._begin() as connection:
            chosen: dict[str, set[int]] = defaultdict(set)
            for row in connection.execute(
                sql.select(CHOSEN).where(*_is(CHOSEN, homework, question, student))
            ):
                chosen[row.student].add(row.item)
            rows = connection.execute(sql.select(MARKED).where(*_is(MARKED, homework, question, student)))
            marked = {row.student: (row.digest, row.comment) for row in rows}
            rows = connection.execute(sql.select(GIVEN).where(*_is(GIVEN, homework, question, student)))
            given = {row.student: (row.points, row.comment) for row in rows}
            found = (
                sql.select(ANSWER).where(*_is(ANSWER, homework, question, student)).order_by(ANSWER.c.student)
            )
            answers = connection.execute(found).all()
        return [_answer(row.student, row.text, chosen, marked, given.get(row.student)) for row in answers]

    def mark(
        self, homework: str, question: str, student: str, items: Collection[int], comment: str, who: str
    ) -> None:
        """Choose items for the present text of an answer, in place of those chosen before."""
        known = {item.number for item in self.items(homework, question)}
        texts = {answer.student: answer.text for answer in self.answers(homework, question)}
        key = {"homework": homework, "question": question, "student": student}
        with self._begin() as connection:
            for table in (CHOSEN, MARKED):
                connection.execute(table.delete().where(*_is(table, **key)))
            row = {"digest": _digest(texts[student]), "comment": comment, "who": who}
            connection.execute(MARKED.insert().values(**key, **row))
            for item in known.intersection(items):
                connection.execute(CHOSEN.insert().values(**key, item=item))

    def add(self, homework: str, question: str, points: float, comment: str) -> None:
        """Add an item."""
        row = {"homework": homework, "question": question, "points": points, "comment": comment}
        with self._begin() as connection:
            connection.execute(ITEM.insert().values(**row))

    def change(self, homework: str, question: str, number: int, points: float, comment: str) -> None:
        """Change the points or the comment of an item, for all answers that have it."""
        clause = (*_is(ITEM, homework, question), ITEM.c.number == number)
        with self._begin() as connection:
            connection.execute(ITEM.update().where(*clause).values(points=points, comment=comment))


def _is(
    table: sql.Table, homework: str, question: str, student: str | None = None
) -> list[sql.ColumnElement[bool]]:
    clause = [table.c.homework == homework, table.c.question == question]
    return clause if student is None else [*clause, table.c.student == student]


def _answer(
    student: str,
    text: str,
    chosen: Mapping[str, set[int]],
    marked: Mapping[str, tuple[str, str]],
    given: tuple[float, str] | None,
) -> Answer:
    digest, comment = marked.get(student, ("", ""))
    if digest != _digest(text):
        return Answer(student, text, None, given=given) if text else Answer(student, text, frozenset())
    return Answer(student, text, frozenset(chosen.get(student, ())), comment)


def _mark(question: Question, answer: Answer, items: Mapping[int, Item], who: str) -> HandMark:
    if answer.given:
        return HandMark(answer.student, question.name, *answer.given, who)
    shared = [items[number] for number in sorted(answer.chosen or ()) if number in items]
    points = min(max(sum(item.points for item in shared), 0.0), question.most)
    comments = [*(item.comment for item in shared), answer.comment]
    return HandMark(answer.student, question.name, points, "\n\n".join(filter(None, comments)), who)


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
