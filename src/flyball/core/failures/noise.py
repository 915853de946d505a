"""Lines of tool output that say nothing about a failure: progress, passing tests, counters, times, advice."""

import re
from functools import cache

_PATTERNS = (
    r"^\W*$",
    # progress and passing tests
    r"^[.FEsxXuSPI]{1,200}\s*(?:\[\s*\d+%\])?$",
    r"^bringing up nodes|^\[gw\d+\]|^created: \d+/\d+ workers|^collecting|^collected \d|^plugins: |^rootdir: ",
    r"^cachedir: |^-test\.shuffle \d|^Seed:\s+-?\d+$|^\s*Running tests with seed ",
    r"^configfile: |^platform \w+ -- |^Using --randomly|^random(?:ly)? seed|^Test order|^INFO: Running",
    r"^\S+(?:::| \().*(?:\bPASSED|\bSKIPPED|\bXFAIL|\bFAILED|\bERROR)\s*(?:\[\s*\d+%\])?$",
    r"^(?:PASSED|SKIPPED|XFAIL) ",
    r"\s(?:\.\.\.|…) (?:ok|skipped|FAIL|FAILED|ERROR|expected failure|ignored).*$",
    r"^test .* \.\.\. (?:ok|ignored|FAILED)",
    r"^\s*[✓✔√↓○◌] |^\s*ok \d+|^\s*--- (?:PASS|SKIP)|^\s*=== |^PASS\b|^ok\s+\S+\s|^\?\s+\S+\s+\[no test files\]",
    r"^\s*[❯▶] \S.*?(?:\(\d+ tests?.*\)|[\d.]+ ?ms\)?)",
    r"^\w+ \([\w.]+\) \.\.\.$",
    r"^\s*(?:Use -v+ to get|Omitting \d+ identical|\.\.\.Full output truncated|Full diff:)",
    r"^\s*Displaying first and last \d+ stack frames|^\s*Pass `--full-trace`",
    # counters and times
    r"^=*\s*(?:\d+ (?:failed|passed|skipped|deselected|errors?|warnings?|xfailed|xpassed|rerun)[, ].*)?in [\d.]+s\b.*$",
    r"^\d+ (?:failed|passed|errors?)\b.*\bin [\d.]+ ?m?s|^Ran \d+ tests? in|^(?:FAILED|OK) \(|^!{3,}",
    r"^no tests ran in",
    r"^(?:Test Suites|Tests|Snapshots|Time|Start at|Duration|Test Files|Type Errors|Errors)(?::|\s{1,})\s*(?:[\d.]|no )",
    r"^\s*(?:Test Files|Tests|Start at|Duration|Errors)\s{2}|^Ran all test suites|^\s*RUN\s+v\d|^\s*DEV\s+v\d",
    r"\[\d+/\d+\]⎯",
    r"^\s*⎯+|^# (?:tests|suites|pass|fail|cancelled|skipped|todo|duration_ms)\b|^ℹ |^\d+\.\.\d+$|^TAP version",
    r"^\s*duration_ms|^\s*type: '(?:test|suite)'$|^\s*# Subtest:|^\s*stack: \|-|^\s*(?:---|\.\.\.)$",
    r"^✖ failing tests:",
    r"^#? ?Node\.js v\d|^test at \S+:\d+:\d+",
    r"^running \d+ tests?$|^test result:",
    r"^\s+(?:Compiling|Finished|Running|Doc-tests|Downloading|Downloaded|Checking|Blocking|Updating|Locking|Adding) ",
    r"^error: (?:could not compile|aborting due to|test failed, to rerun|\d+ targets? failed|doctest failed)",
    r"^warning: (?:build failed|`.*` \(.*\) generated)|^For more information about|^Some errors have detailed",
    r"^note: run with `RUST|^note: Some details",
    r"^failures:$|^successes:$|^FAIL(?:\s+\S+\s+(?:[\d.]+s|\[(?:build|setup) failed\]))?$|^exit status \d+$",
    r"^coverage: ",
    r"^\s+The expected type comes from |^\s*\d+  \S+\.\w+:\d+$",
    r"^Found \d+ errors?|^All checks passed|^\[\*\] \d+ fixable|^No fixes available|^\W*\d+ fixable",
    r"^Success: no issues",
    r"^\W*\d+ (?:problems?|errors?|warnings?)\b|^\W*\d+ errors? and \d+ warnings?|potentially fixable with",
    # jest says so only when the machine is slow
    r"^Jest did not exit one second after|^'?This usually means that there are asynchronous operations",
    r"^make(?:\[\d+\])?: (?:(?:Entering|Leaving) directory|\*\*\* Waiting for unfinished jobs)",
    # commands that make announces; with several jobs, also those of targets that have not failed
    r"^(?:\S*/)?(?:cc|gcc|g\+\+|c\+\+|clang|clang\+\+|ar|ld)(?:-\d+)? -",
    r"^npm (?:error|ERR!|warn|WARN|notice)(?:\s*$| A complete log|.*_logs/| Unknown \w+ config)",
    r"^npm (?:error|ERR!)\s+(?:path /|To see a list|npm run$|Did you mean|.*timing )|^npm notice|^> \S+@\S+ \S+$",
    r"^> [\w:-]+$",
    r"^Compilation failed|^Note: .*(?:Recompile|deprecat|unchecked)|^Picked up (?:JAVA|_JAVA)|^\[ERROR\]\s*$",
    r"^Traceback \(most recent call last\):|^During handling of the above|^The above exception was",
    r"^\s*\[Previous line repeated",
    r"^(?:_ )+_?$|^Hint: make sure your test|^Traceback:$|^System check identified",
    r"^(?:Creating|Destroying|Cloning) test database",
    # what an agent that runs the gate itself says around it
    r"^Applied edit to \S|^Attempt to fix \w+ errors\?|^Only \d+ reflections allowed",
)


@cache
def _noise() -> re.Pattern[str]:
    """Compiled at the first failure: most commands never meet one, and all of them would wait for it."""
    return re.compile("|".join(_PATTERNS))


def is_noise(line: str) -> bool:
    """Whether the line would be there, or differ, whatever failed."""
    return _noise().search(line) is not None
