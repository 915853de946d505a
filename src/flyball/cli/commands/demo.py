"""`flyball demo`: one whole loop for real on a sample repository, played by the scripted agent."""

from __future__ import annotations

import shlex
import shutil
import sys
import tempfile
import textwrap
import threading
from collections.abc import Iterator, Mapping
from contextlib import suppress
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from flyball.cli.support.exits import BLOCKED, exit_on_refusal
from flyball.cli.support.output import put
from flyball.cli.support.parsing import ANY_DEMO
from flyball.core.loop.workflow import Demo
from flyball.core.model.task import Task, TaskId
from flyball.core.text.quantities import plural
from flyball.core.workflows.registry import DEFAULT, UNUSABLE, WORKFLOWS, workflow_of
from flyball.ports import Refusal

if TYPE_CHECKING:
    from flyball.cli.screen.seat import Seat
    from flyball.projections.history.records import Judgement
    from flyball.wiring.site import Site


def demo(
    keep: Annotated[bool, typer.Option("--keep", help="Keep the sample repository. Default: remove it.")] = False,
    workflow: Annotated[
        str,
        typer.Option(metavar="NAME", help=f"Workflow to show: {ANY_DEMO}. Default: {DEFAULT}."),
    ] = "",
    open_: Annotated[
        bool, typer.Option("--open", help="Also show the demo's page in your browser, until Ctrl-C. Default: no.")
    ] = False,
    as_json: Annotated[
        bool,
        typer.Option("--json", help="Print one JSON event per line, and the status as the last line. Default: text."),
    ] = False,
) -> None:
    """Watch one whole loop: real git, real pytest, real journal, a scripted agent; no key, no network."""
    from flyball.cli.screen.seat import take_seat

    with exit_on_refusal():
        workflow = workflow or DEFAULT
        shown = _demo_of(workflow)
        seat = take_seat(as_json=as_json, lasting=False)
        folder = Path(tempfile.mkdtemp(prefix="flyball-demo-"))
        try:
            code = _play(folder, workflow, shown, seat, keep=keep, open_=open_)
        finally:
            if not keep:
                shutil.rmtree(folder, ignore_errors=True)
        sys.exit(code)


def _demo_of(workflow: str) -> Demo:
    known = {each.name: each.demo for each in WORKFLOWS.values() if each.demo is not None}
    if workflow in UNUSABLE and workflow not in known:
        raise Refusal(f"The workflow {workflow} cannot be used: {UNUSABLE[workflow]}")
    if workflow not in known:
        raise Refusal(f"There is no demo of {workflow!r}; expected one of: {', '.join(known)}")
    return known[workflow]


def _play(folder: Path, workflow: str, shown: Demo, seat: Seat, *, keep: bool, open_: bool) -> int:
    from flyball.cli.sessions import drive

    site = _sample(folder, workflow, shown)
    if open_:
        _open_page(site)
    task = _open_task(site, shown)
    if not seat.as_json:
        put(
            f"A sample project in {site.repository.root}; its task is {shown.source}. The agent is a script, the rest is real."
        )
    code = drive(site, task, attended=False, seat=seat)
    if shown.answer:
        code = _answer(site, task, code, shown.answer, seat)
    if not seat.as_json:
        put("\n".join(_summary(site, task, keep=keep, open_=open_)))
    if open_:
        put("The page stays open; end it with Ctrl-C.")
        with suppress(KeyboardInterrupt):
            threading.Event().wait()
    return code


def _open_page(site: Site) -> None:
    """Show the page of this sample in the browser while the loop runs."""
    import webbrowser

    from flyball.web.access import opening_file
    from flyball.web.serving import Listening, serve_beside

    def show(listening: Listening) -> None:
        put(f"The page of this demo: {listening.link}")
        webbrowser.open(opening_file(site.home.home, listening.link).as_uri())

    serve_beside(site.home.home, show)


def _answer(site: Site, task: TaskId, code: int, answer: str, seat: Seat) -> int:
    """Do what a person would do now, where the task waits for a word of theirs."""
    from flyball.cli.sessions import drive
    from flyball.wiring.tasks.inbox import speak

    stopped = site.state(task).stopped
    if code != BLOCKED or stopped is None or not stopped.question:
        return code
    if not seat.as_json:
        put(f"\nBLOCKED, exit {code}. A person answers here; the demo does it for you:")
        put(f'  flyball answer {task} {stopped.question} "{answer}" && flyball resume {task}\n')
    speak(site, task, "answer", text=answer, question=stopped.question)
    return drive(site, task, attended=False, seat=seat)


