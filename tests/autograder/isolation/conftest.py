import pytest
from warm_levels import LEVELS, warm_or_skip


@pytest.fixture(params=LEVELS)
def warm(request):
    return warm_or_skip(request.param)


@pytest.fixture
def student(warm):
    with warm.student() as student:
        yield student
