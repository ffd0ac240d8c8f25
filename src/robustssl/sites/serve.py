"""The site of a store that is still running: built again as records arrive, read only."""

import re
import shutil
import socket
import sys
import tempfile
import threading
import time
from contextlib import suppress
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from robustssl.errors import InputError
from robustssl.progress import silent
from robustssl.records.store import Store
from robustssl.sites.build import site

PAUSE = 3.0  # seconds between looks at the store, at least
PATIENCE = 10.0  # seconds that a client may take to send its request, or to take a piece of a page
MOST = 64  # connections at a time
LOOPBACK = ("127.0.0.1", "localhost", "::1")

_WAITING = """<!doctype html><html lang="en"><meta charset="utf-8">
<meta http-equiv="refresh" content="3"><title>robustssl</title>
<p>Waiting for the first records.</p></html>
"""


class Server(ThreadingHTTPServer):
    """Serves the pages of a store; a context manager. `url` is where."""

    daemon_threads = True

    def __init__(self, store: str | Path, host: str = "127.0.0.1", port: int = 8000) -> None:
        with Store(store, create=False):
            self.store = store
        self.address_family = socket.AF_INET6 if ":" in host else socket.AF_INET
        self._ended = threading.Event()
        self._connections = threading.BoundedSemaphore(MOST)
        self.asking: dict[Any, float] = {}  # who has not sent a whole request yet, since when
        self.top = Path(tempfile.mkdtemp(prefix="robustssl-"))
        self.folder, self.version = self.top, 0
        (self.top / "index.html").write_text(_WAITING, encoding="utf-8")
        try:
            super().__init__((host, port), partial(_Handler, directory=str(self.top)))
        except (OSError, OverflowError) as error:
            shutil.rmtree(self.top, ignore_errors=True)
            raise InputError(f"cannot serve at {host}:{port}: {error}") from error
        self.open_to_all = host not in LOOPBACK
        shown = f"[{host}]" if ":" in host else host
        self.url = f"http://{shown}:{self.server_address[1]}/"
        threading.Thread(target=self._watch, daemon=True).start()

    def _watch(self) -> None:
        """Build again when there are more records; a slow build is not repeated all the time."""
        seen = -1
        while True:
            began = time.monotonic()
            with suppress(InputError), Store(self.store, create=False) as opened:
                count = len(opened)
                if count != seen:
                    folder = self.top / str(count)
                    with silent():
                        site(self.store, folder, live=True)
                    before, self.folder = self.folder, folder
                    self.version += 1
                    seen = count
                    if before != self.top:
                        shutil.rmtree(before, ignore_errors=True)
            if self._ended.wait(max(PAUSE, 5 * (time.monotonic() - began))):
                return

    def process_request(self, request: Any, client_address: Any) -> None:
        if self._connections.acquire(blocking=False):
            self.asking[request] = time.monotonic()
            super().process_request(request, client_address)
        else:
            with suppress(OSError):
                request.send(b"HTTP/1.0 503 too many connections\r\n\r\n", socket.MSG_DONTWAIT)
            self.shutdown_request(request)

    def process_request_thread(self, request: Any, client_address: Any) -> None:
        try:
            super().process_request_thread(request, client_address)
        finally:
            self.asking.pop(request, None)
            self._connections.release()

    def service_actions(self) -> None:
        """Hang up on clients that take too long to ask; called twice a second."""
        for request, since in list(self.asking.items()):
            if time.monotonic() - since > PATIENCE:
                with suppress(OSError):
                    request.shutdown(socket.SHUT_RDWR)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Nothing of a client that went away."""
        if not isinstance(sys.exception(), OSError):
            super().handle_error(request, client_address)

    def server_close(self) -> None:
        super().server_close()
        self._ended.set()
        shutil.rmtree(self.top, ignore_errors=True)


class _Handler(SimpleHTTPRequestHandler):
    server: Server
    timeout = PATIENCE

    def do_GET(self) -> None:
        self._answer(super().do_GET)

    def do_HEAD(self) -> None:
        self._answer(super().do_HEAD)

    def _answer(self, send: Any) -> None:
        self.server.asking.pop(self.request, None)
        host = re.sub(r":\d*$", "", self.headers.get("Host", "").lower()).strip("[]")
        if not self.server.open_to_all and host not in LOOPBACK:
            self.send_error(
                403, "this page is for this machine"
            )  # a site elsewhere may not read it
        elif self.path.partition("?")[0] == "/version":
            text = str(self.server.version).encode()
            self.send_response(200)
            self.send_header("Content-Type", "text/plain")
            self.send_header("Content-Length", str(len(text)))
            self.end_headers()
            if self.command == "GET":
                self.wfile.write(text)
        else:
            self.directory = str(self.server.folder)
            try:
                send()
            except ValueError:  # no path, such as one with a zero in it
                self.send_error(404)

    def end_headers(self) -> None:
        self.send_header("Cache-Control", "no-store")
        super().end_headers()

    def list_directory(self, path: Any) -> None:
        self.send_error(404)

    def log_message(self, *_: Any) -> None:
        """Nothing: the terminal is the user's."""
