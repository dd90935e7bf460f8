"""A student's own parts put together, at the end of each homework.

parts      the student's answers whose checks hold, and ready-made ones for the others
other      the answers in another homework's notebook
look       a picture of one answer, under its exercise
ready      ready-made parts for missing answers, one module for each homework

    mine = parts(check, rotate=rotate, causal_mask=causal_mask)
    mine.rotate(x, first)
"""

from course.mine.look import look
from course.mine.other import answers_in
from course.mine.parts import Parts, parts

__all__ = ["Parts", "answers_in", "look", "parts"]
