"""Copied work is named however it is renamed; the homework, the class and short answers explain the rest."""

import contextlib
import itertools
import json
import signal
import sys

import pytest
from grading import NAME, ROOT, new_course, solved

from autograder.cli import main
from autograder.reporting.report import alike
from autograder.reporting.similar import NONE, NothingGraded, explained, section, similar
from autograder.reporting.similarity import LEAST_IN_AN_ANSWER, Pair, Prints, SharedAnswer, similar_pairs
from autograder.source.as_answer import as_answer
from autograder.source.homework import without_markers
from autograder.source.loading import load

STUB = "def viterbi(emissions, transitions):\n    # YOUR CODE HERE\n    raise NotImplementedError"
ORIGINAL = """
def viterbi(emissions, transitions):
    # the table of best scores, built from the left
    best_so_far = [emissions[0][state] for state in range(len(transitions))]
    came_from = []
    for step in range(1, len(emissions)):
        row, arrows = [], []
        for state in range(len(transitions)):
            choices = [best_so_far[old] + transitions[old][state] for old in range(len(transitions))]
            winner = max(range(len(choices)), key=choices.__getitem__)
            arrows.append(winner)
            row.append(choices[winner] + emissions[step][state])
        came_from.append(arrows)
        best_so_far = row
    path = [max(range(len(best_so_far)), key=best_so_far.__getitem__)]
    for arrows in reversed(came_from):
        path.append(arrows[path[-1]])
    return path[::-1]
"""
INDEPENDENT = """
import torch

def viterbi(emissions, transitions):
    emissions = torch.as_tensor(emissions)
    score, pointers = emissions[0], []
    for emission in emissions[1:]:
        score, pointer = (score[:, None] + torch.as_tensor(transitions)).max(dim=0)
        score = score + emission
        pointers += [pointer]
    state = int(score.argmax())
    states = [state]
    while pointers:
        state = int(pointers.pop()[state])
        states.insert(0, state)
    return states
"""
ONE_LINE = "def softmax(scores):\n    return (scores - scores.max(-1, keepdim=True).values).softmax(-1)"


def disguised(code):
    """The same work with other names, other comments and other spacing."""
    names = {
        "best_so_far": "dp",
        "came_from": "bp",
        "choices": "c",
        "winner": "w",
        "arrows": "ptrs",
        "row": "new",
    }
    for old, new in names.items():
        code = code.replace(old, new)
    return code.replace("# the table of best scores, built from the left", "# dynamic programming").replace(
        " + ", "+"
    )


@contextlib.contextmanager
def at_most_seconds(limit):
    """Fail when more processor time than this is used inside, however long it would take."""

    def stop(number, frame):
        raise AssertionError(f"more than {limit} s of processor time")

    before = signal.signal(signal.SIGVTALRM, stop)
    signal.setitimer(signal.ITIMER_VIRTUAL, limit)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)


def pairs_of(texts, known=(STUB,), exercise="viterbi"):
    return similar_pairs({student: {exercise: text} for student, text in texts.items()}, {exercise: known})


def test_a_copy_is_named_with_the_lines_that_only_these_two_have():
    [pair] = pairs_of({"ada": ORIGINAL, "bo": ORIGINAL, "cy": INDEPENDENT})
    assert (pair.first, pair.second) == ("ada", "bo")
    assert pair.answers[0].share == 1
    assert "winner = max(range(len(choices)), key=choices.__getitem__)" in pair.lines


def test_a_disguised_copy_is_named_too():
    [pair] = pairs_of({"ada": ORIGINAL, "bo": disguised(ORIGINAL), "cy": INDEPENDENT})
    assert (pair.first, pair.second) == ("ada", "bo")
    assert pair.answers[0].share > 0.9


def test_half_of_an_answer_within_another_is_named():
    start = ORIGINAL[: ORIGINAL.index("    path =")]
    [pair] = pairs_of({"ada": ORIGINAL, "bo": start + "    return came_from"})
    assert pair.answers[0].share > 0.8


