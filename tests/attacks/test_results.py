"""What comes back is plain data of exact types, whatever the student's process does to itself.

The verdict is made elsewhere, from these values. Here: nothing else crosses.
"""

import pytest
import torch

from autograder.isolation import Died, Handle, Raised


def request(student, source, name="answer", *arguments, **options):
    assert student.run(source).error is None
    return student.request(name, "", arguments, **options)


AGREEABLE = """
import torch
class Agreeable{base}:
    def __eq__(self, other): return True
    def __ne__(self, other): return False
    def __bool__(self): return True
    def __float__(self): return 1.0
    def __array__(self, *a, **k): raise RuntimeError
    __hash__ = object.__hash__
    @classmethod
    def __torch_function__(cls, *a, **k): return True
"""


def test_an_object_that_equals_everything_stays_there(student):
    received = request(student, AGREEABLE.format(base="") + "def answer(): return Agreeable()")
    assert type(received) is Handle
    assert received != 1


@pytest.mark.parametrize(
    ("base", "value", "kind"),
    [
        ("(float)", "Agreeable.__new__(Agreeable, 0.5)", float),
        ("(int)", "int.__new__(Agreeable, 3)", int),
        ("(str)", "str.__new__(Agreeable, 'x')", str),
        ("(list)", "Agreeable([1])", list),
        ("(dict)", "Agreeable(a=1)", dict),
        ("(torch.Tensor)", "torch.ones(2).as_subclass(Agreeable)", torch.Tensor),
    ],
)
def test_a_subclass_that_equals_everything_arrives_without_its_tricks(student, base, value, kind):
    received = request(student, AGREEABLE.format(base=base) + f"def answer(): return {value}")
    assert type(received) in (kind, Handle)
    assert not torch.equal(received, torch.zeros(2)) if kind is torch.Tensor else received != "anything"


PATCHES = {
    "torch comparisons": "import torch\ntorch.allclose = torch.equal = torch.isclose = lambda *a, **k: True",
    "torch testing": "import torch.testing\ntorch.testing.assert_close = lambda *a, **k: None",
    "numpy comparisons": "import numpy\nnumpy.allclose = numpy.array_equal = lambda *a, **k: True",
    "builtins": "import builtins\nbuiltins.abs = lambda x: 0\nbuiltins.all = builtins.any = lambda x: True",
    "tensor methods": "import torch\ntorch.Tensor.__eq__ = lambda a, b: torch.ones(()).bool()",
    "the checks": "import course.checks as c\nfor name in c.__all__: setattr(c, name, lambda *a, **k: None)",
}


@pytest.mark.parametrize("patch", PATCHES.values(), ids=PATCHES.keys())
def test_patching_in_there_changes_nothing_out_here(student, patch):
    received = request(student, patch + "\nimport torch\ndef answer(x): return torch.zeros(2)", "answer", 1)
    assert torch.equal(received, torch.zeros(2))
    assert not torch.equal(received, torch.ones(2))
    assert not torch.allclose(received, torch.ones(2))


def test_there_are_no_frames_of_the_grader_to_look_into(student):
    source = (
        "import sys\n"
        "def answer(x):\n"
        "    frame, files = sys._getframe(), set()\n"
        "    while frame: files.add(frame.f_code.co_filename); frame = frame.f_back\n"
        "    return sorted(files)"
    )
    files = request(student, source, "answer", 1)
    assert not [name for name in files if "judge" in name or "checks" in name or "solutions" in name]


@pytest.mark.parametrize(
    "patch",
    [
        "wire.encode = lambda *a, **k: b''",
        "wire.encode = lambda *a, **k: b'\\x80\\x04K\\x01.'",
        "session.channel.send = lambda connection, frame: connection.sendall(b'garbage' * 100)",
        "session.Session.answer = lambda self, frame: wire.encode([1, 2, 3])",
        "session.OPERATIONS['request'] = lambda *a, **k: {'value': 1, 'changed': 3, 'graph': 'x'}",
        "session.OPERATIONS['request'] = lambda *a, **k: {'value': 1}",
        "session.Session.answer = lambda self, frame: wire.encode({'fault': {'class_name': 1}})",
        "session.Session.answer = lambda self, frame: wire.encode({'fault': 'success'})",
        "session.OPERATIONS['request'] = lambda *a, **k: {'value': 1, 'changed': [1], 'graph': None}",
    ],
)
def test_a_session_that_is_rewritten_from_inside_is_ended(student, patch):
    student.run("def answer(): return 1")
    with pytest.raises(Died, match=r"sent a reply (that cannot be read|of more than)"):  # noqa: PT012
        student.run("from autograder.isolation import session, wire\n" + patch)
        student.request("answer")


