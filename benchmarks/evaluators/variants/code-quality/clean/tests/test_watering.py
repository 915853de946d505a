import pytest

from garden.plants import Plant
from garden.watering import ValveStuck, empty, log_rounds, refuse, safely, strongest, water, water_all
from garden.weather import Weather

FERN, MOSS = Plant("fern"), Plant("moss", 0.5)


def stuck(_):
    raise OSError("stuck")


def test_watering(tmp_path):
    assert Weather(4).walks([FERN, MOSS]) == 1
    with pytest.raises(ValveStuck):
        water(FERN, stuck)
    assert water_all([FERN], stuck) == ["fern"]
    assert log_rounds(tmp_path / "none") == ""
    assert strongest([MOSS, FERN]) == "fern"
    assert list(empty()) == []
    assert safely(lambda: None)
    assert not safely(lambda: refuse("no"))
