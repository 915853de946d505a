"""`flyball trust`: a person's agreement, kept outside the repository, to what its configuration runs."""

from pathlib import Path
from typing import Annotated

import typer

from flyball.cli.support.arguments import AsJson
from flyball.cli.support.exits import exit_on_refusal
from flyball.cli.support.output import ask, at_terminal, put, put_json
from flyball.core.text.quantities import plural
from flyball.core.text.scrubbing import scrub
from flyball.ports import Refusal


def trust(
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Agree without being asked. Default: no.")] = False,
    as_json: AsJson = False,
) -> None:
    """Agree to the commands and permissions in this repository's flyball.toml; needed again when they change."""
    from flyball.config import file as config_file, trust as agreement
    from flyball.wiring.role_prompts import read_prompts
    from flyball.wiring.site import Site

    with exit_on_refusal():
        site = Site.find(Path.cwd())
        file = config_file.read(site.repository.root)
        if file is None:
            raise Refusal(f"There is no {config_file.FILE} in {site.repository.root}. Write one with: flyball init")
        prompts = read_prompts(site.repository, file)
        wants = [scrub(line) for line in agreement.needs_trust(file)]
        known = agreement.is_trusted(site.home, file, prompts=prompts)
        if not known and not yes:
            _require_agreement(file.origin.path, wants)
        if not known:
            agreement.record(site.home, file, prompts)
        if as_json:
            put_json({"file": str(file.origin.path), "wants": wants, "trusted": True, "new": not known})
        elif known:
            put(f"{file.origin.path} is already trusted: {plural(len(wants), 'setting')}.")
        else:
            put(f"{file.origin.path} is trusted as it is now. You are asked again when these settings change.")


def _require_agreement(path: Path, wants: list[str]) -> None:
    typer.echo(f"{path} would run or change:", err=True)
    for line in wants:
        typer.echo(f"  {line}", err=True)
    if not at_terminal():
        raise Refusal("Nobody can be asked here. Read the lines above, then type: flyball trust --yes")
    if ask("Agree? [y/N] ").lower() not in {"y", "yes"}:
        raise Refusal("You did not agree, so nothing is trusted. To be asked again: flyball trust")
