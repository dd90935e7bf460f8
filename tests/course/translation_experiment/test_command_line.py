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
    runs = [{"kind": kind, "seed": seed} for kind in asked.kinds for seed in asked.seeds]
    command = command_of(asked, runs)
    assert command.startswith(PROGRAM + " ")
    assert parser().parse_args(command.removeprefix(PROGRAM).split()) == asked


def test_kinds_with_other_seeds_have_a_command_of_their_own():
    asked = parser().parse_args(["budgets", "--kinds", "rotary", "--seeds", "2"])
    runs = [
        ("RNNsearch", 0),
        ("RNNsearch", 1),
        ("rotary", 2),
        ("rotary", 0),
        ("Transformer", 0),
        ("Transformer", 1),
    ]
    command = command_of(asked, [{"kind": kind, "seed": seed} for kind, seed in runs])
    assert command.splitlines() == [
        f"{PROGRAM} budgets --scale 1x --kinds RNNsearch Transformer --seeds 0 1",
        f"{PROGRAM} budgets --scale 1x --kinds rotary --seeds 0 2",
    ]


def test_an_unknown_scale_is_refused_with_the_known_ones(capsys):
    with pytest.raises(SystemExit):
        main(["lengths", "--scale", "huge"])
    assert "small" in capsys.readouterr().err
