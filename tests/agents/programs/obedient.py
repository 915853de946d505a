"""Does what the prompt of the turn asks for, and no more: code first, tests when it is told that they are missing."""

from honest import PRODUCT, Report, finished, implement, main, red  # type: ignore[import-not-found]


def obey(prompt: str) -> Report:
    if "Change nothing" in prompt:
        return finished("it is finished")
    if "no test notices this change" in prompt:
        red(prompt)
        return finished("added a test for each criterion")
    for name in ("multiply", "divide", "power"):
        if f"def {name}(" not in PRODUCT.read_text():
            implement(name)
    return finished("wrote what is asked for")


main(IMPLEMENT=obey)