def test_the_same_task_solved_twice_is_no_copy():
    assert pairs_of({"ada": ORIGINAL, "cy": INDEPENDENT}) == []


def test_what_students_were_given_or_may_well_arrive_at_is_no_evidence():
    assert pairs_of({"ada": ORIGINAL, "bo": disguised(ORIGINAL)}, known=(STUB, ORIGINAL)) == []
    assert pairs_of({"ada": STUB, "bo": STUB}) == []


def test_what_many_write_is_no_evidence_and_what_four_write_is():
    four = {f"student{place}": ORIGINAL for place in range(4)}
    assert len(pairs_of(four)) == 6
    assert pairs_of({**four, "fifth": ORIGINAL}) == []


def test_short_answers_are_no_evidence_however_alike():
    assert pairs_of({"ada": ONE_LINE, "bo": ONE_LINE}, known=()) == []
    many = {f"exercise{place}": ONE_LINE for place in range(12)}
    assert similar_pairs({"ada": many, "bo": many}, dict.fromkeys(many, ())) == []


def test_several_copied_answers_add_up():
    half = ORIGINAL[: ORIGINAL.index("        came_from.append")]
    answers = {student: {"first": half, "second": ORIGINAL} for student in ("ada", "bo")}
    [pair] = similar_pairs(answers, {"first": (), "second": ()})
    assert [answer.exercise for answer in pair.answers] == ["second", "first"]
    assert pair.shared == sum(answer.shared for answer in pair.answers)


def test_code_that_is_no_python_is_compared_all_the_same():
    broken = ORIGINAL.replace("):\n    # the", ")\n    # the")
    assert len(pairs_of({"ada": broken, "bo": broken})) == 1


def test_no_two_right_solutions_of_a_real_homework_are_taken_for_copies():
    homework = load(ROOT / "solutions" / "hw2_backprop")
    most = 0
    for exercise in homework.exercises:
        texts = [without_markers(exercise.solution)]
        texts += [as_answer(entry, homework) for entry in homework.alternatives if entry.of == exercise.name]
        given = {str(place): text for place, text in enumerate(texts)}
        assert pairs_of(given, known=(exercise.stub,)) == [], exercise.name
        stub = Prints(exercise.stub).places.keys()
        for first, second in itertools.combinations(map(Prints, texts), 2):
            most = max(most, first.covered((first.places.keys() & second.places.keys()) - stub))
    assert 0 < most < LEAST_IN_AN_ANSWER  # they have something in common: the bar is what holds them apart


QUESTION = (
    "Why does a wider window give a smoother curve, and what does it cost? Say it in your own words, please."
)
WORDS = (
    "Each point of the curve is a mean of more values, so that their noise cancels, but a step in the data "
    "is smeared over the width of the window and everything that is narrower than the window is lost."
)


def test_copied_words_are_named_and_the_question_is_not_counted():
    answers = {"ada": {"why": QUESTION + "\n\n" + WORDS}, "bo": {"why": QUESTION + "\n" + WORDS.upper()}}
    [pair] = similar_pairs(answers, {"why": [QUESTION]}, prose=["why"])
    assert pair.answers[0].exercise == "why"
    assert pair.shared <= len(WORDS) + 30
    apart = {
        "ada": {"why": QUESTION + WORDS},
        "bo": {"why": QUESTION + "Noise averages out; detail is lost too."},
    }
    assert similar_pairs(apart, {"why": [QUESTION]}, prose=["why"]) == []


@pytest.fixture(scope="module")
def course(tmp_path_factory):
    course = new_course(tmp_path_factory.mktemp("similar") / "course")
    texts = {"ada": ORIGINAL, "bo": disguised(ORIGINAL), "cy": INDEPENDENT}
    for student, text in texts.items():
        path = course / "autograded" / student / NAME / f"{NAME}.ipynb"
        path.parent.mkdir(parents=True)
        path.write_text(json.dumps(solved(course, text.replace("viterbi", "moving_average"))))
    return course


