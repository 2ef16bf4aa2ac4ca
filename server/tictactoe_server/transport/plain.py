"""Plain HTTP as values: heads of requests, read strictly, and responses as bytes. No socket, and no word of pages.

What two readers could take for different things is refused: a line that ends otherwise than with CR and LF, a folded
line, a length that is said twice, two hosts. Source: RFC 9112, sections 2 to 6, and 11.2 on smuggling.
"""

from __future__ import annotations

import re
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from email.utils import formatdate
from functools import cached_property, lru_cache
from http import HTTPStatus
from typing import Final
from urllib.parse import unquote, urlsplit

from tictactoe_server import SERVER_NAME

MAX_HEAD_BYTES: Final = 16 * 1024
"""How much a request may have, to the end of its headers."""

MAX_LINE_BYTES: Final = 8 * 1024
MAX_FIELDS: Final = 100

_TOKEN: Final = rb"[!#$%&'*+\-.^_`|~0-9A-Za-z]+"
_REQUEST_LINE: Final = re.compile(rb"(%b) ([\x21-\x7e]+) HTTP/(\d)\.(\d)" % _TOKEN)
_FIELD: Final = re.compile(rb"(%b):[ \t]*([\t\x20-\x7e\x80-\xff]*)" % _TOKEN)
_HOST: Final = re.compile(r"(?:[A-Za-z0-9._~-]+|\[[0-9A-Fa-f:.]+\])(?::\d{1,5})?", re.ASCII)
_BARE_LINE_END: Final = re.compile(rb"(?<!\r)\n|\r(?!\n|\Z)")
_ONCE: Final = ("host", "content-length", "transfer-encoding", "origin")


class BadRequest(Exception):
    """A request that is not carried out, after which the connection is closed; `words` are for people."""

    def __init__(self, status: HTTPStatus, words: str) -> None:
        super().__init__(words)
        self.status = status
        self.words = words


@dataclass(frozen=True)
class Request:
    """What is asked for. `path` is decoded, `host` is whom the sender thinks to reach, with its port where it said one.

    `fields` are the headers by their names in lower case. `scheme` is ``https`` where the sender speaks TLS, to this
    server or to a proxy that is believed, and empty where that proxy does not say; `address` is where it comes from.
    `keeps_alive` where more requests may follow.
    """

    method: str
    path: str
    query: str
    host: str
    fields: dict[str, Sequence[str]]
    keeps_alive: bool
    has_body: bool
    scheme: str = "http"
    address: str = ""

    def field(self, name: str) -> str:
        """Return a header, all its lines in one; empty where it is not there."""
        return ", ".join(self.fields.get(name, ()))

    @cached_property
    def asks_for_websocket(self) -> bool:
        """Whether another protocol is to follow."""
        return "websocket" in self.field("upgrade").lower()

    @property
    def host_name(self) -> str:
        """The host without its port, and an IPv6 address without its brackets."""
        return self.host.rpartition("]")[0].removeprefix("[") or self.host.partition(":")[0]

    @property
    def origin(self) -> str:
        """The place that a link on this server begins with, as in ``http://host:8765``; empty without a host."""
        return f"{self.scheme or 'http'}://{self.host}" if self.host else ""


@dataclass(frozen=True, slots=True)
class Response:
    """What is answered, in `kind` the media type of the body; `fields` are further headers."""

    status: HTTPStatus
    body: bytes
    kind: str = "text/plain; charset=utf-8"
    fields: tuple[tuple[str, str], ...] = ()


Answer = Callable[[Request], Response | Awaitable[Response]]
"""Who answers what is no WebSocket: at once, or after a while."""


def read_request(data: bytes) -> tuple[Request, int] | None:
    """Return what is asked first and where its head ends, or None where that has not all come; raises `BadRequest`."""
    head, end, _ = data.partition(b"\r\n\r\n")
    if len(head) > MAX_HEAD_BYTES:
        raise BadRequest(HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE, "This request is too long.")
    if data and not data[:1].isalpha():
        raise BadRequest(HTTPStatus.BAD_REQUEST, "This is no HTTP, nor is TLS spoken here.")
    if end:
        return read_head(head), len(head) + len(end)
    if has_bare_line_end(data):
        raise BadRequest(HTTPStatus.BAD_REQUEST, "Lines end with CR and LF here.")
    return None


