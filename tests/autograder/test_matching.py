"""An answer gets the names of the mistakes it equals on every call, and no other name."""

import contextlib
import dataclasses
import importlib
import random
import sys
import time

import numpy as np
import pytest
import torch
from grading import MINI

from autograder.catalogue import Misconception
from autograder.checking.examine import run_checks
from autograder.checking.matching import REFERENCE, TooSlow, diagnosis, time_limit
from autograder.source.homework import references
from autograder.source.loading import load
from course.checks import LocalLink, Trace
from course.checks.trace import Event, Outcome


@pytest.fixture(scope="module")
def homework():
    return load(MINI)


@pytest.fixture(scope="module")
def right(homework):
    return references(homework)


def named(homework, right, answer, misconceptions=None, **options):
    done = run_checks(homework, LocalLink({"moving_average": answer}), seed=5)
    known = homework.misconceptions if misconceptions is None else misconceptions
    return diagnosis([entry.trace for entry in done], known, right, **options)


def test_every_entry_of_the_catalogue_gets_its_own_name(homework, right):
    for entry in homework.misconceptions:
        assert named(homework, right, entry.thing) == (entry.name,)


def test_the_graders_own_random_numbers_go_on_as_if_nothing_had_been_asked(homework, right):
    def states():
        return torch.get_rng_state().tolist(), np.random.get_state()[1].tolist(), random.getstate()

    before = states()
    assert named(homework, right, homework.misconceptions[0].thing)
    assert states() == before


def test_the_same_mistake_written_differently_gets_its_name(homework, right):
    def divided(values, width):
        return [sum(values[i : i + width]) * (1 / len(values)) for i in range(len(values) - width + 1)]

    assert named(homework, right, divided) == ("divides_by_all",)


def test_right_answers_and_unknown_mistakes_get_no_name(homework, right):
    assert named(homework, right, right["moving_average"]) == ()
    assert named(homework, right, lambda values, width: [0.0]) == ()


def test_two_mistakes_at_once_are_not_called_by_one(homework, right):
    def both(values, width):
        return [sum(values[i : i + 3]) / len(values) for i in range(len(values) - 3)]

    assert named(homework, right, both) == ()


def test_a_check_that_calls_another_exercise_which_is_not_written_leaves_the_name(homework, right):
    [wrong, *_] = homework.misconceptions
    done = run_checks(homework, LocalLink({"moving_average": wrong.thing}), seed=5)
    missing = Outcome("not_written", message="other is not written yet.")
    both = Trace("of_both", [*done[0].trace.events, Event("other", "", (1,), {}, missing)])
    traces = [both, *(entry.trace for entry in done)]
    assert diagnosis(traces, homework.misconceptions, right) == (wrong.name,)
    assert diagnosis([both], homework.misconceptions, right) == ()


def known_runs(homework, right):
    """What the reference and every mistake answer when they are examined themselves."""
    things = {REFERENCE: right["moving_average"]}
    things |= {entry.name: entry.thing for entry in homework.misconceptions}
    runs = {}
    for name, thing in things.items():
        done = run_checks(homework, LocalLink({"moving_average": thing}), seed=5)
        runs[name] = {one.check.name: one.trace for one in done}
    return runs


def test_what_a_mistake_is_known_to_answer_gives_the_same_names_and_is_not_asked_again(homework, right):
    def asked(values, width):
        raise AssertionError("this was asked again")

    runs = known_runs(homework, right)
    blind = [dataclasses.replace(entry, thing=asked) for entry in homework.misconceptions]
    for entry in homework.misconceptions:
        assert named(homework, right, entry.thing, blind, runs=runs) == (entry.name,)
    assert named(homework, right, right["moving_average"], blind, runs=runs) == ()
    assert named(homework, right, homework.misconceptions[0].thing, blind) == ()


def test_a_mistake_whose_own_run_ended_sooner_is_asked_again(homework, right):
    [wrong, *_] = homework.misconceptions
    cut = {
        name: Trace(name, trace.events[:1]) for name, trace in known_runs(homework, right)[wrong.name].items()
    }
    assert named(homework, right, wrong.thing, runs={wrong.name: cut}) == (wrong.name,)


def entry_of(thing):
    return Misconception(thing.__name__, "moving_average", frozenset(), None, "d", "q", thing)


def test_a_mistake_that_takes_too_long_is_passed_over(homework, right):
    def endless(values, width):
        while True:
            pass

    known = [entry_of(endless), *homework.misconceptions]
    begun = time.monotonic()
    names = named(homework, right, homework.misconceptions[0].thing, known, seconds=0.2)
    assert names == (homework.misconceptions[0].name,)
    assert time.monotonic() - begun < 30


@pytest.mark.parametrize("name", ["Unreachable", "NotWritten", "StudentError"])
def test_a_mistake_whose_error_is_called_as_ours_is_named(homework, right, name):
    def raises(values, width):
        raise type(name, (Exception,), {})

    assert named(homework, right, raises, [entry_of(raises)]) == ("raises",)


def test_a_mistake_that_cannot_be_replayed_is_passed_over(homework, right):
    def leaves(values, width):
        raise SystemExit

    assert named(homework, right, lambda values, width: [0.0], [entry_of(leaves)]) == ()


def test_the_time_limit_interrupts_code_that_catches_every_exception():
    def stubborn():
        while True:
            with contextlib.suppress(Exception):
                sum(range(1000))

    with pytest.raises(TooSlow), time_limit(0.05):
        stubborn()


def work():
    while True:
        pass


def test_an_inner_time_limit_leaves_the_outer_one_running():
    def inner_then_work():
        with time_limit(5):
            pass
        work()

    begun = time.process_time()
    with pytest.raises(TooSlow), time_limit(0.2):
        inner_then_work()
    assert time.process_time() - begun < 4


def test_time_in_which_a_replay_waits_for_a_processor_is_not_its_own():
    with time_limit(0.05):
        time.sleep(0.2)


def test_an_alarm_amid_an_import_waits_for_its_end(slow_import):
    def import_then_work():
        with time_limit(0.05):
            importlib.import_module(slow_import)
            work()

    with pytest.raises(TooSlow):
        import_then_work()
    assert sys.modules[slow_import].whole
    assert sys.modules[f"{slow_import}.core"].whole


def test_a_replay_that_is_cut_short_while_it_imports_spoils_nothing(homework, right, slow_import):
    def imports_then_works(values, width):
        importlib.import_module(slow_import)
        work()

    mistake = homework.misconceptions[0]
    known = [entry_of(imports_then_works), mistake]
    assert named(homework, right, mistake.thing, known, seconds=0.05) == (mistake.name,)
    assert sys.modules[slow_import].whole
