"""Starts work apart from the server: a command of ours with `--detach`, of words that a form chose and never typed."""

import sys
from collections.abc import Mapping, Sequence
from pathlib import PurePosixPath

import msgspec
from starlette.requests import Request
from starlette.responses import Response

from flyball.config import file as config_file, trust
from flyball.config.home import environment
from flyball.core.text.scrubbing import decode, scrub
from flyball.core.workflows.registry import WORKFLOWS
from flyball.markup.rendering import Crumb
from flyball.ports import Refusal
from flyball.process import capture
from flyball.projections.pages.summary import Place
from flyball.projections.wording import visible
from flyball.web.frame import frame, page, read_only, redirect, sites_of
from flyball.wiring.site import Site
from flyball.wiring.tools.roster import roster

PATIENCE_S = 120.0
LONGEST_WORD = 120_000
"""Bytes of one word of a command line; Linux takes 131,071."""


class Field(msgspec.Struct, frozen=True):
    """A limit a form may set; the name is that of the option."""

    name: str
    label: str
    step: str = "1"
    hint: str = "Default: as before."
    value: str = ""


LIMITS = (
    Field("budget_usd", "Budget in USD", "any"),
    Field("max_hours", "Hours", "any"),
    Field("max_iterations", "Iterations"),
    Field("max_turns", "Turns"),
)


class StartForm(msgspec.Struct, frozen=True):
    repositories: tuple[Place, ...]
    workflows: tuple[str, ...]
    agents: tuple[str, ...]
    limits: tuple[Field, ...]
    values: Mapping[str, str]


def start(request: Request, *, refused: str = "", values: Mapping[str, str] | None = None) -> Response:
    """`/start`."""
    shut = read_only(request, 'flyball run "…" --detach')
    if shut is not None:
        return shut
    sites = sites_of(request).all()
    places = tuple(Place(name, site.repository.root.name) for name, site in sites.items())
    limits = tuple(msgspec.structs.replace(each, hint="Default: as configured.") for each in LIMITS)
    # Signs that a person would not see are shown, for somebody else may have written the link.
    linked = {name: visible(value) for name, value in request.query_params.items()}
    form = StartForm(places, tuple(WORKFLOWS), _agents(sites), limits, values or linked)
    framed = frame(request, [Crumb("All", "/"), Crumb("start")], live=False)
    return page("start.html", framed, status=409 if refused else 200, form=form, refused=refused)


def _agents(sites: Mapping[str, Site]) -> tuple[str, ...]:
    found = {agent.name for agent in roster(environment(), versions=False) if agent.path}
    for site in sites.values():
        found |= _trusted_agents(site)
    return tuple(sorted(found))


def _trusted_agents(site: Site) -> set[str]:
    try:
        file = config_file.read(site.repository.root)
    except Refusal:
        return set()
    return set(file.agents) if file is not None and trust.is_trusted(site.home, file) else set()


def begin(request: Request, form: Mapping[str, str]) -> Response:
    site = sites_of(request).all().get(form.get("repo", ""))
    if site is None:
        return start(request, refused="Choose a repository that flyball knows.", values=form)
    try:
        words = ["run", *_run_words(site, form)]
        request_text = form.get("request", "").strip()
        return run_detached(site, words, f"/r/{site.home.name}?said=started", text=request_text)
    except Refusal as error:
        return start(request, refused=str(error), values=form)


_ATTENDED = {"yes": ("--attended",), "no": ("--unattended",)}


def _run_words(site: Site, form: Mapping[str, str]) -> list[str]:
    words = [*_ATTENDED.get(form.get("attended", ""), ())]
    document = form.get("document", "").strip()
    if document:
        path = PurePosixPath(document)
        real = (site.repository.root / path).resolve()
        if path.is_absolute() or ".." in path.parts or not real.is_relative_to(site.repository.root.resolve()):
            raise Refusal(f"{document} lies outside the repository; expected a path inside it.")
        if not real.exists():
            raise Refusal(f"{document} does not exist in {site.repository.root.name}; expected a document of it.")
        words += ["--from", str(path)]
    workflow, agent = form.get("workflow", ""), form.get("agent", "")
    if workflow:
        if workflow not in WORKFLOWS:
            raise Refusal(f"There is no workflow {workflow!r}; expected one of: {', '.join(WORKFLOWS)}.")
        words += ["--workflow", workflow]
    if agent:
        if agent not in _agents({site.home.name: site}):
            raise Refusal(f"{agent!r} is not installed and not named in a trusted flyball.toml. See: flyball agents")
        words += ["--agent", agent]
    if not document and not form.get("request", "").strip():
        raise Refusal("Say what is to be done, or name a document.")
    return [*words, *limit_words(form), "--new"]


def limit_words(form: Mapping[str, str]) -> list[str]:
    """Limits as options; what is no number is refused."""
    words = []
    for field in LIMITS:
        value = form.get(field.name, "").strip()
        if not value:
            continue
        try:
            number = float(value)
        except ValueError:
            number = 0.0
        if not 0 < number < 1e9 or (field.step == "1" and number != int(number)):
            raise Refusal(f"{field.label} is {value!r}; expected a number greater than 0.")
        words += [f"--{field.name.replace('_', '-')}", f"{number:g}" if field.step == "any" else str(int(number))]
    return words


def run_detached(site: Site, words: Sequence[str], onward: str, *, text: str = "") -> Response:
    """Run our own command with `--detach`: it outlives the server, and its refusal is told."""
    argv = [sys.executable, "-m", "flyball", *words, "--detach"]
    argv += ["--", text] if text else []
    longest = max(len(word.encode()) for word in argv)
    if longest > LONGEST_WORD:
        raise Refusal(
            f"That is {longest:,} bytes long; expected at most {LONGEST_WORD:,}. Write it into a document of the repository, and name that."
        )
    env = {**environment(), "FLYBALL_HOME": str(site.home.home), "NO_COLOR": "1"}
    done = capture(argv, cwd=site.repository.root, env=env, timeout=PATIENCE_S)
    if done.code != 0:
        said = scrub(decode(done.stderr or done.stdout)).strip().splitlines()
        raise Refusal(" ".join(line.removeprefix("flyball: ") for line in said[-6:]) or f"it ended with {done.code}")
    return redirect(onward)
