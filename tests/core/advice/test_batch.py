"""Batch results: read from JSON or text, and weighed by what the review approved."""

import re

import msgspec
import pytest
from hypothesis import given, settings, strategies as st

from flyball.core.advice.batch import NOT_APPROVED, BatchResult, Failure, Review, of_batch
from flyball.core.advice.batch_text import BatchUnreadable, batch_of, read_batch
from flyball.core.health.history import History
from flyball.core.health.monitor import assess, follow
from flyball.core.health.observation import observe
from flyball.core.health.verdict import Blocker, Health, Remedy


def batch(passed=(), failed=(), **more):
    return BatchResult(
        (*passed, *(item for item, _ in failed)), Review("approved"), tuple(passed),
        tuple(Failure(item, error) for item, error in failed), **more,
    )  # fmt: skip


def judged(*results):
    history, verdicts = History(), []
    for number, result in enumerate(results, 1):
        history, verdict = follow(history, of_batch(result, number))
        verdicts.append(verdict)
    return verdicts


@pytest.mark.req("M2")
def test_a_batch_without_a_review_is_blocked_and_leaves_no_trace():
    history = observe(History(), of_batch(batch(["a"]), 1))
    seen = of_batch(BatchResult(batch=("a",), passed=("a",)), 2)
    verdict = assess(observe(history, seen), seen)
    assert observe(history, seen) == history
    assert (verdict.health, verdict.recommendation) == (Health.BLOCKED, "run-review")
    assert verdict.blockers[0].type == "missing-review"


@pytest.mark.req("M2")
@pytest.mark.parametrize(
    "review", ["null", '""', "{}", "[]", '"  "', '{"verdict": "", "approved": []}', '{"anti_patterns": ["AP-1"]}']
)
def test_an_empty_review_in_json_is_a_missing_one(review):
    result = batch_of(f'{{"batch": ["a"], "passed": ["a"], "review": {review}}}'.encode())
    assert not of_batch(result, 1).reviewed


@pytest.mark.req("M2")
@pytest.mark.parametrize("review", ["", "Review:\n", "Review: {}\n", "Review: none\n"])
def test_an_empty_review_in_the_text_form_is_a_missing_one(review):
    assert not of_batch(read_batch(f"Batch: a\n{review}Passed: a\n"), 1).reviewed


@pytest.mark.req("M4")
def test_passed_but_rejected_is_failed():
    review = Review("changes_requested", approved=("a",), rejected=("b",))
    seen = of_batch(BatchResult(("a", "b", "c"), review, ("a", "b"), (Failure("c", "boom"),)), 1)
    assert seen.passed == ("a",)
    assert {item: named.summary for item, named in seen.failed.items()} == {"b": NOT_APPROVED, "c": "boom"}


@pytest.mark.req("M4")
@pytest.mark.parametrize(
    ("review", "passed", "failed"),
    [
        (Review("APPROVED"), {"a", "b"}, set()),
        (Review("approve", rejected=("b",)), {"a"}, {"b"}),
        (Review("APPROVED", approved=("a",)), {"a"}, {"b"}),
        (Review("CHANGES_REQUESTED"), set(), {"a", "b"}),
        (Review("CHANGES REQUESTED", rejected=("b",)), set(), {"a", "b"}),
        (Review("what?"), set(), {"a", "b"}),
        (Review("pass", approved=("a",), rejected=("a",)), set(), {"a", "b"}),
    ],
)
def test_only_what_the_review_approved_counts_as_passed(review, passed, failed):
    seen = of_batch(BatchResult(("a", "b"), review, ("a", "b")), 1)
    assert (set(seen.passed), set(seen.failed)) == (passed, failed)


@pytest.mark.req("M4")
@pytest.mark.req("M1")
def test_what_the_review_rejected_or_approved_counts_though_nobody_said_it_passed():
    seen = of_batch(BatchResult(("a",), Review("reject", rejected=("a", "elsewhere"))), 1)
    assert set(seen.failed) == {"a", "elsewhere"}
    seen = of_batch(BatchResult(("a", "b"), Review("APPROVED", approved=("a", "elsewhere"))), 1)
    assert (seen.passed, set(seen.failed)) == (("a",), set())


