"""How many inputs are tried: a few and always the same, or a million with `--hypothesis-profile nightly`."""

import pytest
from grading import new_course
from hypothesis import HealthCheck, settings

alike = {"deadline": None, "database": None, "suppress_health_check": list(HealthCheck)}
settings.register_profile("quick", max_examples=50, derandomize=True, **alike)
settings.register_profile("nightly", max_examples=160_000, print_blob=True, **alike)
settings.load_profile("quick")


@pytest.fixture(scope="session")
def marked(tmp_path_factory):
    """A homework that is ready to be judged, in this process."""
    from marked import Marked  # once the folder of the tests of grading can be imported from

    marked = Marked(new_course(tmp_path_factory.mktemp("fuzz") / "course"))
    assert marked.honest["points"] == 4
    return marked
