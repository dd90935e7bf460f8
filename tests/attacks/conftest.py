import pytest
from warm_levels import CONFINED, LEVELS, warm_or_skip


@pytest.fixture(params=CONFINED)
def warm(request):
    """A warm process at each level that confines."""
    return warm_or_skip(request.param)


@pytest.fixture(params=LEVELS)
def warm_at_any_level(request):
    return warm_or_skip(request.param)


@pytest.fixture
def student(warm):
    with warm.student() as student:
        yield student
