import random
import sys
from collections import Counter, OrderedDict
from typing import NamedTuple

import numpy as np
import pytest
import torch

from course.checks import (
    LocalLink,
    NotWritten,
    Object,
    Reply,
    StandIn,
    StudentError,
    Trace,
    attribute,
)


def stand_in(thing, name="thing"):
    trace = Trace("a_check")
    return StandIn(LocalLink({name: thing}), trace, name), trace


class Point(NamedTuple):
    x: int
    y: int


class Word(str):
    pass


@pytest.mark.parametrize(
    ("returned", "received"),
    [
        (Counter("aab"), {"a": 2, "b": 1}),
        (OrderedDict(a=1), {"a": 1}),
        (Point(1, 2), (1, 2)),
        (torch.Size([2, 3]), (2, 3)),
        (np.float64(0.5), 0.5),
        (np.int64(3), 3),
        (np.bool_(True), True),
        (Word("a"), "a"),
        (frozenset({1}), frozenset({1})),
        (range(3), range(3)),
        ({(1, 2): [b"x", None]}, {(1, 2): [b"x", None]}),
        (torch.float32, torch.float32),
    ],
)
def test_what_comes_back_is_plain_data_of_exact_types(returned, received):
    function, _ = stand_in(lambda: returned)
    answer = function()
    assert answer == received
    assert type(answer) is type(received)


def test_a_tensor_subclass_that_agrees_with_everything_comes_back_as_a_tensor():
    class Agreeing(torch.Tensor):
        @classmethod
        def __torch_function__(cls, function, types, args=(), kwargs=None):
            return (
                True
                if "eq" in function.__name__
                else super().__torch_function__(function, types, args, kwargs)
            )

    function, _ = stand_in(lambda: torch.zeros(2).as_subclass(Agreeing))
    assert type(function()) is torch.Tensor


def test_the_check_keeps_its_arguments_when_the_student_changes_them():
    def careless(scores, words):
        scores += 1
        words.append("x")

    function, trace = stand_in(careless)
    scores, words = torch.zeros(3), ["a"]
    function(scores, words)
    assert torch.equal(scores, torch.zeros(3))
    assert words == ["a"]
    (left_scores, left_words), _ = trace.events[0].outcome.changed
    assert torch.equal(left_scores, torch.ones(3))
    assert left_words == ["a", "x"]


def test_the_trace_records_what_was_asked_before_the_student_touched_it():
    function, trace = stand_in(lambda scores: scores.mul_(0))
    function(torch.ones(2))
    assert torch.equal(trace.events[0].args[0], torch.ones(2))
    assert torch.equal(trace.events[0].outcome.value, torch.zeros(2))


def test_what_is_not_plain_data_cannot_be_passed_to_a_student():
    function, trace = stand_in(lambda f: f(1))
    with pytest.raises(TypeError, match="only plain data, not a function"):
        function(lambda x: x)
    assert trace.events == []


def test_an_error_comes_back_with_its_class_its_message_and_the_students_own_line():
    def divide(x):
        y = x + 1
        return y / 0

    function, trace = stand_in(divide, "divide")
    with pytest.raises(StudentError) as caught:
        function(1)
    assert (caught.value.error, caught.value.message) == ("ZeroDivisionError", "division by zero")
    assert caught.value.text == "return y / 0"
    assert caught.value.line == divide.__code__.co_firstlineno + 2
    assert "ArithmeticError" in caught.value.bases
    assert trace.events[0].outcome.error == "ZeroDivisionError"


def test_an_error_inside_a_library_is_placed_at_the_students_line():
    def mismatched(x):
        return torch.nn.functional.linear(x, torch.ones(2, 9))

    function, _ = stand_in(mismatched)
    with pytest.raises(StudentError) as caught:
        function(torch.ones(3))
    assert caught.value.text == "return torch.nn.functional.linear(x, torch.ones(2, 9))"


def test_leaving_the_program_is_an_error_like_any_other():
    function, _ = stand_in(lambda: exit(0))
    with pytest.raises(StudentError, match="SystemExit"):
        function()


def test_an_interrupt_is_not_taken_for_the_students_error():
    def interrupted():
        raise KeyboardInterrupt

    function, _ = stand_in(interrupted)
    with pytest.raises(KeyboardInterrupt):
        function()


def test_a_stub_is_not_written_yet_whichever_function_it_is():
    def softmax(scores):
        raise NotImplementedError("your turn")

    def attention_weights(scores):
        return softmax(scores)

    function, trace = stand_in(attention_weights, "attention_weights")
    with pytest.raises(NotWritten, match=r"^`softmax` is not written yet\."):
        function(1)
    assert trace.events[0].outcome.kind == "not_written"


