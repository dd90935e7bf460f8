"""A class of made-up students, and a demonstration that grades it."""
