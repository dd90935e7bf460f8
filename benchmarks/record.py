"""Run the benchmarks and record their output: `python benchmarks/record.py` writes docs/benchmarks.md.

Seconds depend on the machine. Only the ratios may be quoted, because both sides were measured in one run.
"""

from __future__ import annotations

import argparse
import datetime
import os
import platform
import re
import subprocess
import sys
from collections import Counter
from importlib.metadata import version
from pathlib import Path

HERE = Path(__file__).parent
PAGE = HERE.parent / "docs" / "benchmarks.md"
KEPT = PAGE.with_suffix("")
PACKAGES = ("torch", "numpy", "nbgrader", "nltk", "tokenizers")

HEADING = """# Speed, measured

The two sides of every comparison took turns in one run on one machine, so the ratios carry over to other
machines; the seconds do not. `make bench` measures everything again, and writes this page. Where a section
says nothing else, it was measured with {machine}.
"""
# The picture of a script, and what it shows.
PICTURES = {
    "growth": (
        "![Seconds against size](benchmarks/growth.png)",
        """*Seconds against size on logarithmic axes: attention and one GRU layer against the length of the
text, training of a small GPT against the batch size. The exponents p are below.*""",
    ),
    "grading_growth": (
        "![Seconds against students and jobs](benchmarks/grading_growth.png)",
        """*Left: seconds to grade a class against its size, a straight line above a start-up time of a few
seconds. Right: seconds against the number of jobs.*""",
    ),
}
MADE_WITH = re.compile(r"(?<=\d{4})(; [^\n]+)\.\n")  # what follows the date of a section

COMMANDS = {
    "Models against torch.nn, nanoGPT's formulation and nltk": ["models.py"],
    "GPT training, tokens per second": ["gpt_throughput.py"],
    "SmolLM2 against transformers": ["real_model.py"],
    "SmolLM2 in 32, 16 and 8 bits": ["precision.py"],
    "BPE training against tokenizers": ["bpe_training.py"],
    "How time grows": ["growth.py", "--picture", "docs/benchmarks/growth.png"],
    "A sandboxed student process": ["sandbox.py"],
    "Grading a class against nbgrader autograde": ["grading.py", "--counts", "20", "200"],
    "Grading a class against otter run": ["otter.py"],
    "How grading grows": ["grading_growth.py", "--picture", "docs/benchmarks/grading_growth.png"],
    "The lectures": ["lectures.py"],
    "Marks on a busy machine": ["busy.py"],
    "A class hands in, and its server is killed": ["serving.py", "--minutes", "5", "--kill", "--postgresql"],
    "The slowest places in the tests": ["slowest_tests.py"],
    "The slowest places in the lectures": ["slowest_in_lectures.py"],
    "The slowest places in grading": ["slowest_in_grading.py"],
}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", nargs="+", metavar="SCRIPT", help="some of the scripts, such as models")
    options = parser.parse_args()
    KEPT.mkdir(parents=True, exist_ok=True)
    for title, command in COMMANDS.items():
        name = Path(command[0]).stem
        if options.only is None or name in options.only:
            (KEPT / f"{name}.txt").write_text(section(title, command), encoding="utf-8")
    PAGE.write_text(page(), encoding="utf-8")
    return 0


def page() -> str:
    """The page: its heading, and the section of each script that has been run, also in an earlier session."""
    files = [KEPT / f"{Path(command[0]).stem}.txt" for command in COMMANDS.values()]
    sections = {file.stem: file.read_text(encoding="utf-8") for file in files if file.exists()}
    [(usual, _)] = Counter(MADE_WITH.findall("".join(sections.values()))).most_common(1)
    heading = HEADING.format(machine=usual.removeprefix("; "))
    shown = (_shown(name, text.replace(usual, "", 1)) for name, text in sections.items())
    return "\n".join([heading, *shown])


def _shown(name: str, text: str) -> str:
    """A section with its picture, if it has one, below its first lines."""
    title, command, output = text.split("\n\n", 2)
    return "\n\n".join([title, command, *PICTURES.get(name, ()), output])


def section(title: str, command: list[str]) -> str:
    """Run one script; return its title, command, date, versions and output as Markdown."""
    print(f"--- {title}", flush=True)
    done = subprocess.run(
        [sys.executable, str(HERE / command[0]), *command[1:]],
        cwd=HERE.parent,
        stdout=subprocess.PIPE,
        text=True,
    )
    print(done.stdout, flush=True)
    if done.returncode:
        raise SystemExit(f"{command[0]} failed")
    words = " ".join(["python", f"benchmarks/{command[0]}", *command[1:]])
    lines = "\n".join(f"    {line}".rstrip() for line in done.stdout.strip().splitlines())
    return f"## {title}\n\n`{words}`; {circumstances()}\n\n{lines}\n"


def circumstances() -> str:
    """Date, machine and versions."""
    versions = ", ".join(f"{name} {version(name)}" for name in PACKAGES)
    machine = f"{os.cpu_count()} cores ({platform.machine()}), Python {platform.python_version()}"
    return f"{datetime.date.today():%d %B %Y}; {machine}; {versions}."


if __name__ == "__main__":
    sys.exit(main())
