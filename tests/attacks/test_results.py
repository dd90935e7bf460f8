"""What comes back is plain data of exact types, whatever the student's process does to itself.

The verdict is made elsewhere, from these values. Here: nothing else crosses.
"""

import pytest
import torch

from autograder.grading.standin import Cell, RemoteLink, Sitting
from autograder.isolation import Died, Limits, Raised
from course.checks import StandIn, StudentError, Trace, Unreachable
from course.checks.trace import Object


def request(student, source, name="answer", *arguments, **options):
    assert student.run(source).error is None
    return student.request(name, "", arguments, **options)


# The modules that answer cannot be imported by name, but they call what a student wrote.
INSIDE = """
import os, sys, time, types, torch
def reached():
    frame = sys._getframe()
    while frame.f_globals['__name__'] != 'autograder.isolation.session': frame = frame.f_back
    session = types.SimpleNamespace(**frame.f_globals)
    return session, session.wire
def answer(x=None):
    session, wire = reached()
    {patch}
    return x if x is None else x.clone()
"""

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
    assert type(received) is Object
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
    assert type(received) in (kind, Object)
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
    files = [name for name in request(student, source, "answer", 1) if not name.endswith("checks/request.py")]
    assert not [name for name in files if "judge" in name or "checks" in name or "solutions" in name]


@pytest.mark.parametrize(
    "patch",
    [
        "wire.encode = lambda *a, **k: b''",
        "wire.encode = lambda *a, **k: b'\\x80\\x04K\\x01.'",
        "session.channel.send = lambda connection, frame: connection.send(b'garbage' * 100)",
        "session.Session.answer = lambda self, frame: wire.encode([1, 2, 3])",
        "session.OPERATIONS['request'] = lambda *a, **k: {'value': 1, 'left': 3, 'graph': 'x'}",
        "session.OPERATIONS['request'] = lambda *a, **k: {'value': 1}",
        "session.Session.answer = lambda self, frame: wire.encode({'fault': {'class_name': 1}})",
        "session.Session.answer = lambda self, frame: wire.encode({'fault': 'success'})",
        "session.OPERATIONS['request'] = lambda *a, **k: {'value': 1, 'left': b'', 'graph': None}",
    ],
)
def test_a_session_that_is_rewritten_from_inside_is_ended(student, patch):
    assert student.run(INSIDE.format(patch=patch)).error is None
    with pytest.raises(Died, match=r"sent a reply (that cannot be read|of more than)"):  # noqa: PT012
        student.request("answer")
        student.request("answer")


@pytest.mark.parametrize("gradients", ["[torch.ones(7)]", "[]", "[3]", "[torch.ones(2)] * 2"])
def test_gradients_of_another_shape_than_the_arguments_are_refused(sitting, gradients):
    patch = f"session.OPERATIONS['backward'] = lambda *a, **k: {gradients}"
    sitting.run(Cell(INSIDE.format(patch=patch), "a cell"))
    x = torch.ones(2, requires_grad=True)
    received = StandIn(RemoteLink(sitting), Trace("a check"), "answer")(x)
    with pytest.raises(StudentError, match="do not have the shapes"):
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
        INSIDE.format(patch="session.channel.send = flood") + "def flood(connection, frame):\n"
        "    send = reached()[0].channel.send_exactly\n"
        "    send(connection, memoryview((1 << 40).to_bytes(8, 'little')), None)\n"
        "    while True: send(connection, memoryview(bytes(1 << 20)), None)\n"
    )
    student.request("answer")
    with pytest.raises(Died, match="sent a reply of more than 4 MB"):
        student.request("answer")


def test_a_reply_that_trickles_ends_with_the_call(student):
    student.run(
        INSIDE.format(patch="session.channel.send = trickle") + "def trickle(connection, frame):\n"
        "    connection.send((1000).to_bytes(8, 'little'))\n"
        "    while True: connection.send(b'x'); time.sleep(0.05)\n"
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
        INSIDE.format(patch="") + "def answer():\n"
        "    forged = reached()[1].encode({'value': {'value': 'forged', 'left': None, 'graph': None}})\n"
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


CAREFUL = "answer = lambda values: sorted(values)[0]"
CARELESS = "def answer(values): values.sort(); return values[0]"
BY_NAME = """
import sys, torch
nothing = lambda *a, **k: 0
for name, module in [*sys.modules.items()]:
    if name.startswith(("autograder", "course.checks")):
        for key, value in [*vars(module).items()]:
            if callable(value) and getattr(value, '__module__', '') == name:
                try: setattr(module, key, nothing)
                except Exception: pass
torch.equal = torch.Tensor.equal = lambda *a: True
torch.Tensor.clone = torch.Tensor.detach = lambda self, *a, **k: torch.zeros(3)
"""


@pytest.fixture
def sitting(warm):
    limits = Limits(call_seconds=10.0)
    sitting = Sitting(lambda: warm.student(limits=limits), limits)
    yield sitting
    sitting.close()


def changed(sitting, *args):
    """What a call to `answer` is seen to have changed."""
    trace = Trace("a check")
    StandIn(RemoteLink(sitting), trace, "answer")(*args)
    return trace.events[0].outcome.changed


@pytest.mark.parametrize("patch", ["", BY_NAME], ids=["unpatched", "everything patched by its name"])
def test_a_changed_argument_is_noticed_whatever_is_patched_by_its_name(sitting, patch):
    sitting.run(Cell(CARELESS + patch, "a cell"))
    assert changed(sitting, [3, 1, 2]) == (([1, 2, 3],), {})
    sitting.run(Cell(CAREFUL, "another cell"))
    assert changed(sitting, [3, 1, 2]) is None


def test_a_tensor_changed_in_place_is_noticed_though_its_methods_are_replaced(sitting):
    sitting.run(Cell("def answer(x): x[0] = 5.0" + BY_NAME, "a cell"))
    assert changed(sitting, torch.ones(3))[0][0].tolist() == [5.0, 1.0, 1.0]


def test_nothing_that_answers_the_grader_can_be_imported(student):
    student.run(
        INSIDE.format(patch="") + "import course.checks.request\n"
        "def answer():\n"
        "    session, wire = reached()\n"
        "    modules = list(sys.modules.values())\n"
        "    classes = session.Session, session.Objects, wire.encode\n"
        "    known = {id(value) for m in modules if type(m) is type(sys) for value in vars(m).values()}\n"
        "    return [id(thing) in known for thing in classes]"
    )
    assert student.request("answer") == [False] * 3


SENDING = """
import array, os, socket, struct
kept = open("/dev/null")
took = []
for descriptor in range(256):
    try:
        line = socket.socket(fileno=os.dup(descriptor))
        line.sendmsg([b"x"], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [kept.fileno()]))])
        took.append(descriptor)
    except OSError: pass
print(took)
"""


def test_no_open_file_is_sent_to_the_grader(student):
    """A grader that is sent a lingering connection closes it, and that lasts as long as the sender likes."""
    assert student.run(SENDING).output == "[]\n"


def test_answers_have_an_end_in_all(warm):
    limits = Limits(answers_bytes=1 << 20)
    sitting = Sitting(lambda: warm.student(limits=limits), limits)
    sitting.run(Cell("def answer(): return b'x' * 300_000", "a cell"))
    answer = StandIn(RemoteLink(sitting), Trace("a check"), "answer")
    for _ in range(4):
        assert len(answer()) == 300_000
    with pytest.raises(Unreachable, match="Not tried: the submission had used up its 1 MB for answers"):
        answer()
    assert sitting.run(Cell("1", "another")).died
    sitting.close()
