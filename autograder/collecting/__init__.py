"""Turn the downloads of platforms into submissions; the format is recognised from the files.

A format is one file with two functions, `recognises` and `attempts`, and perhaps a third, `aside`: the files
that are nobody's. formats.py lists them.
"""

from autograder.collecting.gather import Collected, Row, gather, in_words
from autograder.collecting.roster import Roster, read_roster
from autograder.collecting.tree import CollectingError

__all__ = ["Collected", "CollectingError", "Roster", "Row", "gather", "in_words", "read_roster"]
