"""What the page says of waste and writes on by itself, beside torch; and what it refuses."""

import json

import pytest
import torch
from in_node import evaluate, needs_node

from course import figures
from course.data.story_language import StoryLanguage
from course.data.story_rules import StoryConfig
from course.figures.parcels import rounded
from course.models import KneserNey, NGramCounts, RecurrentConfig, RecurrentLanguageModel

STORIES = StoryConfig(n_bindings=2, n_recalls=1, nesting_depth=1, recall_distance=0)
ALL_WORDS = "{temperature: 1, method: 0, value: null}"
BEGINNINGS = {"Who?": "nora had apples and lamps .", "Nothing": ""}
ALIVE = """await (async () => {{
  const begins = await figure.rungs(data.models), truth = figure.storyLanguage(data.grammar);
  const read = (begin, tokens) => {{ const reader = begin(); return tokens.map(reader).at(-1); }};
  return {result};
}})()"""


@pytest.fixture(scope="module")
def language():
    return StoryLanguage(STORIES)


@pytest.fixture(scope="module")
def models(language):
    known = language.sample(200, torch.Generator().manual_seed(1))
    counts = NGramCounts([row[mask] for row, mask in zip(known.tokens, known.mask, strict=True)],
                         3, language.vocab_size, language.vocabulary.bos)  # fmt: skip
    torch.manual_seed(0)
    gru = RecurrentLanguageModel(RecurrentConfig(language.vocab_size, "gru", 8, 12)).eval()
    return {"trigram": KneserNey(counts), "GRU": gru}


@pytest.fixture(scope="module")
def figure(models, language):
    return figures.every_rung(models, language, {"trigram": 2.0, "GRU": 5.0}, 1.2, beginnings=BEGINNINGS)


@needs_node
def test_waste_is_the_divergence_of_the_model_from_the_truth(figure, models, language, tmp_path):
    tokens = figure.data["beginnings"][0]["tokens"]
    result = "Object.values(begins).map((begin) => figure.wasted(read(truth, tokens), read(begin, tokens)))"
    found = evaluate(figure, ALIVE.format(result=result.replace("tokens", json.dumps(tokens))), tmp_path)
    models["GRU"].load_state_dict(rounded(models["GRU"].state_dict()))
    text = torch.tensor([tokens])
    p = language(text)[0, -1].exp()
    for bits, model in zip(found, models.values(), strict=True):
        with torch.no_grad():
            expected = torch.special.xlogy(p, p).sum() - (p * model(text)[0, -1]).sum()
        assert bits == pytest.approx(float(expected) / 0.6931471805599453, abs=1e-3)


@needs_node
def test_the_truth_writes_only_what_can_come_and_ends_the_story(figure, language, tmp_path):
    given = f"begin: truth, truth, tokens: data.beginnings[1].tokens, end: data.end, settings: {ALL_WORDS}"
    result = f"Array.from({{length: 30}}, () => figure.writing({{{given}}}))"
    for written in evaluate(figure, ALIVE.format(result=result), tmp_path):
        assert not written["isWrong"]
        assert written["tokens"][-1] == language.vocabulary.eos
        story = torch.tensor([[language.vocabulary.bos, *written["tokens"]]])
        costs = language(story[:, :-1]).gather(-1, story[:, 1:, None])
        assert costs.isfinite().all()


@needs_node
def test_writing_stops_at_the_first_word_that_cannot_come(figure, language, tmp_path):
    given = (
        f"begin: begins.GRU, truth, tokens: data.beginnings[1].tokens, end: data.end, settings: {ALL_WORDS}"
    )
    written = evaluate(figure, ALIVE.format(result=f"figure.writing({{{given}}})"), tmp_path)
    assert written["isWrong"]  # it was never trained
    before = torch.tensor([[language.vocabulary.bos, *written["tokens"][:-1]]])
    assert language(before)[0, -1, written["tokens"][-1]] == -torch.inf


@needs_node
def test_the_method_that_is_chosen_writes(figure, models, language, tmp_path):
    given = "begin: begins.trigram, truth, tokens: data.beginnings[0].tokens, end: data.end"
    greedy = f"figure.writing({{{given}, settings: {{temperature: 2, method: 1, value: null}}}})"
    found = evaluate(figure, ALIVE.format(result=f"[{greedy}, {greedy}]"), tmp_path)
    assert found[0] == found[1]
    tokens = list(figure.data["beginnings"][0]["tokens"])
    for written in found[0]["tokens"]:
        assert written == int(models["trigram"](torch.tensor([tokens]))[0, -1].argmax())
        tokens.append(written)


def test_models_and_scores_must_be_of_the_same_titles(models, language):
    with pytest.raises(ValueError, match="expected a score for each"):
        figures.every_rung(models, language, {"GRU": 5.0}, 1.2, beginnings=BEGINNINGS)


def test_counts_of_different_texts_do_not_share_a_table(models, language):
    other = NGramCounts(torch.full((1, 4), 5), 2, language.vocab_size, language.vocabulary.bos)
    mixed = {"trigram": models["trigram"], "bigram": KneserNey(other)}
    with pytest.raises(ValueError, match="counts of one text"):
        figures.every_rung(mixed, language, dict.fromkeys(mixed, 2.0), 1.2, beginnings=BEGINNINGS)
