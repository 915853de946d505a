"""The folder of a track as what a task starts from: its documents change as it is worked, so none of them is remembered."""

from __future__ import annotations

from pathlib import Path

from flyball.core.model.task import Source
from flyball.documents.errors import SourceUnreadable
from flyball.documents.source import SourceDocument, place_below
from flyball.documents.track_folder import read_track

SPECIFICATION, METADATA = "spec.md", "metadata.json"


def is_track_folder(path: Path) -> bool:
    """Whether a path is a folder that holds a specification, or the metadata of a track below `tracks/`."""
    if not path.is_dir():
        return False
    return (path / SPECIFICATION).is_file() or (path.parent.name == "tracks" and (path / METADATA).is_file())


def read_track_source(path: Path, root: Path) -> SourceDocument:
    """The track at `path`, if it has a specification to work to and lies in the repository."""
    if not is_track_folder(path):
        raise SourceUnreadable(
            f"{path} is not a track; expected a folder with {SPECIFICATION}, like conductor/tracks/NAME."
        )
    place = place_below(path, root)
    if Path(place).is_absolute():
        raise SourceUnreadable(f"{path} lies outside the repository; expected a track below {root}.")
    track = read_track(place, root)
    if not track.spec.strip():
        raise SourceUnreadable(f"{path / SPECIFICATION} is missing or empty; expected what the track is to do.")
    name = str(track.metadata.get("name") or track.folder)
    return SourceDocument(Source(place, ""), "", name, f"Work the track {name}", living=True)
