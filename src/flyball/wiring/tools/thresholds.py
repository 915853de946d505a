"""When the monitor's signals count, as a folder's configuration says."""

from pathlib import Path

from flyball.config import file as config_file
from flyball.core.health.monitor import Thresholds


def thresholds_in(folder: Path) -> Thresholds:
    """Those of the folder's configuration, which here needs no trust: the monitor only advises."""
    file = config_file.read(folder)
    return Thresholds(**file.monitor) if file else Thresholds()
