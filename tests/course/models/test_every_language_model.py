"""Laws that hold for every model of the ladder, whatever is inside."""

import pytest
import torch
from model_equality import assert_equal

from course.language_model import LanguageModel
from course.models import (
    GPT,
    FeedForwardConfig,
    FeedForwardLanguageModel,
    GPTConfig,
    InterpolatedNGram,
    KneserNey,
    Llama,
    LlamaConfig,
    NGram,
    NGramCounts,
    RecurrentConfig,
    RecurrentLanguageModel,
    Uniform,
)

V, BOS, B, T = 13, 0, 4, 9
NEURAL = {
    "feed-forward": lambda: FeedForwardLanguageModel(FeedForwardConfig(V, 3, 4, 6)),
    "rnn": lambda: RecurrentLanguageModel(RecurrentConfig(V, "rnn", 5, 6, n_layers=2)),
    "lstm": lambda: RecurrentLanguageModel(RecurrentConfig(V, "lstm", 5, 6)),
    "gru": lambda: RecurrentLanguageModel(RecurrentConfig(V, "gru", 5, 6)),
    "llama": lambda: Llama(LlamaConfig(V, 12, d_model=12, n_heads=6, n_groups=2, n_layers=2, d_ff=20)),
} | {
    f"gpt with {positions} positions": lambda positions=positions: GPT(
        GPTConfig(V, context_length=12, d_model=12, n_heads=3, n_layers=2, positions=positions)
    )
    for positions in ("learned", "sinusoidal", "rotary", "relative", "none")
}
COUNTING = {
    "uniform": lambda: Uniform(V),
    "unigram": lambda: NGram(counts(1), k=0.1),
    "trigram": lambda: NGram(counts(3)),
    "mixture": lambda: InterpolatedNGram(counts(3), (0.1, 0.2, 0.3, 0.4)),
    "kneser-ney": lambda: KneserNey(counts(4)),
}
EVERY = NEURAL | COUNTING


def counts(order):
    generator = torch.Generator().manual_seed(1)
    return NGramCounts(torch.randint(1, V, (30, T), generator=generator), order, V, BOS)


@pytest.fixture(params=EVERY, ids=str)
def model(request):
    return EVERY[request.param]()


@pytest.fixture
def tokens():
    return torch.cat([torch.full((B, 1), BOS), torch.randint(1, V, (B, T - 1))], dim=1)


def test_it_answers_the_one_question(model, tokens):
    assert isinstance(model, LanguageModel)
    assert model.vocab_size == V
    log_probs = model(tokens)
    assert log_probs.shape == (B, T, V)
    assert_equal(log_probs.exp().sum(dim=-1), torch.ones(B, T))


def test_future_tokens_do_not_change_the_past(model, tokens):
    changed = tokens.clone()
    changed[:, 5:] = torch.randint(1, V, (B, T - 5))
    assert_equal(model(changed)[:, :5].exp(), model(tokens)[:, :5].exp())


def test_a_prefix_alone_gets_the_same_answer(model, tokens):
    assert_equal(model(tokens[:, :4]).exp(), model(tokens)[:, :4].exp())


def test_sequences_of_a_batch_do_not_see_each_other(model, tokens):
    order = torch.tensor([2, 0, 3, 1])
    assert_equal(model(tokens[order]).exp(), model(tokens)[order].exp())
    assert_equal(model(tokens[1:2]).exp(), model(tokens)[1:2].exp())


def test_asking_does_not_change_the_tokens(model, tokens):
    before = tokens.clone()
    model(tokens)
    assert tokens.equal(before)


@pytest.mark.parametrize("wrong", [V, -1])
def test_a_token_outside_the_vocabulary_is_refused(model, tokens, wrong):
    tokens[1, 2] = wrong
    with pytest.raises(ValueError, match=f"tokens: expected values in 0 … 12, got {wrong}"):
        model(tokens)


def test_a_sequence_without_a_batch_axis_is_refused_with_the_cure(model, tokens, as_students_run_it):
    with pytest.raises(ValueError, match=r"tokens: expected shape \(B, T\).*got \(9,\).*tokens\[None\]"):
        model(tokens[0])


@pytest.mark.parametrize("name", NEURAL)
def test_every_parameter_of_a_neural_model_learns(name, tokens):
    model = NEURAL[name]()
    loss = -model(tokens).gather(-1, tokens.roll(-1, dims=1)[..., None]).mean()
    loss.backward()
    untouched = [name for name, parameter in model.named_parameters() if parameter.grad is None]
    assert untouched == []


@pytest.mark.parametrize("name", NEURAL)
def test_the_same_seed_builds_the_same_model(name):
    torch.manual_seed(3)
    first = NEURAL[name]().state_dict()
    torch.manual_seed(3)
    second = NEURAL[name]().state_dict()
    assert all(first[key].equal(second[key]) for key in first)


@pytest.mark.parametrize("name", NEURAL)
def test_an_untrained_model_is_nearly_uniform(name, tokens):
    loss = -NEURAL[name]()(tokens).gather(-1, tokens.roll(-1, dims=1)[..., None]).mean()
    assert abs(loss.item() - torch.tensor(V).log().item()) < 0.35


@pytest.mark.parametrize("cell", ["rnn", "lstm", "gru"])
def test_a_recurrent_model_reads_on_from_its_state(cell, tokens):
    model = NEURAL[cell]()
    first, state = model.read(tokens[:, :4])
    second, _ = model.read(tokens[:, 4:], state)
    assert_equal(torch.cat([first, second], dim=1), model.logits(tokens))


def test_an_unknown_cell_is_refused_with_the_known_ones(as_students_run_it):
    with pytest.raises(ValueError, match="cell: expected one of rnn, lstm, gru, got 'qrnn'"):
        RecurrentConfig(V, "qrnn")
