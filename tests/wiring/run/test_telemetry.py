"""V41: spans and metrics by the GenAI names; nothing unless a trusted file asks for it."""

from __future__ import annotations

from pathlib import Path

import pytest
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import InMemoryMetricReader
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from tests.support.builders import short_tdd_run

from flyball.config.home import RepositoryHome
from flyball.core.fold.evolve import evolve
from flyball.wiring.run.telemetry import Spans, telemetry_of

pytestmark = pytest.mark.req("V41")


def test_a_run_is_spans_of_task_stage_turn_and_gate_with_tokens_and_verdicts() -> None:
    kept, reader = InMemorySpanExporter(), InMemoryMetricReader()
    traces = TracerProvider()
    traces.add_span_processor(SimpleSpanProcessor(kept))
    meters = MeterProvider([reader])
    spans, state = Spans(traces.get_tracer("t"), meters.get_meter("t")), None
    for event in short_tdd_run().events:
        state = evolve(state, event)
        assert state is not None
        spans(event, state)
    spans.close()
    found = {span.name: span for span in kept.get_finished_spans()}
    assert {"flyball.task", "stage RED", "stage GREEN", "invoke_agent implementer", "gate gates"} <= set(found)
    turn = found["invoke_agent implementer"]
    assert turn.attributes is not None
    assert turn.attributes["gen_ai.operation.name"] == "invoke_agent"
    assert turn.attributes["gen_ai.usage.input_tokens"] == 1000
    assert turn.parent is not None
    data = reader.get_metrics_data()
    assert data is not None
    names = {metric.name for each in data.resource_metrics for scope in each.scope_metrics for metric in scope.metrics}
    assert {
        "gen_ai.client.token.usage",
        "gen_ai.client.operation.duration",
        "flyball.cost",
        "flyball.verdicts",
    } <= names


def test_it_is_off_by_default_and_without_a_trust_record(tmp_path: Path) -> None:
    (tmp_path / "project" / ".git").mkdir(parents=True)
    root = tmp_path / "project"
    home = RepositoryHome.of(root / ".git", root, tmp_path / "home").prepare()
    with telemetry_of(root, home) as listener:
        assert not isinstance(listener, Spans)
    (root / "flyball.toml").write_text('[telemetry]\notlp = "http://127.0.0.1:9"\n')
    with telemetry_of(root, home) as listener:
        assert not isinstance(listener, Spans)
