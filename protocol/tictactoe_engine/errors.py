"""The engine's errors: invalid rules, illegal moves and unknown notation."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

Data = Mapping[str, Any]

IllegalMoveCode = Literal["off_board", "occupied", "blocked", "floating", "game_over", "choose_first", "not_allowed"]


class GameError(ValueError):
    """The base class of the engine's errors.

    Attributes:
        code: The error code that clients receive.
        message: An English sentence for the player.
        data: The values in the sentence, for translations. The entry ``why`` distinguishes sentences with the same
            code.
    """

    def __init__(self, code: str, message: str, data: Data | None = None) -> None:
        self.code = code
        self.message = message
        self.data: Data = data or {}

    def __str__(self) -> str:
        return self.message


class InvalidRules(GameError):
    """Rules that cannot be played; the code is ``bad_rules``.

    Attributes:
        field: The name of the invalid field of `Rules`, if there is a single one.
    """

    def __init__(self, code: str, message: str, field: str | None = None, data: Data | None = None) -> None:
        super().__init__(code, message, data)
        self.field = field


class IllegalMove(GameError):
    """A move, or a choice in an opening, that is not allowed.

    A move is refused as ``off_board``, ``occupied``, ``blocked``, ``floating`` or ``game_over``, or as ``choose_first``
    if the opening requires a choice. A choice is refused as ``not_allowed``.

    Attributes:
        words: The English sentence with placeholders, which are filled from `data`.
    """

    code: IllegalMoveCode

    def __init__(self, code: IllegalMoveCode, words: str, data: Data | None = None) -> None:
        super().__init__(code, words.format_map(data or {}), data)
        self.words = words


class UnknownNotation(GameError):
    """Text that is not a cell in any notation; the code is ``bad_input``."""

    def __init__(self, message: str, data: Data | None = None) -> None:
        super().__init__("bad_input", message, data)


def illegal(code: IllegalMoveCode, words: str, **data: Any) -> IllegalMove:
    """Return an `IllegalMove` with the sentence `words`, whose placeholders are filled from `data`.

    >>> illegal("occupied", "{cell} is taken by {mark}.", cell="B2", mark="X").message
    'B2 is taken by X.'
    """
    return IllegalMove(code, words, data)


def quote(value: object) -> str:
    """Return the repr of `value`, shortened if it is long.

    >>> quote("XX"), quote(True), len(quote("X" * 5000))
    ("'XX'", 'True', 41)
    """
    try:
        return shorten(repr(value))
    except ValueError:  # Python refuses to format integers of more than 4300 digits
        return "a number too long to show"


def shorten(text: str, limit: int = 40) -> str:
    """Return `text`; if it is longer than `limit` characters, cut it there and append an ellipsis."""
    return text if len(text) <= limit else f"{text[:limit]}…"
