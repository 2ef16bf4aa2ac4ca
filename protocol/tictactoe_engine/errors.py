"""The three ways to be wrong: rules that cannot be played, a move that is illegal, a word that is no cell."""

from __future__ import annotations

from typing import Final, Literal

IllegalMoveCode = Literal["off_board", "occupied", "blocked", "floating", "game_over"]


class InvalidRules(ValueError):
    """Rules that cannot be played.

    `code` is the wire's error code (always ``bad_rules``), `message` a sentence for people that quotes the
    offending value, and `field` the name of the field at fault.
    """

    def __init__(self, code: str, message: str, field: str | None = None) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.field = field

    def __reduce__(self) -> tuple[object, ...]:
        return (InvalidRules, (self.code, self.message, self.field))


class IllegalMove(ValueError):
    """A cell that may not be played, or that the board does not have; nothing has changed.

    `code` is ``off_board``, ``occupied``, ``blocked``, ``floating`` or ``game_over``; `message` is a sentence
    for the player.
    """

    def __init__(self, code: IllegalMoveCode, message: str) -> None:
        super().__init__(message)
        self.code: IllegalMoveCode = code
        self.message = message

    def __reduce__(self) -> tuple[object, ...]:
        return (IllegalMove, (self.code, self.message))


class UnknownNotation(ValueError):
    """A word that names no cell in any style; `code` is ``bad_input``."""

    code: Final = "bad_input"

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.message = message


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
