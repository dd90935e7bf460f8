"""Find the known mistake that gives the student's answers on every call, at least one of them wrong."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import zip_longest

from course.checks.autograd import send_back
from course.checks.closeness import same
from course.checks.errors import NotWritten, StudentError, Unreachable, gist
from course.checks.fingerprints import Fingerprint, fits
from course.checks.plain import leaves, mapped, snapshot
from course.checks.standin import LocalLink, StandIn
from course.checks.trace import Answer, Event, Object, Outcome, Thing, Trace

MOST_NAMES = 2  # that may be spoken together: more would name nothing

Answers = Mapping[str, Fingerprint]  # misconception → its answers to one check


def replay(trace: Trace, things: Mapping[str, object]) -> Trace:
    """Make the same calls on other objects, so that a known mistake gets the questions that the student got.

    Ends early if the other objects do not return what a later call needs, such as an object with a method.
    Leaves the global random number generators as its last call left them.
    """
    copy = Trace(trace.check)
    for _ in _replaying(trace, things, copy):
        pass
    return copy


def replays_alike(trace: Trace, things: Mapping[str, object], right: Trace) -> bool:
    """Whether a replay has the recorded answers, as `answers_as` has it; it ends with the first other one."""
    copy = Trace(trace.check)
    return _are_alike(trace, _replaying(trace, things, copy), right) and len(copy.events) == len(trace.events)


def _replaying(trace: Trace, things: Mapping[str, object], copy: Trace) -> Iterator[Event]:
    """Each call of the replay, as it is made and recorded in the copy."""
    link = LocalLink(things, restores=False)
    answers: dict[int, object] = {}  # by the place of the call in the trace
    for index, event in enumerate(trace.events):
        if not _can_be_asked(event, copy, answers):
            return
        if isinstance(event.target, Answer):
            _send_back(copy, event, answers[event.target.event])
        else:
            answers[index] = _ask_again(link, copy, event.target, event)
        if len(copy.events) != index + 1:
            return
        yield copy.events[index]


def matches(student: Sequence[Trace], wrong: Sequence[Trace], right: Sequence[Trace]) -> bool:
    """Whether a student's answers equal the mistake's everywhere and differ from the right ones somewhere."""
    return answers_as(student, wrong, right) and not answers_as(student, right, right)


def answers_as(student: Sequence[Trace], other: Sequence[Trace], right: Sequence[Trace]) -> bool:
    """Whether a student's answers equal the other's everywhere; `right` are the reference's.

    An error that is not the right answer equals another only if their messages agree: errors of one class
    may have very different causes. Answers by chance are not compared.
    """
    return len(student) == len(other) and all(map(_is_answered_alike, student, other, right))


def _is_answered_alike(student: Trace, other: Trace, right: Trace) -> bool:
    return len(student.events) == len(other.events) and _are_alike(student, other.events, right)


def _are_alike(student: Trace, others: Iterable[Event], right: Trace) -> bool:
    """Whether calls, as far as others made them, have the recorded outcomes; ends with one that differs."""
    known = [event.outcome for event in right.events[: len(student.events)]]
    pairs = zip(zip_longest(student.events, known), others, strict=False)
    return all(one.by_chance or _is_alike(one.outcome, two.outcome, outcome) for (one, outcome), two in pairs)


def _is_alike(one: Outcome, two: Outcome, right: Outcome | None) -> bool:
    if not same(one, two):
        return False
    return one.kind != "error" or same(two, right) or gist(one.message) == gist(two.message)


def candidates(
    traces: Mapping[str, Trace], failed: frozenset[str] | set[str], fingerprints: Mapping[str, Answers]
) -> list[str]:
    """The mistakes that explain the results of all checks of an exercise, made with the same objects.

    A mistake is kept if it fails each check that failed, and if, in every check where it differs from the
    right answer, each of the student's calls gave the mistake's result. So checks that passed count as much
    as those that failed: the more of an exercise's checks are given, the more reliable the result.
    """
    names = {name for check in failed for name in fingerprints.get(check, {})}
    return sorted(name for name in names if _explains(name, traces, failed, fingerprints))


def _explains(
    name: str,
    traces: Mapping[str, Trace],
    failed: frozenset[str] | set[str],
    fingerprints: Mapping[str, Answers],
) -> bool:
    for check, trace in traces.items():
        answers = fingerprints.get(check, {}).get(name)
        if answers is None and check in failed:
            return False
        if answers is not None and not fits(trace, answers, check in failed):
            return False
    return True


def spoken(names: Iterable[str], about: Mapping[str, Mapping]) -> list[Mapping]:
    """What `about` says of these mistakes, or nothing if they ask more than two different questions.

    Mistakes that ask the same question count as one, because the reader cannot tell them apart.
    """
    said = {about[name]["question"]: about[name] for name in names if name in about}
    return [*said.values()] if len(said) <= MOST_NAMES else []


def _can_be_asked(event: Event, copy: Trace, answers: Mapping[int, object]) -> bool:
    """Whether the replay has also created the objects that a call is made on and takes as arguments."""
    if isinstance(event.target, Answer):
        return event.target.event in answers
    passed = leaves((event.target, event.args, event.kwargs))
    needed = [entry for entry in passed if isinstance(entry, Object)]
    return all(entry.index < len(copy.objects) for entry in needed)


def _ask_again(link: LocalLink, copy: Trace, target: str | Object, event: Event) -> object:
    args, kwargs = given = event.args, event.kwargs
    if leaves(given):
        args, kwargs = mapped(snapshot(given), lambda entry: _stand_in(link, copy, entry))
    try:
        return StandIn(link, copy, target)._ask(event.method, args, kwargs)
    except (StudentError, NotWritten, Unreachable):
        return None


def _stand_in(link: LocalLink, copy: Trace, entry: object) -> object:
    if isinstance(entry, Thing):
        return StandIn(link, copy, entry.name)
    return StandIn(link, copy, entry) if isinstance(entry, Object) else entry


def _send_back(copy: Trace, event: Event, answer: object) -> None:
    try:
        send_back(answer, event.args)
    except (StudentError, NotWritten, Unreachable):
        pass  # which the trace has taken down
    except RuntimeError as problem:
        outcome = Outcome("error", error=type(problem).__name__, message=str(problem))
        copy.events.append(Event(event.target, "backward", event.args, {}, outcome))
