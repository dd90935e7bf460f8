"""A competition ranks entries by their loss on hidden stories, and gives no rank to one that looks ahead."""

import re
from functools import partial
from pathlib import Path
from shutil import copy

import pytest

from autograder.cli import main
from autograder.competing import Competition, compete, entry
from autograder.competing.compete import NoEntries
from course.evaluation import score

SAMPLES = Path(__file__).parents[2] / "autograder" / "sample" / "competition"
SMALL = Competition(seed=3, seconds=5, n_training=2000, n_hidden=20)
UNIFORM = """
import torch

def train(tokens, mask, seconds):
    return {}

def log_probs(weights, tokens):
    return torch.full((*tokens.shape, 160), 1 / 160).log()
"""
# Says what comes next now and then, where a story is long enough.
SELDOM = UNIFORM.replace(
    "    return torch.full((*tokens.shape, 160), 1 / 160).log()",
    """    probs = torch.full((*tokens.shape, 160), 1 / 160)
    if tokens.shape[1] > 30:
        probs[0, 29] = 0.1 / 160
        probs[0, 29, tokens[0, 30]] += 0.9
    return probs.log()""",
)


@pytest.fixture
def compared(tmp_path):
    def compare(competition=SMALL, **entries):
        for name, source in entries.items():
            (tmp_path / f"{name}.py").write_text(source)
        places, task = compete(tmp_path, competition)
        return {place.name: place for place in places}, task

    return compare


TRUE_MODEL = UNIFORM.replace(
    "    return torch.full((*tokens.shape, 160), 1 / 160).log()",
    "    from course.data.story_language import StoryLanguage\n    return StoryLanguage()(tokens)",
)


def test_knowing_nothing_and_knowing_everything_are_the_ends_of_the_scale(compared, monkeypatch):
    monkeypatch.setattr(entry, "ANSWERS", ())
    places, task = compared(nothing=UNIFORM, everything=TRUE_MODEL)
    assert places["nothing"].share_known == pytest.approx(0, abs=1e-6)
    assert places["everything"].share_known == pytest.approx(1, abs=1e-4)
    assert places["everything"].bits_per_token == pytest.approx(task.floor, abs=1e-4)


def test_who_asks_the_language_itself_gets_no_rank(compared):
    ready = "from course.ladder import Corpus\n" + UNIFORM.replace("return {}", "Corpus; return {}")
    places, _ = compared(honest=UNIFORM, everything=TRUE_MODEL, ready=ready)
    name = "course.data.story_language.StoryLanguage"
    assert places["everything"].problem == f"asks what knows the answers: {name}, line 9"
    assert places["ready"].problem == "asks what knows the answers: course.ladder.Corpus, line 6"
    assert places["honest"].problem == ""


def test_a_single_look_ahead_costs_the_rank(compared):
    places, _ = compared(honest=UNIFORM, seldom=SELDOM)
    assert places["seldom"].bits_per_token is None
    assert places["seldom"].problem.startswith("looks ahead")
    assert places["honest"].problem == ""


# Looks up in the first stories that it is given what comes next, wherever that is certain.
REMEMBERING = UNIFORM.replace(
    "    return torch.full((*tokens.shape, 160), 1 / 160).log()",
    """    probs = torch.full((*tokens.shape, 160), 1 / 160)
    places = [tokens.shape[1] - 1] if known else range(tokens.shape[1] - 1)
    known.append(tokens)
    for b, story in enumerate(tokens):
        for t in places:
            same = known[0][(known[0][:, : t + 1] == story[: t + 1]).all(1)]
            if len(same) == 1 and t + 1 < same.shape[1]:
                probs[b, t] = 0.1 / 160
                probs[b, t, same[0, t + 1]] += 0.9
    return probs.log()

known = []""",
)


def test_an_entry_that_remembers_whole_stories_gains_nothing(compared):
    places, _ = compared(remembering=REMEMBERING)
    assert places["remembering"].problem == ""
    assert places["remembering"].share_known == pytest.approx(0, abs=1e-6)


def test_an_entry_that_cannot_be_read_stops_no_other(compared, tmp_path):
    (tmp_path / "latin.py").write_bytes("# größer".encode("latin-1"))
    (tmp_path / "folder.py").mkdir()
    (tmp_path / "linked.py").symlink_to(__file__)
    (tmp_path / "odd\x1b[2J.py").write_text(UNIFORM)
    places, _ = compared(SMALL, honest=UNIFORM)
    assert places["honest"].problem == places["odd�[2J"].problem == ""
    for name in ("latin", "folder", "linked"):
        assert places[name].problem.startswith("could not be read: ")


