"""What makes an assistant of a predictor, seen on SmolLM2: examples in the prompt, and the format of a chat.

Recorded, as in `recorded`: the model is asked only what is not in the record, and NotInstalled is raised
without it.
"""

from __future__ import annotations

import json
import math
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path

from course.pretrained.chat import Message, answer
from course.pretrained.predictions import loaded
from course.pretrained.recorded import continued_by, log_probs_by
from course.pretrained.smollm2 import Pretrained

RECORD = Path(__file__).with_suffix(".json")
N_TOKENS = 40  # of a reply

EXAMPLES = (
    ("hot", "cold"),
    ("big", "small"),
    ("light", "dark"),
    ("up", "down"),
    ("long", "short"),
    ("fast", "slow"),
)
ASKED = (
    ("young", "old"),
    ("rich", "poor"),
    ("hard", "soft"),
    ("wet", "dry"),
    ("early", "late"),
    ("high", "low"),
)
INSTRUCTIONS = ("What is the capital of Italy?", "Give me three names for a cat.")


@dataclass(frozen=True)
class Reply:
    """What follows an instruction: read as plain text, and as a user's message in a chat."""

    plain: str
    chat: str


def bits_by_examples() -> list[list[float]]:
    """After 0, 1, 2, … examples of opposites in the prompt: the bits of each right answer in `ASKED`."""
    return record()["bits_by_examples"]


def reply(instruction: str) -> Reply:
    """Forty tokens at most, by greedy decoding."""
    replies = record()["replies"]
    return Reply(**replies[instruction]) if instruction in replies else reply_by(loaded(), instruction)


def opposites_prompt(n_examples: int, word: str) -> str:
    """So many pairs, one a line, and a word whose opposite has to follow: "hot → cold\\nyoung →"."""
    return "".join(f"{left} → {right}\n" for left, right in EXAMPLES[:n_examples]) + f"{word} →"


@cache
def record() -> dict:
    """What was recorded."""
    return json.loads(RECORD.read_text(encoding="utf-8"))


def bits_by(pretrained: Pretrained, n_examples: int) -> list[float]:
    bits = []
    for word, right in ASKED:
        (token,) = pretrained.tokenizer.encode(f" {right}")  # each answer is a single token
        log_probs = log_probs_by(pretrained, opposites_prompt(n_examples, word))
        bits.append(round(-log_probs[token].item() / math.log(2), 3))
    return bits


def reply_by(pretrained: Pretrained, instruction: str) -> Reply:
    chat = "".join(answer(pretrained, [Message("user", instruction)], N_TOKENS))
    return Reply(continued_by(pretrained, instruction, N_TOKENS), chat)


def write_assistant(pretrained: Pretrained) -> None:
    """Ask the model everything that the lecture shows, and keep its answers."""
    recorded = {
        "about": "Answers of SmolLM2-135M-Instruct (Q4_1), written by python -m course.pretrained.",
        "bits_by_examples": [bits_by(pretrained, n) for n in range(len(EXAMPLES) + 1)],
        "replies": {each: asdict(reply_by(pretrained, each)) for each in INSTRUCTIONS},
    }
    RECORD.write_text(json.dumps(recorded, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
