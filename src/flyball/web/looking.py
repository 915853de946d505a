"""The pages people look at: home, task, iterations, checkpoints, report, question, turn."""

from msgspec.structs import replace
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response

from flyball import __version__
from flyball.markup.rendering import Crumb, assets_version, render
from flyball.markup.report_file import ReportFrame
from flyball.projections.history.spend import spend, total
from flyball.projections.pages.chips import state_chip
from flyball.projections.pages.guidance import said_shown
from flyball.projections.pages.home import home_page
from flyball.projections.pages.report_page import report_page
from flyball.projections.pages.summary import Known, Summary, answers_of, summarize
from flyball.projections.pages.task_page import PAGE, iterations_shown, task_page
from flyball.projections.views.standing import final_stop
from flyball.projections.views.status import QuestionShown, open_questions
from flyball.web.frame import PageFrame, crumbs_of, frame, number_in, page, read_task, sites_of
from flyball.web.hiding import hide_secrets_of
from flyball.web.reading import turn_shown
from flyball.wiring.spending import count_day


def home(request: Request) -> Response:
    """`/`, and `/r/REPO` for one repository."""
    sites = sites_of(request)
    repo = request.path_params.get("repo", "")
    if repo and repo not in sites.all():
        raise KeyError(repo)
    everything = bool(request.query_params.get("all"))
    found = list(sites.summaries(repo))
    framed = frame(request, [Crumb("All repositories", "/")], everything=everything, repositories=bool(sites.all()))
    name = sites.all()[repo].repository.root.name if repo else ""
    if name:
        framed.crumbs = (Crumb("All", "/"), Crumb(name))
    shown = home_page(
        found,
        framed.now,
        today=count_day(sites.home, framed.now, repo or "*"),
        everything=everything,
        repository=name,
        missing=sites.missing,
    )
    if not repo:
        request.app.state.needs = len(shown.needs)
    framed.needs = request.app.state.needs
    return page("home.html", framed, home=shown)


def task(request: Request) -> Response:
    """`/t/REPO/TASK`."""
    with sites_of(request).lock:
        _, found = read_task(request)
        shown = task_page(found)
        framed = _task_frame(request, found, crumbs_of(shown.summary))
        framed.message = "" if found.said else framed.message
        return page("task.html", framed, task=shown)


def _task_frame(
    request: Request, found: Known, crumbs: list[Crumb], *, only_wrong: bool = False, paged: bool = False
) -> PageFrame:
    turns = found.history.turns
    return frame(
        request,
        crumbs,
        controlled=found.seen.controlled,
        waiting=tuple(said_shown(word, controlled=found.seen.controlled) for word in found.said),
        spend=spend(turns),
        total=total(turns),
        progress=found.history.timeline.progress,
        learnings=found.history.learnings,
        checkpoints=found.history.checkpoints,
        restorable=_restorable(found),
        only_wrong=only_wrong,
        paged=paged,
    )


def _restorable(found: Known) -> frozenset[str]:
    """The checkpoints a rollback is offered to: nobody can roll back while a controller works on the task."""
    newest = {each.commit: each for each in found.history.checkpoints}.values()
    return frozenset(each.commit for each in newest if not found.running and found.history.can_restore(each))


def iterations(request: Request) -> Response:
    """`/t/REPO/TASK/iterations`: pages of 50, or only what went wrong."""
    wrong = bool(request.query_params.get("wrong"))
    before = number_in(request.query_params.get("before", ""), 10**9)
    with sites_of(request).lock:
        _, found = read_task(request)
        rows = [row for row in iterations_shown(found.history, only_wrong=wrong) if row.mark.number < before]
        shown = task_page(found)
        shown = replace(shown, iterations=tuple(reversed(rows[-PAGE:])), earlier=max(0, len(rows) - PAGE))
        crumbs = crumbs_of(shown.summary, Crumb("iterations"))
        framed = _task_frame(request, found, crumbs, only_wrong=wrong, paged=True)
        framed.live = False
        return page("list.html", framed, task=shown)


def checkpoints(request: Request) -> Response:
    """`/t/REPO/TASK/checkpoints`: newest first, in pages of 50."""
    _, found = read_task(request)
    summary = summarize(found)
    kept = found.history.checkpoints[: number_in(request.query_params.get("before", ""), 10**9)]
    crumbs, restorable = crumbs_of(summary, Crumb("checkpoints")), _restorable(found)
    framed = frame(request, crumbs, live=False, checkpoints=kept[-PAGE:], restorable=restorable)
    return page("checkpoints.html", framed, t=summary, earlier=max(0, len(kept) - PAGE))


