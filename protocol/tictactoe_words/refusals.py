"""The sentences of refusals, of reasons for closing a room, and of announcements, in the user's language.

The sentence of a refusal is ``refused CODE`` in the catalogue, or ``refused CODE WHY`` if `data` has a `why`. The rest
of `data` fills its placeholders. Reasons for closing a room and announcements of the server work in the same way. See
`docs/reference/protocol/sentences.md`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from tictactoe_words.catalogue import say

if TYPE_CHECKING:
    from tictactoe_engine import IllegalMove, InvalidRules, UnknownNotation
    from tictactoe_protocol.refusals import Refusal


def describe_refusal(code: str, data: Mapping[str, Any] | None) -> str | None:
    """Return the sentence of a refusal, or None if there are no data or the catalogue does not have the sentence.

    >>> describe_refusal("occupied", {"cell": "B2", "mark": "X"})
    'B2 is taken by X.'
    """
    return _describe(f"refused {code}", data)


def describe_announcement(code: str) -> str | None:
    """Return the sentence of an announcement from the server, or None for an unknown code."""
    return _describe(f"announced {code}", {})


def describe_fault(error: IllegalMove | InvalidRules | UnknownNotation | Refusal) -> str:
    """Return the sentence for an error of the engine or the protocol in the current language."""
    return describe_refusal(error.code, error.data) or str(error)


def describe_closing(code: str, data: Mapping[str, Any] | None) -> str | None:
    """Return the sentence about a closed room, or None as in `describe_refusal`.

    >>> describe_closing("left", {})
    'Everybody left.'
    """
    return _describe(f"closed {code}", data)


def _describe(id: str, data: Mapping[str, Any] | None) -> str | None:
    if data is None:
        return None
    why = data.get("why", "")
    try:
        places = {name: _spell(value, name) for name, value in data.items()}
        return say(f"{id} {why}" if why else id, **places)
    except (LookupError, TypeError, ValueError):
        return None


def _spell(value: Any, name: str = "") -> Any:
    """Return a value as it appears in a sentence. A tuple from the engine, like ``("row", 1, 3)``, is a range."""
    if name == "ladders" and isinstance(value, list):
        return ", ".join([say(f"name of {rules}") for rules in value])
    if not isinstance(value, list | tuple):
        return value
    match value:
        case (str(noun), first, last) if isinstance(value, tuple):
            return say(f"limit {noun}", n=1 if first == last else 2, first=first, last=last)
    return ", ".join([one if isinstance(one, str) else str(_spell(one)) for one in value])
