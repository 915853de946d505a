"""Reads the folder of a track: its metadata and its specification. It writes nothing."""

from __future__ import annotations

from pathlib import Path

import msgspec

from flyball.documents.errors import TrackUnreadable
from flyball.documents.source import read_bytes, read_text

TRACKS = Path("conductor") / "tracks"


class Track(msgspec.Struct, frozen=True):
    """A track as its files say."""

    folder: str
    metadata: dict[str, object]
    spec: str


def read_track(name: str, root: Path) -> Track:
    """The track in a folder, or the one of that id below `conductor/tracks/`."""
    folder = next((each for each in (root / name, root / TRACKS / name) if each.is_dir()), None)
    if folder is None:
        raise TrackUnreadable(
            f"There is no track {name!r}: expected a folder with spec.md and metadata.json, or the name of one below {TRACKS}/."
        )
    spec, metadata = folder / "spec.md", folder / "metadata.json"
    if not spec.is_file() and not metadata.is_file():
        raise TrackUnreadable(f"{folder} has neither spec.md nor metadata.json; expected the folder of a track.")
    return Track(folder.name, _metadata(metadata), read_text(spec, read_bytes(spec)) if spec.is_file() else "")


def _metadata(path: Path) -> dict[str, object]:
    if not path.is_file():
        return {}
    raw = read_bytes(path)
    try:
        return msgspec.json.decode(raw, type=dict[str, object])
    except (msgspec.DecodeError, RecursionError) as error:
        raise TrackUnreadable(f"{path} is not a JSON object ({error}); fix it and run the command again.") from error
