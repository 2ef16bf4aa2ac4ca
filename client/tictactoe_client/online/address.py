"""Where a server is: an address as people write it, the link to one of its rooms, the command that invites others.

Pure text: nothing here resolves a name or opens a connection. A link is an address with a room code as the last
part of its path; the code is no part of what is connected to.
"""

from __future__ import annotations

import re
import shlex
from dataclasses import dataclass
from typing import Final
from urllib.parse import SplitResult, urlsplit

from tictactoe_client.online.errors import BadAddress, BadRoomCode
from tictactoe_protocol import room_codes
from tictactoe_protocol.codes import DEFAULT_PORT

DEFAULT_SERVER: Final = f"ws://localhost:{DEFAULT_PORT}"

_SCHEMES: Final = {"ws": "ws", "wss": "wss", "http": "ws", "https": "wss"}
_HOST: Final = re.compile(r"[A-Za-z0-9._~%:-]+", re.ASCII)
_CREDENTIALS: Final = re.compile(r"(?<=//)[^/@]*@|(?<=\?).+")
_LOOPBACK: Final = re.compile(r"localhost|127\.[0-9.]+|::1", re.ASCII | re.IGNORECASE)
_PROGRAM: Final = re.compile(r"(?:.*[/\\])?tictactoe[-_]client(?:\.exe)?", re.IGNORECASE)
_LABEL: Final = re.compile(r"(?:code|link|or)(?:\s*:|\s)\s*", re.IGNORECASE)
"""What stands before a code, a link and the command in an invitation; no code begins so, as none has O or I."""
_WAYS: Final = ("join", "watch")
_SERVER: Final = ("-s", "--server")
_WITH_VALUE: Final = ("-n", "--name", "--keys", "--coordinates", "--theme", "--bell", "--timeout")


@dataclass(frozen=True, slots=True)
class Address:
    """A server's place. `port` is None where the scheme's own is meant; `path` keeps what a proxy may need."""

    scheme: str
    host: str
    port: int | None
    path: str = ""

    @property
    def url(self) -> str:
        """The address as a URL, without a trailing slash."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        port = f":{self.port}" if self.port is not None else ""
        return f"{self.scheme}://{host}{port}{self.path}"

    @property
    def is_loopback(self) -> bool:
        """Whether the address can only mean this machine."""
        return _LOOPBACK.fullmatch(self.host) is not None

    def link_to(self, room: str) -> str:
        """Return the link that takes others to a room."""
        return f"{self.url}/{room}"

    def word_for(self, room: str) -> str:
        """Return what names a room in a command: its code where this is the default server, else its link.

        >>> parse_address("localhost").word_for("K7M4PQ"), parse_address("host").word_for("K7M4PQ")
        ('K7M4PQ', 'ws://host:8765/K7M4PQ')
        """
        return room if self.url == DEFAULT_SERVER else self.link_to(room)


def parse_address(text: str) -> Address:
    """Return the server that `text` names; a room code at the end of its path is dropped. Raises `BadAddress`.

    A missing scheme means ``ws``. A missing port means 8765, but 443 for ``wss``.

    >>> parse_address("example.org").url, parse_address("wss://example.org/K7M4PQ").url, parse_address("::1").url
    ('ws://example.org:8765', 'wss://example.org', 'ws://[::1]:8765')
    """
    return _parse_target(text)[0]


def parse_room(text: str) -> tuple[str, Address | None]:
    """Return the room code of `text`, and the server that it names, else None.

    The text is a code, a link, or the whole command that invites others. Raises `BadRoomCode` for what is no code, and
    `BadAddress` for a link to nowhere.

    >>> parse_room("k7m-4pq")
    ('K7M4PQ', None)
    >>> parse_room("ws://host:9000/k7m4pq")
    ('K7M4PQ', Address(scheme='ws', host='host', port=9000, path=''))
    >>> parse_room("tictactoe-client join ws://host:9000/K7M4PQ")[0]
    'K7M4PQ'
    """
    text, server = find_room(text)
    if "/" not in text:
        return parse_code(text), parse_address(server) if server else None
    address, code = _parse_target(text)
    if code is not None:
        return code, address
    return parse_code(address.path.rpartition("/")[2]), address


def parse_code(text: str) -> str:
    """Return the room code that a text is, in its one written form; raises `BadRoomCode`."""
    try:
        return room_codes.parse_room_code(text)
    except room_codes.BadRoomCode as bad:
        raise BadRoomCode(bad.message) from None


def find_room(line: str) -> tuple[str, str | None]:
    """Return the part of a line that stands for a room, and the server that an option names, or None; both as written.

    Whoever copies ``tictactoe-client join ws://host/CODE`` may paste all of it, with any path before the program and
    any options about it.

    >>> find_room(".venv/bin/tictactoe-client -n ana --server host:9000 join k7m-4pq")
    ('k7m-4pq', 'host:9000')
    >>> find_room("Link  ws://host/K7M4PQ")
    ('ws://host/K7M4PQ', None)
    """
    line = line.strip()
    label = _LABEL.match(line)
    line = line[label.end() :] if label else line
    words = _split_words(line)
    start = next((number for number, word in enumerate(words) if _PROGRAM.fullmatch(word)), None)
    return (line, None) if start is None else _read_words(words[start + 1 :])


def _split_words(line: str) -> list[str]:
    try:
        return shlex.split(line, posix="\\" not in line)
    except ValueError:
        return line.split()


def _read_words(words: list[str]) -> tuple[str, str | None]:
    """Return what stands behind the command, and the server, of what was typed after the program's name."""
    rest: list[str] = []
    server = None
    ahead = iter(words)
    for word in ahead:
        option, equals, value = word.partition("=")
        if option in _SERVER:
            server = value if equals else next(ahead, None)
        elif word in _WITH_VALUE:
            next(ahead, None)
        elif not word.startswith("-"):
            rest.append(word)
    return " ".join(rest[1:] if rest[:1] and rest[0].lower() in _WAYS else rest), server


