"""Submissions graded as they arrive, by a grader that stays warm."""
