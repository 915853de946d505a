import json

import msgspec
import pytest
from hypothesis import given, settings, strategies as st

from flyball.core.claims.claims import read_claim
from flyball.core.claims.findings import Finding
from flyball.core.claims.values import (
    BusinessDocSync,
    Claim,
    ClaimedBlocker,
    DesignDecision,
    OpenQuestion,
    ProposedIssue,
    ProtectedChange,
    Rejection,
)

NONCE = "n-42"


def read(message="", report=None, prompt="", tree=(), nonce=NONCE):
    raw = json.dumps(report).encode() if isinstance(report, dict | list) else report
    return read_claim(
        report_file=raw,
        final_message=message,
        nonce=nonce,
        prompt=prompt,
        echoed=lambda text: any(text in file for file in tree),
    )


def fenced(report, info="flyball-report"):
    return f"```{info}\n{json.dumps(report)}\n```\n"


def test_every_field_of_the_report_is_read():
    report = {
        "nonce": NONCE,
        "status": "complete",
        "exit_signal": True,
        "summary": "all done",
        "verdict": "pass",
        "approved": ["1.1", 2],
        "rejected": [{"id": "1.2", "reason": "no test"}],
        "findings": [{"severity": "critical", "message": "boom", "file": "a.py", "line": 3}],
        "blockers": [{"type": "dependency", "description": "needs 1.1"}],
        "questions": [{"text": "which?", "options": ["a", "b"], "default": "a"}],
        "protected_changes": [{"path": "tests/test_a.py", "reason": "wrong sum"}],
        "decisions": [
            {
                "title": "t",
                "context": "c",
                "choice": "x",
                "alternatives": ["y"],
                "consequences": "z",
                "depends_on": ["001"],
                "invalidated_if": "never",
            }
        ],
        "metrics": {"tests": 3, "share": 0.5, "ok": True, "tool": "x"},
        "issues": [{"title": "i", "type": "bug", "priority": "high", "problem": "p", "acceptance": ["a"]}],
        "plan": "# Plan\n\n- [ ] one",
        "business_doc_sync": {"required": True, "reason": "prices", "documents": ["product.md"]},
    }
    assert read(report=report) == Claim(
        status="complete",
        exit_signal=True,
        summary="all done",
        verdict="pass",
        approved=("1.1", "2"),
        rejected=(Rejection("1.2", "no test"),),
        findings=(Finding("critical", "boom", "a.py", 3),),
        blockers=(ClaimedBlocker("dependency", "needs 1.1"),),
        questions=(OpenQuestion("which?", ("a", "b"), "a"),),
        protected_changes=(ProtectedChange("tests/test_a.py", "wrong sum"),),
        decisions=(DesignDecision("t", "c", "x", ("y",), "z", ("001",), "never"),),
        metrics={"tests": 3, "share": 0.5, "ok": True, "tool": "x"},
        issues=(ProposedIssue("i", "bug", "high", "p", ("a",)),),
        plan="# Plan\n\n- [ ] one",
        business_doc_sync=BusinessDocSync(required=True, reason="prices", documents=("product.md",)),
        source="report-file",
    )


def test_an_agent_that_says_nothing_claims_nothing():
    assert read() == Claim()
    assert read("I changed three files and the tests pass now.", report=b" \n") == Claim()


def test_the_report_file_wins_over_the_fenced_block_and_that_over_native_markers():
    block = fenced({"nonce": NONCE, "summary": "from the block"})
    message = f"Status: BLOCKED: no key\n{block}"
    assert read(message, report={"nonce": NONCE, "summary": "from the file"}).summary == "from the file"
    claim = read(message)
    assert (claim.summary, claim.source, claim.status) == ("from the block", "fenced-block", "")
    assert read("Status: BLOCKED: no key").source == "native"


def test_a_partial_report_adds_what_was_noted_to_the_last_word_and_replaces_nothing():
    question = {"text": "which?", "options": ["a", "b"], "default": "a"}
    notes = {"nonce": NONCE, "partial": True, "status": "in_progress", "summary": "half way", "questions": [question]}
    claim = read(fenced({"nonce": NONCE, "exit_signal": True, "summary": "last word"}), notes)
    assert (claim.exit_signal, claim.summary, claim.source) == (True, "last word", "fenced-block")
    assert claim.questions == (OpenQuestion("which?", ("a", "b"), "a"),)
    alone = read("I worked on it.", notes)
    assert (alone.status, alone.summary, alone.exit_signal, alone.source) == ("in_progress", "half way", False, "none")
    assert alone.problems == ()
    native = read("Status: blocked", notes)
    assert (native.status, native.source) == ("blocked", "native")


