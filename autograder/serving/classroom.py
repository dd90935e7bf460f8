"""The instructor's pages of a class: who has handed in, who has not, and what is still waiting."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from autograder.marks.decisions import Decisions
from autograder.serving.attempts import Attempts, Standing, counts
from autograder.serving.clock import in_zone_of
from autograder.serving.marking import Front
from autograder.serving.rubrics import Rubrics, total


@dataclass(frozen=True)
class Classroom:
    """The pages below /class."""

    door: Front
    attempts: Attempts
    rubrics: Rubrics

    def routes(self) -> list[Route]:
        """Their addresses."""
        return [
            Route("/class/{homework}", self.whole_class),
            Route("/class/{homework}/{student}", self.one_student),
        ]

    def overview(self, homeworks: Sequence[str]) -> list[dict[str, object]]:
        """For each homework how many have handed in, how many attempts wait, and how many answers."""
        rows: list[dict[str, object]] = []
        for name in homeworks:
            latest = self.attempts.latest(name)
            handed_in = len(self.attempts.marks(name).keys() | latest.keys())
            waits = sum(one.judged is None for one, _ in latest.values())
            open_ones = sum(not answer.is_marked for answer in self.answers(name))
            rows.append({"name": name, "handed_in": handed_in, "waits": waits, "unmarked": open_ones})
        return rows

    def answers(self, name: str) -> list:
        return [
            answer
            for question in self.rubrics.questions(name)
            for answer in self.rubrics.answers(name, question.name)
        ]

    def whole_class(self, request: Request) -> Response:
        """Who has handed in what, and who has not."""
        self.door.staff(request)
        name = self.door.named(request)
        decisions = Decisions(self.door.root)
        marks, latest = self.attempts.marks(name), self.attempts.latest(name)
        standings = self.attempts.standings(name)
        excused, answers = decisions.excused(name), self.answers(name)
        rows = []
        for student in sorted(marks.keys() | latest.keys()):
            attempt, count = latest.get(student, (None, 0))
            due = decisions.due(name, student)
            rows.append(
                {
                    "student": student,
                    "time": in_zone_of(due, attempt.time) if attempt else "",
                    "late": attempt is not None and attempt.is_late(decisions.in_time_until(name, student)),
                    "attempts": count,
                    "waits": attempt is not None and attempt.judged is None,
                    "mark": marks.get(student, ""),
                    "total": standings.get(student, Standing()).total,
                    "unmarked": sum(not one.is_marked for one in answers if one.student == student),
                }
            )
        missing = self.attempts.known(self.door.homeworks) - marks.keys() - latest.keys()
        return self.door.page(
            request,
            "class.html.j2",
            name=name,
            heading=self.door.heading(name),
            rows=rows,
            missing=sorted(missing - excused),
            excused=sorted(excused),
            unmarked=sum(not one.is_marked for one in answers),
        )

    def one_student(self, request: Request) -> Response:
        """What one student sees, or will see."""
        self.door.staff(request)
        name, student = self.door.named(request), request.path_params["student"]
        attempts = self.attempts.of(student, name)
        told = self.attempts.told(name, student)
        decisions = Decisions(self.door.root)
        is_excused = student in decisions.excused(name)
        if not attempts and not is_excused and student not in self.attempts.known(self.door.homeworks):
            raise HTTPException(404, "Nobody with this name is known here.")
        due, until = decisions.due(name, student), decisions.in_time_until(name, student)
        return self.door.page(
            request,
            "student.html.j2",
            name=name,
            heading=self.door.heading(name),
            student=student,
            excused=is_excused,
            attempts=[(in_zone_of(due, one.time), one, one.is_late(until)) for one in reversed(attempts)],
            verdict=told.whole if told else "",
            mark=told.mark if told else "",
            in_words=(in_words := self.rubrics.of(name, student)),
            marked=total(in_words),
            counting=counts(attempts, (standing := self.attempts.standing(name, student)).source),
            total=standing.total,
        )