def test_gradients_of_another_shape_than_the_arguments_are_refused(student):
    source = (
        "import torch\n"
        "class Odd(torch.autograd.Function):\n"
        "    @staticmethod\n"
        "    def forward(ctx, x): return x.clone()\n"
        "    @staticmethod\n"
        "    def backward(ctx, g): return g\n"
        "def answer(x): return Odd.apply(x)\n"
        "from autograder.isolation.objects import Graphs\n"
        "Graphs.backward = lambda self, number, cotangents: [torch.ones(7)]\n"
    )
    x = torch.ones(2, requires_grad=True)
    received = request(student, source, "answer", x, gradients=True)
    with pytest.raises(RuntimeError, match="other shapes"):
        received.sum().backward()


def test_an_error_that_cannot_be_told_is_told_all_the_same(student):
    source = (
        "class Odd(Exception):\n"
        "    def __str__(self): raise ValueError\n"
        "    __repr__ = __str__\n"
        "def answer(): raise Odd"
    )
    with pytest.raises(Raised) as raised:
        request(student, source)
    assert raised.value.fault.class_name == "Odd"


def test_the_text_of_an_error_has_an_end(student):
    with pytest.raises(Raised) as raised:
        request(student, "def answer(): raise ValueError('x' * 10**7)")
    assert len(raised.value.fault.message) <= 2000


def test_nothing_that_could_be_a_page_is_displayed(student):
    source = (
        "from IPython.display import display\n"
        "display({'text/html': '<script>', 'image/svg+xml': '<svg onload=x>', 'text/plain': 'x',"
        " 'application/javascript': 'x', 'image/png': '\"><script>'}, raw=True)"
    )
    (shown,) = student.run(source).displays
    assert shown == {"text/plain": "x"}


def test_huge_replies_are_cut_off_before_they_fill_the_grader(student):
    student.run(
        "from autograder.isolation import session\n"
        "def flood(connection, frame):\n"
        "    connection.sendall((1 << 40).to_bytes(8, 'little'))\n"
        "    while True: connection.sendall(bytes(1 << 20))\n"
        "def answer(): session.channel.send = flood"
    )
    student.request("answer")
    with pytest.raises(Died, match="sent a reply of more than 4 MB"):
        student.request("answer")


def test_a_reply_that_trickles_ends_with_the_call(student):
    student.run(
        "import time\nfrom autograder.isolation import session\n"
        "def trickle(connection, frame):\n"
        "    connection.sendall((1000).to_bytes(8, 'little'))\n"
        "    while True: connection.sendall(b'x'); time.sleep(0.05)\n"
        "def answer(): session.channel.send = trickle"
    )
    student.request("answer")
    with pytest.raises(Died, match="did not finish within 1 s"):
        student.request("answer", seconds=1)


@pytest.mark.parametrize(
    "source", ["a = []; a.append(a)", "a = {}; a[1] = a", "a = 1\nfor i in range(99): a = [a]"]
)
def test_a_value_without_an_end_is_an_error(student, source):
    with pytest.raises(Raised, match="nested more than"):
        request(student, source + "\ndef answer(): return a")


def test_what_is_sent_out_of_turn_is_not_taken_for_an_answer(student):
    student.run(
        "import os, threading, time\nfrom autograder.isolation import wire\n"
        "forged = wire.encode({'value': {'value': 'forged', 'changed': None, 'graph': None}})\n"
        "def answer():\n"
        "    for descriptor in range(3, 9):\n"
        "        try: os.write(descriptor, len(forged).to_bytes(8, 'little') + forged)\n"
        "        except OSError: pass\n"
        "    return 'honest'"
    )
    # A student can answer in its own name at any time; it cannot do so as anything but itself.
    assert student.request("answer") in ("forged", "honest")
    try:
        assert student.request("answer") in ("forged", "honest")
    except Died as died:
        assert "reply" in died.sentence  # noqa: PT017