def test_a_partial_report_signals_nothing_and_judges_nothing():
    said = {"status": "complete", "exit_signal": True, "verdict": "pass", "approved": ["AC-1"], "plan": "- [ ] x"}
    assert read("Done.", {"nonce": NONCE, "partial": True, **said}) == Claim()


def test_a_partial_report_needs_the_nonce_like_any_other():
    claim = read("", {"nonce": "another", "partial": True, "questions": ["which?"]})
    assert claim.questions == ()
    assert "not the one of this turn" in claim.problems[0]


def test_the_last_fenced_report_counts_and_one_inside_another_fence_does_not():
    first, last = ({"nonce": NONCE, "summary": word} for word in ("first", "last"))
    quoted = "~~~~markdown\n" + fenced({"nonce": NONCE, "summary": "quoted"}) + "~~~~\n"
    assert read(f"{fenced(first)}\n{fenced(last)}\n{quoted}").summary == "last"
    assert read(quoted).source == "none"
    assert read(fenced(last, info="json")).source == "none"


@pytest.mark.parametrize("nonce", ["other", "", None, 42, ["n-42"], {"n-42": 1}])
def test_a_report_with_another_nonce_is_no_claim_and_is_named_before_the_next_source_is_read(nonce):
    stale = {"nonce": nonce, "status": "complete", "exit_signal": True}
    claim = read(fenced({"nonce": NONCE, "summary": "mine"}), report=stale)
    assert (claim.source, claim.exit_signal, claim.summary) == ("fenced-block", False, "mine")
    assert "the report file carries the nonce" in claim.problems[0]
    assert NONCE not in claim.problems[0]
    nothing = read(fenced(stale), report=stale)
    assert (nothing.source, nothing.exit_signal, len(nothing.problems)) == ("none", False, 2)


def test_a_report_without_a_nonce_is_told_where_to_find_it_and_an_empty_nonce_never_matches():
    assert "FLYBALL_NONCE" in read(report={"exit_signal": True}).problems[0]
    assert read(report={"nonce": "", "exit_signal": True}, nonce="").exit_signal is False


@pytest.mark.parametrize(
    ("raw", "said"),
    [
        (b"{", "not valid JSON"),
        (b'{"nonce": "n-42", "metrics": {"a": NaN}}', "not valid JSON"),
        (b'{"nonce": "n-42", "metrics": {"a": 1e999}}', "not valid JSON"),
        (b'{"nonce": "n-42", "summary": "\xff"}', "not valid JSON"),
        (b'{"nonce": "n-42"} trailing', "not valid JSON"),
        (b'["n-42"]', "is a list; expected a JSON object"),
        (b'"n-42"', "is the text 'n-42'"),
        (b"\x00\x01\x02" * 99, "not valid JSON"),
        (b'{"a":' * 50_000, "nested too deeply"),
        (b" " * 2_000_000 + b"{}", "at most 1048576"),
    ],
)
def test_a_report_that_cannot_be_read_is_no_claim_and_says_why(raw, said):
    claim = read(report=raw)
    assert claim.source == "none"
    assert said in claim.problems[0]


def test_a_byte_order_mark_does_not_matter():
    assert read(report=b'\xef\xbb\xbf{"nonce": "n-42", "exit_signal": true}').exit_signal is True


@pytest.mark.req("C40")
@pytest.mark.parametrize("value", ["true", "True", 1, "yes", [True], {"value": True}, 1.0])
def test_only_true_itself_is_an_exit_signal(value):
    claim = read(report={"nonce": NONCE, "exit_signal": value, "status": "complete"})
    assert claim.exit_signal is False
    assert claim.status == "complete"
    assert any(problem.startswith("exit_signal is") for problem in claim.problems)


