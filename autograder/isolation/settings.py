"""What the grader tells its warm process at the start."""

import json
from dataclasses import dataclass

from autograder.isolation.limits import Limits

DEFAULT_IMPORTS = (
    *("numpy", "torch", "torch._dynamo", "torch.nn.functional", "torch.utils.data", "torch.func"),
    *("torch.optim.lr_scheduler", "torch.distributions", "torch.autograd.gradcheck", "torch.nn.attention"),
    *(
        "matplotlib.pyplot",
        "matplotlib_inline.backend_inline",
        "IPython.core.pylabtools",
        "IPython.core.completer",
    ),
    *("collections", "dataclasses", "itertools", "functools", "typing", "unittest", "doctest", "inspect"),
    *("multiprocessing.popen_fork", "multiprocessing.shared_memory", "pickle", "random", "tqdm.auto"),
)


@dataclass(frozen=True)
class Settings:
    """What `Warm` tells its zygote; nothing in it is secret."""

    level: str
    limits: Limits
    imports: tuple[str, ...]

    def as_text(self) -> str:
        return json.dumps({"level": self.level, "limits": self.limits.as_dict(), "imports": self.imports})

    @classmethod
    def from_text(cls, text: str) -> "Settings":
        fields = json.loads(text)
        return cls(fields["level"], Limits(**fields["limits"]), tuple(fields["imports"]))