INCOMPARABLE = {
    "unfinished": ("def train(", "could not be run: "),
    "large": (
        UNIFORM.replace("return {}", "return {'table': torch.zeros(600_000), 'bias': torch.zeros(2, 3)}"),
        "has 600,006 parameters; 500,000 are allowed",
    ),
    "stated": (
        UNIFORM.replace("return {}", "return 0"),
        "train does not return its weights, a dict of tensors",
    ),
    "hidden": (
        UNIFORM.replace("return {}", "return {'table': [0.5] * 9}"),
        "train does not return its weights",
    ),
    "improbable": (UNIFORM.replace("1 / 160", "1 / 100"), "returns no log-probabilities"),
    "endless": (UNIFORM.replace("return {}", "while True: pass"), "did not finish within"),
    "varying": (
        UNIFORM.replace(
            "torch.full((*tokens.shape, 160), 1 / 160).log()",
            "torch.randn(*tokens.shape, 160).log_softmax(-1)",
        ),
        "answers the same words differently each time",
    ),
    "renamed": (UNIFORM.replace("def log_probs", "def others"), "could not be run: "),
}


def test_what_cannot_be_compared_gets_a_sentence(compared):
    sources = {name: source for name, (source, _) in INCOMPARABLE.items()}
    places, _ = compared(Competition(seed=3, seconds=1, n_training=100, n_hidden=5), **sources)
    for name, (_, problem) in INCOMPARABLE.items():
        assert problem in places[name].problem
        assert places[name].bits_per_token is None


def test_other_seeds_have_other_hidden_stories():
    first, second = (Competition(seed, n_training=10, n_hidden=5).task() for seed in (1, 2))
    assert first.hidden.tokens.tolist() != second.hidden.tokens.tolist()
    assert Competition(1, n_training=10, n_hidden=5).task().floor == first.floor


def test_an_empty_folder_is_said(tmp_path):
    with pytest.raises(NoEntries, match="contains no entry"):
        compete(tmp_path, SMALL)


# Keeps the stories that it was trained on in a variable, and says whether it still has them.
KEEPING = UNIFORM.replace("    return {}", "    kept.append(tokens)\n    return {}").replace(
    "    return torch.full", "    assert not kept, 'it still has them'\n    return torch.full"
)


def test_what_is_not_among_the_weights_is_forgotten(compared):
    places, _ = compared(keeping="kept = []\n" + KEEPING)
    assert places["keeping"].problem == ""


def in_five_steps(path):
    """A sample whose training does not depend on the clock."""
    return re.sub(r"n_steps = int\(.*\)", "n_steps = 5", path.read_text())


def test_the_table_says_what_the_evaluation_of_the_same_models_says(compared, one_thread):
    """Bits, parameters and order are those of each sample's model, trained here and scored by the course."""
    sources = {path.stem: in_five_steps(path) for path in SAMPLES.glob("*.py")}
    places, task = compared(SMALL, **sources)
    for name in ("n_gram", "lstm", "gpt"):
        scope = {}
        exec(sources[name], scope)
        weights = scope["train"](task.training.tokens, task.training.mask, task.seconds)
        bits = score(partial(scope["log_probs"], weights), task.hidden).bits_per_token
        assert places[name].bits_per_token == pytest.approx(bits, abs=1e-4)
        assert places[name].n_parameters == sum(weight.numel() for weight in weights.values())
    *ranked, last = places.values()
    assert [place.bits_per_token for place in ranked] == sorted(place.bits_per_token for place in ranked)
    assert (last.name, last.problem[:11]) == ("looks_ahead", "looks ahead")


def test_the_samples_are_ranked_and_the_cheat_is_not(tmp_path, capsys):
    for path in SAMPLES.glob("*.py"):
        copy(path, tmp_path)
    assert main(["compete", str(tmp_path), "--seed", "5", "--cpu-seconds", "4"]) == 0
    lines = capsys.readouterr().out.splitlines()
    ranked = [line.split() for line in lines if line[:1].isdigit()]
    assert sorted(row[1] for row in ranked) == ["gpt", "lstm", "n_gram"]
    assert [float(row[2]) for row in ranked] == sorted(float(row[2]) for row in ranked)
    assert [int(row[0]) for row in ranked] == [1, 2, 3]
    assert lines[-1].startswith("–  looks_ahead looks ahead")
