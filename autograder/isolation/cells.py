"""Notebook cells as IPython runs them, without a kernel: magics, top-level await, displays, short output."""

import ast
import base64
import io
import linecache
import subprocess
import sys
from typing import Any

from IPython.core.compilerop import CachingCompiler
from IPython.core.displayhook import DisplayHook
from IPython.core.displaypub import DisplayPublisher
from IPython.core.formatters import DisplayFormatter
from IPython.core.inputtransformer2 import TransformerManager
from IPython.core.interactiveshell import InteractiveShell
from traitlets import Type
from traitlets.config import Config

from autograder.isolation.limits import Limits, in_words, shortened, size_of
from course.checks.errors import described

MEDIA = ("text/plain", "image/png")  # nothing that can carry markup or a script


class Output:
    """Text and displays up to their limits; the rest is dropped, and a line says so."""

    def __init__(self, limits: Limits):
        self.limits = limits
        self.clear()

    def clear(self) -> None:
        self.written = self.displayed = 0
        self.texts: list[str] = []
        self.displays: list[dict[str, str]] = []

    def write(self, text: str) -> None:
        left = self.limits.output_bytes - self.written
        if left > 0:
            self.texts.append(shortened(text, left))
        self.written += size_of(text)

    def display(self, bundle: dict[str, Any]) -> None:
        shown = {kind: as_text(bundle[kind]) for kind in MEDIA if kind in bundle}
        self.displayed += sum(map(size_of, shown.values()))
        if shown and self.displayed <= self.limits.display_bytes:
            self.displays.append(shown)

    def take(self) -> tuple[str, list[dict[str, str]]]:
        notes = []
        if self.written > self.limits.output_bytes:
            notes.append(f"\n[output cut after {in_words(self.limits.output_bytes)}]\n")
        if self.displayed > self.limits.display_bytes:
            notes.append("\n[displays too large, left out]\n")
        taken = "".join([*self.texts, *notes]), self.displays
        self.clear()
        return taken


def as_text(content: str | bytes) -> str:
    """A display's content as text; a picture in base64."""
    return base64.b64encode(content).decode() if isinstance(content, bytes) else str(content)


class OutputStream(io.TextIOBase):
    """sys.stdout and sys.stderr of the cells."""

    encoding = "utf-8"
    errors = "replace"

    def __init__(self, output: Output):
        self.output = output

    def writable(self) -> bool:
        return True

    def write(self, text: str) -> int:
        self.output.write(text)
        return len(text)


class CellCompiler(CachingCompiler):
    """Names code after its cell, so that a traceback says "cell 3"."""

    cell = "cell"
    parsed: tuple[str, ast.Module] | None = None  # what the transformer has parsed already

    def ast_parse(self, source: str, filename: str = "<unknown>", symbol: str = "exec") -> ast.AST:
        """The tree of a cell, parsed only once."""
        parsed, self.parsed = self.parsed, None
        if parsed is not None and parsed[0] == source:
            return parsed[1]
        return super().ast_parse(source, filename, symbol)

    def get_code_name(self, raw_code: str, transformed_code: str, number: int) -> str:
        return f"<{self.cell}>"


class Transformer(TransformerManager):
    """IPython's own, except that it searches only cells that can contain magics; searching is slow."""

    def __init__(self, compiler: CellCompiler):
        super().__init__()
        self.compiler = compiler

    def do_token_transforms(self, lines: list[str]) -> list[str]:
        """Leave valid Python unchanged: it contains no `%magic`, `!command` or `help?`."""
        source = "".join(lines)
        try:
            self.compiler.parsed = source, ast.parse(source, f"<{self.compiler.cell}>")
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return super().do_token_transforms(lines)
        return lines


class QuietHook(DisplayHook):
    """Keeps the value of a cell's last expression instead of printing it."""

    shell: "Shell"

    def write_output_prompt(self) -> None:
        pass

    def write_format_data(self, format_dict: dict[str, Any], md_dict: dict | None = None) -> None:
        self.shell.output.display(format_dict)

    def finish_displayhook(self) -> None:
        self._is_active = False


class QuietPublisher(DisplayPublisher):
    """Collects what `display` shows."""

    def publish(self, data: dict[str, Any], *arguments: Any, **options: Any) -> None:
        self.shell.output.display(data)

    def clear_output(self, wait: bool = False) -> None:
        self.shell.output.clear()


class Shell(InteractiveShell):
    """IPython's shell, its output kept in `output`."""

    displayhook_class = Type(QuietHook)
    display_pub_class = Type(QuietPublisher)
    compiler_class = Type(CellCompiler)
    output = Output(Limits())
    compile: CellCompiler
    display_formatter: DisplayFormatter

    def showtraceback(self, *arguments: Any, **options: Any) -> None:
        """Nothing: the error is returned with the cell's result."""

    def showsyntaxerror(self, *arguments: Any, **options: Any) -> None:
        """Nothing: the error is returned with the cell's result."""

    def _format_exception_for_storage(self, *arguments: Any, **options: Any) -> dict:
        """Do nothing: IPython would colour a traceback that nobody reads."""
        return {}

    def should_run_async(self, raw_cell: str, **options: Any) -> bool:
        """Whether the cell awaits anything; IPython would compile the whole cell to find out."""
        return ("await" in raw_cell or "async" in raw_cell) and super().should_run_async(raw_cell, **options)

    def enable_gui(self, gui: str | None = None) -> None:
        """Do nothing: there is no window to show."""

    def system(self, command: str) -> None:
        """Run a `!command` and print its output."""
        done = subprocess.run(
            self.var_expand(command, depth=1), shell=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
        )
        self.user_ns["_exit_code"] = done.returncode
        print(done.stdout.decode(errors="replace"), end="")


def make_shell() -> Shell:
    """A shell that keeps no history on disk and starts no thread."""
    config = Config()
    config.HistoryManager.enabled = False
    config.HistoryManager.hist_file = ":memory:"
    shell = Shell.instance(config=config)
    shell.input_transformer_manager = Transformer(shell.compile)
    shell.display_formatter.active_types = list(MEDIA)
    return shell


class Cells:
    """Runs cells in one namespace."""

    def __init__(self, shell: Shell, limits: Limits):
        self.shell = shell
        self.shell.output = Output(limits)
        self.count = 0

    @property
    def namespace(self) -> dict[str, Any]:
        return self.shell.user_ns

    def open_streams(self) -> None:
        """Capture what Python prints from now on."""
        sys.stdout = sys.stderr = OutputStream(self.shell.output)

    def run(self, source: str, name: str | None = None) -> dict[str, Any]:
        """Run one cell; returns what it printed, displayed and raised."""
        self.count += 1
        self.shell.compile.cell = name or f"cell {self.count}"
        self.shell.output.clear()
        result = self.shell.run_cell(source, store_history=True)
        error = result.error_before_exec or result.error_in_exec
        output, displays = self.shell.output.take()
        return {"output": output, "displays": displays, "error": None if error is None else describe(error)}


def describe(error: BaseException) -> dict[str, Any]:
    """An error as plain data: its class, its message and the lines of the student's cells it came through."""
    return described(error, lambda file: file.startswith("<") and file in linecache.cache)