@pytest.mark.req("C40")
@pytest.mark.parametrize(
    "message",
    [
        "Status: COMPLETE",
        "Verdict: APPROVED",
        "<promise>LOOP_DONE</promise>",
        "EXIT_SIGNAL: true",
        "exit_signal: true",
        "---PRP_PHASE_STATUS---\nSTATUS: COMPLETE\nPROGRESS_PERCENT: 100\n---END_PRP_PHASE_STATUS---",
        "---PRP_PHASE_STATUS---\nSTATUS: COMPLETE\nEXIT_SIGNAL: True\n---END_PRP_PHASE_STATUS---",
        "GREEN_PHASE_METRICS:\n  exit_signal: true",
    ],
)
def test_an_exit_signal_is_never_inferred(message):
    assert read(message).exit_signal is False
    assert (
        read(
            report={"nonce": NONCE, "status": "complete", "verdict": "pass", "metrics": {"exit_signal": True}}
        ).exit_signal
        is False
    )


def test_one_bad_field_is_named_and_the_rest_kept():
    claim = read(
        report={
            "nonce": NONCE,
            "summary": ["no"],
            "status": "finished-ish",
            "verdict": 3,
            "approved": ["1.1", 1.1, None, ""],
            "rejected": "1.2",
            "findings": [{"severity": "terrible", "message": "a", "line": "12"}, {"file": "b.py"}, 7.5, "bare"],
            "blockers": [{"type": "weather", "description": "rain"}, {"type": "external"}],
            "metrics": {"a": [1], "b": None, "c": 2, "d": 2**70},
            "business_doc_sync": "yes",
            "plan": "kept",
            "exitSignal": True,
        }
    )
    assert claim.plan == "kept"
    assert (claim.summary, claim.status, claim.verdict) == ("", "", "")
    assert claim.approved == ("1.1",)
    assert claim.findings == (
        Finding("major", "a"),
        Finding("major", "(no message)", "b.py"),
        Finding("major", "bare"),
    )
    assert claim.blockers == (ClaimedBlocker("external", "rain"),)
    assert claim.metrics == {"c": 2}
    said = "\n".join(claim.problems)
    for expected in (
        "summary is a list; expected text",
        "status is 'finished-ish'; expected one of complete, in_progress, blocked, needs_clarification",
        "verdict is the number 3",
        "approved[1] is the number 1.1; expected text",
        "rejected is the text '1.2'; expected a list",
        "findings[0].severity is 'terrible'; expected one of critical, major, minor, suggestion; taken as major",
        "findings[0].line is '12'; expected a line number",
        "findings[1].message is missing",
        "findings[2] is the number 7.5; expected an object",
        "findings[3].severity is missing",
        "blockers[0].type is 'weather'",
        "blockers[1].description is missing",
        "metrics.a is a list",
        "metrics.d is a number too large to keep",
        "business_doc_sync is the text 'yes'; expected an object",
        "not known and were not read: exitSignal",
    ):
        assert expected in said


@pytest.mark.parametrize(
    ("word", "verdict"),
    [
        ("APPROVE", "pass"),
        ("APPROVED", "pass"),
        ("PASS", "pass"),
        ("pass", "pass"),
        ("WARN", "warn"),
        ("REJECT", "fail"),
        ("CHANGES_REQUESTED", "fail"),
        ("CHANGES REQUESTED", "fail"),
        ("NEEDS REVISION", "fail"),
        ("fail", "fail"),
        ("INCOMPLETE", "fail"),
    ],
)
def test_the_seeds_verdicts_mean_the_same_in_a_report_and_in_a_line(word, verdict):
    assert read(report={"nonce": NONCE, "verdict": word}).verdict == verdict
    for line in ("Verdict: {}", "**Verdict:** {}", "## Verdict: {}", "### Verdict: {} — see above", "Verdict: ✅ `{}`"):
        assert read(f"I looked.\n\n{line.format(word)}\n").verdict == verdict, line


def test_important_is_major_and_high_blocks():
    findings = [{"severity": word, "message": word} for word in ("Important", "HIGH", "Medium", "low", "Critical")]
    claim = read(report={"nonce": NONCE, "findings": findings})
    assert [f.severity for f in claim.findings] == ["major", "major", "minor", "suggestion", "critical"]
    assert claim.problems == ()


def test_lists_texts_and_problems_are_bounded_and_say_so():
    report = {
        "nonce": NONCE,
        "approved": [str(n) for n in range(500)],
        "summary": "x" * 50_000,
        "plan": "p" * 100_000,
        "metrics": {f"m{n}": n for n in range(5000)},
        "findings": [{"severity": "huh", "message": "m"}] * 100,
    }
    claim = read(report=report)
    assert len(claim.approved) == 100
    assert len(claim.summary) == 4000
    assert len(claim.plan) == 100_000
    assert len(claim.metrics) == 200
    assert len(claim.problems) == 50
    assert claim.problems[-1].startswith("and ")
    assert any("only the first 100 are kept" in problem for problem in claim.problems)


