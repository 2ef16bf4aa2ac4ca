"""Room codes: six characters that can be read aloud, typed on a telephone, or pasted as part of a link."""

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
"""Only this number of characters in a text are searched, as the time for links grows with the square of the length."""
_END: Final = r"(?![^\W_])"
_DIGIT_HALF: Final = rf"(?=[A-Za-z]{{0,2}}[2-9]){_HALF}"
_WRAPPED: Final = re.compile(r"=((?:http|ws)s?%3A%2F%2F[^&\s]+)", re.IGNORECASE)
_SLASHES: Final = re.compile("(?<!:)/{2,}")
_DASH: Final = "[-\u2010-\u2015]"
_SEPARATOR: Final = re.compile(rf"{_DASH}|[ \u00a0](?!{_HALF}{_DASH}{_HALF}{_END})")
"""A separator of the halves of a code; a space is none before what could be a code with a dash."""
_WORD: Final = re.compile(
    rf"(?<![^\W_])(?:{_DIGIT_HALF}[ \u00a0]{_DIGIT_HALF}|{_HALF}(?:{_SEPARATOR.pattern})?{_HALF}){_END}"
)
_HOST: Final = r"""(?:[A-Za-z]++://)?(?:\[[^\]\s]*+\](?::\d++)?|(?<![^\s/<>()\[\]"'?#])[^\s/<>()\[\]"'?#]++)"""
"""A server's address. A host begins where its word does, and nothing is matched twice, so that searching is fast."""
_PAGE: Final = r"(?:/((?ai:wall|cards))\b)?"
_LINK: Final = re.compile(rf"({_HOST}(?:/[^\s/?#]++)*)/({_HALF}-?{_HALF}){_END}{_PAGE}")


class BadRoomCode(Refusal, ValueError):
    """Text that cannot be a room code; `message` explains why."""

    def __init__(self, why: str, **data: Any) -> None:
        super().__init__(ErrorCode.NO_SUCH_ROOM, why, **data)


class RoomLink(NamedTuple):
    """A link to a room or a tournament.

    Attributes:
        base: The address of the server.
        code: The code of the room or tournament, in upper case.
        page: The page of the tournament, ``wall`` or ``cards``, or "".
        rest: The text after the link.
    """

    base: str
    code: str
    is_event: bool = False
    page: str = ""
    rest: str = ""

    @property
    def path(self) -> str:
        """The path of the link below the server's address, in its normal form."""
        return f"{'/e' if self.is_event else ''}/{self.code}{'/' if self.page else ''}{self.page}"


def parse_room_code(text: str) -> str:
    """Find the room code in typed or pasted text, such as a link, and return it in upper case; raises `BadRoomCode`.

    Upper and lower case, dashes, spaces, invisible characters, and text around the code do not matter.

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
    """Return the first link in a text whose path has a code, or None. If a path has several codes, the last one counts.

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
    """Return the room code in a text, or "". Among other words, only a word with a digit or in capitals can be one."""
    if link := find_link(text):
        return link.code
    words: list[str] = [] if "://" in text else _WORD.findall(text[:_MOST_SEARCHED])
    if sum(map(str.isalnum, text)) > ROOM_CODE_LENGTH:
        with_digit = [word for word in words if any(map(str.isdigit, word))]
        words = with_digit or [word for word in words if word.isupper()]
    return _SEPARATOR.sub("", words[0]).upper() if words else ""


def read_code(text: str) -> str:
    """Return any other code in its normal form: its letters and digits, in upper case.

    An I or 1 counts as L: codes do not contain them, but people may take an L for one.

    >>> read_code("7kq2-m94f x3zi")
    '7KQ2M94FX3ZL'
    """
    return "".join(filter(str.isalnum, text)).upper().translate(_MISREAD)


def _simplify(text: str) -> str:
    """Return a text without invisible characters and repeated slashes; unwrap a link that a mail filter has wrapped."""
    if wrapped := _WRAPPED.search(text):
        text = unquote(wrapped[1], errors="replace")
    if not text.isascii():
        text = "".join(character for character in text if unicodedata.category(character) != "Cf")
    return _SLASHES.sub("/", text)


def _bare(text: str) -> str:
    return "".join(text.split()).replace("-", "")
