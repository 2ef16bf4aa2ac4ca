"""The value of a setting as somebody types it, turned into what the file holds, and checked as when it is read."""

from __future__ import annotations

from typing import Final

from tictactoe_client.files.config import KNOWN, check_value
from tictactoe_client.settings import Misuse

_YES: Final = {"true": True, "yes": True, "on": True, "false": False, "no": False, "off": False}


def parse_setting(key: str, text: str) -> str | bool | float:
    """Return the value that a text means for a key; raises `Misuse` for an unknown key or a value that it cannot have.

    >>> parse_setting("ascii", "yes"), parse_setting("timeout", "2.5"), parse_setting("theme", "night")
    (True, 2.5, 'night')
    """
    value: str | bool | float = text
    if KNOWN.get(key) is bool:
        value = _YES.get(text.lower(), text)
    elif KNOWN.get(key) is float:
        try:
            value = float(text)
        except ValueError:
            value = text
    told = check_value(key, value) or (find_fault(key, text) if key in ("server", "name") else None)
    if told is not None:
        raise Misuse(told)
    return value


def find_fault(name: str, text: str) -> str | None:
    """Return what is wrong with the server or the name that the file gives, or None."""
    from tictactoe_client.online.errors import BadAddress
    from tictactoe_client.online.house import parse_house
    from tictactoe_protocol import BadName, parse_name

    try:
        parse_house(text) if name == "server" else parse_name(text)
    except (BadAddress, BadName) as bad:
        return bad.message
    return None
