"""The models that run in a page say what torch says of the same stories, with the same weights."""

import json
import subprocess
from pathlib import Path

import ladder_in_page
import pytest
from in_node import needs_node
from ladder_in_page import as_rounded

from course.evaluation import score
from course.figures.parcels import network_parcel, parcels, rounded
from course.models import BERT, BERTConfig

HERE = Path(__file__).parent
MOST_TEXT = 600_000  # bytes of all weights together, as they travel


@pytest.fixture(scope="module")
def corpus():
    return ladder_in_page.hundred_stories()


@pytest.fixture(scope="module")
def recorded(corpus):
    return ladder_in_page.all_models(corpus)


@needs_node
def test_every_model_of_a_page_says_what_torch_says(corpus, recorded, tmp_path, capsys):
    ladder_in_page.write(tmp_path, corpus, recorded)
    command = ["node", str(HERE / "compare_models.mjs"), str(tmp_path)]
    run = subprocess.run(command, capture_output=True, text=True, timeout=600)
    assert run.returncode == 0, run.stderr
    ladder_in_page.check(json.loads(run.stdout), capsys)


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
