"""A conversation with a language model: a text in which speakers take turns, continued by the model."""

from __future__ import annotations

import codecs
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import torch

from course.pretrained.smollm2 import Pretrained
from course.sampling.generation import Chooser, stream
from course.sampling.next_token import most_probable
from course.tokenizers.bpe import BytePairTokenizer

START, END = "<|im_start|>", "<|im_end|>"
SYSTEM = "You are a helpful AI assistant named SmolLM, trained by Hugging Face"

# The template of SmolLM2's file, which `as_text` writes out.
TEMPLATE = (
    "{% for message in messages %}{% if loop.first and messages[0]['role'] != 'system' %}"
    "{{ '<|im_start|>system\n" + SYSTEM + "<|im_end|>\n' }}{% endif %}"
    "{{'<|im_start|>' + message['role'] + '\n' + message['content'] + '<|im_end|>' + '\n'}}{% endfor %}"
    "{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif %}"
)


@dataclass(frozen=True)
class Message:
    """What one of the speakers says: "system" (who sets the rules), "user" or "assistant" (the model)."""

    role: str
    content: str


def as_text(messages: Sequence[Message], begins_answer: bool = True) -> str:
    """A conversation as SmolLM2 was trained to read it, up to the beginning of the model's answer."""
    has_system = not messages or messages[0].role == "system"
    whole = [*messages] if has_system else [Message("system", SYSTEM), *messages]
    turns = "".join(f"{START}{message.role}\n{message.content}{END}\n" for message in whole)
    return turns + (f"{START}assistant\n" if begins_answer else "")


def pieces_of_text(tokens: Iterator[int], tokenizer: BytePairTokenizer) -> Iterator[str]:
    """The text of some tokens as it comes: a character that spans tokens appears with its last one."""
    decoder = codecs.getincrementaldecoder("utf-8")(errors="replace")
    for token in tokens:
        yield decoder.decode(tokenizer.spelling(token))
    yield decoder.decode(b"", final=True)


def answer(
    pretrained: Pretrained,
    messages: Sequence[Message],
    n_tokens: int = 200,
    choose: Chooser = most_probable,
) -> Iterator[str]:
    """The model's answer in pieces, each as soon as it is generated; at most `n_tokens` tokens.

    Raises ValueError if the file's template is not the one that `as_text` writes out.
    """
    if pretrained.chat_template != TEMPLATE:
        raise ValueError(f"chat_template: expected SmolLM2's, got {pretrained.chat_template!r}")
    device = pretrained.model.embedding.weight.device
    prompt = torch.tensor([pretrained.tokenizer.encode(as_text(messages))], device=device)
    chosen = stream(pretrained.model, prompt, n_tokens, choose, eos=pretrained.end_of_turn)
    tokens = (int(row[0]) for row in chosen)
    return pieces_of_text(
        (token for token in tokens if token != pretrained.end_of_turn), pretrained.tokenizer
    )


def print_piece(piece: str) -> None:
    """Show a piece of an answer at once."""
    print(piece, end="", flush=True)


class Chat:
    """A conversation that remembers: each question is read with all that was said before.

    chat = Chat(smollm2())
    chat("What is the capital of France?")
    chat("And of Italy?")
    """

    def __init__(
        self,
        pretrained: Pretrained,
        system: str | None = None,
        n_tokens: int = 200,
        choose: Chooser = most_probable,
        show: Callable[[str], None] = print_piece,
    ) -> None:
        self.pretrained = pretrained
        self.n_tokens = n_tokens
        self.choose = choose
        self.show = show
        self.messages = [] if system is None else [Message("system", system)]

    def __call__(self, question: str) -> None:
        """Ask, and show the answer as it is generated; `messages` keeps both."""
        asked = [*self.messages, Message("user", question)]
        said = ""
        for piece in answer(self.pretrained, asked, self.n_tokens, self.choose):
            self.show(piece)
            said += piece
        self.show("\n")
        self.messages = [*asked, Message("assistant", said)]