def test_control_sequences_reach_no_field_and_no_problem():
    nasty = "a\x1b[2J\x00\u202eb"
    claim = read(report={"nonce": NONCE, "summary": nasty, "status": nasty, nasty: 1, "metrics": {nasty: nasty}})
    assert claim.summary == "ab"
    assert claim.metrics == {"ab": "ab"}
    stored = msgspec.json.encode(claim).decode()
    assert not {"\x1b", "\x00", "\u202e", "\\u001b", "\\u0000"} & set(stored)
    assert "\\u" not in stored


BLOCK = """\
---PRP_PHASE_STATUS---
PHASE: GREEN
STATUS: COMPLETE
TESTS:
  TOTAL: 3
  PASSING: 3
BLOCKERS:
  - needs a key
EXIT_SIGNAL: true
RECOMMENDATION: go on
---END_PRP_PHASE_STATUS---
"""


@pytest.mark.req("C70")
def test_a_status_block_is_a_claim():
    claim = read(f"Done.\n\n{BLOCK}")
    assert (claim.source, claim.status, claim.exit_signal, claim.summary) == ("native", "complete", True, "go on")
    assert claim.metrics["tests_passing"] == 3
    assert claim.blockers == (ClaimedBlocker("external", "needs a key"),)
    assert any("status block: missing: TIMESTAMP" in problem for problem in claim.problems)


@pytest.mark.req("C70")
def test_a_broken_block_is_reported_and_claims_nothing():
    claim = read(BLOCK.replace("EXIT_SIGNAL: true", "EXIT_SIGNAL true"))
    assert (claim.source, claim.exit_signal, claim.status) == ("none", False, "")
    assert "broken at line 9" in claim.problems[0]


@pytest.mark.parametrize("fence", ["```", "~~~", "  ```text", "> ```", "- ```", "````"])
def test_markers_inside_a_code_fence_are_no_claim(fence):
    closing = fence.strip(" >-").replace("text", "")
    quoted = f"{fence}\n{BLOCK}Status: COMPLETE\n<promise>LOOP_DONE</promise>\n## Decisions\n- x\n{closing}\n"
    claim = read(quoted)
    assert claim.source == "none"
    assert claim.exit_signal is False
    assert "inside a code fence" in claim.problems[0]
    assert read(f"```\nnever closed\n{BLOCK}").source == "none"
    assert read(f"{quoted}\n{BLOCK}").exit_signal is True


@pytest.mark.parametrize(
    "line",
    ["> Status: COMPLETE", "    Status: COMPLETE", "say `<promise>LOOP_DONE</promise>` then", "The Status: COMPLETE"],
)
def test_quoted_or_mentioned_markers_are_no_claim(line):
    assert read(line) == Claim()


@pytest.mark.parametrize(
    "marker",
    [
        BLOCK,
        "Status: COMPLETE",
        "Verdict: PASS",
        "<promise>LOOP_DONE</promise>",
        "## Decisions\n- use msgspec",
        "RED_PHASE_METRICS:\n  a: 1",
    ],
)
def test_what_stands_in_the_prompt_or_the_tree_is_no_claim(marker):
    assert read(marker).source == "native"
    for claim in (read(marker, prompt=f"Say\n\n  {marker}\n when done"), read(marker, tree=[f"x\n{marker}\ny"])):
        assert (claim.source, claim.exit_signal) == ("none", False)
        assert "word for word in the prompt or the tree" in claim.problems[0]


def test_an_echo_is_found_whatever_its_white_space_but_not_inside_a_longer_word():
    assert read("Status: COMPLETE", prompt="end with  Status:\nCOMPLETE | BLOCKED").source == "none"
    assert read("Status: COMPLETE", prompt="never write Status: COMPLETED").source == "native"


def test_a_report_is_not_asked_about_echoes_because_it_carries_the_nonce():
    block = fenced({"nonce": NONCE, "exit_signal": True})
    assert read(block, prompt=block, tree=[block]).exit_signal is True


