import linecache

import pytest
import torch
import torch.nn.functional as F

from course.checks import forbidden_uses
from course.checks.source import forbidden_in, source_of

FORBIDS = (
    "torch.softmax",
    "torch.nn.functional.softmax",
    ".softmax",
    "sorted",
    "course.models",
    "torch.nn.LSTM",
)


def names(source, forbids=FORBIDS):
    return [(use.line, use.name) for use in forbidden_uses(source, forbids)]


FOUND = [
    ("import torch\ntorch.softmax(x, -1)", (2, "torch.softmax")),
    ("import torch as t\nt.softmax(x, -1)", (2, "torch.softmax")),
    ("import torch.nn.functional as F\nF.softmax(x)", (2, "torch.nn.functional.softmax")),
    ("import torch.nn.functional\ntorch.nn.functional.softmax(x)", (2, "torch.nn.functional.softmax")),
    ("from torch import softmax\nsoftmax(x)", (2, "torch.softmax")),
    ("from torch import softmax as s\ns(x)", (2, "torch.softmax")),
    ("from torch.nn import functional\nfunctional.softmax(x)", (2, "torch.nn.functional.softmax")),
    ("from torch import nn\nclass A(nn.LSTM):\n    pass", (2, "torch.nn.LSTM")),
    ("from torch import *\nsoftmax(x)", (2, "torch.softmax")),
    ("import torch\nf = torch.nn.functional\nf.softmax(x)", (3, "torch.nn.functional.softmax")),
    ("import torch\ngo = torch.softmax", (2, "torch.softmax")),
    ("import torch\ngetattr(torch, 'softmax')(x)", (2, "torch.softmax")),
    ("getattr(x, 'softmax')(-1)", (1, ".softmax")),
    ("x.softmax(-1)", (1, ".softmax")),
    ("(a @ b).exp().softmax(-1)", (1, ".softmax")),
    ("import torch\ntorch.Tensor.softmax(x, -1)", (2, ".softmax")),
    ("y = [\n    1,\n    x\n    .softmax(-1),\n]", (4, ".softmax")),
    ("map(sorted, xs)", (1, "sorted")),
    ("import course.models.attention as a\na.weights(x)", (2, "course.models.attention.weights")),
    ("from course.models.attention import weights\nweights(x)", (2, "course.models.attention.weights")),
    ("%timeit f(x)\n!ls\nx.softmax(-1)", (3, ".softmax")),
    ("    def f(x):\n        return x.softmax(-1)", (2, ".softmax")),
    ("%time from torch import softmax\n%timeit -n 10 -r 3 softmax(x)", (2, "torch.softmax")),
    ("y = %time x.softmax(-1)", (1, ".softmax")),
    ("%%prun -s cumulative x.softmax(-1)\nf(x)", (1, ".softmax")),
    (";sorted b a", (1, "sorted")),
    (",sorted b a", (1, "sorted")),
    ("/sorted xs", (1, "sorted")),
    ("!echo {x.softmax(-1)}", (1, ".softmax")),
    ("%matplotlib inline\ny = (k\n % 2)\nx.softmax(y)", (4, ".softmax")),
    ("import importlib\nimportlib.import_module(name='torch').softmax(x)", (2, "torch.softmax")),
    ("from importlib import import_module as get\nget('torch').softmax(x)", (2, "torch.softmax")),
    ("import pkgutil\nsoftmax = pkgutil.resolve_name('torch:softmax')\nsoftmax(x)", (3, "torch.softmax")),
    ("import sys\nsys.modules['torch'].softmax(x)", (2, "torch.softmax")),
    ("from sys import modules as all\nt = all['torch']\nt.softmax(x)", (3, "torch.softmax")),
    ("import runpy\nrunpy.run_module('course.sampling.filters')", (2, "course.sampling.filters")),
    ("f('course.sampling.filters:top_k')", (1, "course.sampling.filters.top_k")),
    ("f(f'course.{x}')", (1, "course")),
    ("from importlib import import_module as f\nf('.sampling', 'course')", (2, "course")),
    ("import importlib\nimportlib.util.find_spec(name='course')", (2, "course")),
    ("import sys\nc = sys.modules['course']", (2, "course")),
    ("import sys\nsys.modules.get('torch').softmax(x)", (2, "torch.softmax")),
    ("import pkgutil\npkgutil.resolve_name('torch:softmax')(x)", (2, "torch.softmax")),
    ("import torch\nvars(torch)['softmax'](x)", (2, "torch.softmax")),
    ("import torch\ntorch.__dict__['softmax'](x)", (2, "torch.softmax")),
    ("import torch\ntorch.__getattribute__('softmax')(x)", (2, "torch.softmax")),
    ("import torch\nf = getattr(torch.nn, 'functional')\nf.softmax(x)", (3, "torch.nn.functional.softmax")),
    ("from torch import nn\nnn.modules.rnn.LSTM(2, 3)", (2, "torch.nn.modules.rnn.LSTM")),
    ("from torch.nn.modules.rnn import LSTM\nLSTM(2, 3)", (2, "torch.nn.modules.rnn.LSTM")),
    ("from torch.nn import functional\nfunctional.torch.softmax(x)", (2, "torch.softmax")),
    ("import torch\ntorch.hub.torch.softmax(x)", (2, "torch.softmax")),
    ("import torch\nhub = torch.hub\nhub.torch.softmax(x)", (3, "torch.softmax")),
    ("from torch.functional import F\nF.softmax(x)", (2, "torch.nn.functional.softmax")),
    ("import torch\ngetattr(torch.functional.F, 'softmax')(x)", (2, "torch.nn.functional.softmax")),
    ("import torch\ntorch._VF.softmax(x, -1)", (2, "torch._VF.softmax")),
    ("from torch import _refs as r\nr.softmax(x, -1)", (2, "torch._refs.softmax")),
    ("import torch.nn.functional as F\nF._VF.softmax(x, -1)", (2, "torch._VF.softmax")),
    ("import torch\ntorch.ops.aten.softmax(x, -1)", (2, "torch.ops.aten.softmax")),
]


