"""Ready-made parts, one module for each homework, which do what its exercises ask."""
