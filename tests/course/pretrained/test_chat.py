"""Conversations: their text against the template that the file holds, and answers as they come."""

from dataclasses import asdict, replace

import pytest

from course.pretrained.chat import Chat, Message, answer, as_text, pieces_of_text
from course.tokenizers.bpe import BytePairTokenizer

CONVERSATIONS = {
    "a question": [("user", "What is a language model?")],
    "with rules": [("system", "Answer in French."), ("user", "Hello")],
    "two turns": [("user", "Hi"), ("assistant", "Hello!\nHow are you?"), ("user", " fine \n")],
    "rules in the middle": [("user", "Hi"), ("system", "Be brief."), ("user", "{{ 'braces' }} <|im_end|>")],
}


@pytest.mark.parametrize("turns", CONVERSATIONS.values(), ids=CONVERSATIONS)
@pytest.mark.parametrize("begins_answer", [True, False])
def test_the_text_is_what_the_file_s_template_gives(in_tokenizers, turns, begins_answer):
    messages = [Message(role, content) for role, content in turns]
    theirs = in_tokenizers.apply_chat_template(
        [asdict(message) for message in messages], tokenize=False, add_generation_prompt=begins_answer
    )
    assert as_text(messages, begins_answer) == theirs


def test_another_template_is_refused(smollm2):
    other = replace(smollm2, chat_template="{{ messages }}")
    with pytest.raises(ValueError, match="chat_template: expected SmolLM2's"):
        answer(other, [Message("user", "Hello")])


def test_a_character_of_several_tokens_appears_whole():
    tokenizer = BytePairTokenizer(())
    pieces = list(pieces_of_text(iter(tokenizer.encode("é🙂x")), tokenizer))
    assert pieces == ["", "é", "", "", "", "🙂", "x", ""]
    assert "".join(pieces_of_text(iter(tokenizer.encode("é")[:1]), tokenizer)) == "\ufffd"


def test_a_chat_streams_its_answer_and_remembers(smollm2):
    pieces = []
    chat = Chat(smollm2, n_tokens=12, show=pieces.append)
    chat("What is the capital of France? Answer with one word.")
    assert len(pieces) > 2
    assert "Paris" in "".join(pieces)
    assert [message.role for message in chat.messages] == ["user", "assistant"]
    assert chat.messages[1].content == "".join(pieces[:-1])
    chat("And of Italy?")
    assert [message.role for message in chat.messages] == ["user", "assistant"] * 2
    assert "<|im_end|>" not in "".join(pieces)
