"""Programs that tests start and that no package index pins: is this the version that the page states?"""

import re
import subprocess
import warnings
from pathlib import Path

PAGE = Path(__file__).parents[2] / "site" / "tried_with.md"


def compare(name, *command):
    """Warn if the program that prints its version here has another than `site/tried_with.md` states."""
    said = re.search(rf"\b{name} (\d[\d.]*\d|\d)", PAGE.read_text())[1]
    printed = subprocess.run([*command, "--version"], capture_output=True, text=True, check=True).stdout
    here = re.search(r"\d+(\.\d+)*", printed)[0]
    if f"{here}.".startswith(f"{said}."):
        return
    warnings.warn(f"{name} is {here} here, and {said} in site/{PAGE.name}", stacklevel=2)
