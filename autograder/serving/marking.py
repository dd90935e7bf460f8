"""The instructor's pages for marking written answers: question by question, beside the reference answer."""

from __future__ import annotations

import hashlib
import hmac
import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from starlette.datastructures import FormData
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from autograder.reporting.prose import as_written
from autograder.serving.handout import handout
from autograder.serving.people import Person, see_other
from autograder.serving.rubrics import Answer, Rubrics
from autograder.serving.settings import ServeSettings

NUMBER = re.compile(r"[0-9]{1,9}")  # of an item
MOST_POINTS = 1000.0
LONGEST_COMMENT = 5_000  # characters
LONGEST_SET = 20_000  # characters of an answer; formulas in a longer one, which would take time, stay text


class Front(Protocol):
    """The parts of the application that these pages need."""

    @property
    def root(self) -> Path: ...
    @property
    def homeworks(self) -> Sequence[str]: ...
    @property
    def key(self) -> str: ...
    @property
    def settings(self) -> ServeSettings: ...
    def page(self, request: Request, template: str, *, status: int = 200, **values: object) -> Response: ...
    def staff(self, request: Request) -> Person: ...
    def named(self, request: Request) -> str: ...
    def heading(self, name: str) -> str: ...
    async def own_form(self, request: Request) -> FormData: ...


@dataclass(frozen=True)
class Marking:
    """The pages below /marking."""

    door: Front
    rubrics: Rubrics

    def routes(self) -> list[Route]:
        """The routes of these pages."""
        question = "/marking/{homework}/{question}"
        return [
            Route("/marking/{homework}", self.questions),
            Route(question, self.question),
            Route(f"{question}/mark", self.mark, methods=["POST"]),
            Route(f"{question}/item", self.item, methods=["POST"]),
        ]

    def questions(self, request: Request) -> Response:
        """How many answers to each question are marked."""
        self.door.staff(request)
        name = self.door.named(request)
        rows = []
        for question in self.rubrics.questions(name):
            answers = self.rubrics.answers(name, question.name)
            rows.append((question, sum(one.is_marked for one in answers), len(answers)))
        heading = self.door.heading(name)
        return self.door.page(request, "questions.html.j2", name=name, heading=heading, rows=rows)

    def question(self, request: Request) -> Response:
        """One answer beside the reference, with the items; by default the first that is not marked."""
        self.door.staff(request)
        name, question = self.door.named(request), request.path_params["question"]
        found = {one.name: one for one in self.rubrics.questions(name)}
        answers = self.rubrics.answers(name, question)
        if question not in found or not answers:
            raise HTTPException(404, "There is no such question, or nobody has answered it.")
        keys = [self.key_of(name, answer) for answer in answers]
        first = next((place for place, one in enumerate(answers) if not one.is_marked), 0)
        asked = request.query_params.get("answer", "")
        place = keys.index(asked) if asked in keys else first
        words = handout(self.door.root, name).answer(question, answers[place].text) or "(no answer)"
        shared = [item for answer in answers for item in answer.chosen or ()]
        return self.door.page(
            request,
            "marking.html.j2",
            name=name,
            heading=self.door.heading(name),
            question=found[question],
            unmarked=sum(not one.is_marked for one in answers),
            words=words if len(words) > LONGEST_SET else as_written(words),
            answer=answers[place],
            key=keys[place],
            shown=f"answer {place + 1}" if self.door.settings.anonymous else answers[place].student,
            place=place + 1,
            count=len(answers),
            neighbours=(keys[place - 1], keys[(place + 1) % len(keys)]),
            items=[(item, shared.count(item.number)) for item in self.rubrics.items(name, question)],
        )

    async def mark(self, request: Request) -> Response:
        """Choose items for one answer; then go to the next one that is not marked."""
        person, name = self.door.staff(request), self.door.named(request)
        form, question = await self.door.own_form(request), request.path_params["question"]
        students = {self.key_of(name, one): one.student for one in self.rubrics.answers(name, question)}
        student = students.get(str(form.get("answer")))
        if student is None:
            raise HTTPException(404, "There is no such answer.")
        items = [number for item in form.getlist("item") if (number := stated_number(item)) is not None]
        comment = str(form.get("comment", ""))[:LONGEST_COMMENT]
        self.rubrics.mark(name, question, student, items, comment.strip(), person.name)
        is_left = any(not one.is_marked for one in self.rubrics.answers(name, question))
        return see_other(f"/marking/{name}/{question}" if is_left else f"/marking/{name}")

    async def item(self, request: Request) -> Response:
        """Add an item, or change one for all answers that have it."""
        self.door.staff(request)
        name, question = self.door.named(request), request.path_params["question"]
        form = await self.door.own_form(request)
        if question not in {one.name for one in self.rubrics.questions(name)}:
            raise HTTPException(404, "There is no such question.")
        points, comment = (
            stated_points(form.get("points")),
            str(form.get("comment", ""))[:LONGEST_COMMENT].strip(),
        )
        number = stated_number(form.get("number"))
        if number is not None:
            self.rubrics.change(name, question, number, points, comment)
        else:
            self.rubrics.add(name, question, points, comment)
        return see_other(f"/marking/{name}/{question}?answer={form.get('answer', '')}")

    def key_of(self, homework: str, answer: Answer) -> str:
        """An answer's name on a page, which does not reveal its student."""
        said = f"{homework} {answer.student}".encode()
        return hmac.new(self.door.key.encode(), said, hashlib.sha256).hexdigest()[:24]


def stated_number(said: object) -> int | None:
    """The number of an item that one of these pages sent, if it is one."""
    return int(said) if isinstance(said, str) and NUMBER.fullmatch(said) else None


def stated_points(said: object) -> float:
    """A number of points; raises HTTPException."""
    try:
        points = float(str(said))
    except ValueError:
        points = math.nan
    if not abs(points) <= MOST_POINTS:
        raise HTTPException(400, "Points are a number, such as 1.5 or -1.")
    return points
