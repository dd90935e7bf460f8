"""The loop of generation, and drawing tokens."""

from collections import Counter
from functools import partial

import pytest
import torch
from table_model import RememberingModel, TableModel, draws_needed_within, probabilities

from course.models.gpt import GPT, GPTConfig
from course.sampling import (
    Mirostat,
    Pipeline,
    Sampler,
    generate,
    greedy,
    most_probable,
    sample_next_token,
    stream,
    temperature,
    top_k,
    without_ending,
)

PROMPT = torch.tensor([[3, 1], [0, 4], [2, 2]])


def seeded(seed: int) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


def test_tokens_are_drawn_with_their_probabilities():
    probs = [0.5, 0.3, 0.15, 0.05, 0.0]
    n_draws = draws_needed_within(0.02, n_outcomes=5)
    drawn = sample_next_token(probabilities(*probs).expand(n_draws, 5), seeded(0))
    counts = Counter(drawn.tolist())
    assert all(abs(counts[token] / n_draws - p) < 0.02 for token, p in enumerate(probs))
    assert counts[4] == 0


def test_drawing_keeps_the_axes_before_the_vocabulary(logits):
    assert sample_next_token(logits[0], seeded(0)).shape == ()
    assert sample_next_token(logits[:6].reshape(2, 3, 23), seeded(0)).shape == (2, 3)


@pytest.mark.parametrize("bad", [-torch.inf, torch.nan])
def test_a_row_without_a_possible_token_is_an_error(bad):
    logits = torch.tensor([[1.0, 2.0], [bad, bad]])
    with pytest.raises(ValueError, match="at least one possible token in each row"):
        sample_next_token(logits, seeded(0))


def test_greedy_takes_the_most_probable_token_each_time():
    model = TableModel(5, seed=1)
    for prompt, row in zip(PROMPT.tolist(), greedy(model, PROMPT, 6).tolist(), strict=True):
        for _ in range(6):
            prompt.append(int(model.table[prompt[-2], prompt[-1]].argmax()))
        assert row == prompt


def test_generated_text_follows_the_probabilities_of_the_model():
    model, n_rows = TableModel(3, seed=2, sharpness=1.0), draws_needed_within(0.025, n_outcomes=9)
    text = generate(model, torch.tensor([[0, 1]]).expand(n_rows, 2), 2, Sampler(seeded(5)))
    counts = Counter(map(tuple, text[:, 2:].tolist()))
    for first in range(3):
        for second in range(3):
            p = float((model.table[0, 1, first] + model.table[1, first, second]).exp())
            assert abs(counts[first, second] / n_rows - p) < 0.025


def test_the_same_seed_writes_the_same_text():
    model = TableModel(5, seed=1)
    first, again, other = (generate(model, PROMPT, 9, Sampler(seeded(seed))) for seed in (7, 7, 8))
    assert torch.equal(first, again)
    assert not torch.equal(first, other)


def test_a_row_that_has_ended_stays_ended_while_the_others_go_on():
    model = TableModel(5, seed=3, sharpness=0.5)
    text = generate(model, PROMPT, 30, Sampler(seeded(0)), eos=4)
    new = text[:, 2:].tolist()
    lengths = [row.index(4) for row in new]
    assert len(set(lengths)) > 1
    assert all(set(row[length:]) == {4} for row, length in zip(new, lengths, strict=True))
    assert text.shape[1] == 2 + max(lengths) + 1


def test_an_ending_in_the_prompt_does_not_end_the_text():
    model = TableModel(5, seed=3)
    assert generate(model, torch.tensor([[4, 4]]), 3, Sampler(seeded(0))).shape == (1, 5)


def test_what_a_row_says_ends_before_the_ending():
    assert without_ending(torch.tensor([3, 1, 4, 4]), eos=4) == [3, 1]
    assert without_ending(torch.tensor([3, 1]), eos=4) == [3, 1]


