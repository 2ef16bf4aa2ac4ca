"""The three ways to be wrong: rules that cannot be played, a move that is illegal, a word that is no cell.

Each has a code, an English sentence, and in `data` what that sentence was made from, with which another language says
the same; `why` in it tells sentences of one code apart.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, Literal

Data = Mapping[str, Any]

IllegalMoveCode = Literal["off_board", "occupied", "blocked", "floating", "game_over", "choose_first", "not_allowed"]


class InvalidRules(ValueError):
    """Rules that cannot be played.

    `code` is the wire's error code (always ``bad_rules``), `message` a sentence for people that quotes the
    offending value, and `field` the name of the field at fault.
    """

    def __init__(self, code: str, message: str, field: str | None = None, data: Data | None = None) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.field = field
        self.data: Data = data or {}

    def __reduce__(self) -> tuple[object, ...]:
        return (InvalidRules, (self.code, self.message, self.field, self.data))


class IllegalMove(ValueError):
    """A cell that may not be played, or that the board does not have; nothing has changed.

    `code` is ``off_board``, ``occupied``, ``blocked``, ``floating`` or ``game_over``; in an opening ``choose_first``
    for a move and ``not_allowed`` for a choice. `message` is a sentence for the player.
    """

    def __init__(self, code: IllegalMoveCode, message: str, data: Data | None = None) -> None:
        super().__init__(message)
        self.code: IllegalMoveCode = code
        self.message = message
        self.data: Data = data or {}

    def __reduce__(self) -> tuple[object, ...]:
        return (IllegalMove, (self.code, self.message, self.data))


class UnknownNotation(ValueError):
    """A word that names no cell in any style; `code` is ``bad_input``."""

    code: Final = "bad_input"

    def __init__(self, message: str, data: Data | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.data: Data = data or {}


def illegal(code: IllegalMoveCode, words: str, **data: Any) -> IllegalMove:
    """Return the error whose sentence is `words` with its places filled.

    >>> illegal("occupied", "{cell} is taken by {mark}.", cell="B2", mark="X").message
    'B2 is taken by X.'
    """
    return IllegalMove(code, words.format_map(data), data)


def quote(value: object) -> str:
    """Return `value` as a message shows it: its repr, shortened where it is long.

    >>> quote("XX"), quote(True), len(quote("X" * 5000))
    ("'XX'", 'True', 41)
    """
    try:
        return shorten(repr(value))
    except ValueError:  # Python writes no integer of more than 4300 digits
        return "a number too long to show"


def shorten(text: str, limit: int = 40) -> str:
    """Return `text` cut after `limit` characters, an ellipsis in place of the rest."""
    return text if len(text) <= limit else f"{text[:limit]}…"