@pytest.mark.req("M1")
def test_two_errors_of_one_subtask_are_both_kept():
    seen = of_batch(batch(failed=[("a", "boom"), ("a", "bang")]), 1)
    other = of_batch(batch(failed=[("a", "boom"), ("a", "pop")]), 1)
    assert seen.failed["a"].fine != other.failed["a"].fine


@pytest.mark.req("M1")
def test_a_batch_result_is_read_from_json():
    text = (
        b'{"batch":["a","b","c"],"review":{"verdict":"APPROVED","approved":["a"],"rejected":[],"anti_patterns":["AP-1"]},'
        b'"passed":["a"],"failed":[{"id":"b","error":"boom"}],'
        b'"blocked":[{"id":"c","type":"external","description":"no key"}]}'
    )
    result = batch_of(b"\xef\xbb\xbf \n" + text)
    assert result.review == Review("APPROVED", ("a",), (), ("AP-1",))
    assert (result.batch, result.passed) == (("a", "b", "c"), ("a",))
    assert (result.failed, result.blocked) == ((Failure("b", "boom"),), (Blocker("c", "external", "no key"),))
    assert batch_of(b'{"review": "APPROVED"}').review == Review("APPROVED")


TEXT = """\
Batch: [1.1, 1.2, 1.3, 1.4]
Review: {verdict: CHANGES_REQUESTED, approved: [1.1], rejected: [1.2], anti_patterns: [AP-3]}
Passed: [1.1, 1.2]
Failed: [1.3: TypeError in parse_row, twice, 1.5: timed out]
Blocked: [1.4 (external): waiting for a key]
"""


@pytest.mark.req("M1")
def test_a_batch_result_is_read_from_the_text_form():
    result = batch_of(TEXT.encode())
    assert result.batch == ("1.1", "1.2", "1.3", "1.4")
    assert result.review == Review("CHANGES_REQUESTED", ("1.1",), ("1.2",), ("AP-3",))
    assert result.failed == (Failure("1.3", "TypeError in parse_row, twice"), Failure("1.5", "timed out"))
    assert result.blocked == (Blocker("1.4", "external", "waiting for a key"),)
    bullets = read_batch("Batch: a, b\r\nReview: APPROVED\r\nPassed: a\r\nFailed:\r\n- b: boom\r\nBlocked: none\r\n")
    assert of_batch(bullets, 1).passed == ("a",)
    assert bullets.failed == (Failure("b", "boom"),)
    assert bullets.blocked == ()


@pytest.mark.req("M1")
def test_an_error_of_several_lines_below_a_bullet_is_one_error():
    text = "Batch: a, b\nReview: APPROVED\nFailed:\n- a: Traceback\n    File x, line 3\n  ValueError: no\n- b: boom\n"
    assert [(one.id, one.error) for one in read_batch(text).failed] == [
        ("a", "Traceback File x, line 3 ValueError: no"),
        ("b", "boom"),
    ]


