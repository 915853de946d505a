"""What is proposed where a gate's tests are not counted."""

import pytest

from flyball.core.loop.junit_hint import bats, gradle, junit_hint, maven, nextest

pytestmark = pytest.mark.req("C31")


@pytest.mark.parametrize(
    ("command", "proposed"),
    [
        (".venv/bin/python -m unittest discover -s tests", ".venv/bin/python -m pytest -q --junit-xml={junit}"),
        ("npx jest --ci", "JEST_JUNIT_OUTPUT_FILE={junit} npx --no-install jest --ci --reporters=jest-junit"),
        ("npm run test", "npm test -- OPTIONS that make it write a JUnit report to {junit}"),
        ("node --test tests", "node --test --test-reporter=junit --test-reporter-destination={junit} tests"),
        ("mvn test", maven("mvn")),
        ("./gradlew check", gradle("./gradlew")),
        ("cargo test", nextest()),
        ("bats tests", bats("tests")),
        ("go test ./...", "gotestsum --junitfile {junit} -- ./..."),
        ("make test", "let its command write a JUnit report to {junit}"),
    ],
)
def test_a_command_that_counts_is_proposed_as_near_as_its_words_tell(command, proposed) -> None:
    assert junit_hint(command).endswith(proposed)
