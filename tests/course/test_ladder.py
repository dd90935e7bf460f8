"""The ladder at a very small scale: every rung trains, is measured against the floor, and is written down."""

import json
import math
from dataclasses import replace
from pathlib import Path

import pytest
import torch

from course.data.story_rules import StoryConfig
from course.evaluation import score
from course.ladder import RUNGS, SCALES, Corpus, Result, as_table, climb, climb_all, read_recorded, summaries
from course.ladder.__main__ import keep, main
from course.ladder.records import AT_FULL_SCALE, RECORDED, gaps, page, page_of_records, record
from course.language_model import LanguageModel

TINY = replace(SCALES["tiny"], n_train_stories=200, n_test_stories=60)
SMALL = replace(TINY, stories=StoryConfig(n_bindings=2, n_recalls=1, nesting_depth=1, recall_distance=0))


@pytest.fixture(scope="module")
def climbed():
    """Every rung at the tiny scale: name → (result, model)."""
    corpus = Corpus(SMALL, seed=0)
    return corpus, {name: climb(rung, corpus, SMALL, 0, device="cpu") for name, rung in RUNGS.items()}


def test_every_rung_answers_the_one_question(climbed):
    corpus, rungs = climbed
    tokens = corpus.test.tokens[:2, :9]
    for _, model in rungs.values():
        assert isinstance(model, LanguageModel)
        log_probs = model(tokens)
        assert log_probs.shape == (2, 9, corpus.language.vocab_size)
        torch.testing.assert_close(log_probs.exp().sum(-1), torch.ones(2, 9), atol=1e-4, rtol=0)


def test_no_rung_lies_below_the_floor_by_more_than_sampling_error(climbed):
    _, rungs = climbed
    for result, _ in rungs.values():
        assert result.bits_per_token > result.floor - 3 * result.error
        assert 0 < result.error < 0.5


def test_results_are_the_scores_of_the_models(climbed):
    corpus, rungs = climbed
    for result, model in rungs.values():
        assert result.bits_per_token == pytest.approx(score(model, corpus.test).bits_per_token)
        assert result.floor == pytest.approx(score(corpus.language, corpus.test).bits_per_token)
        expected = 100 * (result.bits_per_token - result.floor) / result.floor
        assert result.percent_above_floor == pytest.approx(expected)


def test_counting_rungs_stand_in_their_order(climbed):
    corpus, rungs = climbed
    bits = [rungs[name][0].bits_per_token for name in ("uniform", "unigram", "bigram", "trigram")]
    assert bits == sorted(bits, reverse=True)
    assert bits[0] == pytest.approx(math.log2(corpus.language.vocab_size))


def test_parameters_are_weights_or_counted_ngrams(climbed):
    _, rungs = climbed
    assert rungs["uniform"][0].n_parameters == 0
    assert rungs["bigram"][0].n_parameters == rungs["bigram"][1].counts.n_ngrams
    assert rungs["lstm"][0].n_parameters == sum(p.numel() for p in rungs["lstm"][1].parameters())


def test_a_seed_changes_what_is_trained_on_but_not_what_is_tested():
    one, other = Corpus(SMALL, 0), Corpus(SMALL, 1)
    assert torch.equal(one.test.tokens, other.test.tokens)
    assert one.train.tokens.shape != other.train.tokens.shape or not torch.equal(
        one.train.tokens, other.train.tokens
    )


def test_climbing_repeats_with_its_seed():
    first, again = (next(climb_all([RUNGS["rnn"]], SMALL, (3,), device="cpu")) for _ in range(2))
    assert first.bits_per_token == again.bits_per_token


def test_a_scale_shortens_training_and_its_warm_up():
    training = RUNGS["lstm"].at(TINY, seed=7)
    assert training.n_steps == RUNGS["lstm"].training.n_steps // 100
    assert training.n_warmup_steps <= training.n_steps // 4
    assert training.seed == 7


def test_a_rung_that_only_counts_is_not_trained_at_any_scale():
    assert RUNGS["bigram"].at(TINY, seed=7) is None