@pytest.mark.req("M1")
@pytest.mark.parametrize(
    ("raw", "problem"),
    [
        (b"", "line 1: expected lines such as 'Batch:'"),
        (b"hello\n", "line 1: expected lines such as 'Batch:'.*found 'hello'"),
        (b'{"batch": "a"}', r"expected array, got str - at \$.batch"),
        (b'{"failed": [{"error": "x"}]}', r"missing required field id - at \$.failed\[0\]"),
        (b'{"batch": [],\n "review": nonsense}', "line 2: expected a JSON object"),
        (b'{"batch": ["a"], "batch": []}', "the name 'batch' appears twice"),
        (b'{"metric": NaN}', "line 1: expected a JSON object"),
        (b'{"batch": ["\xff"]}', "expected a JSON object"),
        (b"Batch: a\nPassed: \xff\n", "line 2: expected UTF-8, found the byte 0xff"),
        (b"[]", "expected object, got array"),
        (b'{"batch": ["a"],\n "reviewed": true}', "line 1: object contains unknown field reviewed"),
        (b'{"review": "APPROVED",\n "failed": [\n{"id": "a", "reason": "x"}]}', r"line 3: .* unknown field reason"),
        (b'{"blocked": [{"id": "a", "type": "external", "detail": "x"}]}', "unknown field detail"),
        (b'{"review": {"verdict": "APPROVED", "severity": "high"}}', "unknown field severity"),
        (b'{"batch": ["a"],\n "review": {"verdict": "looks fine"}}', "line 2: the review's verdict is 'looks fine'"),
        (b"Here are the results\nBatch: a\n", "line 1: expected lines such as 'Batch:'.*found 'Here are"),
        (b"Batch: a b\n", "line 1: 'a b' is not an id"),
        (b"Batch: a\nReview: APPROVED by Bob\n", "line 2: the review's verdict is 'APPROVED by Bob'"),
        (b"Batch: a\nReview: {verdict: APPROVED, severity: high}\n", "line 2: Review has 'severity'"),
        (b"Batch: a\nReview: APPROVED\nReview: REJECTED\n", "line 3: Review appears twice"),
        (b"Batch: a\n\nReview: APPROVED\nPassed: a (all green)\n", "line 4: 'a \\(all green\\)' is not an id"),
        (b"Batch: a\nReview: APPROVED\nFailed:\n- {id: a}\n", "line 4: '{id: a}' cannot be read"),
        (b"Batch: a\nReview: APPROVED\nFailed: none this time\n", "line 3: 'none this time' cannot be read"),
        (b'{"x":' * 50_000, "nested too deeply"),
    ],
)
def test_what_is_no_batch_result_is_refused_with_what_was_expected(raw, problem):
    with pytest.raises(BatchUnreadable, match=problem):
        batch_of(raw)


@pytest.mark.req("M3")
def test_measured_signals_of_a_batch_are_used_where_a_loop_has_them():
    result = batch_of(
        b'{"batch":["a"],"review":"APPROVED","passed":["a"],"context":2,"tree":"abc","diff_lines":0,"failing":["t"],'
        b'"metric":1.5,"tokens":7,"usd":0.5,"restored":true}'
    )
    seen = of_batch(result, 4)
    assert (seen.context, seen.tree, seen.changed_files, seen.failing) == (2, "abc", (), ("t",))
    assert (seen.kind, seen.metric, seen.tokens, seen.usd, seen.restored) == ("optimise", 1.5, 7, 0.5, True)
    trees = [msgspec.structs.replace(batch([f"s{n}"]), tree=tree) for n, tree in enumerate("xyx")]
    assert judged(*trees)[-1].health is Health.FLIP_FLOPPING


@pytest.mark.req("M18")
@pytest.mark.req("M14")
@pytest.mark.req("M22")
def test_the_same_failure_is_a_stall_at_the_second_batch_of_one_context_and_else_at_the_third():
    told = [batch([f"p{n}"], [("a", "TypeError: row 3")], context=1) for n in range(2)]
    assert [(v.health, v.remedy) for v in judged(*told)][1] == (Health.STALLED, Remedy.FRESH_CONTEXT)
    verdicts = judged(*(batch([f"p{n}"], [("a", "TypeError: row 3")]) for n in range(3)))
    assert [(v.health, v.remedy) for v in verdicts[1:]] == [
        (Health.PROGRESSING, Remedy.CONTINUE),
        (Health.STALLED, Remedy.FRESH_CONTEXT),
    ]
    assert verdicts[1].evidence == "iteration 2: a failure seen before in this task: TypeError: row #"
    other = judged(batch(["p1"], [("a", "TypeError: row 3")]), batch(["p2"], [("a", "KeyError: name")]))
    assert other[-1].remedy is Remedy.CONTINUE


@pytest.mark.req("M18")
def test_failures_that_say_nothing_are_the_same_only_by_what_failed():
    verdicts = judged(*(batch([f"p{n}"], [("a", "")]) for n in range(2)))
    assert verdicts[-1].remedy is Remedy.CONTINUE


lists = st.lists(st.sampled_from("abcd"), max_size=3).map(tuple)
results = st.builds(
    BatchResult,
    batch=lists,
    review=st.none() | st.builds(Review, st.sampled_from(["", "APPROVED", "REJECTED", "?"]), lists, lists),
    passed=lists,
    failed=st.lists(st.builds(Failure, st.sampled_from("abcd"), st.sampled_from(["", "boom"])), max_size=2).map(tuple),
    blocked=st.lists(st.builds(Blocker, st.sampled_from("abcd"), st.just("external")), max_size=1).map(tuple),
)


