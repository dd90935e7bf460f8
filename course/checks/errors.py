"""What can go wrong on the student's side of a check; each kind of error is handled differently."""

import linecache
import re
import traceback
from collections.abc import Callable, Mapping, Sequence

from course.language import joined, say

LONGEST_MESSAGE = 2_000
MOST_FRAMES = 20

# Parts of a message that its author chose or that vary, and their replacements, to compare the rest.
AUTHORS = (
    (re.compile(r"\.?\s?Did you mean: .*"), ""),
    (re.compile(r"0x[0-9a-fA-F]+"), "0x"),
    (re.compile(r"(?<![\w.<>])[\w.<>]+\(\)"), "()"),
    (re.compile(r"'(?!Tensor'|NoneType'|[a-z])\w+' object"), "an object"),
    (re.compile(r"(?<=state_dict for )\w+"), ""),
    (re.compile(r"(?<=variable )'\w+'|(?<=name )'\w+'"), "''"),
    (re.compile(r"-?(?<!\d)\d+\.\d*(e[+-]?\d+)?"), "#"),
)

PRECISIONS = ("float", "double"), ("float32", "float64"), ("mixed dtype",)  # as torch's messages name them
WITHOUT_GRADIENT = "element 0 of tensors does not require grad"
UNPACKED = re.compile(r"values to unpack|tuple index out of range")
AXES = re.compile(
    r"dimension out of range|too many indices for tensor|number of (dimensions in the tensor|subscripts)"
    r"|must be a (3d tensor|matrix)|expects a tensor with <= 2 dimensions"
)

# Errors whose message says itself what is to be mended: a name, a call without end, an end of the program.
PLAIN = frozenset(
    {"NameError", "AttributeError", "ImportError", "SyntaxError", "RecursionError", "SystemExit"}
)
SIGNATURE = re.compile(
    r"(takes|missing) .*(positional|keyword-only) argument|(unexpected keyword|multiple values for) argument"
    r"|takes no (keyword )?arguments"
)
AMBIGUOUS = re.compile(r"^(Boolean value of Tensor|The truth value of an array) with more than one")
BITS_OF_REALS = re.compile(
    r"^\"bitwise_(and|or)_\w+\" not implemented for '(Float|Double)'|^ufunc 'bitwise_(and|or)' not"
)
OF_NUMPY = re.compile(r"^_(amax|amin|sum|prod|mean|var|std|any|all|ptp)\(\) got an unexpected keyword")
OF_A_MODULE = re.compile(
    r"has no attribute '(double|gradients|(named_)?(parameters|buffers)|(load_)?state_dict|zero_grad)'"
)
WITHOUT_FORWARD = 'missing the required "forward" function'

# Taken from `type` itself, because a metaclass may return something else, or raise.
NAME_OF, PARENTS_OF = (type.__dict__[name].__get__ for name in ("__name__", "__mro__"))


class StudentError(Exception):
    """The student's code raised: the exception's class by name, its message, and the student's own line."""

    def __init__(
        self,
        error: str,
        message: str = "",
        line: int | None = None,
        text: str = "",
        bases: tuple[str, ...] = (),
        name: str = "",
        inside: tuple[str, str] = ("", ""),
    ) -> None:
        self.error, self.message, self.line, self.text, self.name = error, message, line, text, name
        self.inside = inside  # function of another cell in which it arose, and the line there
        self.bases = bases or (error,)  # names of the exception's class and of its parents
        super().__init__(self.sentence())

    @property
    def is_plain(self) -> bool:
        """Whether the message says all that is to be mended, so that a hint would lead elsewhere."""
        is_known = SIGNATURE.search(self.message) or self._meaning()
        return not PLAIN.isdisjoint(self.bases) or bool(is_known)

    def sentence(self) -> str:
        """ "`attention_weights` raised ZeroDivisionError: division by zero, at line 3: `return 1 / 0`"."""
        name = f"`{self.name}`" if self.name else say("your code")
        raised = say("{name} raised {error}", name=name, error=self.error)
        if self.message and (self.error, self.message) != ("SystemExit", "None"):
            raised = joined(": ", [raised, cut(self.message, 300)])
        if self.line:
            raised = say("{raised}, at line {line}", raised=raised, line=self.line)
            raised = joined(": ", [raised, f"`{cut(self.text, 100)}`"]) if self.text else raised
        function, text = self.inside
        if function:
            raised = say("{raised}, inside `{function}`", raised=raised, function=function)
            raised = joined(": ", [raised, f"`{cut(text, 100)}`"]) if text else raised
        return joined(". ", [raised, self._meaning()])

    def _meaning(self) -> str:
        of_the_call = _meaning_of_a_call(self.name, self.message) if self.line is None else ""
        return of_the_call or _meaning(self.message, self.inside[1] or self.text)


class NotWritten(Exception):
    """The function is still the stub that was released."""

    def __init__(self, name: str) -> None:
        self.name = name
        super().__init__(say("`{name}` is not written yet. This is your next step.", name=name))


class Unreachable(Exception):
    """The student's code gave no answer: it did not finish, ran out of memory or terminated its process."""

    def __init__(self, what_happened: str) -> None:
        self.what_happened = what_happened
        super().__init__(what_happened)


