"""How many inputs are tried: a few and always the same, or a million with `--hypothesis-profile nightly`."""

import pytest
from grading import new_course
from hypothesis import HealthCheck, is_hypothesis_test, settings

ROUNDS = 16  # of the nightly run, each with its own seed; they can run side by side

alike = {"deadline": None, "database": None, "suppress_health_check": list(HealthCheck)}
settings.register_profile("quick", max_examples=50, derandomize=True, **alike)
settings.register_profile("nightly", max_examples=10_000, print_blob=True, **alike)
settings.load_profile("quick")


def pytest_generate_tests(metafunc):
    if settings.get_current_profile_name() == "nightly" and is_hypothesis_test(metafunc.function):
        metafunc.fixturenames.append("round_of_many")
        metafunc.parametrize("round_of_many", range(ROUNDS), scope="session")  # each round tries all


@pytest.fixture(scope="session")
def marked(tmp_path_factory):
    """A homework that is ready to be judged, in this process."""
    from marked import Marked  # once the folder of the tests of grading can be imported from

    marked = Marked(new_course(tmp_path_factory.mktemp("fuzz") / "course"))
    assert marked.honest["points"] == 4
    return marked
