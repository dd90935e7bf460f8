"""Marks for learning management systems: one format, one function, one file each.

Every export starts from `Mark`, which is read from nbgrader's gradebook and therefore includes manual marks
and late penalties.
"""

from autograder.marks.exports.canvas import canvas
from autograder.marks.exports.github_classroom import github_classroom
from autograder.marks.exports.gradescope import gradescope_autograder, gradescope_results
from autograder.marks.exports.marks import Mark, marks_of
from autograder.marks.exports.moodle import moodle
from autograder.marks.exports.nbgrader_csv import nbgrader_csv

__all__ = [
    "Mark",
    "canvas",
    "github_classroom",
    "gradescope_autograder",
    "gradescope_results",
    "marks_of",
    "moodle",
    "nbgrader_csv",
]
