"""What lecture 19 shows of SmolLM2 is what it says, with its weights and without."""

import pytest

from course.pretrained import assistant
from course.pretrained.smollm2 import INSTALL, NotInstalled


@pytest.fixture
def without_weights(monkeypatch):
    def missing():
        raise NotInstalled(INSTALL)

    monkeypatch.setattr(assistant, "loaded", missing)


def test_everything_is_recorded(without_weights):
    bits = assistant.bits_by_examples()
    assert len(bits) == len(assistant.EXAMPLES) + 1
    assert {len(row) for row in bits} == {len(assistant.ASKED)}
    assert all(assistant.reply(each).chat for each in assistant.INSTRUCTIONS)
    with pytest.raises(NotInstalled):
        assistant.reply("not recorded")


def test_a_prompt_holds_its_examples_and_none_of_the_words_that_are_asked():
    assert assistant.opposites_prompt(0, "young") == "young →"
    assert assistant.opposites_prompt(2, "young") == "hot → cold\nbig → small\nyoung →"
    shown = {word for pair in assistant.EXAMPLES for word in pair}
    assert not shown & {word for pair in assistant.ASKED for word in pair}


def test_the_model_answers_as_recorded(smollm2):
    for n_examples in (0, 3):
        live, kept = assistant.bits_by(smollm2, n_examples), assistant.bits_by_examples()[n_examples]
        assert live == pytest.approx(kept, abs=0.1)
    (first, *_) = assistant.INSTRUCTIONS
    assert assistant.reply_by(smollm2, first) == assistant.reply(first)
