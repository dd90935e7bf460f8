"""What a student's code prints while it is checked is shown from its beginning, up to a limit."""

import sys

from course.checks import assert_equal, homework
from course.checks.printed import MOST_SHOWN

EMPTY = {"homework": "none", "exercises": {}, "checks": {}}


def one_is_doubled(double):
    """One is doubled."""
    assert_equal(double(1), 2)


def printed_by(function, capsys):
    homework("none", fingerprints=EMPTY)(one_is_doubled, one_is_doubled, double=function)
    return capsys.readouterr().out


def test_a_few_lines_are_shown_as_they_are(capsys):
    def double(x):
        print("x is", x)
        print("a warning", file=sys.stderr)
        return 2 * x

    said = printed_by(double, capsys)
    assert said.startswith("x is 1\na warning\nx is 1\na warning\n✓ One is doubled.")
    assert "not shown" not in said


def test_of_very_many_lines_the_beginning_is_shown_and_the_rest_is_counted(capsys):
    def double(x):
        for place in range(20_000):
            print(f"line {place:06}")  # 12 characters
        return 2 * x

    said = printed_by(double, capsys)
    assert len(said) < MOST_SHOWN + 300
    assert said.startswith("line 000000\nline 000001\n")
    n_left_out = 40_000 - MOST_SHOWN // 12
    assert f"\n[{n_left_out} more lines that your code printed are not shown]\n✓" in said


def test_one_endless_line_is_cut_as_well(capsys):
    def double(x):
        print("x" * 10**6, end="")
        return 2 * x

    said = printed_by(double, capsys)
    assert len(said) < MOST_SHOWN + 300
    assert "\n[1 more line that your code printed is not shown]\n✓" in said


def test_output_is_as_before_after_a_check(capsys):
    before = sys.stdout
    printed_by(lambda x: print("y" * 2 * MOST_SHOWN), capsys)
    assert sys.stdout is before
