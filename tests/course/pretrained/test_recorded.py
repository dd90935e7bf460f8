"""What the lectures show of SmolLM2 is what it says, with its weights and without."""

import pytest
import torch

from course.pretrained import recorded
from course.pretrained.smollm2 import INSTALL, NotInstalled


@pytest.fixture
def without_weights(monkeypatch):
    def missing():
        raise NotInstalled(INSTALL)

    monkeypatch.setattr(recorded, "loaded", missing)


def test_everything_is_recorded(without_weights):
    assert all(recorded.cut(text) for text in recorded.CUT)
    assert all(recorded.continued(prompt) for prompt in recorded.CONTINUED)
    in_the_loop = recorded.LOOP + recorded.penalised(recorded.LOOP)["greedy"] + recorded.AGAIN
    assert len(recorded.encoded(in_the_loop)) > recorded.N_LOOPING
    for context in (*recorded.CONTEXTS, in_the_loop):
        total = recorded.next_log_probs(context).exp().sum()
        assert torch.isclose(total, torch.ones_like(total))
    assert list(recorded.bits_by_context(recorded.LETTER)) == list(recorded.N_BEFORE)
    assert {tuple(share.shape) for share in recorded.shares_of_heads().values()} == {(30, 9)}
    for text, heads in recorded.HEADS.items():
        T = len(recorded.cut(text))
        for head in heads:
            weights = recorded.look(text, *head)
            assert weights.shape == (T, T)
            assert torch.equal(weights.triu(1), torch.zeros_like(weights))


@pytest.mark.parametrize(
    "ask",
    [
        recorded.cut,
        recorded.continued,
        recorded.encoded,
        recorded.penalised,
        recorded.bits_by_context,
        recorded.next_log_probs,
        lambda text: recorded.look(text, 0, 0),
    ],
)
def test_what_is_not_recorded_needs_the_weights(without_weights, ask):
    with pytest.raises(NotInstalled):
        ask("not recorded")


def test_the_tokenizer_cuts_as_recorded(smollm2):
    for text in recorded.CUT:
        assert recorded.cut_by(smollm2, text) == recorded.cut(text)
        if "�" not in "".join(recorded.cut(text)):
            assert "".join(recorded.cut(text)) == text


def test_the_model_continues_and_distributes_as_recorded(smollm2):
    for prompt in recorded.CONTINUED:
        assert recorded.continued_by(smollm2, prompt) == recorded.continued(prompt)
    penalised = recorded.penalised(recorded.LOOP)
    assert recorded.penalised_by(smollm2, recorded.LOOP) == penalised
    in_the_loop = recorded.LOOP + penalised["greedy"] + recorded.AGAIN
    for context in (*recorded.CONTEXTS, in_the_loop):
        assert smollm2.tokenizer.encode(context) == recorded.encoded(context)
        live = recorded.log_probs_by(smollm2, context).double()
        assert torch.allclose(live.exp(), recorded.next_log_probs(context).exp(), atol=2e-3)


def test_heads_look_as_recorded(smollm2):
    for text, heads in recorded.HEADS.items():
        for head in heads:
            live = recorded.look_by(smollm2, text, *head).double()
            assert torch.allclose(live, recorded.look(text, *head), atol=3e-3)


def test_heads_share_their_weight_as_recorded(smollm2):
    live = recorded.shares_by(smollm2)
    for name, share in recorded.shares_of_heads().items():
        assert torch.allclose(live[name].double(), share, atol=3e-3)


def test_tokens_cost_as_recorded_and_with_all_of_the_context_as_in_one_pass(smollm2):
    live = recorded.bits_by_context_by(smollm2, recorded.LETTER)
    for n, bits in recorded.bits_by_context(recorded.LETTER).items():
        assert torch.allclose(torch.tensor(live[n]), torch.tensor(bits), atol=2e-3)
    tokens = recorded.as_batch(smollm2, recorded.LETTER)[:, : max(recorded.N_BEFORE) + 1]
    with torch.no_grad():
        log_p = smollm2.model(tokens[:, :-1])[0, -1, tokens[0, -1]]
    assert torch.isclose(-log_p / torch.log(torch.tensor(2.0)), torch.tensor(live[32][0]), atol=2e-3)
