"""How a gate's command reads so that its tests are counted: its report is delivered when tests fail, too, with the runner's exit code."""

import re

_MANY = (
    "find . -path '{place}' -delete; {command}; code=$?; mkdir -p {{junit}};"
    " find . -path '{place}' -exec cp --parents -t {{junit}} {{}} +; exit $code"
)
"""For runners that write a report for each class or module; what lay there before is removed, for it is of no run."""


def nextest(profile: str = "ci", report: str = "target/nextest/ci/junit.xml") -> str:
    run = f"cargo nextest run --profile {profile} --no-fail-fast"
    return f"rm -f {report}; {run}; code=$?; cp {report} {{junit}}; exit $code"


def maven(program: str) -> str:
    return _MANY.format(place="*/surefire-reports/TEST-*.xml", command=f"{program} -q -B -fae test")


def gradle(program: str) -> str:
    return _MANY.format(place="*/build/test-results/*/TEST-*.xml", command=f"{program} test --continue --console=plain")


def bats(folder: str) -> str:
    """Bats does not wait for what writes its report, but for what formats its output."""
    return f"bats --formatter junit --recursive {folder} >{{junit}}; code=$?; cat {{junit}}; exit $code"


_INSTEAD = (
    (re.compile(r"^(.*?)-m unittest\b.*"), r"\1-m pytest -q --junit-xml={junit}"),
    (re.compile(r".*\bvitest\b.*"), "npx --no-install vitest run --reporter=junit --outputFile={junit}"),
    (re.compile(r".*\bjest\b.*"), "JEST_JUNIT_OUTPUT_FILE={junit} npx --no-install jest --ci --reporters=jest-junit"),
    (re.compile(r"(.*\bmocha\b.*)"), r"\1 --reporter xunit --reporter-options output={junit}"),
    (re.compile(r"(node --test)\b(.*)"), r"\1 --test-reporter=junit --test-reporter-destination={junit}\2"),
    (
        re.compile(r"(npm|pnpm|yarn) (?:run )?test\b.*"),
        r"\1 test -- OPTIONS that make it write a JUnit report to {junit}",
    ),
    (re.compile(r"go test\b.*"), "gotestsum --junitfile {junit} -- ./..."),
    (re.compile(r"cargo test\b.*"), nextest().replace("\\", r"\\")),
    (re.compile(r"(\S*mvnw?)\b.*"), maven(r"\1")),
    (re.compile(r"(\S*gradlew?)\b.*"), gradle(r"\1")),
    (re.compile(r"(.*\bphpunit\b.*)"), r"\1 --log-junit {junit}"),
    (re.compile(r"(.*\brspec\b.*)"), r"\1 --format RspecJunitFormatter --out {junit}"),
    (re.compile(r"(dotnet test\b.*)"), r'\1 --logger "junit;LogFilePath={junit}/{assembly}.xml"'),
    (re.compile(r"bats\b(?:.*\s)?(\S+)"), bats(r"\1")),
)


def junit_hint(command: str) -> str:
    """A sentence's end that says which command would have its tests counted, as near as its words tell."""
    if "{junit}" in command:
        return "to have them counted, its command must write a JUnit report to {junit}, and wrote none"
    for pattern, instead in _INSTEAD:
        if found := pattern.fullmatch(command.strip()):
            return f"to have them counted, use a command such as: {found.expand(instead)}"
    return "to have them counted, let its command write a JUnit report to {junit}"
