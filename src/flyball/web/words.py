"""Everything a person can say to a task; what cannot be undone asks first."""

import shlex
from typing import cast

import msgspec
from msgspec.structs import replace
from starlette.requests import Request
from starlette.responses import Response

from flyball.core.loop.guards import limit_reached
from flyball.core.model.events import Spoken
from flyball.core.model.task import TaskId
from flyball.markup.rendering import Crumb
from flyball.ports import Refusal
from flyball.projections.pages.changes import checkpoints_to_offer
from flyball.projections.pages.summary import Summary, summarize
from flyball.web.frame import crumbs_of, find_task, frame, page, read_only, read_task, redirect, sites_of
from flyball.web.looking import question
from flyball.web.starting import LIMITS, Field, limit_words, run_detached
from flyball.wiring.presence import controller_of
from flyball.wiring.site import Site
from flyball.wiring.tasks.inbox import parse_answer, question_of, require_open, speak
from flyball.wiring.tasks.rollback import rollback


class WordForm(msgspec.Struct, frozen=True):
    word: str
    title: str
    meaning: str
    button: str
    command: str = ""
    text_label: str = ""
    final: bool = False
    limits: tuple[Field, ...] = ()


WORDS = {
    each.word: each
    for each in (
        WordForm("pause", "Pause the task", "The task stops when its iteration ends. Nothing is lost.", "Pause"),
        WordForm(
            "resume", "Resume the task", "The task continues where it stopped, independently of this page.", "Resume"
        ),
        WordForm(
            "modify",
            "Give guidance",
            "The next prompt contains your words, and the count of iterations without progress starts again.",
            "Send the guidance",
            text_label="Guidance for the next turns",
        ),
        WordForm(
            "reset",
            "Try again",
            "The count of iterations without progress starts again, and the task tries again.",
            "Try again",
        ),
        WordForm(
            "skip",
            "Skip the stage",
            "The current stage stays unverified for ever, and every report says so.",
            "Skip the stage",
            final=True,
        ),
        WordForm(
            "abort",
            "Abort the task",
            "The task ends for good. Its checkpoints stay, and you can roll back to one of them.",
            "Abort the task",
            final=True,
        ),
        WordForm(
            "rollback",
            "Roll back",
            "The tree and the branch go back to a checkpoint. What is undone is kept as a checkpoint too.",
            "Roll back",
        ),
        WordForm(
            "reopen",
            "Reopen the task",
            "Your feedback becomes new work of this task. The task continues, independently of this page.",
            "Reopen",
            text_label="What is still to be done",
        ),
    )
}
_OVER = ("rollback", "reopen")


def _form(request: Request, summary: Summary, word: str) -> WordForm:
    """The form of a word for this task; raises KeyError for one there is not."""
    form = WORDS[word]
    task = summary.task
    tail = {
        "modify": ' "…"',
        "reopen": ' "…"',
        "rollback": f" --to {shlex.quote(request.query_params.get('to', 'last-good'))}",
    }
    return replace(form, command=f"flyball {word} {task}{tail.get(word, '')}")


def _fits(word: str, summary: Summary) -> bool:
    if summary.group == "finished":
        return word == "rollback" if summary.word == "ABORTED" else word in _OVER
    return word != "reopen"


def words(request: Request) -> Response:
    """`/t/REPO/TASK/say`: all of them."""
    shut = read_only(request, "flyball --help")
    if shut is not None:
        return shut
    summary = summarize(read_task(request)[1])
    shown = [_form(request, summary, word) for word in WORDS if _fits(word, summary)]
    return page("words.html", frame(request, crumbs_of(summary, Crumb("say")), live=False), t=summary, words=shown)


def word(request: Request, *, refused: str = "", typed: str = "") -> Response:
    """`/t/REPO/TASK/say/WORD`: the form that asks first."""
    _, found = read_task(request)
    summary = summarize(found)
    form = _form(request, summary, request.path_params["word"])
    shut = read_only(request, form.command)
    if shut is not None:
        return shut
    if form.word == "resume":
        stopped = found.state.stopped
        name = limit_reached(found.state)[0] if stopped is not None and stopped.kind == "limit" else ""
        raised = summary.command.rpartition(" ")[2] if name else ""
        form = replace(form, limits=tuple(replace(f, value=raised if f.name == name else "") for f in LIMITS))
        form = replace(form, command=summary.command if summary.command.startswith("flyball resume") else form.command)
    to = request.query_params.get("to", "")
    kept = [each for each in checkpoints_to_offer(found.history.checkpoints, to) if found.history.can_restore(each)]
    framed = frame(request, crumbs_of(summary, Crumb(form.word)), live=False, checkpoints=kept)
    return page(
        "word.html", framed, status=409 if refused else 200, t=summary, word=form, refused=refused, typed=typed, to=to
    )


def say(request: Request, form: dict[str, str]) -> Response:
    spoken = request.path_params["word"]
    site, task = find_task(request)
    if spoken not in WORDS:
        raise KeyError(spoken)
    if WORDS[spoken].final and form.get("sure") != "yes":
        return word(request, refused="Tick the box first: this cannot be undone.", typed=form.get("text", ""))
    if WORDS[spoken].text_label and not form.get("text", "").strip():
        return word(request, refused="Say it in words first.")
    try:
        return _take_in(request, site, task, spoken, form)
    except Refusal as error:
        return word(request, refused=str(error), typed=form.get("text", ""))


def _take_in(request: Request, site: Site, task: TaskId, spoken: str, form: dict[str, str]) -> Response:
    here = f"/t/{site.home.name}/{task}"
    text = form.get("text", "").strip()
    with sites_of(request).lock:
        match spoken:
            case "resume":
                return run_detached(site, ["resume", task, *limit_words(form)], f"{here}?said=resumed")
            case "reopen":
                return run_detached(site, ["reopen", task, text], f"{here}?said=reopened")
            case "rollback":
                done = rollback(site, task, form.get("to", "last-good"))
                more = "-marked" if done.unmarked else "-merged" if done.merged_into else ""
                return redirect(f"{here}?said=rolled{more}")
            case "pause":
                require_open(site.state(task))
                if controller_of(site, task) is None:
                    raise Refusal(f"{task} is not running, so there is nothing to pause.")
        heard = speak(site, task, cast("Spoken", spoken), text=text)
    if heard.taken == "now":
        return redirect(f"{here}?said=ended")
    kept = "pausing" if spoken == "pause" else "kept"
    return redirect(f"{here}?said={kept if heard.taken == 'by the running controller' else 'waits'}")


def answer(request: Request, form: dict[str, str]) -> Response:
    """A question was answered; the first answer counts, and whoever comes second is told."""
    site, task = find_task(request)
    name = request.path_params["question"]
    chosen, text = form.get("answer", ""), form.get("text", "").strip()
    given = f"modify {text}" if chosen == "modify" else chosen or text
    try:
        with sites_of(request).lock:
            view = site.view(task)
            require_open(view.state)
            named = next((key for key in view.history.questions if key.replace("/", "-") == name), name)
            key, asked = question_of(site, view.state, named)
            if not given and not asked.default:
                raise Refusal("Choose an answer or write one.")
            taken = parse_answer(asked, given)
            heard = speak(site, task, "answer", text=taken, question=key)
    except Refusal as error:
        return question(request, refused=str(error), typed=text, chosen=chosen)
    here = f"/t/{site.home.name}/{task}"
    if heard.taken == "by the running controller":
        return redirect(f"{here}?said=kept")
    return redirect(f"{here}/question/{name}")
