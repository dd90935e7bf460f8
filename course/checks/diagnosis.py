"""Which known mistake a student's answers are: equal to it on every call, and not to the right answer."""

from collections.abc import Mapping, Sequence

import torch

from course.checks.autograd import differentiable
from course.checks.closeness import same
from course.checks.errors import NotWritten, StudentError, Unreachable
from course.checks.fingerprints import known_answer
from course.checks.plain import mapped, snapshot
from course.checks.standin import LocalLink, StandIn
from course.checks.trace import Answer, Event, Object, Outcome, Thing, Trace


def replay(trace: Trace, things: Mapping[str, object]) -> Trace:
    """The same calls on other objects: how a known mistake is asked what the student was asked."""
    link, copy, answers = LocalLink(things), Trace(trace.check), {}
    for index, event in enumerate(trace.events):
        if isinstance(event.target, Answer):
            _send_back(copy, event, answers)
            continue
        answers[index] = _ask_again(link, copy, event)
        if len(copy.events) <= index:
            break
    return copy


def matches(student: Sequence[Trace], wrong: Sequence[Trace], right: Sequence[Trace]) -> bool:
    """Whether the student's answers equal the wrong ones on every event and differ from the right on at least one."""
    return _equal(student, wrong) and not _equal(student, right)


def _equal(a: Sequence[Trace], b: Sequence[Trace]) -> bool:
    outcomes = [[event.outcome for trace in traces for event in trace.events] for traces in (a, b)]
    return len(outcomes[0]) == len(outcomes[1]) and all(map(same, *outcomes))


def _ask_again(link: LocalLink, copy: Trace, event: Event) -> object:
    args, kwargs = mapped(snapshot((event.args, event.kwargs)), lambda entry: _stand_in(link, copy, entry))
    try:
        return StandIn(link, copy, event.target)._ask(event.method, args, kwargs)
    except (StudentError, NotWritten, Unreachable):
        return None


def _stand_in(link: LocalLink, copy: Trace, entry: object) -> object:
    if isinstance(entry, Thing):
        return StandIn(link, copy, entry.name)
    return StandIn(link, copy, entry) if isinstance(entry, Object) else entry


def _send_back(copy: Trace, event: Event, answers: dict[int, object]) -> None:
    outputs, gradients = differentiable(answers[event.target.event]), event.args
    try:
        torch.autograd.backward(outputs, gradients, retain_graph=True)
    except RuntimeError as problem:
        outcome = Outcome("error", error=type(problem).__name__, message=str(problem))
        copy.events.append(Event(event.target, "backward", event.args, {}, outcome))


def candidates(
    traces: Mapping[str, Trace], failed: set[str], fingerprints: Mapping[str, Mapping]
) -> list[str]:
    """The misconceptions that explain a student's session: traces by check, the checks that failed, their fingerprints.

    A name is kept if it differs from the right answer in every failed check, and wherever it does, in any check made
    with the same object, the student answered the same.
    """
    names = {name for check in failed for name in fingerprints.get(check, {})}
    return sorted(name for name in names if _explains(name, traces, failed, fingerprints))


def _explains(
    name: str, traces: Mapping[str, Trace], failed: set[str], fingerprints: Mapping[str, Mapping]
) -> bool:
    for check, trace in traces.items():
        answers = fingerprints.get(check, {}).get(name, [])
        seen = [(i, encoded) for i, encoded in answers if i < len(trace.events)]
        if check in failed and not seen:
            return False
        if not all(known_answer(trace.events[i], encoded) for i, encoded in seen):
            return False
    return True
