"""Texts with known truth and texts from the real world."""
