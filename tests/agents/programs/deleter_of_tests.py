"""Honest until GREEN; there it deletes the tests that fail."""

from honest import TESTS, Report, finished, main  # type: ignore[import-not-found]


def delete(prompt: str) -> Report:
    TESTS.unlink(missing_ok=True)
    return finished("all tests pass")


main(GREEN=delete)
