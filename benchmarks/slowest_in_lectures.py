"""Where the lectures spend their time, by cell and by function: `python benchmarks/slowest_in_lectures.py`.

Every lecture runs from top to bottom, in a process of its own, under Python's profiler.
"""

from __future__ import annotations

import argparse
import cProfile
import json
import os
import pstats
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from hot import ROOT, hottest

LECTURES = ROOT / "lectures"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", help="some of the lectures, such as 03_perplexity")
    parser.add_argument(
        "--into", type=Path, help="run the one lecture here, and keep its profile in this file"
    )
    options = parser.parse_args()
    paths = [LECTURES / f"{name}.ipynb" for name in options.names] or sorted(LECTURES.glob("*.ipynb"))
    if options.into:
        run(paths[0], options.into)
        return
    with tempfile.TemporaryDirectory() as scratch:
        profiles = [apart(path, Path(scratch, path.stem)) for path in paths]
        cells = [
            cell for profile in profiles for cell in json.loads(profile.with_suffix(".json").read_text())
        ]
        stats = pstats.Stats(*map(str, profiles))
    print(f"{len(paths)} lectures in {stats.total_tt:.0f} profiled s; the slowest cells")
    for seconds, lecture, line in sorted(cells, reverse=True)[:10]:
        print(f"{seconds:>8.2f} s  {lecture:<22} {line}")
    print("the functions with most time of their own")
    print("\n".join(hottest(stats)))


def apart(path: Path, profile: Path) -> Path:
    """Run a lecture in a process of its own; return the file with its profile."""
    environment = os.environ | {"OMP_NUM_THREADS": "1", "MPLBACKEND": "agg"}
    subprocess.run(
        [sys.executable, __file__, path.stem, "--into", profile],
        check=True,
        cwd=path.parent,
        env=environment,
        stdout=subprocess.DEVNULL,
    )
    return profile


def run(path: Path, into: Path) -> None:
    """Run a lecture's cells under the profiler; write the seconds and first line of each to INTO.json."""
    from IPython.core.interactiveshell import InteractiveShell

    shell, profile, seconds = InteractiveShell.instance(), cProfile.Profile(), []
    for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]:
        source = "".join(cell["source"])
        if cell["cell_type"] != "code":
            continue
        began = time.perf_counter()
        profile.enable()
        shell.run_cell(source).raise_error()
        profile.disable()
        seconds.append((time.perf_counter() - began, path.stem, first_line(source)))
    profile.dump_stats(into)
    into.with_suffix(".json").write_text(json.dumps(seconds))


def first_line(source: str) -> str:
    """The first line that says what a cell does, or else its first line."""
    lines = [line for line in source.splitlines() if line.strip() and not line.startswith("#")]
    doing = (line for line in lines if not line.startswith(("import ", "from ")))
    return next(doing, lines[0])[:60]


if __name__ == "__main__":
    main()