def read_head(head: bytes) -> Request:
    """Return the request of a head, without the empty line at its end; raises `BadRequest`."""
    if has_bare_line_end(head):
        raise BadRequest(HTTPStatus.BAD_REQUEST, "Lines end with CR and LF here.")
    first, *lines = head.split(b"\r\n")
    if len(first) > MAX_LINE_BYTES:
        raise BadRequest(HTTPStatus.REQUEST_URI_TOO_LONG, "This address is too long.")
    found = _REQUEST_LINE.fullmatch(first)
    if found is None:
        raise BadRequest(HTTPStatus.BAD_REQUEST, "This is no request that could be answered here.")
    if found[3] != b"1":
        raise BadRequest(HTTPStatus.HTTP_VERSION_NOT_SUPPORTED, "HTTP/1.1 is spoken here.")
    is_old = found[4] == b"0"
    fields = _read_fields(lines)
    for name in _ONCE:
        if len(fields.get(name, ())) > 1:
            raise BadRequest(HTTPStatus.BAD_REQUEST, f"There is more than one {name}.")
    target, host = _read_target(found[2].decode("ascii"), fields)
    if not (host or is_old):
        raise BadRequest(HTTPStatus.BAD_REQUEST, "A request names its host.")
    path, _, query = target.partition("?")
    wishes = [wish.strip().lower() for line in fields.get("connection", ()) for wish in line.split(",")]
    return Request(
        found[1].decode("ascii"),
        unquote(path, errors="replace"),
        query,
        host,
        fields,
        not is_old and "close" not in wishes,
        _has_body(fields, is_old=is_old),
    )


def has_bare_line_end(data: bytes) -> bool:
    r"""Tell whether a line ends with CR or LF alone; a CR at the very end may still be followed.

    >>> has_bare_line_end(b"GET / HTTP/1.1\r\nHost: a\r\n\r"), has_bare_line_end(b"GET / HTTP/1.1\nHost: a\r\n")
    (False, True)
    """
    return _BARE_LINE_END.search(data) is not None


def encode(response: Response, *, with_body: bool, keeps_alive: bool) -> bytes:
    """Return a response as it is sent; without its body it says all the same how long that is."""
    lines = [
        f"HTTP/1.1 {response.status.value} {response.status.phrase}",
        f"Date: {_date_of(int(time.time()))}",
        f"Server: {SERVER_NAME}",
        *([] if response.status == HTTPStatus.NOT_MODIFIED else _describe(response)),
        "X-Content-Type-Options: nosniff",
        *(f"{name}: {value}" for name, value in response.fields),
        f"Connection: {'keep-alive' if keeps_alive else 'close'}",
    ]
    head = "\r\n".join((*lines, "\r\n")).encode("latin-1")
    return head + response.body if with_body else head


def _describe(response: Response) -> list[str]:
    return [f"Content-Type: {response.kind}", f"Content-Length: {len(response.body)}"]


@lru_cache(maxsize=1)
def _date_of(second: int) -> str:
    return formatdate(second, usegmt=True)


def say(status: HTTPStatus, words: str, *fields: tuple[str, str]) -> Response:
    """Return a response of one line of text."""
    return Response(status, f"{words}\n".encode(), fields=(("Cache-Control", "no-store"), *fields))


def _read_fields(lines: Sequence[bytes]) -> dict[str, Sequence[str]]:
    if len(lines) > MAX_FIELDS or any(len(line) > MAX_LINE_BYTES for line in lines):
        raise BadRequest(HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE, "This request has too many headers, or too long.")
    fields: dict[str, list[str]] = {}
    for line in lines:
        found = _FIELD.fullmatch(line)
        if found is None:
            raise BadRequest(HTTPStatus.BAD_REQUEST, "A header of this request is none.")
        fields.setdefault(found[1].decode("ascii").lower(), []).append(found[2].decode("latin-1").strip(" \t"))
    return dict(fields)


def _read_target(target: str, fields: dict[str, Sequence[str]]) -> tuple[str, str]:
    """Return path with query, and host; what names its host itself, as a proxy is asked, overrules the header."""
    (host,) = fields.get("host", ("",))
    if target != "*" and not target.startswith("/"):
        try:
            parts = urlsplit(target)
        except ValueError:
            parts = urlsplit("")
        if parts.scheme not in ("http", "https") or "@" in parts.netloc:
            raise BadRequest(HTTPStatus.BAD_REQUEST, "What is asked for begins with / here.")
        host = parts.netloc
        target = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    if host and _HOST.fullmatch(host) is None:
        raise BadRequest(HTTPStatus.BAD_REQUEST, "The host of this request is none.")
    return target, host


def _has_body(fields: dict[str, Sequence[str]], *, is_old: bool) -> bool:
    (coding,) = fields.get("transfer-encoding", ("chunked",))
    (length,) = fields.get("content-length", ("0",))
    is_coded = "transfer-encoding" in fields
    if is_coded and ("content-length" in fields or is_old or coding.lower() != "chunked"):
        raise BadRequest(HTTPStatus.BAD_REQUEST, "How long the body of this request is cannot be told.")
    if not (length.isascii() and length.isdigit()):
        raise BadRequest(HTTPStatus.BAD_REQUEST, "The length of this request's body is no number.")
    return is_coded or length.strip("0") != ""