BOUND = [
    "print(t := torch)",
    "t, u = torch, None",
    "(u, [t, v]) = None, [torch, None]",
    "t: object = torch",
    "u = t = torch",
    "for t in [torch]: pass",
    "for u, t in ((1, torch),): pass",
    "[t for t in (torch,)]",
    "with contextlib.nullcontext(torch) as t: pass",
    "def f(x, *y, t=torch): ...",
    "def f(x, t=torch, /): ...",
    "f = lambda x, t=torch: t.softmax(x)",
    "match torch:\n    case t: pass",
    "match torch:\n    case object(nn=u) | t: pass",
    "match torch.nn:\n    case object(functional=object() as t): pass",
]


@pytest.mark.parametrize("binding", BOUND)
def test_a_module_is_followed_by_whatever_form_it_is_bound(binding):
    source = f"import torch\n{binding}\nt.softmax(x)"
    assert names(source)[-1][1] in ("torch.softmax", "torch.nn.functional.softmax")


@pytest.mark.parametrize(
    "source",
    [
        "class K:\n    t = torch\n\nK.t.softmax(x)",
        "class K:\n    t: object = torch\n    def f(self, x):\n        return self.t.softmax(x)",
        "class K:\n    def __init__(self):\n        self.t = torch\n\nK().t.softmax(x)",
    ],
)
def test_a_module_is_followed_through_an_attribute(source):
    assert [name for _, name in names(f"import torch\n{source}")] == ["torch.softmax"]


def test_the_inner_modules_of_torch_are_forbidden_only_where_something_of_torch_is():
    source = "import torch\ntorch._VF.softmax(x, -1)"
    assert names(source, ["sorted", ".softmax"]) == []
    assert names(source, ["torch.nn.LSTM"]) == [(2, "torch._VF.softmax")]


