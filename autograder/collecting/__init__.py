"""Downloads of the platforms instructors use, each told apart by looking, turned into submissions.

A format is one file with two functions, `recognises` and `attempts`; formats.py lists them.
"""

from autograder.collecting.gather import Collected, Row, gather, in_words
from autograder.collecting.roster import Roster, read_roster
from autograder.collecting.tree import CollectingError

__all__ = ["Collected", "CollectingError", "Roster", "Row", "gather", "in_words", "read_roster"]