@pytest.mark.req("M4")
@settings(deadline=None, max_examples=150)
@given(results)
def test_whatever_is_reported_nothing_both_passes_and_fails_and_nothing_rejected_passes(result):
    seen = of_batch(result, 1)
    assert not set(seen.passed) & set(seen.failed)
    if result.review:
        assert not set(seen.passed) & set(result.review.rejected)


@pytest.mark.req("M1")
@settings(deadline=None, max_examples=150)
@given(st.text(max_size=200) | st.binary(max_size=200))
def test_any_input_is_a_batch_result_or_refused(text):
    raw = text.encode("utf-8", "surrogatepass") if isinstance(text, str) else text
    problem = ""
    try:
        of_batch(batch_of(raw), 1)
    except BatchUnreadable as error:
        problem = str(error)
    assert "\n" not in problem


@pytest.mark.req("M1")
@pytest.mark.parametrize(
    ("told", "failed", "blocked"),
    [
        ("Blocked: 1.3 waiting for the key", {}, {"1.3": ("dependency", "waiting for the key")}),
        ("Blocked: 1.3", {}, {"1.3": ("dependency", "")}),
        ("Blocked: 1.2 external no key, 1.3 also waits", {}, {"1.2": ("external", "no key"), "1.3": ("dependency", "also waits")}),
        ("Blocked:\n- 1.3 [fundamental] no way", {}, {"1.3": ("fundamental", "no way")}),
        ("Blocked: 1.3 dependency-injection is missing", {}, {"1.3": ("dependency", "dependency-injection is missing")}),
        ("Failed: 1.2, 1.3", {"1.2": "", "1.3": ""}, {}),
        ("Failed: 1.2 TypeError, twice, 1.3 KeyError", {"1.2": "TypeError, twice", "1.3": "KeyError"}, {}),
        ("Failed: [1.2: boom,\n         1.3: bang]", {"1.2": "boom", "1.3": "bang"}, {}),
        ("Failed:\n  1.2 (TypeError)\n  `1.3` -> bang", {"1.2": "TypeError", "1.3": "bang"}, {}),
        ("Failed:\n- 1.2: boom\n1.3: bang", {"1.2": "boom", "1.3": "bang"}, {}),
        ("Failed:\n- 1.2: boom\n  - and more\n  Failed: 3 tests", {"1.2": "boom and more Failed: 3 tests"}, {}),
        ("Failed: 1.2: boom\nFailed: 1.3: bang", {"1.2": "boom", "1.3": "bang"}, {}),
        ("```\nFailed: none\nBlocked: nothing\n```", {}, {}),
    ],
)  # fmt: skip
def test_every_entry_of_the_text_form_is_read_however_it_is_written(told, failed, blocked):
    result = read_batch(f"Batch: 1.1, 1.2, 1.3\nReview: CHANGES_REQUESTED\n{told}\n")
    assert {one.id: one.error for one in result.failed} == failed
    assert {one.id: (one.type, one.description) for one in result.blocked} == blocked


@pytest.mark.req("M1")
@pytest.mark.parametrize(
    "review",
    [
        "{verdict: CHANGES_REQUESTED, approved: [1.1, 1.2], rejected: [1.3], anti_patterns: [AP-1]}",
        "{verdict: CHANGES_REQUESTED, approved: 1.1, 1.2, rejected: 1.3, anti_patterns: AP-1}",
        "changes requested, approved: [1.1, 1.2], rejected: [1.3], anti-patterns: [AP-1]",
        "\n- verdict: CHANGES_REQUESTED\n- approved: 1.1, 1.2\n- rejected: 1.3\n- anti_patterns: AP-1",
        "\n  **Verdict:** CHANGES REQUESTED\n  **Approved:** 1.1; 1.2\n  **Rejected:** 1.3\n  **Anti-Patterns:** AP-1",
        "{'verdict': 'CHANGES_REQUESTED', 'approved': ['1.1', '1.2'],\n 'rejected': ['1.3'], 'anti_patterns': ['AP-1']}",
    ],
)
def test_every_field_of_a_review_is_read_however_it_is_written(review):
    found = read_batch(f"Review: {review}\nBatch: 1.1\n").review
    assert found is not None
    assert (found.approved, found.rejected, found.anti_patterns) == (("1.1", "1.2"), ("1.3",), ("AP-1",))
    assert found.verdict.replace("_", " ").lower() == "changes requested"


