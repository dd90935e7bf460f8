"""The report on a class, as one self-contained page."""
