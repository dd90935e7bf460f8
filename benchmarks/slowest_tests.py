"""Where `make test` spends its time, by part, file and test: `python benchmarks/slowest_tests.py`.

With --report it reads the times of a finished run from the file that `pytest --junitxml=FILE` wrote.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterable
from xml.etree import ElementTree

from hot import ROOT

PARTS = {
    "ruff check": ["-m", "ruff", "check", "."],
    "autograder build --check": ["-m", "autograder", "build", "--check"],
    "autograder verify": ["-m", "autograder", "verify"],
}
PYTEST = ["-m", "pytest", "-q", "-n", "auto"]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--report", help="the file that pytest wrote")
    options = parser.parse_args()
    if options.report:
        print_report(options.report)
        return
    for name, words in PARTS.items():
        print(f"{seconds(words):>8.1f} s  {name}", flush=True)
    with tempfile.NamedTemporaryFile(suffix=".xml") as report:
        print(f"{seconds([*PYTEST, f'--junitxml={report.name}']):>8.1f} s  pytest -n auto", flush=True)
        print_report(report.name)


def print_report(path: str) -> None:
    """The slowest files and the slowest tests."""
    cases = list(ElementTree.parse(path).iter("testcase"))
    print(f"{len(cases)} tests; the slowest files")
    print_slowest((case.get("classname").replace(".", "/") + ".py", case) for case in cases)
    print("the slowest tests")
    print_slowest(
        (f"{case.get('classname').rpartition('.')[2]}::{case.get('name')}"[:100], case) for case in cases
    )


def seconds(words: list[str]) -> float:
    """How long a command takes; it must succeed."""
    began = time.perf_counter()
    subprocess.run([sys.executable, *words], cwd=ROOT, check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - began


def print_slowest(named: Iterable[tuple[str, ElementTree.Element]], number: int = 10) -> None:
    totals: Counter = Counter()
    for name, case in named:
        totals[name] += float(case.get("time"))
    for name, took in totals.most_common(number):
        print(f"{took:>8.1f} s  {name}")


if __name__ == "__main__":
    main()