def test_the_catalogue_and_the_reference_are_explained(course):
    texts = explained(load(course / "solutions" / NAME))["moving_average"]
    assert any("heron_starts" in text for text in texts)
    assert any("albatross_windows" in text for text in texts)
    assert any("NotImplementedError" in text for text in texts)


def test_the_word_names_the_pair(course, capsys):
    assert main(["similar", NAME, "--root", str(course)]) == 0
    out = capsys.readouterr().out
    assert "\nada and bo: " in out
    assert "cy" not in out


def test_the_report_has_a_section_of_them(course):
    html = alike(load(course / "solutions" / NAME), course)
    assert "<h2>Similar submissions</h2>" in html
    assert ">ada</a> and " in html


def test_nothing_is_shown_of_a_student_as_markup():
    pair = Pair("<b>x", "bo", (SharedAnswer("e", 1, 1),), ("<script>alert(1)</script>",))
    assert "<script" not in section([pair])
    assert "<b>x" not in section([pair])
    assert section([]).strip() == ""


def test_without_graded_submissions_the_word_says_what_comes_first(course_folder, mini):
    with pytest.raises(NothingGraded, match="run `autograder grade` first"):
        similar(load(mini), course_folder)
    assert alike(load(mini), course_folder) == ""


def test_a_class_without_copies_is_told_so(course, capsys, tmp_path, course_folder):
    path = course_folder / "autograded" / "cy" / NAME / f"{NAME}.ipynb"
    path.parent.mkdir(parents=True)
    path.write_text(json.dumps(solved(course, INDEPENDENT)))
    assert main(["similar", NAME, "--root", str(course_folder)]) == 0
    assert capsys.readouterr().out.strip() == NONE


def test_without_the_library_the_word_says_what_to_install_and_the_report_leaves_it_out(
    course_folder, mini, capsys, monkeypatch
):
    for name in ("autograder.reporting.similar", "autograder.reporting.similarity"):
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "pygments.lexers.python", None)
    assert main(["similar", mini.name, "--root", str(course_folder)]) == 2
    assert "pip install -e '.[instructor]'" in capsys.readouterr().err
    assert alike(load(mini), course_folder) == ""


ODD_ANSWERS = {
    "parentheses": "(" * 4_000_000,
    "one line": "x=1;" * 1_000_000,
    "strings that do not end": "f'{" * 1_000_000,
    "half characters": "\ud800" * 100_000,
    "zeros": "\0" * 4_000_000,
    "backslashes": "\\" * 4_000_000,
    "attributes": "a." * 2_000_000,
    "spaces": (" " * 1_000 + "x") * 4_000,
    "nothing": "",
}


@pytest.mark.parametrize("kind", ODD_ANSWERS)
def test_an_odd_answer_neither_stops_the_search_nor_keeps_it_busy(kind):
    texts = {"ada": ORIGINAL, "bo": disguised(ORIGINAL), "mallory": ODD_ANSWERS[kind]}
    with at_most_seconds(20):  # of this process's own time
        found = pairs_of(texts | {"trudy": ODD_ANSWERS[kind][:-1]})
    assert ("ada", "bo") in [(pair.first, pair.second) for pair in found]


def test_everybody_copying_from_everybody_takes_no_longer_than_is_bearable():
    """Each of 200 answers is most of every other one."""
    lines = [f"    value_{n} = values[{n}] * {n} + sum(values[: {n}]) - {n * n}" for n in range(60)]
    own = [f"    {'[' * (n % 9 + 1)}values{']' * (n % 9 + 1)}" for n in range(200)]
    texts = {
        f"s{n}": "\n".join(["def f(values):", *lines[n % 30 :], own[n], *lines[: n % 30]]) for n in range(200)
    }
    with at_most_seconds(60):
        pairs_of(texts)
