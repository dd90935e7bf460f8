"""Which known mistake a student's answers are: equal to it on every call, and not to the right answer."""

from collections.abc import Mapping, Sequence

from course.checks.autograd import send_back
from course.checks.closeness import same
from course.checks.errors import NotWritten, StudentError, Unreachable
from course.checks.fingerprints import Fingerprint, fits
from course.checks.plain import mapped, snapshot
from course.checks.standin import LocalLink, StandIn
from course.checks.trace import Answer, Event, Object, Outcome, Thing, Trace

Answers = Mapping[str, Fingerprint]  # misconception → its answers to one check


def replay(trace: Trace, things: Mapping[str, object]) -> Trace:
    """The same calls on other objects: how a known mistake is asked what the student was asked.

    Ends early where the other objects do not give what a later call needs, as an object to call a method of.
    """
    link, copy = LocalLink(things), Trace(trace.check)
    answers: dict[int, object] = {}  # by the place of the call in the trace
    for index, event in enumerate(trace.events):
        if not _can_be_asked(event, copy, answers):
            break
        if isinstance(event.target, Answer):
            _send_back(copy, event, answers[event.target.event])
        else:
            answers[index] = _ask_again(link, copy, event.target, event)
        if len(copy.events) != index + 1:
            break
    return copy


def matches(student: Sequence[Trace], wrong: Sequence[Trace], right: Sequence[Trace]) -> bool:
    """Whether a student's answers equal the wrong ones everywhere and differ from the right somewhere."""
    return _equal(student, wrong) and not _equal(student, right)


def candidates(
    traces: Mapping[str, Trace], failed: frozenset[str] | set[str], fingerprints: Mapping[str, Answers]
) -> list[str]:
    """The mistakes that explain what the checks of one session, made with the same objects, have shown.

    A mistake is kept if it fails each check that failed, and if in every check in which it differs from the
    right answer each of the student's calls came out as its own does.
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


def _equal(a: Sequence[Trace], b: Sequence[Trace]) -> bool:
    outcomes = [[event.outcome for trace in traces for event in trace.events] for traces in (a, b)]
    return len(outcomes[0]) == len(outcomes[1]) and all(map(same, *outcomes))


def _can_be_asked(event: Event, copy: Trace, answers: Mapping[int, object]) -> bool:
    """Whether the objects that a call is made on and speaks of have come about in the replay as well."""
    if isinstance(event.target, Answer):
        return event.target.event in answers
    needed: list[int] = []
    mapped((event.target, event.args, event.kwargs), lambda entry: _note_object(entry, needed))
    return all(index < len(copy.objects) for index in needed)


def _note_object(entry: object, needed: list[int]) -> None:
    if isinstance(entry, Object):
        needed.append(entry.index)


def _ask_again(link: LocalLink, copy: Trace, target: str | Object, event: Event) -> object:
    args, kwargs = mapped(snapshot((event.args, event.kwargs)), lambda entry: _stand_in(link, copy, entry))
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
