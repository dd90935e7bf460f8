"""Run checks on an answer: their verdicts, the known mistake that it matches, and rules for all exercises."""