@pytest.mark.parametrize(
    ("name", "status"),
    [
        ("LOOP_DONE", "complete"),
        ("ISSUE_COMPLETE", "complete"),
        ("NO_ISSUES", "complete"),
        ("LOOP_CONTINUE", "in_progress"),
        ("LOOP_BLOCKED", "blocked"),
        ("LOOP_ERROR", "blocked"),
        ("ALL_BLOCKED", "blocked"),
    ],
)
def test_a_promise_is_a_status(name, status):
    assert read(f"bye\n<promise>{name}</promise>").status == status


@pytest.mark.parametrize(
    "message", ["<promise>WORLD_PEACE</promise>", "Status: COMPLETE | BLOCKED: reason", "### Verdict: PASS / FAIL"]
)
def test_a_marker_that_says_nothing_known_is_named_and_no_claim(message):
    claim = read(message)
    assert claim.source == "none"
    assert "is not understood" in claim.problems[0]


def test_a_blocked_line_carries_its_reason():
    claim = read("Status: BLOCKED: the service is down")
    assert (claim.status, claim.blockers) == ("blocked", (ClaimedBlocker("external", "the service is down"),))


def test_a_status_line_with_a_reviewers_word_is_a_verdict():
    assert read("Status: APPROVED").verdict == "pass"


def test_questions_come_with_a_need_for_clarification():
    claim = read("Status: NEEDS_CLARIFICATION\nQuestions:\n- Which database?\n2. Which port?\n\nThanks")
    assert claim.status == "needs_clarification"
    assert claim.questions == (OpenQuestion("Which database?"), OpenQuestion("Which port?"))


def test_where_markers_disagree_the_least_favourable_word_stands():
    claim = read(
        f"{BLOCK}\nStatus: BLOCKED: no\n<promise>LOOP_DONE</promise>\nVerdict: PASS\nVerdict: CHANGES REQUESTED"
    )
    assert (claim.status, claim.verdict) == ("blocked", "fail")
    assert any("disagree on the status (complete, blocked); taken as blocked" in problem for problem in claim.problems)


@pytest.mark.req("C70")
def test_metrics_mappings_are_read_beside_the_block():
    claim = read(f"{BLOCK}\nGREEN_PHASE_METRICS:\n  consecutive_green_runs: 2\n  tests_total: 4\n")
    assert claim.metrics["consecutive_green_runs"] == 2
    assert claim.metrics["tests_total"] == 4


@pytest.mark.req("C70")
@pytest.mark.parametrize(
    "said",
    [
        {"final": BLOCK.replace("BLOCKERS:", "PATTERNS_APPLIED:\n  - extract function\n  - rename\nBLOCKERS:", 1)},
        {"final": f"{BLOCK}\nREFACTOR_PHASE_METRICS:\n  patterns_applied:\n    - extract function\n    - rename\n"},
        {"report": {"nonce": NONCE, "metrics": {"patterns_applied": ["extract function", "rename"]}}},
    ],
    ids=["block", "metrics", "report"],
)
def test_patterns_are_read_wherever_an_agent_names_them(said):
    claim = read(said.get("final", ""), report=said.get("report"))
    assert claim.metrics["patterns_applied"] == "extract function, rename"


def test_decisions_are_read_as_list_entries_or_under_headings():
    claim = read(
        """## Decisions

- Use SQLite
- **Choice:** keep one file
  - Context: many small writes
  - Alternatives: two files; a server
  - Invalidated If: more than one host

### Retry policy
Context: flaky net
Choice: back off
 up to a minute
Alternatives Rejected:
- give up
- hammer
Consequences: slower

## Notes
- not a decision
"""
    )
    first, second, third = claim.decisions
    assert (first.title, first.choice) == ("Use SQLite", "Use SQLite")
    assert second == DesignDecision(
        title="keep one file",
        context="many small writes",
        choice="keep one file",
        alternatives=("two files", "a server"),
        invalidated_if="more than one host",
    )
    assert third == DesignDecision(
        title="Retry policy",
        context="flaky net",
        choice="back off up to a minute",
        alternatives=("give up", "hammer"),
        consequences="slower",
    )


@pytest.mark.parametrize(
    "message", ["## Decisions\n\nNone.", "## Decisions\n- none\n", "## Decisions", "Decisions:\n- x"]
)
def test_a_section_without_decisions_claims_nothing(message):
    assert read(message) == Claim()


