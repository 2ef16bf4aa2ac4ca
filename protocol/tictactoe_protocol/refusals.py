"""Why something was refused, as a code with data, and the sentence that the catalogue has for it.

A refusal is said by the id ``refused CODE``, or ``refused CODE WHY`` where `data` has a `why`, with the rest of `data`
in its places; why a room closed, and what a server announces by itself, likewise. So everybody reads it in the language
of their own program. See `docs/protocol/sentences.md`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from tictactoe_protocol.catalogue import say
from tictactoe_protocol.codes import ErrorCode

if TYPE_CHECKING:
    from tictactoe_engine import IllegalMove, InvalidRules, UnknownNotation


class Refusal(Exception):
    """Something that was refused: `code` and `data` are for programs, `message` says the same in words."""

    def __init__(self, code: ErrorCode, why: str = "", **data: Any) -> None:
        self.code = code
        self.data: Mapping[str, Any] = {"why": why, **data} if why else data
        self.message = describe_refusal(code, self.data) or f"Refused: {code}."
        super().__init__(self.message)


def describe_refusal(code: str, data: Mapping[str, Any] | None) -> str | None:
    """Return why a request was refused, None without data and for what this version has no sentence for.

    >>> describe_refusal("occupied", {"cell": "B2", "mark": "X"})
    'B2 is taken by X.'
    """
    return _describe("refused", code, data)


def describe_announcement(code: str) -> str | None:
    """Return what a server announces by itself, None as for a refusal."""
    return _describe("announced", code, {})


def describe_fault(error: IllegalMove | InvalidRules | UnknownNotation) -> str:
    """Return what an error of the engine says, in the language of this process."""
    return describe_refusal(error.code, error.data) or error.message


def describe_closing(code: str, data: Mapping[str, Any] | None) -> str | None:
    """Return why a room closed, None as for a refusal.

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
    """Return a value as it stands in a sentence; several are one after the other.

    How far rows, columns or cells go is a tuple as the engine has it: ``("row", 1, 3)``.
    """
    if not isinstance(value, list | tuple):
        return value
    match value:
        case (str(noun), first, last) if isinstance(value, tuple):
            return say(f"limit one {noun}" if first == last else f"limit {noun}", first=first, last=last)
    return ", ".join([one if isinstance(one, str) else str(_spell(one)) for one in value])
