"""The folder of a track: read leniently, its metadata changed by the smallest edit under the lock its other writers use."""

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import msgspec

from flyball.core.model.task import Source
from flyball.core.text.json_edits import NotAnObject, with_values
from flyball.core.text.quantities import first_few
from flyball.documents.errors import DocumentError
from flyball.documents.kept_files import KeptFolder
from flyball.documents.shared_lock import Tell, hold_lock, tell_nobody
from flyball.documents.source import SourceDocument, place_below, read_bytes, read_text

TRACKS = Path("conductor") / "tracks"
SPECIFICATION, METADATA = "spec.md", "metadata.json"
LOCK, STALE_S = ".metadata.lock", 600.0
"""The lock of all who write the metadata, as its other writers make it; one that old was left by a program that is gone."""


class Track(msgspec.Struct, frozen=True):
    """A track as its files say; `path` is its folder, `product` what product.md says, and `product_path` where it lies."""

    folder: str
    metadata: dict[str, object]
    spec: str
    path: Path = Path()
    plan: str | None = None
    product: str = ""
    product_path: Path | None = None


def read_track(name: str, root: Path) -> Track:
    """The track in a folder, or the one of that id below `conductor/tracks/`, here or in a folder around this one."""
    above = [place / TRACKS for place in _up(root)]
    folder = next((each for each in (root / name, *(place / name for place in above)) if each.is_dir()), None)
    if folder is None or not name.strip():
        there = sorted(each.name for place in above if place.is_dir() for each in place.iterdir() if each.is_dir())
        told = f" There are: {first_few(there, 8)}." if there else ""
        raise DocumentError(
            f"There is no track {name!r}: expected a folder with spec.md or metadata.json, or the name of one below {TRACKS}/.{told}"
        )
    spec, metadata = folder / SPECIFICATION, folder / METADATA
    if not spec.is_file() and not metadata.is_file():
        raise DocumentError(f"{folder} has neither spec.md nor metadata.json; expected the folder of a track.")
    product = _product(folder.resolve())
    return Track(
        folder.resolve().name,
        _parse_metadata(metadata, read_bytes(metadata)) if metadata.is_file() else {},
        _text(spec),
        folder.resolve(),
        _text(folder / "plan.md") if (folder / "plan.md").is_file() else None,
        _text(product) if product else "",
        product,
    )


def _text(path: Path) -> str:
    """What a page says; an empty one is none."""
    raw = read_bytes(path) if path.is_file() else b""
    return read_text(path, raw) if raw.removeprefix(b"\xef\xbb\xbf").strip() else ""


def _product(folder: Path) -> Path | None:
    """The nearest product.md: the track's own, its `conductor` folder's, or the repository's."""
    for place in _up(folder):
        for path in (place / "product.md", place / "conductor" / "product.md"):
            if path.is_file():
                return path
    return None


def _up(folder: Path) -> Iterator[Path]:
    """A folder and those around it, as far as the repository reaches."""
    for place in (folder.resolve(), *folder.resolve().parents):
        yield place
        if (place / ".git").exists():
            return


def _parse_metadata(path: Path, raw: bytes) -> dict[str, object]:
    try:
        return msgspec.json.decode(raw.removeprefix(b"\xef\xbb\xbf"), type=dict[str, object])
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise DocumentError(f"{path} is not a JSON object ({error}); fix it and run the command again.") from error


def update_metadata(
    folder: Path,
    values: Callable[[Mapping[str, object]], Mapping[str, Any]],
    *,
    tell: Tell = tell_nobody,
    is_over: Callable[[], bool] = lambda: False,
) -> None:
    """Set values in the metadata as it is now; what anybody else writes meanwhile is kept and edited in its turn."""
    path = folder / METADATA

    def change(raw: bytes | None) -> bytes:
        text = (raw or b"{}\n").decode("utf-8")
        try:
            return with_values(text, values(_parse_metadata(path, text.encode()))).encode("utf-8")
        except NotAnObject as error:
            raise DocumentError(
                f"{path}: {error}; expected an object there. Fix it and run the command again."
            ) from error

    lock = hold_lock(folder / LOCK, Path.mkdir, stale_s=STALE_S, tell=tell, is_over=is_over)
    with lock, KeptFolder.below(folder) as kept:
        kept.edit(METADATA, change)


def write_page(folder: Path, name: str, text: str) -> None:
    with KeptFolder.below(folder) as kept:
        kept.edit(name, lambda _: text.encode("utf-8"))


def is_track_folder(path: Path) -> bool:
    """Whether a path is a folder that holds a specification, or the metadata of a track below `tracks/`."""
    if not path.is_dir():
        return False
    return (path / SPECIFICATION).is_file() or (path.parent.name == "tracks" and (path / METADATA).is_file())


def read_track_source(path: Path, root: Path) -> SourceDocument:
    """The track at `path`, if it has a specification to work to and lies in the repository.

    Its documents change as it is worked, so none of them is remembered.
    """
    if not is_track_folder(path):
        raise DocumentError(
            f"{path} is not a track; expected a folder with {SPECIFICATION}, like conductor/tracks/NAME."
        )
    place = place_below(path, root)
    if Path(place).is_absolute():
        raise DocumentError(f"{path} lies outside the repository; expected a track below {root}.")
    track = read_track(place, root)
    if not track.spec.strip():
        raise DocumentError(f"{path / SPECIFICATION} is missing or empty; expected what the track is to do.")
    name = str(track.metadata.get("name") or track.folder)
    return SourceDocument(Source(place, ""), "", name, f"Work the track {name}", living=True)
