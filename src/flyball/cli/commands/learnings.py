"""`flyball learnings`: what the shared memory knows, and a person's word about it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from flyball.cli.support.arguments import AsJson
from flyball.cli.support.exits import exit_on_refusal
from flyball.cli.support.output import put, put_json
from flyball.core.memory.settling import reference
from flyball.core.model.naming import parse_task_id
from flyball.ports import Refusal
from flyball.projections.wording import plain

if TYPE_CHECKING:
    from flyball.wiring.site import Site
    from flyball.wiring.tasks.learnings import LearningListed

WORDS: dict[str, Literal["keep", "drop"]] = {"keep": "keep", "drop": "drop"}


def learnings(
    words: Annotated[
        list[str] | None,
        typer.Argument(
            help="Subject of a turn: list the learnings that such a turn would be shown, and why. Or `drop N`: never show learning N"
            " again; or `keep N`: keep showing it. N is a number of the unfinished task, or TASK/N. Default: list all learnings."
        ),
    ] = None,
    file: Annotated[
        list[str] | None, typer.Option("--file", help="File that such a turn works on; repeatable. Default: none.")
    ] = None,
    because: Annotated[
        str, typer.Option("--because", help="Reason to drop or keep the learning; drop needs one. Default: none.")
    ] = "",
    task: Annotated[
        str,
        typer.Option(
            "--task",
            help="Task that N belongs to, or that adopts a learning of others. Default: the unfinished one, else the last one.",
        ),
    ] = "",
    as_json: AsJson = False,
) -> None:
    """List the learnings of this repository with their states; say which ones a turn would be shown; drop or keep one."""
    from flyball.wiring.site import Site
    from flyball.wiring.tasks.learnings import is_learning, search

    said = list(words or ())
    with exit_on_refusal():
        site = Site.find(Path.cwd())
        if len(said) == 2 and said[0] in WORDS and is_learning(said[1]):
            _speak(site, WORDS[said[0]], said[1], because, task, as_json=as_json)
            return
        if said and said[0] in WORDS and (because or task or len(said) == 1):
            example = f"flyball learnings {said[0]} 3"
            raise Refusal(f"{' '.join(said)!r} names no learning; expected {said[0]} and a number, such as: {example}")
        found = search(site, " ".join(said), tuple(file or ()))
        if as_json:
            put_json(found)
            return
        for each in found:
            put("\n".join(_lines(each)))
        if not found:
            put(
                "No learning fits."
                if said or file
                else "No learning yet. Tasks leave them when they decide, fail or are rolled back."
            )


def _speak(site: Site, word: Literal["keep", "drop"], named: str, because: str, task: str, *, as_json: bool) -> None:
    from flyball.cli.support.choosing import choose_task
    from flyball.wiring.tasks.learnings import speak_of

    if word == "drop" and not because.strip():
        raise Refusal(f'drop needs a reason: flyball learnings drop {named} --because "…"')
    whose, _, number = named.rpartition("/")
    whose = whose or task
    # A task that no journal knows is meant as it stands.
    foreign = parse_task_id(whose) is not None and whose not in {record.id for record in site.journal.tasks()}
    key = reference(whose if foreign else choose_task(site, whose), number)
    told = speak_of(site, key, word, because.strip(), adopting=lambda: choose_task(site, task))
    if as_json:
        put_json(told)
    elif told.adopted_from:
        put(f"{told.adopted_from} is kept as {told.id} and can be shown to turns from now on.")
    elif told.taken == "now":
        shown = "can be shown to turns" if word == "keep" else "is shown to no turn"
        put(f"{told.id} was {'kept' if word == 'keep' else 'dropped'} and {shown} from now on.")
    else:
        put(f"{word} {told.id} was sent to its task, which is running.")


def _lines(each: LearningListed) -> list[str]:
    because = f": {plain(each.because, 160)}" if each.because else ""
    kind = "" if each.kind == "decision" else " (anti-pattern)"
    lines = [f"{each.id}{kind}  {plain(each.title, 100)}"]
    if each.choice:
        lines.append(f"    {plain(each.choice, 160)}")
    lines.append(f"    {each.state}{because}; {each.file}")
    if each.why:
        word = "would be shown" if each.shown else "would not be shown"
        lines.append(f"    {word}: {each.why}")
    return lines
