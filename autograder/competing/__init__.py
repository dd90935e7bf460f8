"""A competition for a class: whose language model comes closest to the exact entropy of hidden stories.

entry      one student's file, trained and evaluated in the sandbox
compete    every entry on the same hidden stories, compared with their exact floor
table      the result as lines of text
"""

from autograder.competing.compete import Competition, compete
from autograder.competing.entry import Place
from autograder.competing.table import as_text

__all__ = ["Competition", "Place", "as_text", "compete"]
