"""The projects of the benchmark: what was planted is found, and the clean twins raise no alarm."""

import importlib
import sys
from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[3] / "benchmarks"
LEAST = 0.9

pytestmark = pytest.mark.slow


@pytest.fixture
def benchmark(monkeypatch):
    monkeypatch.syspath_prepend(str(FOLDER))
    yield importlib.import_module("evaluators")
    sys.modules.pop("evaluators", None)


@pytest.mark.parametrize(
    "name",
    [
        pytest.param("code-quality", marks=pytest.mark.req("D22")),
        pytest.param("integration", marks=pytest.mark.req("D23")),
        pytest.param("business-logic", marks=pytest.mark.req("D24")),
        pytest.param("blind/business-logic", marks=pytest.mark.req("D24")),
        pytest.param("variants/business-logic", marks=pytest.mark.req("D24")),
    ],
)
def test_nine_of_ten_planted_defects_are_found_and_the_twin_is_clean(benchmark, name):
    project = FOLDER / "evaluators" / name
    planted, _ = benchmark.parted(benchmark.json.loads((project / "defects.json").read_text()))
    assert len(planted) >= 12
    found, _ = benchmark.evaluated(project.name, project, "planted")
    root = project / "planted"
    missed = [each for each in planted if not any(benchmark.is_found(each, *one, root) for one in found)]
    assert len(missed) <= (1 - LEAST) * len(planted), missed
    alarms, _ = benchmark.evaluated(project.name, project, "clean")
    assert [benchmark.told(*one) for one in alarms] == []
