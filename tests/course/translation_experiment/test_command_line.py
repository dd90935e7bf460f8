"""The command that is recorded does the same again."""

import pytest

from course.translation_experiment.__main__ import PROGRAM, command_of, main, parser


@pytest.mark.parametrize(
    "words",
    [
        ["lengths"],
        ["captions", "--kinds", "RNNenc", "--seeds", "3", "4", "--steps", "7"],
        ["lengths", "--scale", "full", "--threads", "1"],
        ["budgets", "--scale", "4x", "--kinds", "rotary", "--seeds", "0", "1"],
    ],
)
def test_the_recorded_command_asks_for_the_same(words):
    asked = parser().parse_args(words)
    command = command_of(asked)
    assert command.startswith(PROGRAM + " ")
    assert parser().parse_args(command.removeprefix(PROGRAM).split()) == asked


def test_an_unknown_scale_is_refused_with_the_known_ones(capsys):
    with pytest.raises(SystemExit):
        main(["lengths", "--scale", "huge"])
    assert "small" in capsys.readouterr().err
