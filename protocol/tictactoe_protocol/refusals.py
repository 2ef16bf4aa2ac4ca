"""Refusals as codes with data, and their sentences in the catalogue.

A refusal has the sentence ``refused CODE``, or ``refused CODE WHY`` if `data` has a `why`; the rest of `data` fills the
placeholders. Closed rooms and announcements of the server work alike. So clients show them in their user's language.
See `docs/protocol/sentences.md`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from tictactoe_protocol.catalogue import say
from tictactoe_protocol.codes import ErrorCode

if TYPE_CHECKING:
    from tictactoe_engine import IllegalMove, InvalidRules, UnknownNotation


class Refusal(Exception):
    """A refusal: `code` and `data` for programs, and a `message` for people."""

    def __init__(self, code: ErrorCode, why: str = "", **data: Any) -> None:
        self.code = code
        self.data: Mapping[str, Any] = {"why": why, **data} if why else data
        self.message = describe_refusal(code, self.data) or f"Refused: {code}."
        super().__init__(self.message)


def describe_refusal(code: str, data: Mapping[str, Any] | None) -> str | None:
    """Return the sentence of a refusal, None without data or for an unknown code.

    >>> describe_refusal("occupied", {"cell": "B2", "mark": "X"})
    'B2 is taken by X.'
    """
    return _describe("refused", code, data)


def describe_announcement(code: str) -> str | None:
    """Return the sentence of an announcement of the server, or None."""
    return _describe("announced", code, {})


def describe_fault(error: IllegalMove | InvalidRules | UnknownNotation) -> str:
    """Return the sentence of an error of the engine in the current language."""
    return describe_refusal(error.code, error.data) or error.message


def describe_closing(code: str, data: Mapping[str, Any] | None) -> str | None:
    """Return the sentence about a closed room, or None as for a refusal.

    >>> describe_closing("left", {})
    'Everybody left.'
    """
    return _describe("closed", code, data)


def _describe(event: str, code: str, data: Mapping[str, Any] | None) -> str | None:
    if data is None:
        return None
    why = data.get("why", "")
    try:
        places = {name: _spell(value) for name, value in data.items()}
        return say(f"{event} {code} {why}" if why else f"{event} {code}", **places)
    except (LookupError, TypeError, ValueError):
        return None


def _spell(value: Any) -> Any:
    """Return a value for a sentence; a tuple of the engine like ``("row", 1, 3)`` is a range of rows."""
    if not isinstance(value, list | tuple):
        return value
    match value:
        case (str(noun), first, last) if isinstance(value, tuple):
            return say(f"limit one {noun}" if first == last else f"limit {noun}", first=first, last=last)
    return ", ".join([one if isinstance(one, str) else str(_spell(one)) for one in value])
