"""A competition ranks entries by their loss on hidden stories, and gives no rank to one that looks ahead."""

from pathlib import Path
from shutil import copy

import pytest

from autograder.cli import main
from autograder.competing import Competition, compete, entry
from autograder.competing.compete import NoEntries

SAMPLES = Path(__file__).parents[2] / "autograder" / "sample" / "competition"
SMALL = Competition(seed=3, seconds=5, n_training=2000, n_hidden=20)
UNIFORM = """
import torch

def train(tokens, mask, seconds):
    return 0

def log_probs(tokens):
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


# Says what comes next in every story that it has been shown.
REMEMBERS = UNIFORM.replace(
    "    return torch.full((*tokens.shape, 160), 1 / 160).log()",
    """    probs = torch.full((*tokens.shape, 160), 1 / 160)
    for row, story in enumerate(tokens.tolist()):
        for t in range(1, len(story)):
            shown.setdefault(tuple(story[:t]), story[t])
    for row, story in enumerate(tokens.tolist()):
        for t in range(len(story)):
            if tuple(story[:t + 1]) in shown:
                probs[row, t] = 0.1 / 160
                probs[row, t, shown[tuple(story[:t + 1])]] += 0.9
    return probs.log()

shown = {}""",
)


@pytest.fixture
def compared(tmp_path):
    def compare(competition=SMALL, **entries):
        for name, source in entries.items():
            (tmp_path / f"{name}.py").write_bytes(source if isinstance(source, bytes) else source.encode())
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
    ready = "from course.ladder import Corpus\n" + UNIFORM.replace("return 0", "Corpus; return 0")
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


def test_what_an_entry_was_shown_before_is_of_no_use(compared):
    places, _ = compared(honest=UNIFORM, remembers=REMEMBERS)
    assert places["remembers"].problem.startswith("looks ahead")
    assert places["honest"].share_known == pytest.approx(0, abs=1e-6)


INCOMPARABLE = {
    "unfinished": ("def train(", "could not be run: "),
    "elsewhere": ("# Müller\n".encode("latin-1"), "is not a text in UTF-8"),
    "large": (
        UNIFORM.replace("return 0", "return 10**9"),
        "has 1,000,000,000 parameters; 500,000 are allowed",
    ),
    "boolean": (UNIFORM.replace("return 0", "return True"), "train does not return the number of parameters"),
    "improbable": (UNIFORM.replace("1 / 160", "1 / 100"), "returns no log-probabilities"),
    "endless": (UNIFORM.replace("return 0", "while True: pass"), "did not finish within"),
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


def test_the_samples_are_ranked_and_the_cheat_is_not(tmp_path, capsys):
    for path in SAMPLES.glob("*.py"):
        copy(path, tmp_path)
    assert main(["compete", str(tmp_path), "--seed", "5", "--cpu-seconds", "4"]) == 0
    lines = capsys.readouterr().out.splitlines()
    ranked = [line.split()[1] for line in lines if line[:1].isdigit()]
    assert sorted(ranked) == ["gpt", "lstm", "n_gram"]
    assert lines[-1].startswith("–  looks_ahead looks ahead")
