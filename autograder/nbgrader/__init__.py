"""nbgrader's own commands and pages, with judging in the sandbox and self-contained pages."""
