"""Batches are functions of their step, cover every story, and line inputs up with targets."""

import pytest
import torch

from course.data.shuffling import ShuffledStories
from course.data.vocabulary import pad_sequences


@pytest.fixture
def stories():
    return pad_sequences([list(range(100 * i, 100 * i + 2 + i % 7)) for i in range(23)], pad=0)


def test_an_epoch_shows_every_story_once_but_for_the_rest(stories):
    batches = ShuffledStories(stories, batch_size=5, seed=1)
    assert batches.n_batches == 4
    seen = [int(first) for step in range(4) for first in batches(step)[0][:, 0] // 100]
    assert len(set(seen)) == len(seen) == 20


def test_the_same_step_is_the_same_batch_in_any_order_of_asking(stories):
    one, other = (ShuffledStories(stories, batch_size=5, seed=1) for _ in range(2))
    forwards = [one(step) for step in range(9)]
    backwards = [other(step) for step in reversed(range(9))][::-1]
    for ours, theirs in zip(forwards, backwards, strict=True):
        assert all(torch.equal(a, b) for a, b in zip(ours, theirs, strict=True))


def test_epochs_and_seeds_differ_in_their_order(stories):
    batches = ShuffledStories(stories, batch_size=5, seed=1)
    assert not torch.equal(batches.order(0), batches.order(1))
    assert not torch.equal(batches.order(0), ShuffledStories(stories, batch_size=5, seed=2).order(0))


def test_targets_are_the_next_inputs_and_the_mask_marks_what_is_real(stories):
    inputs, targets, mask = ShuffledStories(stories, batch_size=4)(0)
    assert inputs.shape == targets.shape == mask.shape
    assert torch.equal(inputs[:, 1:], targets[:, :-1])
    for row in range(4):
        story = int(inputs[row, 0]) // 100
        assert int(mask[row].sum()) == 1 + story % 7
        assert targets[row][mask[row]].tolist() == list(range(100 * story + 1, 100 * story + 2 + story % 7))
    assert mask.any(dim=0).all()  # no column of padding only


def test_stories_of_a_batch_are_about_equally_long():
    generator = torch.Generator().manual_seed(0)
    lengths = torch.randint(2, 60, (512,), generator=generator).tolist()
    batches = ShuffledStories(pad_sequences([[0] * length for length in lengths], pad=0), batch_size=16)
    widths = [batches(step)[2] for step in range(batches.n_batches)]
    share_of_padding = 1 - sum(int(m.sum()) for m in widths) / sum(m.numel() for m in widths)
    assert share_of_padding < 0.15 < 1 - sum(lengths) / 512 / 60


def test_more_sequences_than_there_are_cannot_be_a_batch(stories):
    with pytest.raises(ValueError, match="batch_size: expected 1 … 23"):
        ShuffledStories(stories, batch_size=24)
