import pytest
from starts import EACH, shared
from warm_levels import warm_or_skip

UNCONFINED = "none"


@pytest.fixture(params=EACH)
def warm(request):
    """A warm process at each level that confines, in a nightly run whoever starts it on whatever kernel."""
    return shared(request.param)


@pytest.fixture(params=[*EACH, UNCONFINED])
def warm_at_any_level(request):
    return warm_or_skip(UNCONFINED) if request.param == UNCONFINED else shared(request.param)


@pytest.fixture
def student(warm):
    with warm.student() as student:
        yield student
