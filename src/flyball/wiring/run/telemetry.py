"""Spans and metrics of a run over OTLP, by the names of the GenAI conventions; off unless a trusted file names an endpoint."""

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from flyball import __version__
from flyball.config import file as config_file, trust
from flyball.config.home import RepositoryHome
from flyball.core.model.effects import Measure, RunAgent
from flyball.core.model.events import Begun, Ended, Event, Judged, Moved, TaskStopped
from flyball.core.model.outcomes import Measured, TurnEnded
from flyball.core.model.state import State
from flyball.engine.driver import Listener
from flyball.ports import Refusal


@contextmanager
def telemetry_of(root: Path, home: RepositoryHome) -> Iterator[Listener]:
    endpoint = ""
    with suppress(Refusal):
        file = config_file.read(root)
        if file is not None and file.telemetry.otlp and trust.is_trusted(home, file):
            endpoint = file.telemetry.otlp
    if not endpoint or find_spec("opentelemetry") is None:
        yield lambda _event, _state: None
        return
    tracer, meters, close = _exporting(endpoint)
    spans = Spans(tracer, meters)
    try:
        yield spans
    finally:
        with suppress(Exception):
            spans.close()
            close()


def _exporting(endpoint: str) -> tuple[Any, Any, Any]:
    from opentelemetry.exporter.otlp.proto.http.metric_exporter import OTLPMetricExporter  # noqa: PLC0415 - an extra
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter  # noqa: PLC0415 - an extra
    from opentelemetry.sdk.metrics import MeterProvider  # noqa: PLC0415 - an extra
    from opentelemetry.sdk.metrics.export import PeriodicExportingMetricReader  # noqa: PLC0415 - an extra
    from opentelemetry.sdk.resources import Resource  # noqa: PLC0415 - an extra
    from opentelemetry.sdk.trace import TracerProvider  # noqa: PLC0415 - an extra
    from opentelemetry.sdk.trace.export import BatchSpanProcessor  # noqa: PLC0415 - an extra

    resource = Resource.create({"service.name": "flyball", "service.version": __version__})
    base = endpoint.rstrip("/")
    traces = TracerProvider(resource=resource)
    traces.add_span_processor(BatchSpanProcessor(OTLPSpanExporter(f"{base}/v1/traces", timeout=5)))
    reader = PeriodicExportingMetricReader(OTLPMetricExporter(f"{base}/v1/metrics", timeout=5))
    meters = MeterProvider([reader], resource=resource)

    def close() -> None:
        traces.shutdown()
        meters.shutdown()

    return traces.get_tracer("flyball"), meters.get_meter("flyball"), close


class Spans:
    """Facts as spans: the task, its stages, and within them turns and gates; a failure here never reaches the work."""

    def __init__(self, tracer: Any, meter: Any) -> None:
        self._tracer = tracer
        self._open: dict[str, Any] = {}
        self._task: Any = None
        self._stages: dict[str, Any] = {}
        self._tokens = meter.create_histogram("gen_ai.client.token.usage", unit="{token}")
        self._seconds = meter.create_histogram("gen_ai.client.operation.duration", unit="s")
        self._money = meter.create_counter("flyball.cost", unit="USD")
        self._verdicts = meter.create_counter("flyball.verdicts")

    def __call__(self, event: Event, state: State) -> None:
        with suppress(Exception):
            self._take(event, state)

    def _take(self, event: Event, state: State) -> None:
        at = int(event.at.timestamp() * 1e9)
        if self._task is None:
            names = {"flyball.task": state.task.id, "flyball.workflow": state.task.workflow}
            self._task = self._tracer.start_span("flyball.task", start_time=at, attributes=names)
        match event.fact:
            case Begun(effect=RunAgent() | Measure() as effect):
                self._begin(effect, state, at)
            case Ended() as ended if ended.id in self._open:
                self._end(ended, at)
            case Judged() as judged:
                told = {"flyball.stage": judged.stage, "flyball.health": str(judged.verdict.health)}
                self._verdicts.add(1, {**told, "flyball.false_claim": judged.false_claim})
            case Moved() as moved if moved.lane in self._stages:
                span = self._stages.pop(moved.lane)
                span.set_attribute("flyball.forced", moved.forced)
                span.end(at)
            case TaskStopped() as stopped:
                self._task.set_attributes({"flyball.stopped": stopped.kind, "flyball.decision": state.decision})

    def _begin(self, effect: RunAgent | Measure, state: State, at: int) -> None:
        lane = effect.lane
        if lane not in self._stages:
            stage = state.lanes[lane].stage if lane in state.lanes else state.main.stage
            told = {"flyball.stage": stage, "flyball.lane": lane}
            self._stages[lane] = self._span(f"stage {stage}", self._task, at, told)
        if isinstance(effect, Measure):
            name = f"gate {effect.kind}"
            attributes: dict[str, Any] = {"flyball.gate": effect.kind, "flyball.candidate": effect.candidate}
        else:
            name = f"invoke_agent {effect.role}"
            attributes = {
                "gen_ai.operation.name": "invoke_agent",
                "gen_ai.provider.name": effect.agent,
                "gen_ai.agent.name": effect.role,
                "gen_ai.request.model": effect.model,
                "flyball.turn": str(effect.turn),
                "flyball.item": effect.item,
            }
        self._open[effect.id] = self._span(name, self._stages[lane], at, attributes)

    def _span(self, name: str, parent: Any, at: int, attributes: dict[str, Any]) -> Any:
        from opentelemetry.trace import set_span_in_context  # noqa: PLC0415 - an extra

        return self._tracer.start_span(name, set_span_in_context(parent), start_time=at, attributes=attributes)

    def _end(self, ended: Ended, at: int) -> None:
        span = self._open.pop(ended.id)
        outcome = ended.outcome
        if isinstance(outcome, TurnEnded):
            usage = outcome.usage
            model = {"gen_ai.operation.name": "invoke_agent", "gen_ai.response.model": outcome.model}
            self._tokens.record(usage.input_tokens, {**model, "gen_ai.token.type": "input"})
            self._tokens.record(usage.output_tokens, {**model, "gen_ai.token.type": "output"})
            self._seconds.record(outcome.seconds, model)
            self._money.add(usage.usd or 0.0, model)
            used = {"gen_ai.usage.input_tokens": usage.input_tokens, "gen_ai.usage.output_tokens": usage.output_tokens}
            told = {"gen_ai.response.model": outcome.model, "gen_ai.conversation.id": outcome.session}
            span.set_attributes({**used, **told, "flyball.outcome": outcome.kind})
        elif isinstance(outcome, Measured):
            counts = outcome.measurement.counts
            span.set_attributes({"flyball.tests.passed": counts.passing, "flyball.tests.failed": counts.failing})
        span.end(at)

    def close(self) -> None:
        for span in (*self._open.values(), *self._stages.values(), *filter(None, (self._task,))):
            span.end()
