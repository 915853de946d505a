"""Listens: a port of this machine, the link that opens the page, and the end of it."""

import os
import signal
import socket
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import msgspec
import uvicorn

from flyball.ports import Refusal
from flyball.web.access import FOLDER, LOOPBACK, AccessRules, hosts_of, token_of
from flyball.web.app import make_app
from flyball.web.sites import Sites

PORT = 7117
START_S = 30.0
KEEP_S = 600.0


class Listening(msgspec.Struct, frozen=True):
    link: str
    loopback: bool


class ServeOptions(msgspec.Struct, frozen=True):
    host: str = "127.0.0.1"
    port: int = PORT
    read_only: bool = False
    new_token: bool = False


def serve(home: Path, options: ServeOptions, begun: Callable[[Listening], None]) -> None:
    """Serve until a signal ends it; `begun` is called once the port is ours."""
    token = token_of(home, new=options.new_token)
    name = os.uname().nodename
    found = [name, f"{name}.local"]
    with suppress(OSError):
        found += [str(each[4][0]) for each in socket.getaddrinfo(name, None)]
    gate = AccessRules(token, hosts_of(options.host, found), options.read_only)
    taken = _bind(options.host, options.port)
    port = taken.getsockname()[1]
    app = make_app(home, gate)
    threading.Thread(target=_tend, args=(app.state.sites,), name="first look", daemon=True).start()
    config = uvicorn.Config(app, log_level="error", lifespan="off", timeout_graceful_shutdown=2, ws="none")
    server = uvicorn.Server(config)
    app.state.hub.ending = lambda: server.should_exit
    begun(listening(token, options.host, port))
    with _announce(home, options.host, port), _exit_on_termination():
        server.run(sockets=[taken])


def _tend(sites: Sites) -> None:
    """Read what there is, and keep what was read of long tasks, now and as they grow."""
    sites.warm()
    while True:
        sites.keep()
        threading.Event().wait(KEEP_S)


@contextmanager
def _announce(home: Path, host: str, port: int) -> Iterator[None]:
    """While the page is served a file says where, so that whoever is told of something gets a link; it holds no token."""
    path = home / FOLDER / "address"
    path.write_text(f"{os.getpid()} {listening('', host, port).link.partition('/?')[0]}\n", encoding="ascii")
    try:
        yield
    finally:
        with suppress(OSError):
            path.unlink()


@contextmanager
def _exit_on_termination() -> Iterator[None]:
    """Let SIGTERM end the process by an exception: uvicorn raises the signal again when it has shut down, and files are removed then."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def serve_beside(home: Path, begun: Callable[[Listening], None]) -> None:
    """Serve in a thread of this process, on any free port, for as long as the process lives."""
    told = threading.Event()

    def tell(listening: Listening) -> None:
        begun(listening)
        told.set()

    threading.Thread(target=serve, args=(home, ServeOptions(port=0), tell), name="page", daemon=True).start()
    told.wait(START_S)


def listening(token: str, host: str, port: int) -> Listening:
    """The link with the token, which a browser needs once."""
    wildcard = host in {"0.0.0.0", "::"}  # noqa: S104 - a name to compare with
    name = os.uname().nodename if wildcard else f"[{host}]" if ":" in host else host
    return Listening(link_of(f"http://{name}:{port}", token), host in LOOPBACK)


def link_of(address: str, token: str) -> str:
    return f"{address}/?token={token}"


def _bind(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    taken = socket.socket(family, socket.SOCK_STREAM)
    taken.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        taken.bind((host, port))
        taken.listen(128)
    except OSError as error:
        taken.close()
        raise Refusal(
            f"{host} port {port} cannot be listened on ({error.strerror}). "
            "If the page is served there, get its link: flyball serve --link. Else choose another port: flyball serve --port 0"
        ) from error
    return taken
