"""The line items of students in a learning management system, and sending marks to them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any
from urllib.parse import urlsplit, urlunsplit

import httpx2
import sqlalchemy as sql

from autograder.marks.database import in_a_sentence
from autograder.marks.exports.marks import Mark
from autograder.serving.settings import LTIPlatform
from autograder.serving.tool_key import ToolKey

SCORE = "https://purl.imsglobal.org/spec/lti-ags/scope/score"
SCORE_TYPE = "application/vnd.ims.lis.v1.score+json"
ASSERTION = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"

TABLES = sql.MetaData()
LINE = sql.Table(
    "lti_line",
    TABLES,
    sql.Column("homework", sql.String(200), primary_key=True),
    sql.Column("student", sql.String(200), primary_key=True),
    sql.Column("issuer", sql.Text, nullable=False),
    sql.Column("client_id", sql.Text, nullable=False),
    sql.Column("sub", sql.Text, nullable=False),
    sql.Column("url", sql.Text, nullable=False),
    sql.Column("sent", sql.Text),  # the mark that the platform has
)


@dataclass(frozen=True)
class LineItem:
    """The platform's names for a student and for the column of their marks."""

    issuer: str
    client_id: str
    sub: str
    url: str


@dataclass(frozen=True)
class LineItems:
    """The line items in the database of the attempts."""

    engine: sql.Engine

    def __post_init__(self) -> None:
        with in_a_sentence():
            TABLES.create_all(self.engine)

    @contextmanager
    def _begin(self) -> Iterator[sql.Connection]:
        with in_a_sentence(), self.engine.begin() as connection:
            yield connection

    def keep(self, homework: str, student: str, line: LineItem) -> None:
        """Store a student's line item, in place of an earlier one."""
        if self.all(homework).get(student, (None, ""))[0] == line:
            return
        with self._begin() as connection:
            connection.execute(LINE.delete().where(LINE.c.homework == homework, LINE.c.student == student))
            connection.execute(LINE.insert().values(homework=homework, student=student, **vars(line)))

    def all(self, homework: str) -> dict[str, tuple[LineItem, str]]:
        """Student → the line item, and the mark that was sent."""
        with self._begin() as connection:
            rows = connection.execute(sql.select(LINE).where(LINE.c.homework == homework)).all()
        return {
            row.student: (LineItem(row.issuer, row.client_id, row.sub, row.url), row.sent or "")
            for row in rows
        }

    def sent(self, homework: str, student: str, mark: str) -> None:
        """The platform has a mark."""
        with self._begin() as connection:
            clause = (LINE.c.homework == homework, LINE.c.student == student)
            connection.execute(LINE.update().where(*clause).values(sent=mark))


@dataclass
class Sender:
    """Sends marks to the platforms from which students came."""

    platforms: Sequence[LTIPlatform]
    tool_key: ToolKey
    client: httpx2.Client
    tokens: dict[tuple[str, str], str] = field(default_factory=dict)

    def send(self, homework: str, lines: LineItems, marks: Iterable[Mark]) -> Iterator[str]:
        """Send the marks that the platform lacks; returns a sentence for each mark that could not be sent."""
        known = lines.all(homework)
        for mark in marks:
            if mark.points is None:
                continue
            if mark.student not in known:
                yield f"{mark.student} did not come from a platform"
                continue
            line, before = known[mark.student]
            score = score_of(mark, line)
            said = f"{mark.score:g} of {mark.max_points:g}, {score['gradingProgress']}"
            if said == before:
                continue
            if problem := self.problem(line, score):
                yield f"{mark.student}: {problem}"
            else:
                lines.sent(homework, mark.student, said)

    def problem(self, line: LineItem, score: Mapping[str, Any]) -> str:
        """Post one score; returns why that failed, or nothing."""
        found = [
            one for one in self.platforms if (one.issuer, one.client_id) == (line.issuer, line.client_id)
        ]
        if not found:
            return "the platform is no longer in serve.toml"
        try:
            headers = {"authorization": f"Bearer {self.token(found[0])}", "content-type": SCORE_TYPE}
            reply = self.client.post(scores_url(line.url), json=score, headers=headers)
        except (httpx2.HTTPError, ValueError, KeyError) as error:
            return f"the platform sent an unexpected answer ({type(error).__name__})"
        return "" if reply.status_code in (200, 201, 204) else f"the platform answered {reply.status_code}"

    def token(self, platform: LTIPlatform) -> str:
        """A token for scores, requested once per run."""
        key = (platform.issuer, platform.client_id)
        if key not in self.tokens:
            asked = {
                "grant_type": "client_credentials",
                "client_assertion_type": ASSERTION,
                "client_assertion": self.tool_key.assertion(platform.client_id, platform.token_url),
                "scope": SCORE,
            }
            self.tokens[key] = str(self.client.post(platform.token_url, data=asked).json()["access_token"])
        return self.tokens[key]


def score_of(mark: Mark, line: LineItem) -> dict[str, Any]:
    """A mark in the form of Assignment and Grade Services."""
    return {
        "userId": line.sub,
        "scoreGiven": mark.score,
        "scoreMaximum": mark.max_points,
        "activityProgress": "Completed",
        "gradingProgress": "PendingManual" if mark.waits_for_a_person else "FullyGraded",
        "timestamp": datetime.now(UTC).isoformat(timespec="microseconds").replace("+00:00", "Z"),
    }


def scores_url(line: str) -> str:
    """The address for scores of a line item: /scores is added to its path, before its query."""
    parts = urlsplit(line)
    return urlunsplit(parts._replace(path=f"{parts.path.rstrip('/')}/scores"))
