"""Tests every evaluator must pass, of flyball's own and of other packages: subclass `EvaluatorSuite` and give it the evaluator.

    class TestMine(EvaluatorSuite):
        @pytest.fixture
        def evaluator(self):
            return my_package.EVALUATOR

`planted_files` may give files with something wrong in them; then the evaluator must find it, and call it older where it was there before.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import msgspec
import pytest

from flyball.core.evaluation.catalogue import BUILT_IN, PREFIX, EvaluatorCard
from flyball.core.evaluation.choosing import choose
from flyball.core.evaluation.findings import Changes, PassResult, evaluator_result
from flyball.measures.evaluators.contract import Evaluator, EvaluatorAnswer
from flyball.measures.evaluators.ground import TrackGround
from flyball.measures.evaluators.program import evaluate

STATUSES = frozenset({"pass", "fail", "n/a", "skipped"})


class EvaluatorSuite:
    """What the dispatcher counts on; `cache` is a folder that tools may keep what they compute in."""

    cache = ""

    @pytest.fixture
    def evaluator(self) -> Evaluator:
        raise NotImplementedError("give the suite your evaluator: override the fixture `evaluator`")

    @pytest.fixture
    def planted_files(self) -> Mapping[str, str]:
        """Files in which something is wrong; none where that cannot be shown in files."""
        return {}

    @pytest.fixture
    def environment(self) -> Mapping[str, str]:
        return {"PATH": "/usr/local/bin:/usr/bin:/bin"}

    def measure_files(
        self,
        evaluator: Evaluator,
        folder: Path,
        monkeypatch: pytest.MonkeyPatch,
        *,
        files: Mapping[str, str],
        before: Mapping[str, str] | None = None,
        environment: Mapping[str, str],
    ) -> tuple[PassResult, ...]:
        """The measured results on a tree with these files; what was added at the end of files that were there before is new."""
        head, base = folder / "head", folder / "base"
        for root, laid_out in ((head, files), (base, before or {})):
            root.mkdir(parents=True)
            for name, text in laid_out.items():
                (root / name).parent.mkdir(parents=True, exist_ok=True)
                (root / name).write_text(text)
        spans: dict[str, tuple[tuple[int, int], ...]] = {}
        for name, text in files.items():
            old = (before or {}).get(name, "")
            if old != text:
                spans[name] = ((old.count("\n") + 1, text.count("\n") + 1),)
        ground = TrackGround(
            evaluator.card.name,
            str(base),
            str(folder / "scratch"),
            tuple(files),
            tuple(before or {}),
            Changes(spans),
            environment=dict(environment),
            cache=self.cache,
        )
        monkeypatch.chdir(head)
        return evaluate(evaluator, ground).passes

    def test_its_card_names_it_and_its_passes(self, evaluator: Evaluator) -> None:
        card = evaluator.card
        assert card.name == card.name.strip().lower()
        assert not card.name.startswith(PREFIX), "the prefix is flyball's to add"
        assert card.words or card.types, "nothing would ever choose it but the metadata"
        names = [each.name for each in card.passes]
        assert names
        assert len(names) == len(set(names))
        assert all(each.measured or each.judged for each in card.passes), "a pass is measured, or judged, or both"
        assert all(each.evidence for each in card.passes if each.judged), "a judge is told which evidence is wanted"

    def test_it_is_chosen_by_its_words_its_types_and_by_name(self, evaluator: Evaluator) -> None:
        card = evaluator.card
        for word in card.words:
            assert card.name in {each.name for each in choose({}, f"We need {word} here.", (*_others(card.name), card))}
        for kind in card.types:
            assert card.name in {each.name for each in choose({"type": kind}, "", (*_others(card.name), card))}
        (chosen,) = choose({"evaluators": [f"{PREFIX}{card.name}"]}, "", (*_others(card.name), card))
        assert chosen.name == card.name

    def test_a_tree_without_files_is_no_crash_and_no_finding(
        self, evaluator: Evaluator, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, environment: Mapping[str, str]
    ) -> None:
        results = self.measure_files(evaluator, tmp_path, monkeypatch, files={}, environment=environment)
        assert [each.name for each in results] == [each.name for each in evaluator.card.passes if each.measured]
        assert all(each.status in STATUSES for each in results)
        assert not [each for each in results if each.findings]

    def test_files_nobody_can_read_are_no_crash(
        self, evaluator: Evaluator, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, environment: Mapping[str, str]
    ) -> None:
        broken = {"broken.py": "def (:\n", "broken.ts": "export {{{\n", "data.json": "{"}
        odd = {**broken, "empty.py": "", "notes.md": "# x\n"}
        results = self.measure_files(evaluator, tmp_path, monkeypatch, files=odd, environment=environment)
        assert all(each.status in STATUSES for each in results)

    def test_its_answer_survives_the_way_to_the_dispatcher(
        self, evaluator: Evaluator, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, environment: Mapping[str, str]
    ) -> None:
        results = self.measure_files(evaluator, tmp_path, monkeypatch, files={"a.txt": "x\n"}, environment=environment)
        raw = msgspec.json.encode(EvaluatorAnswer(results))
        assert msgspec.json.decode(raw, type=EvaluatorAnswer).passes == results
        assert evaluator_result(evaluator.card.name, (), results, measured_only=True).verdict in ("PASS", "FAIL")

    def test_what_is_planted_is_found_with_its_place_and_older_where_it_was_there_before(
        self,
        evaluator: Evaluator,
        planted_files: Mapping[str, str],
        tmp_path: Path,
        monkeypatch: pytest.MonkeyPatch,
        environment: Mapping[str, str],
    ) -> None:
        planted = planted_files
        if not planted:
            pytest.skip("this evaluator gives the suite nothing to plant")
        new = self.measure_files(evaluator, tmp_path / "new", monkeypatch, files=planted, environment=environment)
        findings = [one for each in new if each.status == "fail" for one in each.findings]
        assert findings, "what is planted is found"
        assert all(one.file in planted and one.line > 0 for one in findings), "a finding names file and line"
        files = {name: f"{text}\n" for name, text in planted.items()}
        old = self.measure_files(
            evaluator, tmp_path / "old", monkeypatch, files=files, before=planted, environment=environment
        )
        assert not [one for each in old for one in each.findings], "what was there before does not count"
        assert [one for each in old for one in each.older], "it is listed apart"


def _others(name: str) -> tuple[EvaluatorCard, ...]:
    return tuple(card for card in BUILT_IN if card.name != name)
