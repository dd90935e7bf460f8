"""Verify holds for a sound homework and names everything that is wrong with an unsound one."""

import json

import pytest

from autograder.cli import main
from autograder.proving.proof import summary, table
from autograder.proving.verify import prove, verify
from autograder.source.loading import load

WRONG, RIGHT, FAILS = "misconceptions.py", "alternatives.py", "fails.tsv"
ACCEPT = "`autograder verify mini_homework --accept` writes down what it fails."
TWIN = '''

@misconception(of="moving_average")
def width_is_three(values, width):
    """The width is always three.

    Which widths did you try?
    """
    return [sum(values[start : start + 3]) / 3 for start in range(len(values) - 2)]
'''
TWIN_FAILS = "moving_average\twidth_is_three\taverages_are_right_for_any_width\n"


def proof_of(mini):
    homework = load(mini)
    return prove(homework, homework.exercises[0])


def add(mini, misconception):
    """Put a twin of width_is_always_three into the catalogue, and its row into the table."""
    for file, text in ((WRONG, misconception), (FAILS, TWIN_FAILS)):
        (mini / file).write_text((mini / file).read_text() + text)


def tried(proof, name):
    return next(one for one in proof.tried if one.name == name)


def test_a_sound_homework_holds(mini):
    proof = proof_of(mini)
    assert proof.violations == ()
    assert tried(proof, "divides_by_all").failed == ("averages_are_right", "averages_are_right_for_any_width")


def test_every_misconception_is_named_and_the_notebook_names_what_visible_checks_show(mini):
    proof = proof_of(mini)
    for name in ("divides_by_all", "forgets_the_last_window"):
        assert tried(proof, name).named == tried(proof, name).named_in_notebook == (name,)
    assert tried(proof, "width_is_always_three").named == ("width_is_always_three",)
    assert tried(proof, "width_is_always_three").named_in_notebook == ()


@pytest.mark.parametrize(
    ("file", "old", "new", "violation"),
    [
        pytest.param(
            "mini_homework.py",
            "    assert_equal(len(moving_average(values, 3)), 5)",
            "    assert_equal(len(values), 7)",
            "No wrong solution fails there_is_one_average_per_window, so the check proves nothing.",
            id="a check that no wrong solution fails",
        ),
        pytest.param(
            "mini_homework.py",
            "    assert_equal(len(moving_average(values, 3)), 5)",
            "    assert_equal(len(values), 7)",
            "the stub passes there_is_one_average_per_window, which gives points.",
            id="a stub that passes",
        ),
        pytest.param(
            "mini_homework.py",
            "    assert_equal(len(moving_average(values, 3)), 5)",
            "    assert_equal(moving_average(values, 3), moving_average(values, 3))",
            "None for every input passes there_is_one_average_per_window, which gives points.",
            id="a check that a forgotten return passes",
        ),
        pytest.param(
            RIGHT,
            "(end - start) / width",
            "(end - start) / (width + 1)",
            "by_running_totals is right and fails averages_are_right.",
            id="an alternative that fails",
        ),
        pytest.param(
            "mini_homework.py",
            "/ width for start in heron_starts",
            "/ 3 for start in heron_starts",
            "the reference is right and fails averages_are_right_for_any_width.",
            id="a reference that fails",
        ),
        pytest.param(
            FAILS,
            "divides_by_all\t",
            "divides_by_all\tthere_is_one_average_per_window ",
            "divides_by_all passes there_is_one_average_per_window, unlike in fails.tsv: "
            f"if that is right, {ACCEPT}",
            id="a failure in the table that does not happen",
        ),
        pytest.param(
            FAILS,
            "divides_by_all\taverages_are_right ",
            "divides_by_all\t",
            f"divides_by_all fails averages_are_right, unlike in fails.tsv: if that is right, {ACCEPT}",
            id="a failure that is not in the table",
        ),
        pytest.param(
            FAILS,
            "\tdivides_by_all\t",
            "\tdivides_by_some\t",
            f"divides_by_all has no row in fails.tsv: {ACCEPT}",
            id="a misconception that is not in the table",
        ),
        pytest.param(
            FAILS,
            "\tdivides_by_all\t",
            "\tdivides_by_some\t",
            f"divides_by_some has a row in fails.tsv but is not a misconception of moving_average: {ACCEPT}",
            id="a row of no misconception",
        ),
        pytest.param(
            WRONG,
            "range(len(values) - width)]",
            "range(len(values) - width + 1)]",
            "forgets_the_last_window is not named by the diagnosis.",
            id="a misconception that is not named",
        ),
        pytest.param(
            WRONG,
            "/ len(values) for",
            "/ width * 1.0000105 for",
            "Right answers have the seals of divides_by_all wherever it differs, "
            "so right code could be called that.",
            id="a misconception that is too near to be told from what is right",
        ),
        pytest.param(
            "mini_homework.py",
            "    values = draw.normal(7).tolist()\n",
            "    values = nonsense\n",
            "there_is_one_average_per_window could not run on the reference.",
            id="a check that is broken",
        ),
        pytest.param(
            "mini_homework.py",
            'forbids="statistics.mean"',
            'forbids="sum"',
            "the reference uses sum in line 27, which the exercise forbids.",
            id="a reference that does what is forbidden",
        ),
        pytest.param(
            "mini_homework.py",
            'forbids="statistics.mean"',
            'forbids="itertools.accumulate"',
            "by_running_totals uses itertools.accumulate in line 10, which the exercise forbids.",
            id="an alternative that does what is forbidden",
        ),
        pytest.param(
            WRONG,
            "return [sum(values[start : start + 3]) / 3 ",
            "import statistics\n    return [statistics.mean(values[start : start + 3]) ",
            "width_is_always_three uses statistics.mean, which the exercise forbids.",
            id="a misconception that does what is forbidden",
        ),
    ],
)
def test_what_is_unsound_is_named_in_a_sentence(mini, edit, file, old, new, violation):
    edit(mini / file, old, new)
    proof = proof_of(mini)
    assert violation in proof.violations
    assert violation in table(proof)


