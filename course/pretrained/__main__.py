"""The command `python -m course.pretrained`: ask SmolLM2 every stored question again and keep its answers."""

from course.pretrained.assistant import RECORD as ASSISTANT
from course.pretrained.assistant import write_assistant
from course.pretrained.explored import RECORD, write_explored
from course.pretrained.predictions import STORED, write_stored
from course.pretrained.recorded import TENSORS, TEXTS, write_record
from course.pretrained.smollm2 import smollm2

if __name__ == "__main__":
    pretrained = smollm2()
    write_stored(pretrained)
    write_record(pretrained)
    write_explored(pretrained)
    write_assistant(pretrained)
    print(f"written: {STORED}, {TEXTS}, {TENSORS}, {RECORD}, {ASSISTANT}")
