"""Honest until GREEN; there it mends one feature by breaking the other, and back again, for ever."""

from honest import FEATURES, PRODUCT, Report, asked, implement, main  # type: ignore[import-not-found]


def flip(prompt: str) -> Report:
    first, second = (*asked(), *FEATURES)[:2]
    base = PRODUCT.read_text().split(f"\n\ndef {first}(")[0].split(f"\n\ndef {second}(")[0].rstrip("\n") + "\n"
    mended = second if f"def {first}(" in PRODUCT.read_text() else first
    PRODUCT.write_text(base)
    implement(mended)
    return {"status": "in_progress", "exit_signal": False, "summary": f"mended {mended}"}


main(GREEN=flip)
