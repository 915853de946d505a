"""Asks agents to judge what no tool can measure: each on a copy of its own, another model than the executor's where there is one."""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial

from flyball.clock import system_clock
from flyball.config.agents import Cast, cast_roles
from flyball.config.file import FileConfig
from flyball.core.evaluation.findings import PassResult
from flyball.core.evaluation.judging import JudgeSeat, failed_seat, read_answer
from flyball.core.loop.casting import in_order, independence, reviewers
from flyball.core.model.effects import RunAgent
from flyball.core.model.task import AgentChoice, Author, Commit, EffectId, Player, Task, TaskId
from flyball.core.text.scrubbing import one_line
from flyball.ports import Refusal, Stop
from flyball.wiring.run.agents import agents_of
from flyball.wiring.run.confining import confinement
from flyball.wiring.run.track_measuring import TrackMeasuring, committed_lines

NAME = TaskId("000-dispatch")


def require_agent(file: FileConfig | None) -> Cast:
    """Who could judge; refuses where nobody is named."""
    if file is None or not (file.top.agent or file.agents):
        raise Refusal(
            'Passes that need judgement need an agent, and none is configured. Name one in flyball.toml (agent = "NAME"), or '
            "run only what is measured, with the option --measured-only."
        )
    return cast_roles(file, (), agent=None, command=None, model=None)


def ask_judges(
    seats: Sequence[JudgeSeat], file: FileConfig | None, bench: TrackMeasuring, commit: Commit, stop: Stop
) -> tuple[dict[str, tuple[PassResult, ...]], tuple[str, ...]]:
    """What each seat answered, all of them side by side; and who was asked."""
    if not seats:
        return {}, ()
    cast = require_agent(file)
    player, note = _judge(cast)
    task = Task(NAME, "dispatch", "", bench.settings, system_clock.now(), cast.agents)
    agents = agents_of(
        task,
        confine=confinement(bench.site, bench.settings, bench.workspace, bench.environment),
        environment=bench.environment,
        root=bench.site.repository.root,
        hold_fds=(),
    )
    bench.notify("judges", note)

    def one(numbered: tuple[int, JudgeSeat]) -> tuple[PassResult, ...]:
        number, seat = numbered
        folder = bench.folder / "judges" / seat.role
        bench.workspace.export(commit, folder / "copy")
        request = RunAgent(
            EffectId(f"turn/{number}"),
            role=seat.role,
            stage="EVALUATE_EXECUTION",
            agent=player.agent,
            model=player.model,
            prompt=seat.prompt,
            iteration=1,
            turn=number,
            copy=seat.role,
            commit=commit,
            at=system_clock.now(),
        )
        turn = agents[player.agent].turn(
            request,
            tree=folder / "copy",
            folder=folder / "turn",
            nonce=system_clock.nonce(),
            stop=stop,
            notify=bench.notify,
        )
        if turn.kind != "ok":
            return failed_seat(seat, f"turn ended as {turn.kind}: {one_line(turn.detail)[:200]}")
        read = read_answer(seat, turn.final_message, partial(committed_lines, bench.workspace, commit))
        return failed_seat(seat, f"turn did not help: {read}") if isinstance(read, str) else read

    with ThreadPoolExecutor(max_workers=len(seats)) as pool:
        answers = pool.map(one, enumerate(seats, start=1))
        return {seat.evaluator: answer for seat, answer in zip(seats, answers, strict=True)}, (note,)


def _judge(cast: Cast) -> tuple[Player, str]:
    """The player to ask: another model than the one that works, where the settings have one; and a sentence that says so."""
    working = cast.roles.get("default") or AgentChoice(cast.agents[0].name, cast.agents[0].model)
    author = Author("executor", working.agent, working.model, working.model)
    others, own = in_order(reviewers(working, cast.agents), (author,), cast.agents)
    player = (others + own)[0]
    said = {"other": "another model than the executor's", "unknown": "perhaps the executor's model"}
    whose = said.get(
        independence(player, (author,), cast.agents),
        "the same model as the executor, since no other model is configured",
    )
    return player, f"{f'judged by {player.agent} {player.model}'.strip()}: {whose}"
