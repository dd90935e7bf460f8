"""The models that run in a page say what torch says of the same stories, with the same weights."""

import json
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from in_node import needs_node

from course.evaluation import score
from course.figures.parcels import grammar, network_parcel, parcels, rounded
from course.ladder import RUNGS, SCALES, Corpus, recorded_model
from course.ladder.weights import kept
from course.models import BERT, BERTConfig

HERE = Path(__file__).parent
MOST_TEXT = 600_000  # bytes of all weights together, as they travel


@pytest.fixture(scope="module")
def corpus():
    return Corpus(replace(SCALES["default"], n_test_stories=100), seed=0)


@pytest.fixture(scope="module")
def recorded(corpus):
    """The recorded models by title, and untrained ones where no weights are kept."""
    return {RUNGS[name].title: a_model(name, corpus) for name in RUNGS if name != "uniform"}


def a_model(name, corpus):
    if name in kept():
        return recorded_model(name, corpus)
    torch.manual_seed(0)
    return RUNGS[name].build(corpus, 1.0).eval()


@pytest.fixture(scope="module")
def compared(corpus, recorded, tmp_path_factory):
    """For every model and the truth: the largest difference of a log-probability, in nats, and the time."""
    folder, language = tmp_path_factory.mktemp("compared"), corpus.language
    given = parcels(recorded, language.vocabulary.bos) | {"grammar": grammar(language)}
    stories = [row[mask][:-1] for row, mask in zip(corpus.test.tokens, corpus.test.mask, strict=True)]
    (folder / "given.json").write_text(json.dumps(given))
    (folder / "stories.json").write_text(json.dumps([story.tolist() for story in stories]))
    for title, model in {"truth": language, **as_rounded(recorded, corpus)}.items():
        with torch.no_grad():
            expected = torch.cat([model(story[None])[0] for story in stories])
        expected.float().numpy().tofile(folder / f"{title}.f32")
    command = ["node", str(HERE / "compare_models.mjs"), str(folder)]
    run = subprocess.run(command, capture_output=True, text=True, timeout=600)
    assert run.returncode == 0, run.stderr
    return json.loads(run.stdout)


def as_rounded(recorded, corpus):
    """The models with the weights that a page has."""
    found = {}
    for name, rung in RUNGS.items():
        if rung.training is not None:
            found[rung.title] = a_model(name, corpus)
            found[rung.title].load_state_dict(rounded(recorded[rung.title].state_dict()))
        elif rung.title in recorded:
            found[rung.title] = recorded[rung.title]
    return found


@needs_node
def test_every_model_of_a_page_says_what_torch_says(compared, capsys):
    with capsys.disabled():
        for title, told in compared.items():
            print(f"\n{title:14} {told['largest']:.1e} nats {told['milliseconds']:.2f} ms a token", end="")
    assert list(compared) == ["truth", *(rung.title for rung in RUNGS.values() if rung.name != "uniform")]
    for told in compared.values():
        assert told["finished"]
        assert told["largest"] < 1e-4


def test_rounding_the_weights_for_a_page_costs_almost_nothing(recorded, corpus):
    for title, model in as_rounded(recorded, corpus).items():
        cost = score(model, corpus.test).bits_per_token - score(recorded[title], corpus.test).bits_per_token
        assert abs(cost) < 0.01, title


def test_all_weights_together_are_light(recorded, corpus):
    packed = parcels(recorded, corpus.language.vocabulary.bos)
    texts = [packed["counted"]["text"], *(parcel["text"] for parcel in packed["networks"])]
    assert sum(map(len, texts)) < MOST_TEXT


def test_a_step_is_small_beside_the_weights_it_rounds(recorded):
    state = recorded["Transformer"].state_dict()
    for name, tensor in rounded(state).items():
        worst, given = (tensor - state[name]).abs().max(), state[name]
        if given.ndim > 1:
            assert worst < 0.06 * given.std(), name
        else:  # a gain hardly varies, so it is compared with its size
            assert worst < 0.005 * given.abs().max(), name


def test_a_model_that_no_page_can_run_is_refused():
    model = BERT(BERTConfig(vocab_size=9, d_model=8, n_heads=2, n_layers=1, d_ff=8, context_length=8))
    with pytest.raises(ValueError, match="as on the ladder, got BERT"):
        network_parcel(model)