def test_two_misconceptions_that_cannot_be_told_apart_must_be_declared_equal(mini, edit):
    add(mini, TWIN)
    assert set(proof_of(mini).violations) == {
        "width_is_always_three is also named width_is_three, which is not declared equal.",
        "width_is_three is also named width_is_always_three, which is not declared equal.",
    }
    edit(mini / WRONG, '")\ndef width_is_three', '", equals={"width_is_always_three"})\ndef width_is_three')
    assert proof_of(mini).violations == ()


def test_an_exercise_without_an_alternative_is_not_proven(mini):
    (mini / RIGHT).unlink()
    assert proof_of(mini).violations == ("moving_average has no alternative solution.",)


def test_a_misconception_that_escapes_with_some_inputs_is_reported(mini, edit):
    edit(mini / "mini_homework.py", "for width in (1, 4, 11):", "for width in [draw.integers(3, 5)]:")
    [violation] = [one for one in proof_of(mini).violations if "passes" in one and "fails.tsv" not in one]
    assert violation == (
        "moving_average/averages_are_right_for_any_width: width_is_always_three passes with seed 2."
    )


def test_luck_with_a_check_that_students_see_is_reported_too_unless_mistakes_are_trained(mini, edit):
    edit(
        mini / "mini_homework.py",
        "    assert_equal(len(moving_average(values, 3)), 5)",
        "    width = draw.integers(3, 5)\n    assert_equal(len(moving_average(values, width)), 8 - width)",
    )
    [violation] = [one for one in proof_of(mini).violations if "passes" in one]
    assert violation == (
        "moving_average/there_is_one_average_per_window: "
        "width_is_always_three passes as in the notebook and with seed 2."
    )
    edit(mini / "mini_homework.py", "difficulty=1 minutes=5", "difficulty=1 minutes=5 trained")
    assert not [one for one in proof_of(mini).violations if "passes" in one]


