"""Checks tried on an answer: what they conclude, which known mistake it looks like, and the rules."""
