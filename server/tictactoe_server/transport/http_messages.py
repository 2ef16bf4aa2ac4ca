"""Plain HTTP without sockets: requests, which `h11` parses, and responses.

This server is stricter than `h11`. It refuses everything that two parsers could interpret differently, such as bare
line feeds, folded lines and repeated lengths. Source: RFC 9112, sections 2 to 6, and 11.2 on request smuggling.
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from dataclasses import dataclass, replace
from email.utils import formatdate
from http import HTTPStatus
from typing import Any, Final, NamedTuple
from urllib.parse import quote, unquote

import h11

from tictactoe_protocol import ErrorCode, clean_text, encode, error_answer
from tictactoe_server import SERVER_NAME
from tictactoe_server.settings import split_url

MAX_HEAD_BYTES: Final = 16 * 1024
MAX_LINE_BYTES: Final = 8 * 1024
MAX_FIELDS: Final = 100
PLAIN_TEXT: Final = "text/plain; charset=utf-8"
JSON: Final = "application/json"
JSON_LINES: Final = "application/x-ndjson"
CSV: Final = "text/csv; charset=utf-8"
READABLE: Final = (("Access-Control-Allow-Origin", "*"), ("Access-Control-Expose-Headers", "ETag, Retry-After"))

_OPEN_TO_ALL: Final = re.compile(r"/api/.*|/[a-z]+/[^/]+\.(?:json|csv|txt)")
_LINK_PREVIEWS: Final = re.compile(
    "facebookexternalhit|WhatsApp|Twitterbot|TelegramBot|Slackbot|Discordbot|LinkedInBot|Mastodon|Mattermost|Synapse"
    "|SkypeUriPreview|Iframely|Embedly"
)
"""User agents that read a page's head to preview a link; most of them accept any media type."""
_HOST: Final = re.compile(r"(?:[A-Za-z0-9._~-]+|\[[0-9A-Fa-f:.]+\])(?::\d{1,5})?", re.ASCII)
_BARE_LINE_END: Final = re.compile(rb"(?<!\r)\n|\r(?!\n|\Z)")
_AMBIGUOUS: Final = re.compile(rb"\n[ \t]|[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]|\ncontent-length:[^\r]*,", re.IGNORECASE)
"""A folded line, a control character or a list of lengths, all of which `h11` accepts."""


class BadRequest(Exception):
    """The request is refused and the connection is closed. The message is the body of the response."""

    def __init__(self, words: str, status: HTTPStatus = HTTPStatus.BAD_REQUEST) -> None:
        super().__init__(words)
        self.status = status


@dataclass(frozen=True, slots=True)
class HttpRequest:
    """A request without its body.

    Attributes:
        path: The percent-decoded path, without `base`.
        host: The host from the request, with the port if the client sent one.
        fields: The values of the headers, by name in lower case.
        keeps_alive: Whether the client may send more requests on the connection.
        scheme: The scheme that the client used to connect to this server or to a trusted proxy; "" if unknown.
        names_host: Whether the request's target is an absolute URL, as in requests to a proxy.
        base: The operator's `--base-path`, or "".
        root: The way from the request's path to the server's first page: `base` if it is set, else a relative path.
    """

    method: str
    path: str
    query: str
    host: str
    fields: dict[str, list[str]]
    keeps_alive: bool = True
    has_body: bool = False
    version: str = "1.1"
    scheme: str = "http"
    address: str = ""
    names_host: bool = False
    base: str = ""
    root: str = "/"

    def field(self, name: str) -> str:
        """Return a header's values, joined with commas, or "" if the header is absent."""
        return ", ".join(self.fields.get(name, ()))

    def accepts(self, what: str, name: str = "accept") -> bool:
        """Return True if an `Accept` header lists the value `what` with a quality above 0.

        Args:
            name: The header, such as ``accept-encoding``.
        """
        for each in self.field(name).lower().split(","):
            accepted, *parameters = (part.strip() for part in each.split(";"))
            if accepted == what:
                return not any(part in ("q=0", "q=0.0", "q=0.00", "q=0.000") for part in parameters)
        return False

    @property
    def is_open_to_all(self) -> bool:
        """Whether pages from any origin may read the response."""
        return _OPEN_TO_ALL.fullmatch(self.path) is not None

    @property
    def wants_html(self) -> bool:
        """Whether the client is a browser or creates link previews. Other programs do not accept HTML explicitly."""
        return self.accepts("text/html") or _LINK_PREVIEWS.search(self.field("user-agent")) is not None

    @property
    def wants_colour(self) -> bool:
        return any(part.partition("=")[0] in ("color", "colour") for part in self.query.split("&"))

    @property
    def wants_semicolons(self) -> bool:
        """Whether CSV is for a spreadsheet in a language with decimal commas, which needs semicolons as separators."""
        return "separator=semicolon" in self.query.split("&")

    @property
    def asks_for_websocket(self) -> bool:
        return "websocket" in self.field("upgrade").lower()

    @property
    def origin(self) -> str:
        """The prefix of links to this server, such as ``http://host:8765/games``, or "" if the host is unknown."""
        return f"{self.scheme or 'http'}://{self.host}{self.base}" if self.host else ""


