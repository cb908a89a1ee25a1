"""Pages that this machine alone can read: a server on loopback whose address is a secret."""

from __future__ import annotations

import secrets
import sys
import threading
from collections.abc import Callable, Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, NamedTuple, Self
from urllib.parse import parse_qs, urlsplit

SHAPES_RESULTS = False


class Answer(NamedTuple):
    """The answer for a path."""

    content: str
    type: str = "text/html"


Give = Callable[[str, Mapping[str, str], str], Answer | None]
"""The page at a path (without the token) for a question; None if there is none.

The third argument is the nonce of the answer: scripts and styles without it do nothing.
"""

_POLICY = (
    "default-src 'none'; script-src 'nonce-{nonce}' 'unsafe-eval'; style-src 'nonce-{nonce}'; "
    "img-src data: blob:; connect-src 'self'; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'"
)
"""The permissions of a page. The program that draws plots makes functions of their expressions."""

_HEADERS = {
    "Cache-Control": "no-store",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
}
_AT_A_TIME = 32
_PATIENCE = 20.0
"""Seconds that a connection may be silent."""


class Server:
    """Serves pages from its own thread until it is closed; as a context, until its end.

    A reader must know the address, which has a token of 128 random bits, and must name this very
    host. A page of another site whose name resolves to loopback is refused. Only GET is answered,
    and a request changes nothing.
    """

    def __init__(self, give: Give) -> None:
        self.token = secrets.token_urlsafe(16)
        self._http = _Http(give, self.token)
        self.port: int = self._http.server_address[1]
        self._thread = threading.Thread(
            target=self._http.serve_forever, args=(0.05,), name="floatgate-pages", daemon=True
        )
        self._thread.start()

    @property
    def address(self) -> str:
        """The address of the pages."""
        return f"http://127.0.0.1:{self.port}/{self.token}/"

    def close(self) -> None:
        """Answers nobody any more."""
        self._http.shutdown()
        self._http.server_close()
        self._thread.join()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        _kind: type[BaseException] | None,
        _error: BaseException | None,
        _trace: TracebackType | None,
    ) -> None:
        self.close()


class _Http(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False
    allow_reuse_address = False

    def __init__(self, give: Give, token: str) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.give, self.token = give, token
        self.hosts = {f"{name}:{self.server_address[1]}" for name in ("127.0.0.1", "localhost")}
        self._places = threading.BoundedSemaphore(_AT_A_TIME)

    def process_request(self, request: Any, client_address: Any) -> None:
        """Takes a connection, unless there are too many."""
        if not self._places.acquire(blocking=False):
            self.shutdown_request(request)
            return
        super().process_request(request, client_address)

    def process_request_thread(self, request: Any, client_address: Any) -> None:
        """Serves a connection in a thread of its own."""
        try:
            super().process_request_thread(request, client_address)
        finally:
            self._places.release()

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A reader who has disconnected is not an error.

        Any other error is ours, and is reported.
        """
        if not isinstance(sys.exc_info()[1], OSError):
            super().handle_error(request, client_address)


class _Handler(BaseHTTPRequestHandler):
    server: _Http
    server_version = "floatgate"
    sys_version = ""
    protocol_version = "HTTP/1.1"
    timeout = _PATIENCE

    def __getattr__(self, name: str) -> Any:
        # `http.server` looks for a method `do_POST` and so on: all but GET are refused alike.
        if name.startswith("do_"):
            return lambda: self._send(405, Answer("Only GET is answered here.\n", "text/plain"))
        raise AttributeError(name)

    def do_GET(self) -> None:
        """Answers a reader who knows the address."""
        if self.headers.get("Host") not in self.server.hosts:
            self._refuse(403, "This server does not go by that name.")
            return
        asked = urlsplit(self.path)
        _, token, *rest = [*asked.path.split("/", 2), ""]
        if not secrets.compare_digest(token.encode(), self.server.token.encode()):
            self._refuse(403, "This address lacks the token that floatgate printed.")
            return
        question = {key: values[-1] for key, values in parse_qs(asked.query).items()}
        nonce = secrets.token_urlsafe(16)
        answer = self.server.give(rest[0], question, nonce)
        if answer is None:
            self._refuse(404, "There is no such page.")
        else:
            self._send(200, answer, nonce)

    def _refuse(self, code: int, why: str) -> None:
        self._send(code, Answer(f"{why}\n", "text/plain"))

    def _send(self, code: int, answer: Answer, nonce: str | None = None) -> None:
        content = answer.content.encode()
        self.send_response(code)
        policy = _POLICY.format(nonce=nonce or secrets.token_urlsafe(16))
        self.send_header("Content-Security-Policy", policy)
        for name, value in _HEADERS.items():
            self.send_header(name, value)
        if code == 405:
            self.send_header("Allow", "GET")
        if code != 200:
            # The body of the request has not been read, and would be taken for the next request.
            self.send_header("Connection", "close")
        self.send_header("Content-Type", f"{answer.type}; charset=utf-8")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, format: str, *args: Any) -> None:
        """Prints nothing: the terminal belongs to the command."""
