from course.checks import homework
from course.checks.progress import Score, in_words

CHECKS = {
    "first": {"exercise": "double", "points": 1},
    "second": {"exercise": "double", "points": 2},
    "third": {"exercise": "halve", "points": 1},
}
EXERCISES = {"double": {"place": 1, "points": 5}, "halve": {"place": 0, "points": 1}}


def first(double):
    """One is two."""
    assert double(1) == 2


def second(double):
    """Two is four."""
    assert double(2) == 4


def third(halve):
    """Two is one."""
    assert halve(2) == 1


def said(check, capsys):
    capsys.readouterr()
    check.progress()
    return capsys.readouterr().out


def test_progress_counts_what_was_done_in_this_session_and_names_what_is_left(capsys):
    check = homework("tiny", fingerprints={"exercises": EXERCISES, "checks": CHECKS})
    assert said(check, capsys) == "0 of 2 exercises done · 0 of 4 points, and 2 more after you hand in\n"
    check(first, second, points=[1, 2], later=1, double=lambda n: 2)
    assert said(check, capsys).splitlines() == [
        "0 of 2 exercises done · 1 of 4 points, and 2 more after you hand in",
        "Begun: double (1 of 2)",
        "Left: halve",
    ]
    check(first, second, points=[1, 2], later=1, double=lambda n: 2 * n)
    check(third, halve=lambda n: n / 2)
    assert said(check, capsys) == "2 of 2 exercises done · 4 of 4 points, and 2 more after you hand in\n"


def test_progress_follows_the_latest_try(capsys):
    check = homework("tiny", fingerprints={"exercises": EXERCISES, "checks": CHECKS})
    for answer in (lambda n: n / 2, lambda n: n):
        check(third, halve=answer)
    assert said(check, capsys).startswith("0 of 2 exercises done · 0 of 4 points")


def test_a_homework_that_nothing_is_known_of_counts_what_was_tried(capsys):
    check = homework("of_nobody")
    assert said(check, capsys) == ""
    check(third, halve=lambda n: n / 2)
    assert said(check, capsys) == "1 of 1 exercises done · 1 of 1 points\n"


def test_what_is_left_is_listed_in_the_order_of_the_notebook():
    scores = {"b": Score(1, 1, 1, 1), "c": Score(0, 2, 0, 2), "a": Score(0, 1, 0, 1)}
    assert in_words(scores).splitlines()[-1] == "Left: c, a"


def test_a_bonus_is_counted_on_its_own(capsys):
    exercises = EXERCISES | {"halve": EXERCISES["halve"] | {"bonus": True}}
    check = homework("tiny", fingerprints={"exercises": exercises, "checks": CHECKS})
    check(first, second, points=[1, 2], later=1, double=lambda n: 2)
    assert said(check, capsys).splitlines() == [
        "0 of 1 exercises done · 1 of 3 points, and 2 more after you hand in",
        "On top, as a bonus: 0 of 1 exercises done · 0 of 1 points",
        "Begun: double (1 of 2)",
        "Left as a bonus: halve",
    ]


def test_answers_in_words_are_points_that_are_given_later_and_never_left(capsys):
    in_words = {"why": {"points": 4}, "why_not": {"points": 3, "bonus": True}}
    exercises = EXERCISES | {"halve": EXERCISES["halve"] | {"bonus": True}}
    check = homework("tiny", fingerprints={"exercises": exercises, "checks": CHECKS, "in_words": in_words})
    check(first, second, points=[1, 2], later=1, double=lambda n: 2 * n)
    assert said(check, capsys).splitlines() == [
        "1 of 1 exercises done · 3 of 3 points, and 6 more after you hand in",
        "On top, as a bonus: 0 of 1 exercises done · 0 of 1 points, and 3 more after you hand in",
        "Left as a bonus: halve",
    ]
