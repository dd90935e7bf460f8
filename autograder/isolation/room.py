"""What a submission may see of this machine: the interpreter, its packages, the course, and nothing else."""

import sys
import sysconfig
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from course.data.download import cache_folder

SYSTEM = tuple(map(Path, ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64")))
SETTINGS = tuple(
    Path("/etc", name)
    for name in (
        "ld.so.cache",
        "ld.so.conf",
        "ld.so.conf.d",
        "alternatives",
        "fonts",
        "localtime",
        "mime.types",
    )
)
DEVICES = tuple(map(Path, ("/dev/null", "/dev/random", "/dev/urandom")))
FACTS = tuple(map(Path, ("/proc/self", "/proc/cpuinfo", "/proc/meminfo", "/sys/devices/system/cpu")))


@dataclass(frozen=True)
class Room:
    """Paths to be seen read-only, paths beneath them that stay hidden, and what to look for in it."""

    visible: tuple[Path, ...]
    hidden: tuple[Path, ...] = ()
    packages: tuple[Path, ...] = ()  # that must be readable
    data: Path | None = None  # the cache of corpora, where there is one

    def steps(self) -> Iterator[tuple[Path, bool]]:
        """Each path and whether it is to be seen, every path after the ones that contain it."""
        steps = [(path, True) for path in self.visible] + [(path, False) for path in self.hidden]
        return iter(sorted(steps, key=lambda step: (len(step[0].parts), not step[1], step[0])))


def python_paths() -> set[Path]:
    """Where this interpreter and its packages lie, by every name they go by."""
    places = {sys.prefix, sys.base_prefix}
    places |= {sysconfig.get_paths()[name] for name in ("stdlib", "purelib", "platlib")}
    places |= {place for place in sys.path if Path(place).name in ("site-packages", "dist-packages")}
    paths = {Path(place) for place in places if Path(place).is_dir()}
    return paths | {path.resolve() for path in paths}


def package_path(name: str) -> Path:
    """The directory of an importable package."""
    spec = find_spec(name)
    if spec is None or not spec.submodule_search_locations:
        raise ModuleNotFoundError(f"the package {name} cannot be found")
    return Path(spec.submodule_search_locations[0]).resolve()


def student_room() -> Room:
    """The room of every submission on this machine."""
    course, grader, data = package_path("course"), package_path("autograder"), cache_folder()
    checkout = {grader.parent} if (grader.parent / "solutions").is_dir() else set()
    wanted = python_paths() | {course, *SYSTEM} | ({data} if data.is_dir() else set())
    hidden = {path for path in {grader, *checkout} if any(within(path, place) for place in wanted)}
    visible = {path for path in wanted if path in outermost(wanted) or any(within(path, h) for h in hidden)}
    return Room(
        visible=tuple(sorted(visible)),
        hidden=tuple(sorted(hidden)),
        packages=(*sorted(python_paths()), course, package_path("torch")),
        data=data if data.is_dir() else None,
    )


def outermost(paths: set[Path]) -> set[Path]:
    """The paths that lie within no other."""
    return {path for path in paths if not any(within(path, other) for other in paths if other != path)}


def within(path: Path, place: Path) -> bool:
    """Whether a path is a place or lies beneath it."""
    return path == place or place in path.parents


def allow_list(room: Room) -> tuple[list[Path], list[Path]]:
    """The room as Landlock needs it, which can allow but not hide: what may be read, and what only listed."""
    readable, listable = [], []
    for path in room.visible:
        open_up(path, room, readable, listable)
    return readable, listable


def open_up(path: Path, room: Room, readable: list[Path], listable: list[Path]) -> None:
    """Allow a path; where something in it is hidden, list it and allow its other children one by one."""
    if path in room.hidden:
        return
    if not any(within(hidden, path) for hidden in room.hidden):
        readable.append(path)
        return
    listable.append(path)
    for child in path.iterdir():
        open_up(child, room, readable, listable)