def described(error: BaseException, is_own: Callable[[str], bool]) -> dict:
    """An exception as plain data: class, message and location, even if its class tries to hide them.

    is_own: whether a file, given by name, holds the student's code; only lines of such files are included.
    """
    places = [
        (frame.f_code, line, linecache.getline(frame.f_code.co_filename, line, frame.f_globals).strip())
        for frame, line in traceback.walk_tb(error.__traceback__)
        if is_own(frame.f_code.co_filename)
    ][-MOST_FRAMES:]
    frames = [
        {"cell": code.co_filename[1:-1], "line": line, "function": _function(code.co_qualname), "text": text}
        for code, line, text in places
    ]
    _, line, text = places[-1] if places else (None, None, "")
    if isinstance(error, SyntaxError) and type(error.lineno) is int:
        line, text = error.lineno, str(error.text or "").rstrip("\n")
    return {
        "class_name": NAME_OF(type(error)),
        "message": _message_of(error),
        "bases": [NAME_OF(base) for base in PARENTS_OF(type(error)) if base is not object],
        "frames": frames,
        "line": line,
        "text": text[:LONGEST_MESSAGE],
    }


def student_problem(
    name: str,
    class_name: str,
    message: str,
    bases: Sequence[str],
    frames: Sequence[Mapping],
    line: int | None,
    text: str,
) -> StudentError | NotWritten:
    """The exception of a call as a check reports it; `name` is the call, the rest as in `described`.

    Where the error arose in another cell than that of the function called, it is placed at the last line of
    that cell, because a given cell's own line would say little.
    """
    innermost = frames[-1] if frames else None
    if is_stub(class_name, message, text):
        return NotWritten(innermost["function"] if innermost else name)
    inside = "", ""
    if innermost and innermost["cell"] != frames[0]["cell"] and line == innermost["line"]:
        own = next(frame for frame in reversed(frames) if frame["cell"] == frames[0]["cell"])
        inside, line, text = (innermost["function"], innermost["text"].strip()), own["line"], own["text"]
    return StudentError(class_name, message, line, text.strip(), tuple(bases), name, inside)


def is_stub(error: str, message: str, text: str) -> bool:
    """Whether an exception is a stub's NotImplementedError, and not torch's about a missing kernel."""
    if error != "NotImplementedError":
        return False
    return "raise NotImplementedError" in text if text.strip() else not message


def _meaning_of_a_call(name: str, message: str) -> str:
    """A question about an error of the check's own call, before any line of the student's; "" for others."""
    if SIGNATURE.search(message):
        if "." in name:
            return say("Are its parameters `self` and those that the exercise names?")
        return say("Are its parameters those that the exercise names?")
    if OF_A_MODULE.search(message):
        return say("Is it an `nn.Module`?")
    if message.endswith("object is not callable"):
        return say("Has something else got its name since, as by `f = f(x)`?")
    return ""


def _meaning(message: str, text: str) -> str:
    """An explanation of an error whose message says little to a beginner; "" for others."""
    said = message.lower()
    if "type" in said and any(all(word in said for word in words) for words in PRECISIONS):
        return say(
            "A float32 tensor meets a float64 one there: torch creates float32 unless you pass `dtype=…`"
        )
    is_of_shape = ".shape" in text or ".size()" in text
    if WITHOUT_GRADIENT in said:
        return say(
            "What `backward()` is called on depends on no parameter that wants a gradient: it was computed "
            "inside `torch.no_grad()`, which also holds in every function called there, or was cut off by "
            "`detach`, `item` or `torch.tensor`"
        )
    if WITHOUT_FORWARD in message:
        return say("Is there a `forward`, spelt so, and indented as a part of the class?")
    if AMBIGUOUS.search(message):
        return say(
            "Python asks there for one truth value, and there are many: entry by entry, `&`, `|` and `~` "
            "stand for `and`, `or` and `not`, and `(a < x) & (x < b)` for `a < x < b`"
        )
    if BITS_OF_REALS.search(message):
        return say(
            "Real numbers are joined with `&` or `|` there, which bind more tightly than a comparison. Is "
            "each comparison in brackets, as in `(a < x) & (x < b)`?"
        )
    if OF_NUMPY.search(message):
        return say(
            "A numpy array's method takes `axis` and `keepdims`, not `dim` and `keepdim` as a tensor's does"
        )
    if AXES.search(said) or (is_of_shape and UNPACKED.search(message)):
        return say("The tensor there has more or fewer axes than your code names: `…` stands for any number")
    return ""


def gist(message: str) -> str:
    """An error's message without the names its author chose, addresses and real numbers.

    Whole numbers stay: in a matrix product, the shapes are what distinguishes one mistake from another.
    """
    for pattern, instead in AUTHORS:
        message = pattern.sub(instead, message)
    return message.strip()


def _function(qualified: str) -> str:
    return qualified.rpartition("<locals>.")[2]


def _message_of(error: BaseException) -> str:
    """The error's message, even if converting it to a string fails."""
    try:
        message = error.msg if isinstance(error, SyntaxError) and error.msg else error
        return str.__str__(str(message))[:LONGEST_MESSAGE]
    except Exception:
        return "(its message cannot be read)"


def cut(text: str, longest: int) -> str:
    """The text, or its beginning and an ellipsis if it is longer."""
    return text if len(text) <= longest else text[: longest - 1] + "…"
