"""An evaluator's process that crashes, hangs or answers nonsense: a reason, never a silent pass, and nobody else is touched."""

import os
from collections.abc import Mapping
from pathlib import Path

import pytest
from tests.measures.evaluators.planted import ground_of, options

from flyball import process
from flyball.core.evaluation.catalogue import BUSINESS_LOGIC
from flyball.core.evaluation.choosing import Chosen
from flyball.core.evaluation.verdict import weigh_evaluator
from flyball.measures.evaluators.running import run_evaluators
from flyball.workspace.sandbox import Unconfined

pytestmark = pytest.mark.req("D25")
DEEP = '{"passes": ' + "[" * 3000
DEEDS = {
    "crashes": ("echo boom >&2; exit 3", "it crashed (exit 3): boom"),
    "is-killed": ("kill -9 $$", "it crashed (signal 9)"),
    "hangs": ("sleep 60", "it did not answer: ended at its time limit of 1 s"),
    "is-silent": ("true", "its answer cannot be read"),
    "babbles": ("echo all good, PASS", "its answer cannot be read"),
    "errs": ("""echo '{"passes": [{"name": 1}]}'""", "its answer cannot be read"),
    "is-deep": (f"echo '{DEEP}'", "its answer cannot be read"),
}
SOUND = """echo '{"passes": [{"name": "edge cases", "status": "pass"}]}'"""


def answers(folder: Path, deeds: Mapping[str, str]):
    """Each evaluator does what is scripted for its name, in a process as a real one's."""
    ground = ground_of(folder, "x", {"a.py": "x = 1\n"}, options=options(timeout_s=1.0))
    cases = "".join(f'*\'"evaluator":"{name}"\'*) {deed};; ' for name, deed in deeds.items())
    script = f'read -r request; case "$request" in {cases} esac'
    return run_evaluators(
        [Chosen(name, ("word: x",)) for name in deeds],
        ground,
        tree=folder / "head",
        confine=lambda argv, tree, env, **more: Unconfined()(["sh", "-c", script], tree=tree, env=env),
        environment={"PATH": os.environ["PATH"]},
        stop=process.StopFlag(),
        notify=lambda *_: None,
    )


def test_whatever_happens_to_one_is_its_own_fail_with_a_reason_and_the_others_answer(tmp_path):
    found = answers(tmp_path, {name: deed for name, (deed, _) in DEEDS.items()} | {"business-logic": SOUND})
    for name, (_, said) in DEEDS.items():
        assert isinstance(found[name], str)
        assert found[name].startswith(said), found[name]
        result = weigh_evaluator(BUSINESS_LOGIC, Chosen("business-logic", ("word: x",)), found[name], ())
        assert (result.verdict, result.reason) == ("FAIL", found[name])
    (edge,) = found["business-logic"]
    assert (edge.name, edge.status) == ("edge cases", "pass")


def test_evaluators_run_side_by_side(tmp_path):
    """Each waits for a file that the other writes."""
    other = (
        "touch {own}; for n in 1 2 3 4 5 6 7 8 9; do test -e {its} && break; sleep 0.1; done; test -e {its} && " + SOUND
    )
    found = answers(
        tmp_path,
        {
            "a": other.replace("{own}", "a").replace("{its}", "b"),
            "b": other.replace("{own}", "b").replace("{its}", "a"),
        },
    )
    assert not [answer for answer in found.values() if isinstance(answer, str)]
