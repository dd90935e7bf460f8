"""Answers in words are marked by items that are shared, beside the reference, and without names if wished."""

import pytest
from doors import NAME, Browser, new_door

from autograder.serving.attempts import Told
from autograder.serving.rubrics import Question, Rubrics, total

PAGE = f"/marking/{NAME}/why"
MARKUP = "<script>alert(1)</script>"
ANSWERS = {"ada": "Noise goes.", "bob": MARKUP, "cleo": "No idea."}


@pytest.fixture(params=[False, True], ids=["by name", "anonymous"])
def door(tmp_path, request):
    door = new_door(tmp_path, anonymous=request.param)
    rubrics = Rubrics(door.attempts.engine)
    rubrics.ask(NAME, [Question("why", "Why?", "Noise averages out.", 3.0)])
    for student, text in ANSWERS.items():
        rubrics.answered(NAME, student, {"why": text})
    return door


@pytest.fixture
def rubrics(door):
    return Rubrics(door.attempts.engine)


@pytest.fixture
def staff(door):
    browser = Browser(door)
    browser.join("prof", is_staff=True)
    return browser


def add(staff, points, comment, **more):
    data = staff.form(PAGE) | {"number": "", "points": points, "comment": comment} | more
    return staff.post(f"{PAGE}/item", data=data)


def mark(staff, *items, comment=""):
    """Mark the answer that is shown first: one that nobody has marked."""
    return staff.post(f"{PAGE}/mark", data=staff.form(PAGE) | {"item": list(items), "comment": comment})


def points(rubrics):
    return {mark.student: mark.points for mark in rubrics.to_enter(NAME)}


def test_an_answer_stands_beside_the_reference_and_names_only_if_they_may(door, staff):
    page = staff.get(PAGE).text
    assert "Noise averages out." in page
    assert "Noise goes." in page
    assert ("ada" in page) is not door.settings.anonymous
    add(staff, "1", "x")
    mark(staff)
    assert MARKUP not in staff.get(PAGE).text


def test_formulas_are_set_in_question_reference_and_an_answer_of_ordinary_length(door, staff, rubrics):
    rubrics.ask(NAME, [Question("why", "Why $\\frac{1}{2}$?\n\n$$\\sum_i i$$", "As $n > 1$.", 3.0)])
    rubrics.answered(NAME, "ada", {"why": f"$n$ {MARKUP}"})
    page = staff.get(PAGE).text
    assert (page.count("<math"), "$" in page, MARKUP in page) == (4, False, False)
    rubrics.answered(NAME, "ada", {"why": "$n$ " * 10_000})
    page = staff.get(PAGE).text
    assert (page.count("<math"), page.count("$n$")) == (3, 10_000)


def test_items_add_up_and_a_changed_item_changes_everybodys_mark(staff, rubrics):
    add(staff, "2", "the noise")
    add(staff, "1.5", "the detail")
    add(staff, "-1", "not your words")
    mark(staff, "1", "2")
    mark(staff, "1", "3", comment="see me")
    mark(staff)
    assert points(rubrics) == {"ada": 3.0, "bob": 1.0, "cleo": 0.0}
    assert [one.comment for one in rubrics.to_enter(NAME)][1] == "the noise\n\nnot your words\n\nsee me"
    assert {one.who for one in rubrics.to_enter(NAME)} == {"prof"}
    for one in rubrics.to_enter(NAME):
        rubrics.entered(NAME, one)
    assert points(rubrics) == {}
    add(staff, "0.5", "the noise", number="1")
    assert points(rubrics) == {"ada": 2.0, "bob": 0.0}
    assert "answers with it: 2" in staff.get(PAGE).text


def test_who_hands_in_another_answer_is_marked_again_and_who_hands_in_the_same_is_not(staff, rubrics):
    add(staff, "2", "the noise")
    for _ in ANSWERS:
        mark(staff, "1")
    for one in rubrics.to_enter(NAME):
        rubrics.entered(NAME, one)
    rubrics.answered(NAME, "ada", {"why": "Something else."})
    rubrics.answered(NAME, "bob", {"why": MARKUP})
    assert [one.chosen is None for one in rubrics.answers(NAME, "why")] == [True, False, False]
    assert points(rubrics) == {"bob": 2.0}  # the gradebook asks for another look at what came again
    assert "Something else." in staff.get(PAGE).text


def test_an_answer_without_a_word_waits_for_nobody_and_can_still_be_marked(staff, rubrics):
    rubrics.answered(NAME, "ada", {"why": ""})
    assert [one.chosen is None for one in rubrics.answers(NAME, "why")] == [False, True, True]
    assert total(rubrics.of(NAME, "ada")) == "0 of 3"
    assert points(rubrics) == {}  # the grader has entered its 0
    add(staff, "2", "the noise")
    mark(staff, "1")
    assert points(rubrics) == {"bob": 2.0}
    rubrics.mark(NAME, "why", "ada", [1], "on paper", "prof")
    assert points(rubrics) == {"ada": 2.0, "bob": 2.0}


@pytest.mark.parametrize("hidden", ["at once", "never"])
def test_a_student_reads_their_own_mark_and_comment_when_points_are_told(tmp_path, hidden):
    door = new_door(tmp_path, hidden=hidden)
    rubrics = Rubrics(door.attempts.engine)
    rubrics.ask(NAME, [Question(name, f"### {name}?", "", 3.0) for name in ("Why", "How")])
    for student in ANSWERS:
        rubrics.answered(NAME, student, {"Why": "Noise goes.", "How": "By a mean."})
    rubrics.add(NAME, "Why", 2.0, f"the noise {MARKUP}")
    rubrics.mark(NAME, "Why", "ada", [1], "see me", "prof")
    rubrics.mark(NAME, "Why", "bob", [], "not of ada", "prof")
    door.attempts.tell(NAME, "ada", Told("visible", "whole", "1 of 2"), None)
    ada = Browser(door)
    ada.join("ada")
    page = ada.get(f"/homework/{NAME}").text
    said = ("2 of 6, 1 not marked yet", "see me", "the noise &lt;script&gt;", "How?")
    assert [words in page for words in said] == [hidden == "at once"] * 4
    assert MARKUP not in page
    assert "not of ada" not in page


def test_who_has_marked_the_last_answer_is_told_that_all_are_marked(staff):
    for _ in ANSWERS:
        done = mark(staff)
    assert done.url.path == f"/marking/{NAME}"
    assert "3 of 3" in done.text


@pytest.mark.parametrize("number", ["²", "9" * 10, "-1"])
def test_what_is_no_number_of_an_item_adds_one(staff, rubrics, number):
    add(staff, "0.5", "the noise", number=number)
    assert len(rubrics.items(NAME, "why")) == 1


@pytest.mark.parametrize("said", ["", "x", "nan", "inf", "1e9"])
def test_points_are_a_number(staff, rubrics, said):
    assert add(staff, said, "x").status_code == 400
    assert rubrics.items(NAME, "why") == []


def test_students_and_forms_from_elsewhere_mark_nothing(door, staff, rubrics):
    add(staff, "2", "the noise")
    student = Browser(door)
    student.join("ada")
    for path in (PAGE, f"/marking/{NAME}"):
        assert student.get(path).status_code == 403
    form = student.form("/") | {"answer": staff.form(PAGE)["answer"], "item": "1"}
    assert student.post(f"{PAGE}/mark", data=form).status_code == 403
    assert staff.post(f"{PAGE}/mark", data=form).status_code == 403
    assert points(rubrics) == {}
