"""`GET /metrics`: the tasks of this machine as Prometheus reads them."""

from collections.abc import Callable, Iterator

from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response

from flyball.projections.pages.summary import Summary
from flyball.web.frame import sites_of

KIND = "text/plain; version=0.0.4; charset=utf-8"


def metrics(request: Request) -> Response:
    return PlainTextResponse("\n".join([*exposition(list(sites_of(request).summaries())), ""]), media_type=KIND)


def exposition(tasks: list[Summary]) -> Iterator[str]:
    """The text format: a help, a type, and one line for each task."""
    rows: dict[str, tuple[str, str, Callable[[Summary], float | None]]] = {
        "flyball_task_info": ("gauge", "State of a task, as a label.", lambda _t: 1),
        "flyball_task_turns_total": ("counter", "Turns a task took.", lambda t: t.status.turns),
        "flyball_task_iterations_total": ("counter", "Iterations that were judged.", lambda t: t.status.iterations),
        "flyball_task_false_claims_total": (
            "counter",
            "Claims of an end that the gate refused.",
            lambda t: t.status.false_claims,
        ),
        "flyball_task_input_tokens_total": ("counter", "Tokens agents read.", lambda t: t.status.usage.input_tokens),
        "flyball_task_output_tokens_total": ("counter", "Tokens agents wrote.", lambda t: t.status.usage.output_tokens),
        "flyball_task_known_usd_total": ("counter", "Money known to be spent.", lambda t: t.status.usage.known_usd),
        "flyball_task_failing_tests": ("gauge", "Tests that failed when last measured.", lambda t: t.failing),
        "flyball_task_open_questions": (
            "gauge",
            "Questions that wait for a person.",
            lambda t: len(t.status.questions),
        ),
    }
    for name, (kind, meaning, value) in rows.items():
        yield f"# HELP {name} {meaning}"
        yield f"# TYPE {name} {kind}"
        for task in tasks:
            number = value(task)
            if number is not None:
                state = f',state="{task.word}"' if name.endswith("_info") else ""
                yield f'{name}{{repository="{_label(task.place.name)}",task="{_label(task.task)}",workflow="{_label(task.workflow)}"{state}}} {number}'


def _label(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