def hide_credentials(text: str) -> str:
    """Return an address as it was written, without what may be secret in it; safe to show.

    >>> hide_credentials("wss://ana:secret@example.org/?token=abc")
    'wss://…@example.org/?…'
    """
    return _CREDENTIALS.sub(lambda found: "…@" if found[0].endswith("@") else "…", text)


def _parse_target(text: str) -> tuple[Address, str | None]:
    parts = _split(text.strip(), text)
    scheme = _SCHEMES.get(parts.scheme.lower())
    try:
        port = parts.port
    except ValueError:
        raise _bad(text, "its port is no number up to 65535") from None
    host = parts.hostname or ""
    if scheme is None:
        raise _bad(text, f"it begins with {parts.scheme}://")
    if parts.username is not None or parts.query or parts.fragment or not _HOST.fullmatch(host) or port == 0:
        raise _bad(text)
    if port is None and scheme == "ws":
        port = DEFAULT_PORT
    path, code = _split_code(parts.path.rstrip("/"))
    return Address(scheme, host, port, path), code


def _split(word: str, text: str) -> SplitResult:
    if "://" not in word:
        host, slash, path = word.partition("/")
        if host.count(":") > 1 and not host.startswith("["):
            host = f"[{host}]"
        word = f"ws://{host}{slash}{path}"
    try:
        return urlsplit(word)
    except ValueError:
        raise _bad(text) from None


def _split_code(path: str) -> tuple[str, str | None]:
    head, _, last = path.rpartition("/")
    try:
        return head, parse_code(last)
    except BadRoomCode:
        return path, None


def _bad(text: str, why: str = "") -> BadAddress:
    text = hide_credentials(text)
    shown = text if len(text) <= 60 else f"{text[:60]}…"
    because = f": {why}" if why else ""
    return BadAddress(f'"{shown}" is no server address{because}. It looks like ws://host:{DEFAULT_PORT}, or just host.')
