"""Figures that live everywhere; each accepts the reader's own tensors."""

from course.figures.attention import attention
from course.figures.figure import Figure

__all__ = ["Figure", "attention"]
