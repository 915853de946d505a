"""Source that is put at the end of a planted test file, from its mark on: it runs beside the code under test.

A product may have put an `all` or an `Exception` of its own among the names of the test file. So nothing below uses a name that
could be taken: it is written with Python's statements alone, and a bare `except` is meant.
"""

from typing import Any

# planted from here

_flyball_reached: "list[int]" = []


def _flyball_seen(value: "Any") -> "Any":
    """Stand around an assertion of the file: that it is come to is noted."""
    _flyball_reached.append(1)
    return value


def _flyball_ended(mark: "str", since: "int", names: "dict[str, Any]", probes: "tuple[Any, ...]") -> "tuple[str, str]":
    """The mark that a planted failure carries, and what is wrong with the test's own assertions, if anything."""
    import sys  # noqa: PLC0415 - at the end of somebody's file nothing can be at its top

    if sys.exc_info()[0] is not None:
        return "x" + mark, ""
    wrong, weak, failing = "", 0, 0
    if since >= 0 and _flyball_reached.__len__() == since:
        wrong = "none of its assertions is run"
    for name in names:
        if not wrong and not _flyball_is_builtin(name, names[name]):
            wrong = name + " is not Python's own"
    for kind, text, get, count, words in probes:
        fails = _flyball_fails(kind, get, count, words)
        weak += kind == "weak"
        failing += kind == "weak" and fails
        if not wrong and not fails and kind != "weak":
            wrong = text + " does not fail when it is asked for something false"
    if not wrong and weak and not failing:
        wrong = "nothing that it calls fails when it is asked for something false"
    return ("h" if wrong else "x") + mark, wrong


def _flyball_fails(kind: "str", get: "Any", count: "int", words: "tuple[str, ...]") -> "bool":
    """Whether a check fails when it is asked for something false; one that cannot be asked is believed."""
    try:
        given = get()
        if kind == "equals":
            return not given == _flyball_fails  # noqa: SIM201 - `==` is what tests ask
        if kind == "expects":
            with given:
                pass
            return False
        return _flyball_refuses(given, count, words)
    except:  # noqa: E722 - see above
        return True


def _flyball_refuses(check: "Any", count: "int", words: "tuple[str, ...]") -> "bool":
    if not count and not words:
        return True
    for first, second in (("x", None), (0, 0), (0, (0,)), ("a", "a"), (None, None)):
        values: list[Any] = [first, second, None, None, None, None]
        named: dict[str, Any] = {}
        for word in words:
            named[word] = values[(count + named.__len__()) % 6]
        if _flyball_is_later(check(*values[:count], **named)):
            return True
    return False


def _flyball_is_later(told: "Any") -> "bool":
    """Whether a check has not been made yet, but will be when somebody waits for it."""
    try:
        return told.__await__ is not None
    except:  # noqa: E722 - see above
        return False


def _flyball_is_builtin(name: "str", value: "Any") -> "bool":
    """Whether a value is what Python has by this name: no program can give a function of C or a type of it another name."""
    of_c: Any = "".join
    if value.__class__ is of_c.__class__:
        # Of a function in C neither can be set.
        return value.__name__ == name and value.__self__.__name__ in ("builtins", "io", "_io")
    if value.__class__ is ().__class__.__class__:
        return value.__module__ == "builtins" and not value.__flags__ & 512
    try:
        return value.__class__.__module__.startswith("unittest") or _flyball_is_of_tests(value.__code__.co_filename)
    except:  # noqa: E722 - see above
        return False


def _flyball_is_of_tests(file: "str") -> "bool":
    """Whether a function stands in a test file, which may replace what it likes while it runs."""
    return file.rpartition("/")[2].startswith(("test", "conftest")) or "/tests/" in file or "site-packages" in file
