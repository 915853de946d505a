"""Takes secrets out of what does not come from the journal, which holds none: output of a turn under way, and files of a tree."""

from collections.abc import Callable

from starlette.requests import Request

from flyball.config.home import environment
from flyball.core.model.task import Task
from flyball.core.text.hiding import hide
from flyball.web.access import AccessRules
from flyball.wiring.run.agents import known_secrets
from flyball.wiring.site import Site

Hide = Callable[[str], str]


def hide_secrets_of(request: Request, site: Site, task: Task) -> Hide:
    """Hides what this server knows of a task's secrets, and what opens the page itself."""
    gate: AccessRules = request.app.state.gate
    secrets = (*known_secrets(task, environment(), site.repository.root), gate.token, gate.cookie)
    return lambda text: hide(text, secrets)
