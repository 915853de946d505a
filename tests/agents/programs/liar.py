"""Claims that every stage is finished and changes nothing."""

from honest import finished, main  # type: ignore[import-not-found]

main(every=lambda prompt: {**finished("all tests pass"), "verdict": "pass"})