def report(request: Request) -> Response:
    """`/t/REPO/TASK/report`: the same as the file, from the server's own style sheet."""
    with sites_of(request).lock:
        shown = report_page(read_task(request)[1])
    framed = frame(request, [])
    own = ReportFrame(__version__, theme=framed.theme, back=shown.summary.path, version=assets_version())
    return HTMLResponse(render("report.html", page=own, report=shown))


def question(request: Request, *, refused: str = "", typed: str = "", chosen: str | None = None) -> Response:
    """`/t/REPO/TASK/question/ID`: the form, or what became of it."""
    _, found = read_task(request)
    summary = summarize(found)
    name = request.path_params["question"]
    asked = next((q for q in open_questions(found.state, found.history) if q.id.replace("/", "-") == name), None)
    asked = asked or _closed_question(found, name)
    given, kept = _answer_given(found, asked)
    answers = answers_of(asked)
    picked = request.query_params.get("answer", "") if chosen is None else chosen
    free = not answers or asked.name.startswith("agent-") or any(o.key == "TEXT" for o in asked.options)
    framed = frame(
        request, crumbs_of(summary, Crumb(asked.id)), live=not given, typing=True, controlled=found.seen.controlled
    )
    keys = [answer.key for answer in answers]
    default = asked.default if asked.default in keys else keys[0] if keys else ""
    return page(
        "question.html",
        framed,
        status=409 if refused else 200,
        t=summary,
        q=asked,
        chip=state_chip("NEEDS YOU" if not given else summary.word),
        given=given,
        kept=kept,
        answers=[answer for answer in answers if answer.key != "modify"] if free else answers,
        free=free or "modify" in keys,
        chosen=picked if picked in keys else "" if typed else default,
        typed=typed,
        refused=refused,
        meanwhile=_meanwhile(found, summary),
    )


def _closed_question(found: Known, name: str) -> QuestionShown:
    put = next((put for put in found.history.questions.values() if put.id.replace("/", "-") == name), None)
    if put is None:
        raise KeyError(name)
    return QuestionShown(put.id, put.name, put.text, "", (), None, put.asked_at, None)


def _answer_given(found: Known, asked: QuestionShown) -> tuple[str, bool]:
    """Who answered what and when; a second person is told the same."""
    put = next((put for put in found.history.questions.values() if put.id == asked.id), None)
    if put is not None and put.answer is not None and put.answered_at is not None:
        by = "by its default" if put.by == "default" else "by a person"
        return f"Answered at {put.answered_at:%H:%M} UTC with {put.answer} {by}.", False
    if final_stop(found.state) is not None:
        return "The task has ended. It needs no answer any more.", False
    if asked.id not in found.state.questions:
        return "The task went on without an answer. It needs none any more.", False
    word = next((w for w in found.said if w.question == asked.id and w.word == "answer"), None)
    if word is None:
        return "", False
    if found.seen.controlled:
        return f"Saved: {word.text}. The task applies it at its next step.", False
    return f"Saved: {word.text}. The task applies it when you resume it.", True


def _meanwhile(found: Known, summary: Summary) -> str:
    turns = [turn.number for turn in summary.status.running_turns]
    if turns:
        numbers = ", ".join(map(str, turns))
        told = f"Turn {numbers} goes on." if len(turns) == 1 else f"Turns {numbers} go on."
        return f"{told} The question itself spends no turn."
    if found.state.stopped is not None:
        return "The task has stopped. It spends no turn, and nothing is lost."
    return "The task waits. It spends no turn."


def turn(request: Request) -> Response:
    """`/t/REPO/TASK/turn/N`."""
    number = number_in(request.path_params["turn"], -1)
    with sites_of(request).lock:
        site, found = read_task(request)
        hidden = hide_secrets_of(request, site, found.state.task)
        shown = turn_shown(site, found, number, request.query_params, hidden)
        summary = summarize(found)
    framed = frame(request, crumbs_of(summary, Crumb(f"turn {number}")), live=shown.view != "raw")
    return page("turn.html", framed, t=summary, turn=shown)
