"""Which tests a run of pytest skipped beyond those that may be: `python .ci/skips.py root tests.log`.

tests.log: what `pytest -rs` printed. `.ci/skips-WHO.txt` has a line `COUNT FILE: REASON` for what may be.
Ends with an error if more is skipped, for whatever reason, or if nothing was tested at all.
"""

import re
import sys
from collections import Counter
from pathlib import Path

SKIPPED = re.compile(r"^SKIPPED \[(\d+)\] (\S+?):(?:\d+:)? (.*)$", re.MULTILINE)
ALLOWED = re.compile(r"^(\d+) (\S+): (.*)$", re.MULTILINE)


def counted(pattern: re.Pattern[str], text: str) -> Counter[tuple[str, str]]:
    """(file, reason) → how many tests."""
    found: Counter[tuple[str, str]] = Counter()
    for count, file, reason in pattern.findall(text):
        found[file, reason] += int(count)
    return found


def main(who: str, log: str) -> int:
    text = Path(log).read_text()
    allowed = counted(ALLOWED, Path(__file__).with_name(f"skips-{who}.txt").read_text())
    skipped = counted(SKIPPED, text)
    more = skipped - allowed
    for (file, reason), count in sorted(more.items()):
        print(f"{count} skipped beyond the {allowed[file, reason]} that may be: {file}: {reason}")
    if not (passed := re.search(r"\d+ passed", text)):
        print("nothing was tested")
    print(f"{sum(skipped.values())} skipped, of {sum(allowed.values())} that may be")
    return int(bool(more) or not passed)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
