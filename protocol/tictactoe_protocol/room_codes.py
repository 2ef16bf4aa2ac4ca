"""Room codes: six characters that survive being read aloud, typed on a telephone and pasted as a link."""

from __future__ import annotations

from typing import Final

ROOM_CODE_ALPHABET: Final = "23456789ABCDEFGHJKLMNPQRSTUVWXYZ"
ROOM_CODE_LENGTH: Final = 6

_LETTERS: Final = frozenset(ROOM_CODE_ALPHABET + ROOM_CODE_ALPHABET.lower())


class BadRoomCode(ValueError):
    """Text that cannot be a room code; `message` says what is wrong with it."""

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.message = message


def parse_room_code(text: str) -> str:
    """Return the code in its one written form; case, dashes and spaces do not matter. Raises `BadRoomCode`.

    >>> parse_room_code("k7m-4pq")
    'K7M4PQ'
    """
    code = "".join(text.split()).replace("-", "")
    shown = text if len(text) <= 40 else f"{text[:40]}…"
    if len(code) != ROOM_CODE_LENGTH:
        raise BadRoomCode(f'A room code has {ROOM_CODE_LENGTH} letters and digits; "{shown}" has {len(code)}.')
    for letter in code:
        if letter not in _LETTERS:
            raise BadRoomCode(f'A room code has no "{letter}": "{shown}".')
    return code.upper()
