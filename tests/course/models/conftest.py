import jaxtyping
import pytest
import torch
from model_equality import PRECISIONS


@pytest.fixture(params=PRECISIONS, ids=["float32", "float64"])
def precision(request):
    """Each test that asks for it runs in both precisions, all new tensors and modules included."""
    default = torch.get_default_dtype()
    torch.set_default_dtype(request.param)
    yield request.param
    torch.set_default_dtype(default)


@pytest.fixture(autouse=True)
def shapes_are_checked():
    """Every call of a function of course.models must have the shapes that its signature names."""
    jaxtyping.config.update("jaxtyping_disable", False)
    yield
    jaxtyping.config.update("jaxtyping_disable", True)


@pytest.fixture
def as_students_run_it(shapes_are_checked):
    """Without jaxtyping, as on Colab: the course's own error messages must do the work."""
    jaxtyping.config.update("jaxtyping_disable", True)


@pytest.fixture(autouse=True)
def seeded():
    torch.manual_seed(7)