@pytest.mark.parametrize(("source", "use"), FOUND, ids=range(len(FOUND)))
def test_a_forbidden_call_is_found_by_name_and_line(source, use):
    assert use in names(source)


ALLOWED = [
    "import torch\ntorch.exp(x) / torch.exp(x).sum(-1)",
    "import torch\nprint('torch.softmax')  # torch.softmax",
    "def softmax(x):\n    return x.exp()\nsoftmax(x)",
    "from torch import softmax",
    "import torch\ntorch.nn.LSTMCell(2, 3)",  # begins as torch.nn.LSTM does
    "def sorted(xs):\n    return xs\nsorted([2, 1])",
    "class A:\n    def softmax(self):\n        pass\n    def f(self):\n        return self.softmax()",
    "import numpy as torch_like\ntorch_like.softmax(x)",
    "xs.sort()",
    "from torch import nn\nnn.Linear(2, 3)",
    "'course.sampling'\nx = 'of course'\ny = 'course. And so on'\nz = 'courses.x'",
    "f('course.data.vocabulary')",
    "self.label = 'course'",
    "vars(model)['softmax'], model.__dict__['softmax'], getattr(torch, name)",
    "words = {'course': 3}\nwords['course'], words.get('course'), f('.sampling', 'course')",
    "import torch\ndef f(x, act=torch.exp):\n    return act(x)",
    "from torch import nn\nfor layer in [nn.Linear, nn.Tanh]:\n    layer(2)",
    "import torch\nx, y = torch.exp, torch.log\nx(y)",
    "from torch import nn\nnn.modules.rnn.LSTMCell(2, 3)",
    "this is not Python",
    "",
]


@pytest.mark.parametrize("source", ALLOWED, ids=range(len(ALLOWED)))
def test_what_only_looks_like_it_is_not_found(source):
    assert names(source) == []


def test_each_use_is_reported_once_in_the_order_of_the_lines():
    source = "import torch\n\nx.softmax(0)\ntorch.softmax(x, 0), torch.softmax(y, 0)\n"
    assert names(source) == [(3, ".softmax"), (4, "torch.softmax")]


def test_imports_of_other_cells_are_known_through_the_session():
    def mine(x):
        return F.softmax(x, -1) + weigh(x)

    uses = forbidden_in(mine, ("torch.nn.functional.softmax", "torch.softmax"))
    first = mine.__code__.co_firstlineno
    assert [(use.line, use.name) for use in uses] == [
        (first + 1, "torch.nn.functional.softmax"),
        (first + 1, "torch.softmax"),
    ]


weigh = torch.softmax


def test_a_class_of_a_notebook_is_found_in_its_cell():
    cell = (
        "import torch\n\nclass Attention:\n    def __call__(self, x):\n        return torch.softmax(x, -1)\n"
    )
    name = "<ipython-input-of-a-test>"
    linecache.cache[name] = (len(cell), None, cell.splitlines(keepends=True), name)
    scope = {"__name__": "__main__"}
    exec(compile(cell, name, "exec"), scope)
    assert source_of(scope["Attention"])[1] == 3
    assert [(use.line, use.name) for use in forbidden_in(scope["Attention"], FORBIDS)] == [
        (5, "torch.softmax")
    ]


@pytest.mark.parametrize(
    "thing", [len, torch.softmax, 3, eval("lambda x: x.softmax(-1)"), type("Empty", (), {})]
)
def test_without_a_source_nothing_is_found(thing):
    assert forbidden_in(thing, FORBIDS) == []


@pytest.mark.parametrize(
    "source",
    ["torch.\uff53oftmax(x)", "getattr(torch, 'soft' 'max')(x)", "getattr(torch, 'soft\\x6dax')(x)"],
)
def test_another_spelling_of_a_forbidden_word_is_found_without_the_word(source):
    source = f"import torch\ndef f(x):\n    return {source}"
    assert "softmax" not in source
    assert [use.name for use in forbidden_uses(source, ["torch.softmax"])] == ["torch.softmax"]
