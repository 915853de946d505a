"""How a command's result reaches standard output: text or JSON, and no complaint when the reader has gone."""

import os
import sys
import textwrap
from datetime import datetime
from typing import Any, NoReturn, TextIO

READER_GONE = 141
"""What a shell reports of a program that wrote into a closed pipe."""
UNWRITABLE = 1


def put(text: str) -> None:
    """A result, with a line end; a reader that has gone ends the command quietly."""
    if sys.stdout is None:
        sys.exit(READER_GONE)
    try:
        sys.stdout.write(f"{_for_screen(text) if sys.stdout.isatty() else text}\n")
        sys.stdout.flush()
    except OSError as error:
        _not_put(error)


def put_json(value: Any) -> None:
    """A result as one line of JSON; names that are not UTF-8 are escape_surrogates out."""
    import msgspec

    from flyball.core.text.scrubbing import escape_surrogates

    try:
        encoded = msgspec.json.encode(value)
    except UnicodeEncodeError:
        encoded = msgspec.json.encode(escape_surrogates(msgspec.to_builtins(value)))
    put(encoded.decode())


def put_bytes(data: bytes) -> None:
    """A result that is not ours to decode; what a terminal shows of it is safe for any screen."""
    if sys.stdout is None:
        sys.exit(READER_GONE)
    try:
        if sys.stdout.isatty():
            data = _for_screen(data.decode("utf-8", "backslashreplace")).encode()
        sys.stdout.flush()
        sys.stdout.buffer.write(data)
        sys.stdout.flush()
    except OSError as error:
        _not_put(error)


def put_error_bytes(data: bytes) -> None:
    if sys.stderr.isatty():
        data = _for_screen(data.decode("utf-8", "backslashreplace")).encode()
    sys.stderr.buffer.write(data)


def _for_screen(text: str) -> str:
    from flyball.core.text.scrubbing import scrub, storable

    return scrub(storable(text))


def _not_put(error: OSError) -> NoReturn:
    """End a command whose result cannot be written: as programs do whose reader has gone, or with what is wrong."""
    silence(sys.stdout)
    if isinstance(error, BrokenPipeError):
        sys.exit(READER_GONE)
    tell(f"flyball: {no_output(error)}\n")
    sys.exit(UNWRITABLE)


def no_output(error: OSError) -> str:
    return f"standard output cannot be written ({error.strerror})"


def settle() -> None:
    """Write out what is still held back; the interpreter would complain in its own words."""
    try:
        if sys.stdout is not None:
            sys.stdout.flush()
    except OSError:
        silence(sys.stdout)


def silence(stream: TextIO) -> None:
    """Let what is still written go nowhere, so that the interpreter's last flush says nothing."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, stream.fileno())
    os.close(nowhere)


def tell(text: str) -> None:
    """Something for a person, on stderr; where it cannot be written nobody reads it, and the command goes on."""
    try:
        sys.stderr.write(_for_screen(text))
        sys.stderr.flush()
    except OSError:
        silence(sys.stderr)


def for_terminal(text: str) -> str:
    """A sentence in lines that fit the terminal which shows stderr; as it is where there is none."""
    try:
        width = os.get_terminal_size(sys.stderr.fileno()).columns
    except (OSError, ValueError):
        return text
    return textwrap.fill(
        text, max(20, width - 1), subsequent_indent="  ", break_long_words=False, break_on_hyphens=False
    )


def time_of_day(at: datetime) -> str:
    """The time that stands before a line, in the time zone of whoever reads it: `15:04:05`."""
    return f"{at.astimezone():%H:%M:%S}"


def at_terminal() -> bool:
    """Whether a person can be asked here."""
    return sys.stdin.isatty() and sys.stderr.isatty()


def ask(question: str) -> str:
    """A person's line, asked for on stderr so that a piped result stays clean; empty where none comes."""
    tell(question)
    return sys.stdin.readline().strip()