def test_exercises_proven_side_by_side_come_out_as_one_by_one(mini):
    assert list(verify([mini, mini], jobs=2)) == [proof_of(mini)] * 2


def test_the_table_shows_every_check_of_every_solution_and_the_summary_counts(mini):
    proof = proof_of(mini)
    row = next(line for line in table(proof).splitlines() if "divides_by_all" in line)
    assert row.split()[2:] == ["·", "✗", "✗", "✓", "✓"]
    assert summary([proof]) == (
        "1 exercise, 3 checks, 3 misconceptions (2 named in the notebook already): everything holds."
    )


def test_the_exit_status_says_whether_all_holds(course_folder, mini, edit, capsys):
    words = [
        "verify",
        "--root",
        str(course_folder),
        "--jobs",
        "1",
        "--json",
        str(course_folder / "proof.json"),
    ]
    assert main(words) == 0
    assert json.loads((course_folder / "proof.json").read_text())[0]["violations"] == []
    edit(mini / RIGHT, "(end - start) / width", "(end - start)")
    assert main([*words, "mini_homework"]) == 1
    assert "by_running_totals is right and fails averages_are_right." in capsys.readouterr().out
    assert json.loads((course_folder / "proof.json").read_text())[0]["violations"] != []


def test_a_release_of_what_verify_found_wrong_says_so_until_it_is_mended(course_folder, mini, edit, capsys):
    verify = ["verify", mini.name, "--root", str(course_folder), "--jobs", "1", "--quiet"]
    release = ["release", mini.name, "--root", str(course_folder)]
    edit(mini / RIGHT, "(end - start) / width", "(end - start)")
    assert main(verify) == 1
    assert main(release) == 0
    assert "by_running_totals is right and fails averages_are_right." in capsys.readouterr().err
    edit(mini / RIGHT, "(end - start)", "(end - start) / width")
    assert main(release) == 0
    assert capsys.readouterr().err == ""  # the folder is another one; whether it holds is not known yet
    assert main(verify) == 0
    assert main(release) == 0
    assert capsys.readouterr().err == ""


def test_what_is_accepted_is_what_was_measured_and_holds_from_then_on(course_folder, mini, edit, capsys):
    words = ["verify", "mini_homework", "--root", str(course_folder), "--jobs", "1"]
    measured = (mini / FAILS).read_text()
    (mini / FAILS).unlink()
    assert main(words) == 1
    assert f"divides_by_all has no row in fails.tsv: {ACCEPT}" in capsys.readouterr().out
    assert not (mini / FAILS).exists()
    assert main([*words, "--accept"]) == 0
    assert (mini / FAILS).read_text() == measured
    assert main(words) == 0


def test_what_does_not_hold_is_not_accepted(course_folder, mini, edit):
    edit(mini / RIGHT, "(end - start) / width", "(end - start)")
    assert main(["verify", "--root", str(course_folder), "--jobs", "1", "--accept"]) == 1


def test_a_change_of_a_check_changes_the_rows_of_what_it_now_catches(course_folder, mini, edit):
    before = (mini / FAILS).read_text().splitlines()
    edit(mini / "mini_homework.py", "for width in (1, 4, 11):", "for width in (3,):")
    main(["verify", "--root", str(course_folder), "--jobs", "1", "--accept"])
    after = (mini / FAILS).read_text().splitlines()
    assert [row for row in after if row not in before] == ["moving_average\twidth_is_always_three\t"]
    assert [row for row in before if row in after] == before[:3]


def test_a_name_that_fits_only_some_inputs_is_reported(mini, edit):
    edit(mini / "mini_homework.py", "for width in (1, 4, 11):", "for width in [draw.integers(4, 6)]:")
    sometimes_three = TWIN.replace("    return [", "    width = 3 if width == 4 else width\n    return [")
    sometimes_three = (
        sometimes_three.replace("+ 3", "+ width").replace("/ 3", "/ width").replace("- 2", "- width + 1")
    )
    add(mini, sometimes_three)
    also = "width_is_always_three is also named width_is_three with some seeds, which is not declared equal."
    assert also in proof_of(mini).violations