def test_a_cache_changes_nothing_but_reads_each_token_once():
    model = RememberingModel(5, seed=1)
    with_cache = generate(model, PROMPT, 12, Sampler(seeded(2)))
    n_read = model.n_read
    without = generate(model, PROMPT, 12, Sampler(seeded(2)), use_cache=False)
    assert torch.equal(with_cache, without)
    assert n_read == 2 + 11
    assert model.n_read - n_read == sum(range(2, 14))


def test_a_gpt_writes_the_same_with_and_without_its_cache_also_beyond_its_context():
    torch.manual_seed(0)
    model = GPT(GPTConfig(vocab_size=5, context_length=8, d_model=16, n_heads=2, n_layers=2)).double()
    for parameter in model.parameters():
        parameter.data += 0.3 * torch.randn_like(parameter)
    texts = [generate(model, PROMPT, 14, Sampler(seeded(2)), use_cache=use) for use in (True, False)]
    assert torch.equal(*texts)


def test_only_the_last_tokens_are_read_when_the_context_is_full():
    class ShortSighted(RememberingModel):
        context_length = 3

        def __call__(self, tokens, cache=None):
            seen = tokens.shape[1] + (0 if cache is None else cache.length)
            assert seen <= 3
            return super().__call__(tokens, cache)

    far_sighted = generate(TableModel(5, seed=1), PROMPT, 9, Sampler(seeded(2)))
    assert torch.equal(generate(ShortSighted(5, seed=1), PROMPT, 9, Sampler(seeded(2))), far_sighted)


def test_the_sampler_sees_the_whole_history():
    model, seen = TableModel(5, seed=1), []

    def choose(logits, history):
        seen.append(history.tolist())
        return most_probable(logits)

    text = generate(model, PROMPT, 3, choose)
    assert seen == [text[:, :n].tolist() for n in (2, 3, 4)]


def test_a_pipeline_limits_what_can_be_drawn():
    model = TableModel(5, seed=1)
    cold = Sampler(seeded(0), Pipeline([partial(temperature, t=3.0), partial(top_k, k=1)]))
    assert torch.equal(generate(model, PROMPT, 6, cold), greedy(model, PROMPT, 6))


def test_mirostat_can_choose():
    text = generate(TableModel(5, seed=1), PROMPT, 6, Mirostat(1.0, seeded(0)))
    assert text.shape == (3, 8)


def test_dropout_is_off_while_generating_and_on_again_afterwards():
    class Dropping(torch.nn.Module):
        vocab_size, context_length = 5, None

        def forward(self, tokens):
            assert not self.training
            return TableModel(5, seed=1)(tokens)

    model = Dropping().train()
    generate(model, PROMPT, 2)
    assert model.training


def test_no_gradient_is_kept():
    class Learning(TableModel):
        def __init__(self):
            super().__init__(5, seed=1)
            self.table.requires_grad_()

    def choose(logits, history):
        assert not logits.requires_grad
        return most_probable(logits)

    generate(Learning(), PROMPT, 2, choose)


@pytest.mark.parametrize(
    ("prompt", "n_tokens", "message"),
    [
        (PROMPT, 0, "n_tokens: expected 1 to"),
        (PROMPT[0], 3, "expected shape"),
        (PROMPT + 1, 3, "expected values in 0 … 4, got 5"),
        (PROMPT[:, :0], 3, "at least one token"),
    ],
)
def test_bad_input_is_explained(prompt, n_tokens, message, as_students_run_it):
    with pytest.raises(ValueError, match=message):
        generate(TableModel(5, seed=1), prompt, n_tokens)


def test_a_stream_gives_each_token_of_the_text_as_soon_as_it_is_chosen():
    model = RememberingModel(5, seed=1)
    pieces = stream(model, PROMPT, 4)
    first = next(pieces)
    assert model.n_read == 2
    assert torch.stack([first, *pieces], dim=1).equal(greedy(model, PROMPT, 4)[:, PROMPT.shape[1] :])