@pytest.mark.parametrize(
    "message",
    [
        "A_PHASE_METRICS:\n" * 60_000,
        "Status: " + "a " * 500_000,
        "# " + " " * 500_000 + "x",
        "## Decisions\n" + "- x\n" * 200_000,
        "`" * 1_000_000,
        "```\n" * 200_000,
        "---PRP_PHASE_STATUS---\n" * 40_000,
        "<promise>" * 100_000,
        "Questions:" + " " * 900_000 + "\nStatus: NEEDS_CLARIFICATION",
        "## Decisions\n" + "Context:" + " \t" * 400_000 + "x",
        "x" * 3_000_000,
        ("# " + " " * 480 + "\n") * 2000,
        "## A Summary\nResult: pass\n" + ("a" + " " * 490 + "\n") * 1500,
        "## A Summary\nResult: pass\n" * 30_000,
    ],
    ids=lambda message: message[:12],
)
def test_hostile_messages_are_read_in_bounded_time(message):
    claim = read(message)
    assert len(msgspec.json.encode(claim)) < 2_000_000


def test_a_claim_costs_the_journal_only_what_was_said():
    assert msgspec.json.encode(Claim()) == b"{}"
    assert msgspec.json.encode(Claim(exit_signal=True, source="native")) == b'{"exit_signal":true,"source":"native"}'


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=12,
)
entries = st.dictionaries(
    st.sampled_from(
        [
            "id",
            "reason",
            "severity",
            "message",
            "file",
            "line",
            "type",
            "description",
            "text",
            "options",
            "default",
            "title",
            "path",
        ]
    ),
    json_values,
    max_size=5,
)
reports = st.dictionaries(
    st.sampled_from([*Claim.__struct_fields__, "other"]),
    json_values | st.lists(entries | json_values, max_size=4) | entries,
    max_size=8,
)


def storable(claim):
    assert msgspec.json.decode(msgspec.json.encode(claim), type=Claim) == claim
    assert msgspec.msgpack.decode(msgspec.msgpack.encode(claim), type=Claim) == claim


@settings(max_examples=50)
@given(reports)
def test_any_report_object_gives_a_claim_that_can_be_stored(report):
    claim = read(report={**report, "nonce": NONCE})
    storable(claim)
    assert claim.exit_signal is (report.get("exit_signal") is True and claim.source == "report-file")


scraps = st.sampled_from(
    [
        "```",
        "~~~",
        "```flyball-report",
        "---PRP_PHASE_STATUS---",
        "---END_PRP_PHASE_STATUS---",
        "STATUS: COMPLETE",
        "EXIT_SIGNAL: true",
        "Status: BLOCKED: x",
        "<promise>LOOP_DONE</promise>",
        "## Decisions",
        "- Choice: y",
        "  - z",
        "QA_VALIDATION_METRICS:",
        "  a: 1",
        '{"nonce": "n-42"}',
        "Questions:",
        "\ud800",
    ]
)


@given(
    st.binary() | st.none(),
    st.lists(scraps | st.text(st.characters(), max_size=12), max_size=12),
    st.text(),
    st.booleans(),
)
def test_nothing_an_agent_writes_makes_the_reader_raise(raw, lines, prompt, echo):
    claim = read_claim(
        report_file=raw, final_message="\n".join(lines), nonce=NONCE, prompt=prompt, echoed=lambda _text: echo
    )
    storable(claim)


@pytest.mark.req("O42")
def test_a_reviewer_may_say_of_earlier_learnings_what_became_of_them_as_objects_or_as_text() -> None:
    report = {
        "nonce": "n",
        "supersedes": [{"id": "001-a/2", "by": "7", "because": "faster"}, "002-b/1 by 8 because it is JSON"],
        "invalidates": ["001-a/3 because the file moved", {"id": "4", "because": "old"}, {"because": "nothing named"}],
        "decisions": [{"title": "t", "choice": "c", "supersedes": ["001-a/2"], "invalidated_if": "path a.py gone"}],
    }
    claim = read_claim(
        report_file=json.dumps(report).encode(), final_message="", nonce="n", prompt="", echoed=lambda _: False
    )
    assert [(r.id, r.by, r.because) for r in claim.supersedes] == [
        ("001-a/2", "7", "faster"),
        ("002-b/1", "8", "it is JSON"),
    ]
    assert [(r.id, r.by, r.because) for r in claim.invalidates] == [("001-a/3", "", "the file moved"), ("4", "", "old")]
    assert claim.problems == ("invalidates[2].id is missing; it is what the entry is about",)
    assert claim.decisions[0].supersedes == ("001-a/2",)
