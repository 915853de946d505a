"""How a gate's command would have to read for its tests to be counted."""

import re

_INSTEAD = (
    (re.compile(r"^(.*?)-m unittest\b.*"), r"\1-m pytest -q --junit-xml={junit}"),
    (re.compile(r".*\bvitest\b.*"), "npx --no-install vitest run --reporter=junit --outputFile={junit}"),
    (re.compile(r".*\bjest\b.*"), "JEST_JUNIT_OUTPUT_FILE={junit} npx --no-install jest --ci --reporters=jest-junit"),
    (re.compile(r"(node --test\b.*)"), r"\1 --test-reporter=junit --test-reporter-destination={junit}"),
    (
        re.compile(r"(npm|pnpm|yarn) (?:run )?test\b.*"),
        r"\1 test -- OPTIONS that make it write a JUnit report to {junit}",
    ),
    (re.compile(r"go test\b.*"), "gotestsum --junitfile {junit} -- ./..."),
    (re.compile(r"cargo test\b.*"), "cargo nextest run --profile ci && cp target/nextest/ci/junit.xml {junit}"),
)


def counted_by(command: str) -> str:
    """A sentence's end that says which command would have its tests counted, as near as its words tell."""
    for pattern, instead in _INSTEAD:
        if found := pattern.fullmatch(command.strip()):
            return f"to have them counted, use a command such as: {found.expand(instead)}"
    return "to have them counted, let its command write a JUnit report to {junit}"
