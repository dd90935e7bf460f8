"""Shapes in the signatures of `course.models` can be checked in every run; its own tests switch that on."""

import jaxtyping

jaxtyping.config.update(
    "jaxtyping_disable", True
)  # elsewhere the course behaves as it does without jaxtyping
