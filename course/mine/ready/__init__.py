"""Ready-made parts, one module for each homework: they answer as its exercises ask."""