def test_a_kernel_that_torch_lacks_is_not_taken_for_a_stub():
    function, _ = stand_in(lambda x: x.softmax(-1))
    with pytest.raises(StudentError, match="NotImplementedError"):
        function(torch.ones(3, dtype=torch.int64))


def test_random_numbers_are_the_same_in_every_run_and_differ_between_calls():
    def noise():
        return torch.rand(2).tolist(), float(np.random.rand()), random.random()

    first, _ = stand_in(noise)
    second, _ = stand_in(noise)
    runs = [(first(), first()), (second(), second())]
    assert runs[0] == runs[1]
    assert runs[0][0] != runs[0][1]


def test_a_check_leaves_the_sessions_random_numbers_alone():
    function, _ = stand_in(lambda: torch.rand(1))
    torch.manual_seed(5)
    expected = torch.rand(1)
    torch.manual_seed(5)
    function()
    assert torch.equal(torch.rand(1), expected)


def test_a_generator_arrives_in_the_state_it_has_and_stays_in_it():
    function, _ = stand_in(lambda generator: torch.rand(1, generator=generator))
    generator = torch.Generator().manual_seed(3)
    state = generator.get_state()
    assert torch.equal(function(generator), function(generator))
    assert torch.equal(generator.get_state(), state)


class Vocabulary:
    def __init__(self, words):
        self.words = list(words)

    def __len__(self):
        return len(self.words)

    def __getitem__(self, index):
        return self.words[index]

    def __contains__(self, word):
        return word in self.words

    def __iter__(self):
        return iter(self.words)

    def clear(self):
        self.words = []
        return self

    def pairs(self):
        yield from enumerate(self.words)


def test_an_object_is_used_through_its_stand_in():
    make, _ = stand_in(Vocabulary, "Vocabulary")
    vocabulary = make(["a", "b"])
    assert len(vocabulary) == 2
    assert vocabulary[1] == "b"
    assert "a" in vocabulary
    assert "c" not in vocabulary
    assert list(vocabulary) == ["a", "b"]
    assert list(vocabulary.pairs()) == [(0, "a"), (1, "b")]
    assert attribute(vocabulary, "words") == ["a", "b"]


def test_an_object_that_returns_itself_stays_the_same_object():
    make, trace = stand_in(Vocabulary, "Vocabulary")
    vocabulary = make(["a"])
    assert len(vocabulary.clear()) == 0
    assert [event.target for event in trace.events] == ["Vocabulary", Object(0), Object(0)]


def test_an_object_can_be_handed_to_another_of_the_students_functions():
    def size(vocabulary):
        return len(vocabulary.words)

    trace = Trace("a_check")
    link = LocalLink({"Vocabulary": Vocabulary, "size": size})
    vocabulary = StandIn(link, trace, "Vocabulary")(["a", "b", "c"])
    assert StandIn(link, trace, "size")(vocabulary) == 3
    assert trace.events[-1].args == (Object(0),)


def test_an_object_is_no_value():
    vocabulary = stand_in(Vocabulary)[0](["a"])
    for use in (bool, float, int, lambda it: it == 1, lambda it: it < 1, lambda it: it == it):
        with pytest.raises(TypeError, match="an object of class Vocabulary is not a value"):
            use(vocabulary)
    with pytest.raises(TypeError, match="was not called, is not a value"):
        bool(vocabulary.words)


def test_a_list_that_contains_itself_is_an_error_not_a_crash():
    def endless():
        entries = []
        entries.append(entries)
        return entries

    function, _ = stand_in(endless)
    with pytest.raises(StudentError, match="nested"):
        function()


def test_what_a_student_prints_to_standard_error_comes_to_standard_output(capsys):
    def noisy():
        print("progress", file=sys.stderr)

    function, _ = stand_in(noisy)
    function()
    printed = capsys.readouterr()
    assert printed.err == ""
    assert "progress" in printed.out


class OtherLink:
    """Somebody else's link, with handles numbered in its own way."""

    def request(self, target, method, args, kwargs, *, seed=0):
        return Reply(Object(70, "Thing") if target == "thing" else [target.index, seed])


def test_any_link_will_do_and_its_numbers_are_its_own():
    trace = Trace("a_check")
    thing = StandIn(OtherLink(), trace, "thing")()
    assert thing() == [70, 1]
    assert trace.events[1].target == Object(0)


class ForgetfulLink:
    def request(self, target, method, args, kwargs, *, seed=0):
        return Reply(None, ((torch.ones(1),), {}))


def test_a_reply_tells_what_became_of_the_arguments():
    trace = Trace("a_check")
    StandIn(ForgetfulLink(), trace, "thing")(torch.zeros(1))
    assert trace.events[0].outcome.changed is not None
    StandIn(ForgetfulLink(), trace, "thing")(torch.ones(1))
    assert trace.events[1].outcome.changed is None
