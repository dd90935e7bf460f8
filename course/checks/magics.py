"""IPython's own syntax as plain Python, so that the code in it can be searched."""

import ast
import re

# `%time f()`, `!ls`, `?sorted`, `files = !ls`, and a call without brackets; `sorted?`
OF_IPYTHON = re.compile(
    r"^((?:\w[\w, ]{0,80}= {0,9}(?=[%!]))?)((?:[!?]|[%,;/](?=\S)).*|[\w.]{1,200}\?\??\s*$)"
)
RUNS_ITS_REST = re.compile(r"%{1,2}(?:time|timeit|prun|debug|memit|lprun)\b(.*)")
LOADS = re.compile(r"%(?:load_ext|reload_ext|aimport)\s+([\w.]+)")
EXPANDED = re.compile(r"\{([^{}]{1,200})\}")  # `!echo {value}`
MOST_OPTIONS = 12  # words before the statement, as in `%timeit -n 10 -r 3 f()`


def as_python(source: str) -> str:
    """The source of a cell, in which each line of IPython's own is the code that it runs, or a call."""
    return "\n".join(map(_line, source.splitlines()))


def _line(line: str) -> str:
    code = line.lstrip()
    if found := OF_IPYTHON.match(code):
        return line[: len(line) - len(code)] + _translated(*found.groups())
    return line


def _translated(target: str, text: str) -> str:
    """What `target = text` means; target: such as "files = ", or "".

    `%time f()` → `f()`; `;f a b` → `f('a b')`; `%load_ext a` → `import a`; `!ls {a}` → a call with `a`.
    """
    if found := RUNS_ITS_REST.match(text):
        statement = _after_options(found[1].strip()) if found[1].strip() else "pass"
        if statement:
            return f"{target if _is_expression(statement) else ''}{statement}"
    if found := LOADS.match(text):
        return f"import {found[1]}"
    if text[0] in ",;/":
        function, _, rest = text[1:].partition(" ")
        arguments = {",": map(repr, rest.split()), ";": [repr(rest)], "/": rest.split()}[text[0]]
        return f"{function}({', '.join(arguments)})"
    values = filter(_is_expression, EXPANDED.findall(text))
    return f"{target}get_ipython().run_line_magic({', '.join([repr(text), *values])})"


def _after_options(text: str) -> str:
    """The statement in a magic's line, which begins with the first word from which on it is Python."""
    words = text.split(" ", MOST_OPTIONS)
    endings = (" ".join(words[place:]) for place in range(len(words)))
    return next((ending for ending in endings if ending and _is_python(ending)), "")


def _is_python(text: str) -> bool:
    try:
        ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return True


def _is_expression(text: str) -> bool:
    try:
        ast.parse(text.strip(), mode="eval")
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return True