WORD = st.sampled_from(["TypeError", "in", "row", "twice", "key", "waits", "(again)", "a=b", "x:y", "no"])
SAID = st.lists(WORD, min_size=1, max_size=4).map(" ".join)
IDS = st.lists(
    st.sampled_from(["1.1", "1.2", "2", "10.3", "AC-1", "BUG-7@ab12cd", "parse_row", "ui/menu"]),
    min_size=1, max_size=5, unique=True,
)  # fmt: skip


@st.composite
def rendered_batches(draw):
    """A batch in one of the many ways to write it, with what it says."""
    ids = draw(IDS)
    kinds = {item: draw(st.sampled_from(["passed", "failed", "blocked"])) for item in ids}
    said = {item: draw(SAID) for item in ids}
    mark = draw(st.sampled_from([": {}", " {}", " - {}", " ({})", " — {}", ":  {}"]))
    sections = ["Batch: " + draw(st.sampled_from([", ", ",", "; "])).join(ids), "Review: CHANGES_REQUESTED"]
    passed = [item for item in ids if kinds[item] == "passed"]
    sections.append("Passed: " + draw(st.sampled_from(["{}", "[{}]"])).format(", ".join(passed)))
    for kind in ("failed", "blocked"):
        entries = [item + mark.format(said[item]) for item in ids if kinds[item] == kind]
        if entries and draw(st.booleans()):
            bullet = draw(st.sampled_from(["- ", "* ", "  - ", "• ", "  ", "1) "]))
            sections.append("\n".join([f"{kind.title()}:", *(bullet + entry for entry in entries)]))
        else:
            inside = draw(st.sampled_from([", ", "; ", ",\n    "])).join(entries)
            sections.append(f"{kind.title()}: " + draw(st.sampled_from(["{}", "[{}]"])).format(inside))
    return "\n".join(draw(st.permutations(sections))), kinds, said


@pytest.mark.req("M1")
@settings(deadline=None, max_examples=150)
@given(rendered_batches())
def test_no_entry_of_a_batch_is_ever_dropped_in_whatever_form(batch):
    text, kinds, said = batch
    result = read_batch(text)
    assert set(result.passed) == {item for item in kinds if kinds[item] == "passed"}
    failed = {one.id: one.error for one in result.failed}
    blocked = {one.id: one.description for one in result.blocked}
    for found, kind in ((failed, "failed"), (blocked, "blocked")):
        assert set(found) == {item for item in kinds if kinds[item] == kind}
        for item, words in found.items():
            assert re.findall(r"\w+", words) == re.findall(r"\w+", said[item])


PIECES = st.sampled_from(
    ["Batch:", "Review:", "Passed:", "Failed:", "Blocked:", "verdict:", "approved:", "rejected:", "APPROVED", "REJECTED",
     "1.1", "1.2", "AC-1", "parse", "boom", "none", "external", "[", "]", "{", "}", "(", ")", ",", ";", ":", "-", "–", " ", "  ",
     "\n", "\n- ", "\n  ", "\n    - ", "'", '"', "`", "**", "severity: high", "because it rains", "#", "|", "=", "."]
)  # fmt: skip
SILENT = {
    *("batch", "review", "passed", "failed", "blocked", "verdict", "approved", "rejected", "anti", "patterns"),
    *("none", "nothing", "null", "n", "a"),
}


@pytest.mark.req("M1")
@settings(deadline=None, max_examples=200)
@given(st.lists(PIECES, min_size=1, max_size=30).map(" ".join))
def test_every_word_of_a_text_is_in_what_was_read_or_the_text_is_refused_by_line(text):
    told = set(re.findall(r"\w+", text.lower())) - SILENT
    try:
        result, refused = read_batch(text), ""
    except BatchUnreadable as error:
        result, refused = BatchResult(), str(error)
    used = set(re.findall(r"\w+", msgspec.json.encode(result).decode().lower()))
    assert told <= used or refused.startswith("line "), result
