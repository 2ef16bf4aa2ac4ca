"""Room codes: six characters that survive being read aloud, typed on a telephone and pasted as a link."""

from __future__ import annotations

import re
import unicodedata
from typing import Any, Final, NamedTuple
from urllib.parse import unquote

from tictactoe_protocol.codes import ErrorCode
from tictactoe_protocol.refusals import Refusal

ROOM_CODE_ALPHABET: Final = "23456789ABCDEFGHJKLMNPQRSTUVWXYZ"
ROOM_CODE_LENGTH: Final = 6

_MISREAD: Final = str.maketrans("I1", "LL")
_LETTERS: Final = frozenset(ROOM_CODE_ALPHABET + ROOM_CODE_ALPHABET.lower())
_HALF: Final = "[2-9A-HJ-NP-Za-hj-np-z]{3}"
_MOST_SEARCHED: Final = 500
"""The characters of a text that are searched: the time for links grows with the square of their number."""
_END: Final = r"(?![^\W_])"
_WRAPPED: Final = re.compile(r"=((?:http|ws)s?%3A%2F%2F[^&\s]+)", re.IGNORECASE)
_SLASHES: Final = re.compile("(?<!:)/{2,}")
_SEPARATOR: Final = re.compile("[-\u2010-\u2015 \u00a0]")
_WORD: Final = re.compile(rf"(?<![^\W_]){_HALF}{_SEPARATOR.pattern}?{_HALF}{_END}")
_HOST: Final = r"""(?:[A-Za-z]+://)?(?:\[[^\]\s]*\](?::\d+)?|[^\s/<>()\[\]"'?#]+)"""
_PAGE: Final = r"(?:/((?ai:wall|cards))\b)?"
_LINK: Final = re.compile(rf"({_HOST}(?:/[^\s/?#]+)*)/({_HALF}-?{_HALF}){_END}{_PAGE}")


class BadRoomCode(Refusal, ValueError):
    """Text that cannot be a room code; `message` says what is wrong with it."""

    def __init__(self, why: str, **data: Any) -> None:
        super().__init__(ErrorCode.NO_SUCH_ROOM, why, **data)


class RoomLink(NamedTuple):
    """A link to a room or event.

    Attributes:
        base: The address of the server.
        page: ``wall`` or ``cards`` of an event, or "".
        rest: The text after the link.
    """

    base: str
    code: str
    is_event: bool = False
    page: str = ""
    rest: str = ""

    @property
    def path(self) -> str:
        """The link's path below the server's address, in its one written form."""
        return f"{'/e' if self.is_event else ''}/{self.code}{'/' if self.page else ''}{self.page}"


def parse_room_code(text: str) -> str:
    """Return the code in its one written form from a code, a link or a pasted line. Raises `BadRoomCode`.

    Case, dashes, spaces, invisible characters and characters around the code do not matter.

    >>> parse_room_code("k7m-4pq"), parse_room_code("Join me: https://host/K7M4PQ?fbclid=x.")
    ('K7M4PQ', 'K7M4PQ')
    """
    plain = _simplify(text)
    code = _bare(plain)
    if len(code) != ROOM_CODE_LENGTH or not _LETTERS.issuperset(code):
        code = _find_code(plain) or code
    shown = text if len(text) <= 40 else f"{text[:40]}…"
    if len(code) != ROOM_CODE_LENGTH:
        raise BadRoomCode("length", most=ROOM_CODE_LENGTH, text=shown, length=len(code))
    for letter in code:
        if letter not in _LETTERS:
            raise BadRoomCode("letter", letter=letter, text=shown)
    return code.upper()


def find_link(text: str) -> RoomLink | None:
    """Return the first link in a text whose path has a room code, or None; of several codes the last one counts.

    >>> find_link("(see http://server:8765/games/k7m-4pq/)")
    RoomLink(base='http://server:8765/games', code='K7M4PQ', is_event=False, page='', rest='/)')
    >>> find_link("http://server:8765/E/K7M4PQ/wall.").path
    '/e/K7M4PQ/wall'
    """
    found = _LINK.search(_simplify(text[:_MOST_SEARCHED]))
    if found is None:
        return None
    base, code, page = found.groups("")
    is_event = base[-2:].lower() == "/e"
    base, page = (base[:-2], page.lower()) if is_event else (base, "")
    return RoomLink(base, _bare(code).upper(), is_event, page, found.string[found.end() :])


def _find_code(text: str) -> str:
    """Return the code in a text, or "". Among several words, only one with a digit or in capitals can be a code."""
    if link := find_link(text):
        return link.code
    words: list[str] = [] if "://" in text else _WORD.findall(text[:_MOST_SEARCHED])
    if sum(map(str.isalnum, text)) > ROOM_CODE_LENGTH:
        with_digit = [word for word in words if any(map(str.isdigit, word))]
        words = with_digit or [word for word in words if word.isupper()]
    return _SEPARATOR.sub("", words[0]).upper() if words else ""


def read_code(text: str) -> str:
    """Return any other code in its one written form; only letters and digits matter, in any case.

    An I or 1 counts as L: no code has them, but people read them for it.

    >>> read_code("7kq2-m94f x3zi")
    '7KQ2M94FX3ZL'
    """
    return "".join(filter(str.isalnum, text)).upper().translate(_MISREAD)


def _simplify(text: str) -> str:
    """Return a text without invisible characters and repeated slashes, or the link that a mail filter wrapped."""
    if wrapped := _WRAPPED.search(text):
        text = unquote(wrapped[1], errors="replace")
    if not text.isascii():
        text = "".join(character for character in text if unicodedata.category(character) != "Cf")
    return _SLASHES.sub("/", text)


def _bare(text: str) -> str:
    return "".join(text.split()).replace("-", "")
