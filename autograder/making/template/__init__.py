"""The files from which `autograder new` creates a homework."""
