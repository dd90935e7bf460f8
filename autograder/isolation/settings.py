"""The settings that the grader sends its warm process at the start."""

import json
from dataclasses import asdict, dataclass

# What notebooks import sooner or later, and what torch and IPython import on first use.
DEFAULT_IMPORTS = (
    *("numpy", "numpy.testing", "torch", "torch._dynamo", "torch.nn.functional", "torch.utils.data"),
    *("torch.func", "torch.nn.attention", "torch.optim.lr_scheduler", "torch.distributions"),
    *("torch.autograd.gradcheck", "torch.utils.serialization.config"),
    *("matplotlib.pyplot", "matplotlib_inline.backend_inline", "ipywidgets", "tqdm.auto"),
    *("IPython.core.pylabtools", "IPython.core.completer", "IPython.core.magic_arguments"),
    *("IPython.core.magics.execution", "IPython.core.magics.namespace"),
    *("collections", "dataclasses", "itertools", "functools", "typing", "unittest", "doctest", "pydoc"),
    *("multiprocessing.popen_fork", "multiprocessing.shared_memory", "multiprocessing.synchronize"),
    *("inspect", "pickle", "random", "secrets", "textwrap"),
)


@dataclass(frozen=True)
class Settings:
    """The settings that `Warm` sends its zygote; none is secret."""

    imports: tuple[str, ...]
    careful: bool = False  # try each step of the warm-up in a fork first

    def as_text(self) -> str:
        return json.dumps(asdict(self))

    @classmethod
    def from_text(cls, text: str) -> "Settings":
        fields = json.loads(text)
        return cls(**{**fields, "imports": tuple(fields["imports"])})
