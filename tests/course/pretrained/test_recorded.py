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
