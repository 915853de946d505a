"""Who may look and speak: a token in flyball's home, a cookie made from it, and checks that no other site can pass.

A browser sends the cookie of this server whichever page made it ask. So every word needs an Origin of our own and a form token that
only our own pages hold; every request needs a Host we are known by, or a name that was pointed at this machine could read us.
"""

import hashlib
import hmac
import os
import re
from collections.abc import Iterable, Mapping
from pathlib import Path

import msgspec

from flyball.clock import system_clock

COOKIE = "flyball"
FOLDER = "serve"
_HOST = re.compile(r"(?:\[([0-9a-f:.]+)\]|([^\[\]:]+))(?::[0-9]*)?")
LOOPBACK = frozenset({"127.0.0.1", "localhost", "::1"})


def token_of(home: Path, *, new: bool = False) -> str:
    """The token of this home, made when there is none; only its owner can read the file."""
    path = home / FOLDER / "token"
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    if not new and path.is_file():
        kept = path.read_text(encoding="ascii", errors="replace").strip()
        if len(kept) >= 32:
            return kept
    token = f"{system_clock.nonce()}{system_clock.nonce()}"
    with os.fdopen(os.open(f"{path}.new", os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as file:
        file.write(f"{token}\n")
    Path(f"{path}.new").replace(path)
    return token


class AccessRules(msgspec.Struct, frozen=True):
    token: str
    hosts: frozenset[str]
    read_only: bool = False

    @property
    def cookie(self) -> str:
        """Not the token itself: who steals a cookie cannot make a link of it."""
        return self._derive("cookie")

    @property
    def form_token(self) -> str:
        return self._derive("form")

    def _derive(self, purpose: str) -> str:
        return hmac.new(self.token.encode(), purpose.encode(), hashlib.sha256).hexdigest()

    def knows_host(self, host: str) -> bool:
        return _name(host) in self.hosts

    def has_token(self, given: str) -> bool:
        return hmac.compare_digest(given.encode(), self.token.encode())

    def has_cookie(self, given: str) -> bool:
        return hmac.compare_digest(given.encode(), self.cookie.encode())

    def may_speak(self, headers: Mapping[str, str], form_token: str) -> str:
        """Why a word is not taken; empty where it is."""
        if self.read_only:
            return "This page is read-only: flyball serve was started with --read-only. Use a terminal."
        origin = headers.get("origin", "")
        expected = {f"http://{headers.get('host', '')}", f"https://{headers.get('host', '')}"}
        if origin not in expected:
            return "The command came from another page, so flyball refused it."
        if not hmac.compare_digest(form_token.encode(), self.form_token.encode()):
            return "The form is from another page, or older than the present token. Reload the page and try again."
        return ""


def hosts_of(host: str, names: Iterable[str]) -> frozenset[str]:
    """The names a server is known by: those of loopback, where it listens, and what this machine is called."""
    own = set(LOOPBACK)
    if host not in LOOPBACK:
        own |= {host, *names} - {"0.0.0.0", "::", ""}  # noqa: S104 - names to compare with, nothing is bound
    return frozenset(name.lower() for name in own)


def _name(host: str) -> str:
    """A Host header without its port; empty where it is not of that form."""
    found = _HOST.fullmatch(host.strip().lower())
    return (found[1] or found[2]) if found else ""


def opening_file(home: Path, link: str) -> Path:
    """A file that leads a browser to the link: on a command line every process could read the token."""
    path = home / FOLDER / "open.html"
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    path.touch(mode=0o600)
    path.write_text(f'<!doctype html><meta http-equiv="refresh" content="0;url={link}">\n', encoding="utf-8")
    return path