@dataclass(frozen=True, slots=True)
class HttpResponse:
    """A response.

    Attributes:
        kind: The media type.
        fields: The headers, except for the headers that every response has.
        tag: The entity tag; by default a hash of the body.
    """

    status: HTTPStatus
    body: bytes
    kind: str = PLAIN_TEXT
    fields: tuple[tuple[str, str], ...] = ()
    tag: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class HttpStream(HttpResponse):
    """A response that is a stream of lines. Its end is the end of the connection."""

    begin: Callable[[Any], Callable[[], None]]
    """Called with the connection; returns a function that is called when the stream ends or the connection is lost."""


class PageHead(NamedTuple):
    """The page for browsers, which loads `module`, with the texts and the path of a picture for link previews.

    The page has no picture if no service has a route for the path.
    """

    title: str
    description: str
    module: str = "game.js"
    picture: str = ""


Reply = HttpResponse | PageHead | Sequence[str]
"""An HTTP response, the page for browsers, or lines of text."""

Route = Callable[..., Reply | Coroutine[Any, Any, Reply | None]]
"""Answers an `HttpRequest`. It is called with the request and the groups matched in the path, and returns None if the
path is that of a room. It may raise `Refused`: `rate_limited` is answered with 429, other codes with 404, which counts
as a miss."""

Answer = Callable[[HttpRequest], HttpResponse | Awaitable[HttpResponse]]
"""Returns the response to a plain HTTP request, or an awaitable of the response."""


def read_request(data: bytes) -> tuple[HttpRequest, bytes] | None:
    """Parse a request; return the request and the bytes after its head, or None while the head is incomplete.

    Raises:
        BadRequest: The request is malformed, ambiguous or too long.
    """
    head, end, rest = data.partition(b"\r\n\r\n")
    if len(head) > MAX_HEAD_BYTES:
        raise BadRequest("The request headers are too large.", HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE)
    if data and not data[:1].isalpha():
        raise BadRequest("Not an HTTP request. If you used https:// or wss://, try http:// or ws:// instead.")
    if _BARE_LINE_END.search(head if end else data):
        raise BadRequest("Malformed request: header lines must end with CRLF.")
    return (_read_head(head), rest) if end else None


def _read_head(head: bytes) -> HttpRequest:
    first, *lines = head.split(b"\r\n")
    if len(first) > MAX_LINE_BYTES:
        raise BadRequest(f"The request line is longer than {MAX_LINE_BYTES:,} bytes.", HTTPStatus.REQUEST_URI_TOO_LONG)
    if len(lines) > MAX_FIELDS or any(len(line) > MAX_LINE_BYTES for line in lines):
        raise BadRequest("Too many headers, or a header is too large.", HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE)
    parser = h11.Connection(h11.SERVER)
    parser.receive_data(head + b"\r\n\r\n")
    try:
        found = parser.next_event()
    except h11.RemoteProtocolError as error:
        reason = str(error).partition(": b")[0]  # without the bytes themselves
        raise BadRequest(f"Malformed request: {reason}.") from None
    if not isinstance(found, h11.Request) or len(found.headers) != len(lines) or _AMBIGUOUS.search(head):
        raise BadRequest("Malformed request: a header is invalid or ambiguous.")
    if not found.http_version.startswith(b"1."):
        raise BadRequest("Unsupported HTTP version. Use HTTP/1.1.", HTTPStatus.HTTP_VERSION_NOT_SUPPORTED)
    has_body = not isinstance(parser.next_event(), h11.EndOfMessage)
    version, fields = found.http_version.decode(), dict[str, list[str]]()
    for name, value in found.headers:
        fields.setdefault(name.decode(), []).append(value.decode("latin-1"))
    if len(fields.get("origin", ())) > 1:
        raise BadRequest("Malformed request: more than one Origin header.")
    if "transfer-encoding" in fields and ("content-length" in fields or version == "1.0"):
        raise BadRequest("Malformed request: the length of the body is ambiguous.")
    target, host = _read_target(found.target.decode(), fields.get("host", [""])[0])
    if not host and version != "1.0":
        raise BadRequest("Malformed request: the Host header is missing.")
    path, _, query = target.partition("?")
    options = [option.strip().lower() for option in ",".join(fields.get("connection", ())).split(",")]
    keeps_alive = version != "1.0" and "close" not in options and not has_body
    names_host = not found.target.startswith((b"/", b"*"))
    root, path = "../" * (path.count("/") - 1) or "./", unquote(path, errors="replace")
    request = HttpRequest(found.method.decode(), path, query, host, fields, keeps_alive, has_body, version)
    return replace(request, names_host=names_host, root=root)


