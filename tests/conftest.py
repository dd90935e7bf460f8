"""Shapes in the signatures of `course.models` can be checked in every run; its own tests switch that on."""

import jaxtyping

from autograder.grading.capacity import capacity_here
from autograder.isolation.limits import GIGABYTE

BYTES_OF_A_WORKER = 3 * GIGABYTE  # with its warm processes

jaxtyping.config.update(
    "jaxtyping_disable", True
)  # elsewhere the course behaves as it does without jaxtyping


def pytest_xdist_auto_num_workers():
    """Half as many workers again as processors: tests often wait, for a limit to take effect or a server."""
    here = capacity_here()
    most = here.memory_bytes // BYTES_OF_A_WORKER if here.memory_bytes else here.processors * 2
    return max(1, min(here.processors + (here.processors + 1) // 2, most))
