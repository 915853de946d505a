from pathlib import Path

import pytest

from apiary.cli import main
from apiary.harvest import frames_to_take, surplus
from apiary.hives import Hive
from apiary.weights import calibration, forget, latest, readings

HIVE = Hive(1, 10, 18.0)


@pytest.mark.parametrize(("kg", "spare", "frames"), [(20.0, 0.0, 0), (44.0, 11.0, 5), (99.0, 66.0, 10)])
def test_the_winter_store_stays(kg: float, spare: float, frames: int) -> None:
    assert surplus(HIVE, kg) == spare
    assert frames_to_take(HIVE, kg) == frames


def test_a_broken_line_is_left_out() -> None:
    found = list(readings(["2026-08-01,1,44.0", "nonsense", "2026-08-02,1,45.0"]))
    last = latest(found, 1)
    assert len(found) == 2
    assert last.kg == 45.0
    assert latest(found, 9) is None


def test_files_that_are_not_there(tmp_path: Path) -> None:
    assert calibration(tmp_path / "none") == 0.0
    (tmp_path / "offset").write_text("0.4")
    assert calibration(tmp_path / "offset") == 0.4
    forget(tmp_path / "offset")
    forget(tmp_path / "offset")


def test_the_report(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    scales = tmp_path / "scales.csv"
    scales.write_text("2026-08-01,1,44.0\n")
    assert main([str(scales)]) == 0
    assert "hive 1: 11.0 kg, 5 frames\n" in capsys.readouterr().out
    assert main([]) == 2
