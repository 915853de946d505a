"""Run in a process of its own by test_purity: calls every exercise of the files named and prints the I/O that happened.

An exercise is a function without arguments whose name begins with `exercise_`. Every module of the pure rooms is imported
first; from then on each audit event that means I/O is printed as `exercise event`, except where the import machinery is
at work. An audit hook cannot be removed, hence the process of its own.
"""

import importlib
import importlib.util
import pkgutil
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import FrameType

sys.path.insert(0, str(Path(__file__).parents[2]))  # exercises import from `tests`

PURE_ROOMS = ("flyball.core", "flyball.projections")
IO_EVENTS = tuple(
    """
    open os. socket. subprocess. shutil. sqlite3. tempfile. glob. pathlib. fcntl. signal. time.sleep urllib. http. pty.
    resource. mmap. ctypes. builtins.input
    """.split()
)


def import_rooms() -> int:
    count = 0
    for room in PURE_ROOMS:
        if importlib.util.find_spec(room) is None:
            continue
        package = importlib.import_module(room)
        for found in pkgutil.walk_packages(package.__path__, f"{room}."):
            importlib.import_module(found.name)
            count += 1
    return count


def exercises(path: Path) -> Iterator[tuple[str, Callable[[], object]]]:
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    for name, value in vars(module).items():
        if name.startswith("exercise_"):
            yield name, value


def importing() -> bool:
    frame: FrameType | None = sys._getframe(2)
    while frame is not None and not frame.f_code.co_filename.startswith("<frozen importlib"):
        frame = frame.f_back
    return frame is not None


def main() -> None:
    modules = import_rooms()
    calls = [pair for name in sys.argv[1:] for pair in exercises(Path(name))]
    seen: list[str] = []
    running = ""

    def hook(event: str, _arguments: object) -> None:
        if running and event.startswith(IO_EVENTS) and not importing():
            seen.append(f"{running} {event}")

    sys.addaudithook(hook)
    for name, call in calls:
        running = name
        call()
        running = ""
    print(f"modules {modules}")
    print(f"exercises {len(calls)}")
    print("\n".join(seen))


main()
