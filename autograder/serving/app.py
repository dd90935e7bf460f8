"""The pages of `autograder serve`."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cached_property, partial
from math import ceil
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
from autograder.reporting.page import HERE, render
from autograder.serving.attempts import Attempt, Attempts, Pace, TooMany, counts
from autograder.serving.classroom import Classroom
from autograder.serving.clock import in_zone_of, until
from autograder.serving.handout import handout, mistaken_for
from autograder.serving.marking import Marking
from autograder.serving.people import (
    SECONDS_OF_A_SESSION,
    Invitations,
    NotAdmitted,
    Person,
    SignIn,
    see_other,
    sign_in,
    signed_in,
)
from autograder.serving.protection import NOTEBOOKS, Protection, require_own_form
from autograder.serving.rubrics import Rubrics, total
from autograder.serving.settings import ServeSettings
from autograder.serving.waiting import Waiting
from autograder.submissions.collect import LARGEST_NOTEBOOK, Unreadable
from autograder.submissions.handed_in import parse

TEMPLATES = Path(__file__).parent / "templates"
AT_ONCE = (
    "0;url=?held=1"  # a page that waits asks for itself again, which is answered when there is a verdict
)
SECONDS_BETWEEN_RELOADS = 15  # of a page whose attempt may not be graded yet, or whose database is away
NOT_HANDED_IN = "Not handed in"
NOT_SIGNED_IN = "You are not signed in, in this browser. If you sent something just now, it has not arrived."
WRONG = {
    401: "Not signed in",
    403: "This page is not open to you",
    404: "There is no such page",
    503: "Not now",
}


class NotHandedIn(ValueError):
    """An upload that was refused; the message says what to hand in."""


@dataclass(frozen=True)
class Door:
    """The application: its homeworks, its settings and its ways to sign in.

    reading: held while a notebook is read; JSON of 20 MB can take 700 MB of memory.
    """

    root: Path
    settings: ServeSettings
    attempts: Attempts
    key: str
    homeworks: Sequence[str]
    ways: Sequence[SignIn] = ()
    reading: asyncio.Lock = field(default_factory=asyncio.Lock, compare=False)

    @cached_property
    def rubrics(self) -> Rubrics:
        return Rubrics(self.attempts.engine)

    @cached_property
    def waiting(self) -> Waiting:
        return Waiting(self.attempts)

    @property
    def classroom(self) -> Classroom:
        return Classroom(self, self.attempts, self.rubrics)

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
            *self.classroom.routes(),
            *Marking(self, self.rubrics).routes(),
            *(route for way in self.ways for route in way.routes()),
        ]
        middleware = [
            Middleware(Protection, is_encrypted=self.settings.is_encrypted, too_large=self.too_large),
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
        common = {
            "course": self.settings.course,
            "person": signed_in(request),
            "csrf": request.session["csrf"],
            "reload": None,
        }
        return HTMLResponse(render(template, folder=TEMPLATES, **{**common, **values}), status)

    async def refuse(self, status: int, request: Request, problem: Exception) -> Response:
        """A page that says what is wrong, with a link to the form that was sent, or to the first page."""
        path = request.url.path
        is_known = signed_in(request) is not None
        is_form = request.method == "POST" and is_known
        back = (path if path.startswith("/homework/") else path.rpartition("/")[0]) if is_form else "/"
        is_upload = isinstance(problem, NotHandedIn | TooMany)
        found = WRONG.get(401 if status == 403 and not is_known else status, "This did not work")
        heading = NOT_HANDED_IN if is_upload else found
        pause = SECONDS_BETWEEN_RELOADS if status == 503 and request.method == "GET" else None
        values = {"heading": heading, "message": str(problem), "back": back or "/"}
        return self.page(request, "message.html.j2", status=status, reload=pause, **values)

    def too_large(self, path: str) -> str:
        """The page for a request that was rejected before its sender was known."""
        is_upload = path.startswith(NOTEBOOKS)
        message = "The file is too large to be a notebook. Clear its outputs and hand it in again."
        values = {"course": self.settings.course, "person": None, "csrf": "", "reload": None}
        said = {
            "heading": NOT_HANDED_IN if is_upload else "This did not work",
            "message": message if is_upload else "This form is larger than any that these pages send.",
            "back": path if is_upload else "/",
        }
        return str(render("message.html.j2", folder=TEMPLATES, **values, **said))

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
        self.welcome(request, person)
        counts = self.classroom.overview(self.homeworks) if person.is_staff else []
        rows = [self.standing(name, person.name) for name in self.homeworks]
        return self.page(request, "homeworks.html.j2", homeworks=rows, counts=counts)

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

    def welcome(self, request: Request, person: Person) -> None:
        """Remember a student, once in a session, so that the class is complete."""
        if not person.is_staff and not request.session.get("is_known"):
            self.attempts.know([person.name])
            request.session["is_known"] = True

    def someone(self, request: Request) -> Person:
        """The person who is signed in; raises NotAdmitted if nobody is."""
        person = signed_in(request)
        if person is None:
            raise NotAdmitted(NOT_SIGNED_IN)
        return person

    def staff(self, request: Request) -> Person:
        """Like `someone`, for a person who may see the class."""
        person = self.someone(request)
        if not person.is_staff:
            raise NotAdmitted("This page is for instructors.")
        return person

    # ---- a student's pages

    async def homework(self, request: Request) -> Response:
        """A student's page of a homework; if the request is to be held, as soon as nothing waits any more."""
        person, name = self.someone(request), self.named(request)
        if "held" in request.query_params:
            attempts = await run_in_threadpool(self.attempts.of, person.name, name)
            latest = attempts[-1] if attempts else None
            if latest is not None and latest.judged is None:
                await self.waiting.until_judged(latest.number)
        return await run_in_threadpool(self.handed_in, request, person, name)

    def handed_in(self, request: Request, person: Person, name: str) -> Response:
        """What was handed in, its place in the queue, the verdict, and a form.

        While an attempt waits, the page reloads, which would empty a form: it then links to one instead.
        """
        self.welcome(request, person)
        attempts = self.attempts.of(person.name, name)
        latest = attempts[-1] if attempts else None
        waits = latest is not None and latest.judged is None
        decisions = Decisions(self.root)
        due, in_time = decisions.due(name, person.name), decisions.in_time_until(name, person.name)
        later = later_turn(latest, due) if latest is not None and waits else ""
        has_form = not waits or "again" in request.query_params
        return self.page(
            request,
            "homework.html.j2",
            **self.standing(name, person.name, attempts),
            attempts=[(in_zone_of(due, one.time), one, one.is_late(in_time)) for one in reversed(attempts)],
            later=later,
            ahead=self.attempts.queue(latest.number) if latest is not None and waits else 0,
            verdict=self.verdict(name, person.name),
            has_form=has_form,
            reload=None if latest is None or has_form else reload_of(latest),
        )

    def standing(self, name: str, student: str, attempts: Sequence[Attempt] | None = None) -> dict[str, Any]:
        """The state of a student's homework, as far as they may know it."""
        attempts = self.attempts.of(student, name) if attempts is None else attempts
        decisions, now = Decisions(self.root), datetime.now(UTC)
        due, in_time = decisions.due(name, student), decisions.in_time_until(name, student)
        told, standing = self.attempts.told(name, student), self.attempts.standing(name, student)
        tells = self.tells_hidden(name, student)
        in_words = self.rubrics.of(name, student) if tells else []
        return {
            "name": name,
            "heading": self.heading(name),
            "excused": student in decisions.excused(name),
            "worth": handout(self.root, name).points,
            "due": until(due, now) if due else None,
            "is_past": in_time is not None and now > in_time,
            "latest": in_zone_of(due, attempts[-1].time) if attempts else "",
            "waits": bool(attempts) and attempts[-1].judged is None,
            "is_told": told is not None,
            "tells": tells,
            "mark": told.mark if told and tells else "",
            "in_words": in_words,
            "marked": total(in_words),
            "counting": counts(attempts, standing.source),
            "total": standing.total if tells else "",
        }

    def verdict(self, name: str, student: str) -> str:
        """The verdict as far as the student may see it now, as part of the page; or nothing."""
        if (told := self.attempts.told(name, student)) is None:
            return ""
        return told.whole if self.tells_hidden(name, student) else told.visible

    def tells_hidden(self, name: str, student: str) -> bool:
        """Whether a student may see hidden checks now."""
        if self.settings.hidden != "after due":
            return self.settings.hidden == "at once"
        in_time = Decisions(self.root).in_time_until(name, student)
        return in_time is not None and datetime.now(UTC) > in_time

    async def hand_in(self, request: Request) -> Response:
        """Store one notebook; it is read as data, and only the sandbox runs it."""
        person, name = self.someone(request), self.named(request)
        form = await self.own_form(request)
        async with self.reading:
            content = await the_notebook(form)
            await run_in_threadpool(self.require_notebook, content, name)
        pace = Pace(self.settings.seconds_between, self.settings.each_hour)
        await run_in_threadpool(self.attempts.hand_in, person.name, name, content, pace)
        return see_other(f"/homework/{name}")

    def require_notebook(self, content: bytes, name: str) -> None:
        """Raise NotHandedIn unless this can be read as a notebook, and is not that of another homework."""
        try:
            handed = parse(content)
        except Unreadable as problem:
            raise NotHandedIn(str(problem)) from None
        if other := mistaken_for(handed.cells, self.root, name, self.homeworks):
            theirs, ours = self.heading(other), self.heading(name)
            raise NotHandedIn(f"This is the notebook of “{theirs}”, and it contains nothing of “{ours}”.")

    # ---- homeworks

    def named(self, request: Request) -> str:
        """The homework in the address; raises HTTPException if there is none."""
        name = request.path_params["homework"]
        if name not in self.homeworks:
            raise HTTPException(404, "There is no such homework.")
        return name

    def heading(self, name: str) -> str:
        """The heading of the released notebook."""
        return handout(self.root, name).heading


async def the_notebook(form: FormData) -> bytes:
    """The only file in the form; raises NotHandedIn unless it is one, of a readable size."""
    files = [one for one in form.getlist("notebook") if isinstance(one, UploadFile) and one.filename]
    if len(files) != 1:
        many = f"{len(files)} files" if files else "no file"
        raise NotHandedIn(f"Choose one notebook; the form contained {many}.")
    content = await files[0].read(LARGEST_NOTEBOOK + 1)
    if len(content) > LARGEST_NOTEBOOK:
        raise NotHandedIn("The file is too large. Clear its outputs and hand it in again.")
    return content


def later_turn(attempt: Attempt, due: datetime | None) -> str:
    """When an attempt will be judged, if that is later than now."""
    turn = attempt.not_before
    return in_zone_of(due, turn) if turn.replace(tzinfo=UTC) > datetime.now(UTC) else ""


def reload_of(attempt: Attempt) -> str:
    """When the page of an attempt that waits asks again: when its turn comes, and from then on at once."""
    seconds = (attempt.not_before.replace(tzinfo=UTC) - datetime.now(UTC)).total_seconds()
    return AT_ONCE if seconds <= 0 else str(ceil(min(seconds, SECONDS_BETWEEN_RELOADS)))
