"""Room codes: six characters that survive being read aloud, typed on a telephone and pasted as a link."""

from __future__ import annotations

from typing import Any, Final

from tictactoe_protocol.codes import ErrorCode
from tictactoe_protocol.refusals import Refusal

ROOM_CODE_ALPHABET: Final = "23456789ABCDEFGHJKLMNPQRSTUVWXYZ"
ROOM_CODE_LENGTH: Final = 6

_MISREAD: Final = str.maketrans("I1", "LL")
_LETTERS: Final = frozenset(ROOM_CODE_ALPHABET + ROOM_CODE_ALPHABET.lower())


class BadRoomCode(Refusal, ValueError):
    """Text that cannot be a room code; `message` says what is wrong with it."""

    def __init__(self, why: str, **data: Any) -> None:
        super().__init__(ErrorCode.NO_SUCH_ROOM, why, **data)


def parse_room_code(text: str) -> str:
    """Return the code in its one written form; case, dashes and spaces do not matter. Raises `BadRoomCode`.

    >>> parse_room_code("k7m-4pq")
    'K7M4PQ'
    """
    code = _bare(text)
    shown = text if len(text) <= 40 else f"{text[:40]}…"
    if len(code) != ROOM_CODE_LENGTH:
        raise BadRoomCode("length", most=ROOM_CODE_LENGTH, text=shown, length=len(code))
    for letter in code:
        if letter not in _LETTERS:
            raise BadRoomCode("letter", letter=letter, text=shown)
    return code.upper()


def read_code(text: str) -> str:
    """Return any other code in its one written form; case, dashes and spaces do not matter.

    An I or 1 counts as L: no code has them, but people read them for it.

    >>> read_code("7kq2-m94f x3zi")
    '7KQ2M94FX3ZL'
    """
    return _bare(text).upper().translate(_MISREAD)


def _bare(text: str) -> str:
    return "".join(text.split()).replace("-", "")