def result(rung, seed, bits):
    return Result(rung, rung.upper(), seed, 10, bits, 1.0, 0.01, 2.0, 3.0)


def test_summaries_average_and_keep_the_order():
    lines = summaries([result("b", 0, 2.0), result("a", 0, 1.5), result("b", 1, 2.5), result("a", 1, 1.5)])
    assert [line.title for line in lines] == ["B", "A"]
    assert (lines[0].bits_per_token, lines[0].spread, lines[0].n_seeds) == (2.25, 0.5, 2)
    assert lines[0].percent_above_floor == pytest.approx(125)
    assert gaps(lines) == [("B → A", 0.75, 0.5)]


def test_the_table_names_rung_floor_and_numbers():
    table = as_table(summaries([result("rnn", 0, 2.0)]), 1.0)
    assert "RNN" in table
    assert "2.0000" in table
    assert "100.00 %" in table
    assert len({len(line) for line in table.splitlines()}) == 1


def test_the_page_is_made_from_the_record_alone():
    recorded = json.loads(json.dumps(record([result("rnn", 0, 2.0), result("gpt", 0, 1.25)], "the command")))
    written = page(recorded, "picture.png")
    assert "the command" in written
    assert "| RNN → GPT | 0.7500 | 0.0000 |" in written


def test_the_command_prints_the_table_and_draws_the_picture(tmp_path, capsys):
    picture = tmp_path / "deep" / "ladder.png"
    main(["--rungs", "bigram", "gpt", "--scale", "tiny", "--device", "cpu", "--picture", str(picture)])
    printed = capsys.readouterr()
    assert "Transformer" in printed.out
    assert "floor (exact)" in printed.out
    assert "16/16" in printed.err
    assert picture.read_bytes().startswith(b"\x89PNG")


def test_the_recorded_ladder_keeps_what_the_course_promises():
    results = read_recorded()
    for measured in (results, [each for each in results if each.by_kind]):
        assert {rung.n_seeds for rung in summaries(measured)} == {3}
        assert {each.rung for each in measured} == set(RUNGS)
    rungs = {rung.title: rung for rung in summaries(results)}
    order = [rungs[title] for title in ("unigram", "bigram", "trigram", "RNN", "LSTM", "Transformer")]
    for _, gap, spread in gaps(order):
        assert gap > spread
    assert rungs["Transformer"].percent_above_floor < 2
    assert all(each.bits_per_token > each.floor - 3 * each.error for each in results)


def test_the_documentation_shows_the_records_that_ship_with_the_course():
    docs = Path(__file__).parents[2] / "docs" / "ladder.md"
    assert docs.read_text() == page_of_records()


def test_full_scale_has_a_record_of_its_own_and_leaves_the_default_one_alone(tmp_path, monkeypatch):
    from course.ladder import records

    shipped = RECORDED.read_text()
    (tmp_path / "recorded.json").write_text(shipped)
    monkeypatch.setattr(records, "RECORDED", tmp_path / "recorded.json")
    full = [result("rnn", 0, 2.0), result("gpt", 0, 1.25)]
    keep(full, tmp_path, "full", torch.device("cpu"))
    keep([result("gpt", 1, 1.5)], tmp_path, "full", torch.device("cpu"))
    assert (tmp_path / "recorded.json").read_text() == shipped
    assert len(read_recorded(tmp_path / "recorded_full.json")) == 3
    assert (tmp_path / "ladder" / "ladder_full.png").exists()
    assert not (tmp_path / "ladder" / "ladder.png").exists()
    written = (tmp_path / "ladder.md").read_text()
    assert "| RNN → GPT | 0.6250 | 0.2500 |" in written
    both = (
        f"python -m course.ladder --rungs rnn gpt --seeds 0 1 --scale full --device cpu --record {tmp_path}"
    )
    assert both in written  # one command repeats what two runs recorded


def test_a_scale_that_was_not_measured_says_how():
    recorded = record([result("rnn", 0, 2.0)], "the command")
    assert AT_FULL_SCALE in page(recorded, "picture.png")
    assert AT_FULL_SCALE not in page(recorded, "picture.png", recorded)