def _read_target(target: str, host: str) -> tuple[str, str]:
    """Return a target's path with its query, and the host. The host in an absolute target overrides `host`."""
    if target != "*" and not target.startswith("/"):
        parts = split_url(target)
        if parts is None or parts.scheme not in ("http", "https") or "@" in parts.netloc:
            raise BadRequest("Invalid request target. Use a path that begins with /.")
        host = parts.netloc
        target = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    if host and _HOST.fullmatch(host) is None:
        raise BadRequest("Invalid host name in the request.")
    return target, host


def encode_response(response: HttpResponse, *, with_body: bool = True, keeps_alive: bool = False) -> bytes:
    """Encode a response. The head states the length of the body even if `with_body` is False."""
    lines = [
        f"HTTP/1.1 {response.status.value} {response.status.phrase}",
        f"Date: {formatdate(usegmt=True)}",
        f"Server: {SERVER_NAME}",
    ]
    if response.status != HTTPStatus.NOT_MODIFIED:
        lines.append(f"Content-Type: {response.kind}")
        if not isinstance(response, HttpStream):
            lines.append(f"Content-Length: {len(response.body)}")
    lines.append("X-Content-Type-Options: nosniff")
    lines += [f"{name}: {value}" for name, value in response.fields]
    lines.append(f"Connection: {'keep-alive' if keeps_alive else 'close'}")
    head = "\r\n".join((*lines, "\r\n")).encode("latin-1")
    return head + response.body if with_body else head


def say(status: HTTPStatus, words: str, *fields: tuple[str, str]) -> HttpResponse:
    """Return a response with one line of text."""
    return HttpResponse(status, f"{clean_text(words)}\n".encode(), fields=(("Cache-Control", "no-store"), *fields))


def answer_json(value: object, tag: str = "") -> HttpResponse:
    return HttpResponse(HTTPStatus.OK, encode(value), JSON, tag=tag)


def redirect(request: HttpRequest, path: str) -> HttpResponse:
    """Return a redirect to another path on this server; `path` is not percent-encoded yet."""
    location = f"{request.root}{quote(path[1:])}"
    return HttpResponse(HTTPStatus.TEMPORARY_REDIRECT, b"", fields=(("Location", location),))


def lead_to(url: str, path: str) -> HttpResponse:
    """Return a redirect to a path on another server."""
    location = f"http{url.removeprefix('ws')}{path}"
    return HttpResponse(HTTPStatus.TEMPORARY_REDIRECT, b"", fields=(("Location", location),))


def say_too_many(request: HttpRequest, wait_ms: int) -> HttpResponse:
    """Return a response with status 429 that tells the client to retry after `wait_ms`."""
    seconds = str(wait_ms // 1000 + 1)
    words = f"Too many requests from your address. Try again in {seconds} s."
    fields = ("Cache-Control", "no-store"), ("Retry-After", seconds)
    return explain(request, HTTPStatus.TOO_MANY_REQUESTS, ErrorCode.RATE_LIMITED, words, *fields, retry_ms=wait_ms)


def explain(
    request: HttpRequest,
    status: HTTPStatus,
    code: ErrorCode,
    words: str,
    *fields: tuple[str, str],
    retry_ms: int | None = None,
) -> HttpResponse:
    """Return an error response: JSON for the paths that any page may read, text for others.

    `words` may contain parts of the request; unprintable characters are removed.
    """
    words = clean_text(words)
    if not request.is_open_to_all:
        return HttpResponse(status, f"{words}\n".encode(), fields=fields)
    return HttpResponse(status, encode(error_answer(code, words, retry_ms=retry_ms)), JSON, (*fields, *READABLE))
