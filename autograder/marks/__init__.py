"""Verdicts as data, and where marks are kept: records, nbgrader's gradebook, late days, exports."""
