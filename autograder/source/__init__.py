"""A homework read from its folder: its cells, exercises and checks, its catalogue, and its releases."""
