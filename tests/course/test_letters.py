"""A training on characters is measured on text it has not read, and repeats with its seed."""

from dataclasses import replace

import pytest
import torch

from course.letters import WRITERS, held_out_bits, read_recorded, trained
from course.models import RecurrentConfig, RecurrentLanguageModel

TEXT = "ab\n" * 400


@pytest.fixture(scope="module")
def quick():
    return replace(WRITERS["names"], n_steps=30, n_characters=12, batch_size=4, d_hidden=16, n_written=9)


def test_a_run_writes_and_is_measured_at_three_moments(quick):
    run = trained("quick", TEXT, quick)
    assert [moment.step for moment in run.moments] == [1, 3, 30]
    assert {len(moment.written) for moment in run.moments} == {9}
    assert run.moments[-1].bits < run.moments[0].bits
    assert run.n_read == 1080


def test_a_run_repeats_with_its_seed(quick):
    one, again, other = (trained("quick", TEXT, quick, seed).moments for seed in (0, 0, 1))
    assert one == again
    assert one != other


def test_held_out_text_is_not_trained_on(quick):
    with_stranger = TEXT + "z" * 140  # less than a tenth, so only in the part that is held out
    *_, last = trained("quick", with_stranger, quick).moments
    *_, without = trained("quick", TEXT, quick).moments
    assert last.bits > without.bits + 1


def test_held_out_bits_of_a_new_model_are_about_those_of_the_uniform_distribution():
    torch.manual_seed(0)
    model = RecurrentLanguageModel(RecurrentConfig(27, "rnn"))
    text = torch.randint(27, (500,), generator=torch.Generator().manual_seed(1))
    assert abs(held_out_bits(model, text, 64) - torch.tensor(27.0).log2()) < 0.3


def test_the_record_is_of_these_writers_and_each_learned():
    runs = read_recorded()
    assert {name: run.writer for name, run in runs.items()} == WRITERS
    for run in runs.values():
        bits = [moment.bits for moment in run.moments]
        assert bits == sorted(bits, reverse=True)
        assert [moment.step for moment in run.moments] == [
            round(share * run.writer.n_steps) for share in (0.01, 0.1, 1)
        ]
