"""Commands that show results as pages: site, serve."""

import signal
from contextlib import suppress
from pathlib import Path
from typing import Annotated

import typer

from robustssl.cli._options import DEFAULT_STORE, StoreOption
from robustssl.cli._print import say


def site(
    folder: Annotated[Path, typer.Argument(help="Folder to write.")] = Path("site"),
    store: StoreOption = DEFAULT_STORE,
    choices: Annotated[
        Path | None,
        typer.Option(help="File of the rule transfer, written by `robustssl choose`."),
    ] = None,
    decisions: Annotated[
        Path | None,
        typer.Option(help="File of entrants that decide, written by `robustssl decide`."),
    ] = None,
) -> None:
    """Build a website of the results in a store.

    Its pages (overview, leaderboard, explorer, methods and tasks) need no server. Of a search, they
    are built for each rule that chooses settings, with a switch. `--store` may also be a file or
    folder of exported records (.jsonl or .jsonl.gz).
    """
    from robustssl import sites

    page = sites.site(store, folder, choices=choices, decisions=decisions)
    say(f"Open {page} in a browser.")


def serve(
    store: StoreOption = DEFAULT_STORE,
    port: Annotated[int, typer.Option(help="Port; 0 picks a free one.")] = 8000,
    host: Annotated[
        str,
        typer.Option(help="Address to listen on; 127.0.0.1 is visible on this machine only."),
    ] = "127.0.0.1",
) -> None:
    """Serve the website of a store, updated while records arrive."""
    from robustssl.sites.serve import Server

    signal.signal(signal.SIGTERM, signal.default_int_handler)  # so that temporary files are removed
    with Server(store, host, port) as server:
        say(f"Serving {server.url} (press Ctrl-C to stop)")
        with suppress(KeyboardInterrupt):
            server.serve_forever()
