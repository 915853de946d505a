"""Source that is put at the end of a planted test file, from its mark on: it runs beside the code under test.

A product may have put an `all` or an `Exception` of its own among the names of the test file. So nothing below uses a name that
could be taken: it is written with Python's statements alone, and a bare `except` is meant.
"""

from typing import Any

# planted from here

_flyball_reached: "list[int]" = []
_flyball_failed: "list[int]" = []
_flyball_odd: "list[str]" = []


def _flyball_seen(value: "Any") -> "Any":
    """Stand around an assertion of the file: that it is come to is noted."""
    _flyball_reached.append(1)
    return value


def _flyball_last(value: "Any") -> "Any":
    """Stand around the last assertion of a test: it fails, and that failure must come to the test's end."""
    _flyball_reached.append(1)
    _flyball_failed.append(1)
    # By a statement, since the name of its error may be taken; what is false fails by itself.
    assert not _flyball_failed or (value is not None and not value), "planted by flyball"
    return value


def _flyball_last_call(value: "Any") -> "Any":
    """The same around a check that is called, whatever it gives back."""
    return _flyball_last(value or None)


def _flyball_compared(value: "Any") -> "Any":
    """Stand around what an assertion compares: what the product made, and equals everything, is noted."""
    import sys  # noqa: PLC0415 - see below

    try:
        if (value == _flyball_reached) is True:
            file = sys.modules[value.__class__.__module__].__file__
            if file and "/lib/python" not in file and not _flyball_is_of_tests(file):
                _flyball_odd.append(value.__class__.__name__)
    except:  # noqa: E722, S110 - see above
        pass
    return value


def _flyball_start(own: "bool") -> "tuple[bool, int, int, int]":
    return own, _flyball_reached.__len__(), _flyball_failed.__len__(), _flyball_odd.__len__()


def _flyball_ended(
    mark: "str", since: "tuple[bool, int, int, int]", names: "dict[str, Any]", probes: "tuple[Any, ...]"
) -> "tuple[str, str]":
    """The mark that a planted failure carries, and what is wrong with the test's own assertions, if anything."""
    import sys  # noqa: PLC0415 - at the end of somebody's file nothing can be at its top

    own, reached, failed, odd = since
    thrown = sys.exc_info()[1]
    # What a runner that explains assertions makes of the message begins with it.
    if thrown is not None and not f"{thrown}".startswith("planted by flyball"):
        return "x" + mark, ""
    wrong, weak, failing = "", 0, 0
    if own and _flyball_reached.__len__() == reached:
        wrong = "none of its assertions is run"
    elif thrown is None and _flyball_failed.__len__() != failed:
        wrong = "a failure of its assertion is swallowed"
    elif _flyball_odd.__len__() != odd:
        wrong = "a " + _flyball_odd[-1] + " that it compares equals everything"
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
