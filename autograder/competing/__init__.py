"""A competition of a class: whose language model knows most of what can be known about the next word.

entry      one file of a student's, trained and asked in the sandbox
compete    every entry on the same hidden stories, against their exact floor
table      the result as lines of text
"""

from autograder.competing.compete import Competition, compete
from autograder.competing.entry import Place
from autograder.competing.table import as_text

__all__ = ["Competition", "Place", "as_text", "compete"]
