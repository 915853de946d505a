"""`flyball serve`: every task of this machine in a browser."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from flyball.cli.support.exits import exit_on_refusal, say
from flyball.cli.support.numbers import whole_number
from flyball.cli.support.output import put

if TYPE_CHECKING:
    from pathlib import Path

    from flyball.web.serving import Listening


def serve(
    port: Annotated[
        int, whole_number("Port to listen on; 0 takes any free port. Default: 7117.", least=0, most=65535)
    ] = 7117,
    host: Annotated[
        str,
        typer.Option(
            help="Address to listen on; any but a loopback address lets other machines in. Default: 127.0.0.1."
        ),
    ] = "127.0.0.1",
    open_: Annotated[
        bool, typer.Option("--open", help="Open the page in your browser. Default: print its link.")
    ] = False,
    read_only: Annotated[
        bool, typer.Option("--read-only", help="Show everything and accept no command. Default: accept commands.")
    ] = False,
    new_token: Annotated[
        bool,
        typer.Option(
            "--new-token",
            help="Make a new token, which shuts out all earlier links and browsers. Default: keep the token.",
        ),
    ] = False,
    link: Annotated[
        bool,
        typer.Option(
            "--link", help="Print the link of the page that is served now, and serve nothing. Default: serve."
        ),
    ] = False,
) -> None:
    """Show every task of this machine in a browser, and accept your answers and commands there."""
    from flyball.config.home import home_folder

    with exit_on_refusal():
        from flyball.ports import Refusal
        from flyball.web.access import token_of
        from flyball.web.serving import ServeOptions, link_of, serve as serve_pages
        from flyball.wiring.run.notifying import page_of

        home = home_folder().resolve()
        if link:
            page = page_of(home)
            if not page:
                raise Refusal("The page is not served now. Start it: flyball serve")
            put(link_of(page, token_of(home)))
            return
        options = ServeOptions(host, port, read_only, new_token)
        serve_pages(home, options, lambda listening: _announce(home, listening, open_=open_))


def _announce(home: Path, listening: Listening, *, open_: bool) -> None:
    import webbrowser

    from flyball.web.access import opening_file

    put(f"Serving every task of {home}")
    put(f"  {listening.link}")
    if not listening.loopback:
        say("other machines can reach this page; whoever has the link can speak to your tasks. Use it behind TLS only.")
    put("Stop with Ctrl-C; no task ends with it.")
    if open_ and not webbrowser.open(opening_file(home, listening.link).as_uri()):
        say("no browser could be started; open the link above yourself")
