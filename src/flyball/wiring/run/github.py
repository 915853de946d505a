"""Opens a pull request with GitHub's own program `gh`, in the user's name and only where they set it."""

import shutil
from collections.abc import Mapping
from pathlib import Path

import msgspec

from flyball import process
from flyball.core.model.effects import OpenPullRequest
from flyball.core.model.outcomes import PullRequested
from flyball.core.model.task import TaskId
from flyball.core.text.scrubbing import decode, scrub
from flyball.projections.views.report import report
from flyball.projections.views.report_markdown import pull_request
from flyball.wiring.site import Site

PATIENCE_S = 120.0
PROGRAM = "gh"


class GitHub(msgspec.Struct, frozen=True):
    """Behind the port `PullRequests`. What gh does not confirm with an address is never said to be open."""

    site: Site
    task: TaskId
    environment: Mapping[str, str]

    def open(self, request: OpenPullRequest) -> PullRequested:
        """Find the open pull request of the branch, or open one with the text of `pull-request.md`."""
        program = shutil.which(PROGRAM, path=self.environment.get("PATH", ""))
        if program is None:
            return self._refusal(request, "the program gh is not installed")
        known = self._run(program, "pr", "list", "--head", request.branch, "--state", "open", "--json", "url")
        url = _first_url(known.stdout) if known is not None and known.code == 0 else ""
        if url:
            return PullRequested(url)
        view = self.site.view(self.task)
        title, _, body = pull_request(report(view.state, view.history)).partition("\n\n")
        text = self.site.home.task(self.task) / "pull-request.txt"
        text.write_text(body, encoding="utf-8", errors="backslashreplace")
        into = ["--base", request.into] if request.into else []
        words = ["--head", request.branch, *into, "--title", title, "--body-file", str(text)]
        made = self._run(program, "pr", "create", *words)
        if made is None:
            return self._refusal(request, f"gh pr create did not end within {PATIENCE_S:.0f} s")
        said = scrub(decode(made.stdout)).split()
        url = next((word for word in reversed(said) if word.startswith(("https://", "http://"))), "")
        if made.code == 0 and url:
            return PullRequested(url)
        lines = scrub(decode(made.stderr or made.stdout)).strip().splitlines()
        why = lines[-1] if lines else "it said nothing"
        ended = f"ended with code {made.code}" if made.code else "named no pull request"
        return self._refusal(request, f"gh pr create {ended}: {why}")

    def _run(self, program: str, *words: str) -> process.Captured | None:
        try:
            environment = {**self.environment, "GH_PROMPT_DISABLED": "1", "NO_COLOR": "1"}
            return process.capture(
                [program, *words], cwd=self.site.repository.root, env=environment, timeout=PATIENCE_S
            )
        except process.CommandTimedOut:
            return None
        except process.ProgramMissing as error:
            return process.Captured(127, b"", str(error).encode())

    def _refusal(self, request: OpenPullRequest, why: str) -> PullRequested:
        text = Path(".loop", self.task, "pull-request.md")
        again = f"gh pr create --head {request.branch} --fill"
        return PullRequested(detail=f"No pull request was opened: {why}. The text for one is {text}; with gh: {again}")


def _first_url(listing: bytes) -> str:
    try:
        rows = msgspec.json.decode(listing, type=list[dict[str, str]])
    except msgspec.MsgspecError:
        return ""
    return next((row["url"] for row in rows if row.get("url")), "")
