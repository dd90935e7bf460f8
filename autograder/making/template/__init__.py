"""The texts that `autograder new` starts a homework from."""
