"""A page served to this machine alone: by one process, one computation at a time.

Threads read what is asked and write what is answered; the main thread computes, where alone a limit
of time rings. Who asks by another name than this machine's own (a name that was pointed here: DNS
rebinding), from another site's page, or for anything but a page and its files, is refused.
"""

from __future__ import annotations

import queue
import socket
import sys
import threading
import traceback
from collections import OrderedDict
from collections.abc import Callable, Mapping
from contextlib import suppress
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from attrs import Factory, define

from ..exact import ParameterError

HOST = "127.0.0.1"
_NAMES = (HOST, "localhost")
_PATIENCE = 10  # seconds that a connection may be silent, and that a request may take to be sent
_CONNECTIONS, _WAITING = 32, 8  # at once; computations that wait
_KEPT = 32  # answers
_LONGEST = 8192  # characters of an address
_PAGE = "text/html"
_HEADERS = {
    # pictures bring their own style; nothing is fetched, sent or framed from elsewhere
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; connect-src 'self'; "
    "style-src 'self' 'unsafe-inline'; img-src data:; form-action 'self'; base-uri 'none'; "
    "frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cache-Control": "no-store",
}

Files = Mapping[str, tuple[str, str]]  # by path: the kind, and the text


@define
class _Job:
    """A query that waits for its page."""

    query: str
    done: threading.Event = Factory(threading.Event)
    page: bytes | None = None


class Server(ThreadingHTTPServer):
    """Listens at once, on the port given or a free one (0). Raises ParameterError if it is taken.

    page: makes the page of a query; files: what else the page consists of.
    """

    daemon_threads = True

    def __init__(self, port: int, page: Callable[[str], str], files: Files) -> None:
        self.page, self.files = page, files
        self._jobs: queue.Queue[_Job] = queue.Queue(_WAITING)
        self._open = threading.BoundedSemaphore(_CONNECTIONS)
        self._kept: OrderedDict[str, bytes] = OrderedDict()
        try:
            super().__init__((HOST, port), _Handler)
        except OSError as error:
            raise ParameterError(f"--port {port}: {error.strerror or error}") from error
        self.names = {f"{name}:{self.server_port}" for name in _NAMES}
        self.names |= set(_NAMES) if self.server_port == 80 else set()

    @property
    def address(self) -> str:
        """Where the page is."""
        return f"http://{HOST}:{self.server_port}/"

    def run(self) -> None:
        """Answer until the process is ended; in the main thread."""
        threading.Thread(target=self.serve_forever, daemon=True).start()
        while True:
            job = self._jobs.get()
            try:
                job.page = self._made(job.query)
            except Exception:  # a defect ends the answer, not the server
                traceback.print_exc(file=sys.stderr)
            job.done.set()

    def ask(self, query: str) -> _Job | None:
        """The job, done; None where too many wait."""
        job = _Job(query)
        try:
            self._jobs.put_nowait(job)
        except queue.Full:
            return None
        job.done.wait()
        return job

    def _made(self, query: str) -> bytes:
        if query not in self._kept:
            self._kept[query] = self.page(query).encode()
        self._kept.move_to_end(query)
        while len(self._kept) > _KEPT:
            self._kept.popitem(last=False)
        return self._kept[query]

    def process_request(self, request: Any, client_address: Any) -> None:
        """In a thread of its own, if there are not too many."""
        if self._open.acquire(blocking=False):
            super().process_request(request, client_address)
        else:
            self.shutdown_request(request)

    def process_request_thread(self, request: Any, client_address: Any) -> None:
        """As it is; the place is free then."""
        try:
            super().process_request_thread(request, client_address)
        finally:
            self._open.release()

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Who went away, or said nothing, is not spoken of."""
        if not isinstance(sys.exception(), ConnectionError | socket.timeout):
            traceback.print_exc(file=sys.stderr)


class _Handler(BaseHTTPRequestHandler):
    server: Server
    timeout = _PATIENCE
    server_version, sys_version = "exactdp", ""

    def handle(self) -> None:
        """As it is; who has not sent a whole request in time is cut off."""
        self._late = threading.Timer(self.timeout, _cut_off, (self.connection,))
        self._late.daemon = True
        self._late.start()
        try:
            super().handle()
        finally:
            self._late.cancel()

    def parse_request(self) -> bool:
        """As it is: it reads the last of what is sent."""
        try:
            return super().parse_request()
        finally:
            self._late.cancel()

    def do_GET(self) -> None:
        self._answer()

    def do_HEAD(self) -> None:
        self._answer()

    def do_POST(self) -> None:
        self._say(
            HTTPStatus.METHOD_NOT_ALLOWED, "only GET and HEAD are answered", Allow="GET, HEAD"
        )

    def _answer(self) -> None:
        if self.headers.get_all("Host", []) != [self.headers.get("Host")] or (
            self.headers["Host"].strip().lower() not in self.server.names
        ):
            self._say(
                HTTPStatus.MISDIRECTED_REQUEST, "only this machine is answered, by its own name"
            )
            return
        if self.headers.get("Sec-Fetch-Site", "none") not in ("none", "same-origin") and (
            self.headers.get("Sec-Fetch-Dest") != "document"  # a link may be followed from anywhere
        ):
            self._say(HTTPStatus.FORBIDDEN, "pages of other sites are not answered")
            return
        if len(self.path) > _LONGEST:
            self._say(
                HTTPStatus.REQUEST_URI_TOO_LONG, f"an address has at most {_LONGEST} characters"
            )
            return
        path, _, query = self.path.partition("?")
        if path in self.server.files:
            kind, text = self.server.files[path]
            self._write(HTTPStatus.OK, kind, text.encode())
        elif path != "/":
            self._say(HTTPStatus.NOT_FOUND, "there is one page: /")
        elif self.command == "HEAD":
            self._write(HTTPStatus.OK, _PAGE, b"")
        elif (job := self.server.ask(query)) is None:
            self._say(
                HTTPStatus.SERVICE_UNAVAILABLE, "too many computations wait", **{"Retry-After": "1"}
            )
        elif job.page is None:
            self._say(HTTPStatus.INTERNAL_SERVER_ERROR, "a defect: see where exactdp explore runs")
        else:
            self._write(HTTPStatus.OK, _PAGE, job.page)

    def send_error(self, code: int, message: str | None = None, explain: str | None = None) -> None:
        """In one line, as all else."""
        self._say(HTTPStatus(code), message or HTTPStatus(code).phrase)

    def _say(self, status: HTTPStatus, line: str, **more: str) -> None:
        self.close_connection = True
        self._write(status, "text/plain", f"{line}\n".encode("ascii", "replace"), more)

    def _write(
        self, status: HTTPStatus, kind: str, body: bytes, more: Mapping[str, str] | None = None
    ) -> None:
        self.send_response(status)
        for name, value in {**_HEADERS, **(more or {})}.items():
            self.send_header(name, value)
        self.send_header("Content-Type", f"{kind}; charset=utf-8")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:
        """Nothing: who asks what is nobody's business."""


def _cut_off(connection: socket.socket) -> None:
    with suppress(OSError):  # it is closed
        connection.shutdown(socket.SHUT_RDWR)
