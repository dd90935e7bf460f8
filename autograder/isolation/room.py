"""The files that a submission may see: the interpreter, its packages, the course, and nothing else."""

import contextlib
import json
import os
import pwd
import sys
import sysconfig
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from functools import cache
from importlib.util import find_spec
from pathlib import Path

from autograder.isolation.exchange import exchanges
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
# These contain other people's files: nbgrader's exchange, home directories.
PRIVATE = tuple(map(Path, ("/usr/local/share", "/usr/local/home", "/usr/home")))
OPEN_TO_ALL, DEEPEST = 0o002, 6
FIRST_PERSON = 1000  # smaller user ids belong to services
DEVICES = tuple(map(Path, ("/dev/null", "/dev/random", "/dev/urandom")))
FACTS = tuple(map(Path, ("/proc/cpuinfo", "/proc/meminfo", "/sys/devices/system/cpu")))
ITSELF = Path("/proc/self")
OF_THE_MACHINE = {"net", "task", "mounts", "mountinfo", "mountstats"}  # a task shows all connections, too


@dataclass(frozen=True)
class Room:
    """A view of the file system: visible paths, which are read-only, and hidden paths beneath them."""

    visible: tuple[Path, ...]
    hidden: tuple[Path, ...] = ()
    packages: tuple[Path, ...] = ()  # which must be readable
    data: Path | None = None  # the cache of corpora, where there is one

    def as_text(self) -> str:
        return json.dumps(asdict(self), default=str)

    @classmethod
    def from_text(cls, text: str) -> "Room":
        fields = json.loads(text)
        data = fields.pop("data")
        paths = {name: tuple(map(Path, some)) for name, some in fields.items()}
        return cls(**paths, data=data and Path(data))

    def steps(self) -> Iterator[tuple[Path, bool]]:
        """Each path and whether it is visible, every path after those that contain it."""
        steps = [(path, True) for path in self.visible] + [(path, False) for path in self.hidden]
        return iter(sorted(steps, key=lambda step: (len(step[0].parts), not step[1], step[0])))


def python_paths() -> set[Path]:
    """The directories of this interpreter and its packages, under all their names."""
    prefixes = {Path(place) for place in (sys.prefix, sys.base_prefix) if Path(place).is_dir()}
    return prefixes | {path.resolve() for path in prefixes} | module_paths()


def module_paths() -> set[Path]:
    """The directories in which Python looks for modules, under all their names."""
    places = {sysconfig.get_paths()[name] for name in ("stdlib", "purelib", "platlib")}
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
    """The file-system view of every submission on this machine."""
    course, grader, data = package_path("course"), package_path("autograder"), cache_folder()
    checkout = {grader.parent} if (grader.parent / "solutions").is_dir() else set()
    wanted = python_paths() | {course, *SYSTEM} | ({data} if data.is_dir() else set())
    needed = wanted | {Path(sys.executable).parent, Path(sys.executable).resolve().parent}
    private = {path for path in private_places(wanted) if not any(within(place, path) for place in needed)}
    closed = {grader, *checkout} | private
    hidden = {path for path in closed if any(within(path, place) for place in wanted)}
    visible = {path for path in wanted if path in outermost(wanted) or any(within(path, h) for h in hidden)}
    return Room(
        visible=tuple(sorted(visible)),
        hidden=tuple(sorted(hidden)),
        packages=(*sorted(python_paths()), course, package_path("torch")),
        data=data if data.is_dir() else None,
    )


def private_places(wanted: Iterable[Path]) -> set[Path]:
    """Directories that may hold other people's files: the current one, homes, and those open to all.

    nbgrader's exchange is such a folder, wherever it is; where settings name it, it is found at any depth.
    """
    homes = {Path(entry.pw_dir) for entry in pwd.getpwall() if entry.pw_uid >= FIRST_PERSON}
    places = {Path.cwd(), *PRIVATE, *homes, *exchanges(), *open_to_all(frozenset(wanted))}
    return {place.resolve() for place in places if place.is_dir()}


@cache
def open_to_all(places: frozenset[Path]) -> list[Path]:
    """The directories not far below these that everyone may write to, without those inside another one.

    The directories of modules are left out: they hold thousands, and none of a person. A process looks once.
    """
    modules = {str(path) for path in module_paths()}
    waiting = [(str(place), 0) for place in sorted(places) if place.is_dir() and not place.is_symlink()]
    found, seen = [], set()
    while waiting:
        directory, depth = waiting.pop()
        if directory in modules or directory in seen:
            continue
        seen.add(directory)
        with contextlib.suppress(OSError), os.scandir(directory) as entries:
            for entry in entries:
                if entry.is_dir(follow_symlinks=False):
                    if entry.stat(follow_symlinks=False).st_mode & OPEN_TO_ALL:
                        found.append(Path(entry.path))
                    elif depth < DEEPEST:
                        waiting.append((entry.path, depth + 1))
    return found


def what_a_submission_sees(room: Room) -> list[str]:
    """What a submission may read on this machine, and what else it can find out, one line each."""
    lines = []
    for path in room.visible:
        within_it = [str(hidden) for hidden in room.hidden if within(hidden, path)]
        lines.append(f"{path}, to read" + (f", without {', '.join(within_it)}" if within_it else ""))
    lines.append(f"of the current directory, {Path.cwd()}, nothing, unless Python or a package is in it")
    settings = [path.name for path in SETTINGS if path.exists()]
    lines.append(
        f"of /etc only {', '.join(settings)}; facts about the processor, its own processes and memory"
    )
    lines.append("its own directory, to write; it is removed with the submission")
    lines.append(
        "with landlock also the following, for any path that it can name: whether the path exists, its size, "
        "owner and times, and where a link leads"
    )
    if os.geteuid() != 0:
        lines.append("with landlock all submissions run as this user and share the user's limit on processes")
    return lines


def outermost(paths: set[Path]) -> set[Path]:
    """The paths that are not inside another one."""
    return {path for path in paths if not any(within(path, other) for other in paths if other != path)}


def within(path: Path, place: Path) -> bool:
    """Whether a path is this place or lies beneath it."""
    return path == place or place in path.parents


def facts() -> list[Path]:
    """Files about the processor, the memory and the process itself, without those about the network."""
    # without links: a rule would apply to a link's target
    own = (entry for entry in ITSELF.iterdir() if not entry.is_symlink())
    return [*FACTS, *(entry for entry in own if entry.name not in OF_THE_MACHINE)]


def allow_list(room: Room) -> tuple[list[Path], list[Path]]:
    """The view as Landlock needs it, which can allow but not hide: paths to read, and paths only to list.

    Whoever may list a directory may list all directories below it, hidden ones too. So only the directories
    of modules may be listed, because Python cannot import otherwise.
    """
    readable: list[Path] = []
    listable: list[Path] = []
    for path in room.visible:
        open_up(path, room, readable, listable)
    return readable, listable


def open_up(path: Path, room: Room, readable: list[Path], listable: list[Path]) -> None:
    """Allow a path; where something in it is hidden, allow its other children one by one."""
    if path in room.hidden:
        return
    if not any(within(hidden, path) for hidden in room.hidden):
        readable.append(path)
        return
    if path in module_paths():
        listable.append(path)
    for child in path.iterdir():
        if not child.is_symlink():  # a rule would apply to the link's target
            open_up(child, room, readable, listable)
