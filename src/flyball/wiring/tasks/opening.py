"""Opening a task: number, folder, first fact; and opening a finished one again, where feedback on it could be delivered."""

from flyball.clock import system_clock
from flyball.config.settings import Configured
from flyball.core.model.events import Fact, TaskOpened
from flyball.core.model.naming import slug
from flyball.core.model.task import Forecast, Source, Task, TaskId
from flyball.core.workflows.registry import WORKFLOWS
from flyball.core.workflows.tdd.facts import SessionImported
from flyball.core.workflows.tdd.prp_session import PrpSession
from flyball.documents.loop_folder import highest_number
from flyball.documents.source import SourceDocument
from flyball.ports import Refusal
from flyball.projections.views.forecast import make_forecast
from flyball.wiring.run.manual_session import manual_session
from flyball.wiring.site import Site


def open_task(
    site: Site,
    configured: Configured,
    request: str,
    document: SourceDocument | None = None,
    session: PrpSession | None = None,
) -> TaskId:
    """Give the work an id of its own and put it into the journal, both or neither; a document says itself what is asked."""
    at = system_clock.now()
    request = request or (document.request if document else "")
    forecast = forecast_here(site, configured.workflow)

    def opening(task: TaskId) -> list[Fact]:
        opened = Task(
            id=task,
            workflow=configured.workflow,
            request=request,
            settings=configured.settings,
            opened_at=at,
            agents=configured.agents,
            source=document.source if document else None,
            document=document.text if document else "",
            items=document.items if document else (),
            forecast=forecast,
        )
        if session is not None:
            return [TaskOpened(opened, session.phase), SessionImported(session)]
        return [TaskOpened(opened, WORKFLOWS[configured.workflow].stages[0])]

    record = site.journal.open_task(
        slug(request),
        workflow=configured.workflow,
        title=request,
        at=at,
        highest_on_disk=highest_number(site.repository.root),
        opening=opening,
    )
    return record.id


def forecast_here(site: Site, workflow: str) -> Forecast | None:
    """What a task of this workflow may take in this repository."""
    latest = (record for record in reversed(site.journal.tasks()) if record.workflow == workflow)
    return make_forecast(site.state(record.id) for record in latest)


def tasks_from(site: Site, source: Source) -> list[TaskId]:
    wanted = (source.path, source.selector)
    sources = ((record.id, site.state(record.id).task.source) for record in site.journal.tasks())
    return [task for task, known in sources if known is not None and (known.path, known.selector) == wanted]


def tasks_asked(site: Site, workflow: str, request: str) -> list[TaskId]:
    """Tasks that were asked for in the same words and work the same way, finished or not, newest last."""
    wanted = (workflow, _plain(request))
    tasks = (site.state(record.id).task for record in site.journal.tasks())
    return [task.id for task in tasks if task.source is None and (task.workflow, _plain(task.request)) == wanted]


def _plain(request: str) -> str:
    """The words alone: blanks, case and a full stop at the end make no other request."""
    return " ".join(request.split()).rstrip(".").casefold()


def prepare_reopening(site: Site, task: TaskId) -> str:
    """Refuse what could not be delivered in the end; a sentence on what was put back for it, if anything was."""
    with manual_session(site, task) as hand:
        stopped, workspace = hand.state.stopped, hand.workspace
        if stopped is not None and stopped.kind == "aborted":
            raise Refusal(
                f"{task} was aborted, so it delivered nothing to give feedback on. Continue it with:"
                f" flyball rollback {task} --to last-good; then: flyball modify {task} TEXT; and: flyball resume {task}"
            )
        if stopped is None or stopped.kind != "done":
            raise Refusal(
                f"{task} is not finished, so it is not reopened. Give it guidance instead: flyball modify {task} TEXT;"
                f" then: flyball resume {task}"
            )
        return workspace.reclaim()
