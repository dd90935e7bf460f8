"""The pages of `autograder serve`."""

from __future__ import annotations

import json
import secrets
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import FormData, UploadFile
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.middleware.sessions import SessionMiddleware
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import Route

from autograder.marks.database import GradebookUnavailable
from autograder.marks.decisions import Decisions
from autograder.marks.late import in_its_zone
from autograder.reporting.page import HERE, render
from autograder.serving.attempts import Attempt, Attempts, Pace, TooMany
from autograder.serving.marking import Marking
from autograder.serving.people import Invitations, NotAdmitted, Person, SignIn, see_other, sign_in, signed_in
from autograder.serving.protection import Protection, require_own_form
from autograder.serving.rubrics import Rubrics
from autograder.serving.settings import ServeSettings
from autograder.source.homework import title
from autograder.submissions.collect import LARGEST_NOTEBOOK, Unreadable
from autograder.submissions.handed_in import parse

TEMPLATES = Path(__file__).parent / "templates"
SECONDS_OF_A_SESSION = 60 * 86_400
SECONDS_BETWEEN_RELOADS = 2  # of a page that waits for a verdict; more if the queue is long
LONGEST_QUEUE = 60


class NotHandedIn(ValueError):
    """An upload that was refused; the message says what to hand in."""


@dataclass(frozen=True)
class Door:
    """The application: its homeworks, its settings and its ways to sign in."""

    root: Path
    settings: ServeSettings
    attempts: Attempts
    key: str
    homeworks: Sequence[str]
    ways: Sequence[SignIn] = ()

    def app(self) -> Starlette:
        """The ASGI application."""
        routes = [
            Route("/", self.front),
            Route("/style.css", self.style),
            Route("/join/{token}", self.invitation),
            Route("/join", self.join, methods=["POST"]),
            Route("/sign-out", self.sign_out, methods=["POST"]),
            Route("/homework/{homework}", self.homework),
            Route("/homework/{homework}", self.hand_in, methods=["POST"]),
            Route("/class/{homework}", self.whole_class),
            Route("/class/{homework}/{student}", self.one_student),
            *Marking(self, Rubrics(self.attempts.engine)).routes(),
            *(route for way in self.ways for route in way.routes()),
        ]
        middleware = [
            Middleware(Protection, is_encrypted=self.settings.is_encrypted),
            Middleware(TrustedHostMiddleware, allowed_hosts=[self.settings.host], www_redirect=False),
            Middleware(
                SessionMiddleware,
                secret_key=self.key,
                session_cookie="door",
                max_age=SECONDS_OF_A_SESSION,
                same_site="lax",
                https_only=self.settings.is_encrypted,
            ),
        ]
        refused: dict[Any, Callable[[Request, Any], Awaitable[Response]]] = {
            NotAdmitted: partial(self.refuse, 403),
            NotHandedIn: partial(self.refuse, 400),
            TooMany: partial(self.refuse, 429),
            GradebookUnavailable: partial(self.refuse, 503),
            HTTPException: self.http_error,
        }
        return Starlette(routes=routes, middleware=middleware, exception_handlers=refused)

    def page(self, request: Request, template: str, *, status: int = 200, **values: object) -> HTMLResponse:
        """A page for the person who is signed in, if anyone is."""
        request.session.setdefault("csrf", secrets.token_urlsafe(16))
        common = {"person": signed_in(request), "csrf": request.session["csrf"], "reload": None}
        return HTMLResponse(render(template, folder=TEMPLATES, **{**common, **values}), status)

    async def refuse(self, status: int, request: Request, problem: Exception) -> Response:
        """The page that explains an error."""
        return self.page(request, "message.html.j2", status=status, message=str(problem))

    async def http_error(self, request: Request, problem: HTTPException) -> Response:
        if "session" not in request.scope:
            return Response(problem.detail, problem.status_code, media_type="text/plain")
        return await self.refuse(problem.status_code, request, Exception(problem.detail))

    def style(self, request: Request) -> Response:
        """The style sheet of the report, with rules for forms."""
        sheets = [HERE / "report.css", TEMPLATES / "serve.css"]
        return Response("\n".join(sheet.read_text("utf-8") for sheet in sheets), media_type="text/css")

    # ---- signing in

    def front(self, request: Request) -> Response:
        """The homeworks, or the ways to sign in."""
        person = signed_in(request)
        if person is None:
            return self.page(request, "sign_in.html.j2", ways=[way for way in self.ways if way.label])
        rows = [(name, self.heading(name), self.due(name, person.name)) for name in self.homeworks]
        return self.page(request, "homeworks.html.j2", homeworks=rows)

    def invitation(self, request: Request) -> Response:
        """Ask first, so that a mail program that opens links does not use up the invitation."""
        token = request.path_params["token"]
        person, _ = Invitations(self.key).read(token)
        return self.page(request, "join.html.j2", name=person.name, token=token)

    async def join(self, request: Request) -> Response:
        """Use up an invitation and sign its person in."""
        form = await self.own_form(request)
        person, once = Invitations(self.key).read(str(form.get("token", "")))
        if not await run_in_threadpool(self.attempts.use, once):
            raise NotAdmitted("This invitation has been used. Ask for a new one.")
        sign_in(request, person)
        return see_other("/")

    async def sign_out(self, request: Request) -> Response:
        await self.own_form(request)
        request.session.clear()
        return see_other("/")

    async def own_form(self, request: Request) -> FormData:
        """The fields of a form from our own pages; raises NotAdmitted for any other form."""
        form = await request.form(max_files=10, max_fields=500)
        require_own_form(request, form.get("csrf"))
        return form

    def someone(self, request: Request) -> Person:
        """The person who is signed in; raises NotAdmitted if nobody is."""
        person = signed_in(request)
        if person is None:
            raise NotAdmitted("Sign in first.")
        return person

    def staff(self, request: Request) -> Person:
        """Like `someone`, for a person who may see the class."""
        person = self.someone(request)
        if not person.is_staff:
            raise NotAdmitted("This page is for instructors.")
        return person

    # ---- a student's pages

    def homework(self, request: Request) -> Response:
        """A student's attempts, their place in the queue, the verdict, and a form to hand in."""
        person, name = self.someone(request), self.named(request)
        attempts = self.attempts.of(person.name, name)
        latest = attempts[-1] if attempts else None
        waits = latest is not None and latest.judged is None
        ahead = self.attempts.queue(latest.number) if latest is not None and waits else 0
        return self.page(
            request,
            "homework.html.j2",
            name=name,
            heading=self.heading(name),
            due=self.due(name, person.name),
            attempts=[(in_utc(one.time), one) for one in reversed(attempts)],
            latest=latest,
            later=later_turn(latest) if latest is not None and waits else "",
            waits=waits,
            ahead=ahead,
            verdict=self.verdict(name, person.name),
            reload=SECONDS_BETWEEN_RELOADS + min(ahead, LONGEST_QUEUE) // 2 if waits else None,
        )

    def verdict(self, name: str, student: str) -> str:
        """The verdict as far as the student may see it now, as part of the page; or nothing."""
        if (told := self.attempts.told(name, student)) is None:
            return ""
        return told.whole if self.tells_hidden(name, student) else told.visible

    def tells_hidden(self, name: str, student: str) -> bool:
        """Whether a student may see hidden checks now."""
        if self.settings.hidden != "after due":
            return self.settings.hidden == "at once"
        due = Decisions(self.root).due(name, student)
        return due is not None and datetime.now(UTC) > due

    async def hand_in(self, request: Request) -> Response:
        """Store one notebook; it is read as data, and only the sandbox runs it."""
        person, name = self.someone(request), self.named(request)
        form = await self.own_form(request)
        content = await the_notebook(form)
        await run_in_threadpool(require_notebook, content)
        pace = Pace(self.settings.seconds_between, self.settings.each_hour)
        await run_in_threadpool(self.attempts.hand_in, person.name, name, content, pace)
        return see_other(f"/homework/{name}")

    # ---- the instructor's pages

    def whole_class(self, request: Request) -> Response:
        """The table of what each student has handed in."""
        self.staff(request)
        name = self.named(request)
        marks, latest = self.attempts.marks(name), self.attempts.latest(name)
        rows = [
            {
                "student": student,
                "time": in_utc(latest[student][0].time) if student in latest else "",
                "attempts": latest[student][1] if student in latest else 0,
                "waits": student in latest and latest[student][0].judged is None,
                "mark": marks.get(student, ""),
            }
            for student in sorted(marks.keys() | latest.keys())
        ]
        return self.page(request, "class.html.j2", name=name, heading=self.heading(name), rows=rows)

    def one_student(self, request: Request) -> Response:
        """The verdict that one student sees, or will see."""
        self.staff(request)
        name, student = self.named(request), request.path_params["student"]
        attempts = self.attempts.of(student, name)
        told = self.attempts.told(name, student)
        if not attempts and told is None:
            raise HTTPException(404, "Nobody of this name has handed in.")
        return self.page(
            request,
            "student.html.j2",
            heading=self.heading(name),
            student=student,
            attempts=[(in_utc(one.time), one) for one in reversed(attempts)],
            verdict=told.whole if told else "",
        )

    # ---- homeworks

    def named(self, request: Request) -> str:
        """The homework in the address; raises HTTPException if there is none."""
        name = request.path_params["homework"]
        if name not in self.homeworks:
            raise HTTPException(404, "There is no such homework.")
        return name

    def heading(self, name: str) -> str:
        """The title of the released notebook."""
        path = self.root / "homeworks" / name / f"{name}.ipynb"
        cells: list[Mapping] = json.loads(path.read_text("utf-8"))["cells"] if path.is_file() else []
        return title("".join(cells[0]["source"])) if cells else name

    def due(self, name: str, student: str) -> str:
        due = Decisions(self.root).due(name, student)
        return in_its_zone(due) if due else ""


async def the_notebook(form: FormData) -> bytes:
    """The one file of the form; raises NotHandedIn."""
    files = [one for one in form.getlist("notebook") if isinstance(one, UploadFile) and one.filename]
    if len(files) != 1:
        many = f"{len(files)} files" if files else "no file"
        raise NotHandedIn(f"This was not handed in: choose one notebook; the form held {many}.")
    content = await files[0].read(LARGEST_NOTEBOOK + 1)
    if len(content) > LARGEST_NOTEBOOK:
        raise NotHandedIn("This was not handed in: it is too large. Clear its outputs and try again.")
    return content


def require_notebook(content: bytes) -> None:
    """Raise NotHandedIn unless this can be read as a notebook."""
    try:
        parse(content)
    except Unreadable as problem:
        raise NotHandedIn(f"This was not handed in: {problem}") from None


def later_turn(attempt: Attempt) -> str:
    """When an attempt may be judged, if that is later than now."""
    return in_utc(attempt.not_before) if attempt.not_before > datetime.now(UTC).replace(tzinfo=None) else ""


def in_utc(time: datetime) -> str:
    return f"{time:%Y-%m-%d %H:%M:%S} UTC"