def _sample(folder: Path, workflow: str, shown: Demo) -> Site:
    """The project with its history, flyball's own folder beside it, and the script."""
    import yaml

    from flyball.config.home import RepositoryHome
    from flyball.journal.sqlite import SqliteJournal
    from flyball.wiring.site import Site
    from flyball.workspace.repository import Repository
    from flyball.workspace.sandbox import Unavailable, available

    sandbox = "none" if isinstance(available(), Unavailable) else "bwrap"
    own = resources.files(shown.package).joinpath("demo")
    (folder / "script.yaml").write_bytes(own.joinpath("script.yaml").read_bytes())
    root = folder / "basket"
    shared = resources.files("flyball").joinpath("demo")
    samples = [data.joinpath("sample.yaml") for data in (shared, own)]
    files = [yaml.safe_load(sample.read_bytes()) for sample in samples if sample.is_file()]
    for name, text in (entry for each in files for entry in each.items()):
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        filled = text.replace("PYTHON", shlex.quote(sys.executable)).replace("SANDBOX", sandbox)
        path.write_text(filled.replace("WORKFLOW", workflow), encoding="utf-8")
    _commit(root)
    repository = Repository.find(root)
    home = RepositoryHome.of(repository.common_dir, root, home=folder / "home").prepare()
    return Site(repository, home, SqliteJournal.open(home.journal))


def _commit(root: Path) -> None:
    from flyball import process
    from flyball.workspace.git import environment, program

    person = {"NAME": "Demo", "EMAIL": "demo@localhost"}
    names = {f"GIT_{who}_{part}": value for who in ("AUTHOR", "COMMITTER") for part, value in person.items()}
    for words in (("init", "-q", "-b", "main"), ("add", "-A"), ("commit", "-q", "-m", "A basket with a total")):
        done = process.capture([program(), *words], cwd=root, env=environment(names))
        assert done.code == 0, done.stderr


def _open_task(site: Site, shown: Demo) -> TaskId:
    from flyball.config import file as config_file, trust
    from flyball.config.settings import RunFlags, build
    from flyball.documents.source import read_source
    from flyball.documents.track_folder import read_track_source
    from flyball.documents.work_source import read_work_source
    from flyball.wiring.tasks.opening import open_task

    root = site.repository.root
    file = config_file.read(root)
    assert file is not None
    trust.record(site.home, file)
    configured = build(file, RunFlags())
    readers = {"issues": read_work_source, "track": read_track_source, "document": read_source}
    source = readers[WORKFLOWS[configured.workflow].source](root / shown.source, root)
    return open_task(site, configured, source.request, source)


def _summary(site: Site, task: TaskId, *, keep: bool, open_: bool) -> Iterator[str]:
    from flyball.projections.views.report import report

    view = site.view(task)
    made = report(view.state, view.history)
    conditions = {found.stage: found.condition for found in made.verifications}
    yield ""
    yield "What you saw"
    story = workflow_of(view.state.task).story
    facts = (event.fact for event in site.journal.read(task))
    for sentence in story(facts) if story else (_verdict(each, conditions) for each in view.history.judgements):
        yield from _wrap(sentence)
    counted = (plural(made.iterations, "iteration"), plural(made.total.turns, "turn"))
    yield from _wrap(", ".join((*counted, plural(len(view.history.checkpoints), "checkpoint"))))
    yield ""
    yield f"The branch {made.branch}"
    log = site.repository.git().run("log", "--oneline", f"main..{made.branch}").stdout
    yield from (f"  {line}" for line in log.decode("utf-8", "backslashreplace").splitlines())
    yield ""
    yield from _what_is_left(site, view.state.task, keep=keep, open_=open_)


def _verdict(judged: Judgement, conditions: Mapping[str, str]) -> str:
    from flyball.projections.wording import plain

    place = f"{judged.stage} {judged.iteration}:"
    if judged.can_exit:
        return f"{place} verified: {conditions.get(judged.stage, 'its gate held')}."
    if judged.rejected:
        return f"{place} rejected: {plain(judged.missing[0], 120)}. It went back with this finding."
    if judged.false_claim:
        told = "the agent said it was done. The measurement said no, and the agent was told why"
        return f"{place} {told}: {plain(judged.missing[0], 120)}"
    remedy = f" Remedy: {judged.rung}, from the best checkpoint." if judged.rung else ""
    return f"{place} {plain(judged.evidence, 120)}.{remedy}"


def _wrap(text: str) -> list[str]:
    width = min(shutil.get_terminal_size().columns, 100)
    return textwrap.wrap(text, width, initial_indent="  ", subsequent_indent="      ", break_on_hyphens=False)


def _what_is_left(site: Site, shown: Task, *, keep: bool, open_: bool) -> Iterator[str]:
    root, task = site.repository.root, shown.id
    if not keep:
        gone = "is removed when you end this" if open_ else "was removed again"
        same = "" if shown.workflow == DEFAULT else f" --workflow {shown.workflow}"
        yield f"The sample {gone}. To keep it and look around in it:"
        yield f"  flyball demo{same} --keep"
        yield "On your own project:"
        yield '  cd PROJECT && flyball init && flyball run "…"'
        return
    yield f"report: {root / '.loop' / task / 'report.md'}"
    yield f"look around: cd {shlex.quote(str(root))} && export FLYBALL_HOME={shlex.quote(str(site.home.home))}"
    yield f"  flyball report {task}; flyball logs {task}; flyball diff {task}; git log flyball/{task}"
