"""What the keys are called and what they do: names of actions, their keys, and other keys that a person prefers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

ACTIONS: Final[Mapping[str, tuple[str, ...]]] = {
    "up": ("up",),
    "down": ("down",),
    "left": ("left",),
    "right": ("right",),
    "open": ("enter",),
    "place": ("enter", "space"),
    "back": ("escape",),
    "home": ("home",),
    "end": ("end",),
    "chat": ("tab",),
    "command": (":", "/"),
    "help": ("?", "f1"),
    "redraw": ("ctrl+l",),
    "leave": ("ctrl+c",),
    "quit": ("ctrl+q",),
    "refresh": ("r",),
    "theme": ("t",),
    "settings": ("s",),
    "name": ("n",),
    "save": ("s",),
    "page_up": ("pageup",),
    "page_down": ("pagedown",),
    "aside_left": ("<", "shift+left"),
    "aside_right": (">", "shift+right"),
    "accept": ("ctrl+y",),
    "decline": ("ctrl+n",),
}
"""Actions that may be given other keys; the names of keys are those of the terminal library, characters stand as they
are."""

_SHOWN: Final = {
    "up": "↑",
    "down": "↓",
    "left": "←",
    "right": "→",
    "enter": "Enter",
    "escape": "Esc",
    "space": "Space",
    "tab": "Tab",
    "home": "Home",
    "end": "End",
    "f1": "F1",
}


class Keymap:
    """Which keys do what for this person."""

    def __init__(self, changed: Mapping[str, Sequence[str]] | None = None) -> None:
        self._keys = {**ACTIONS, **{action: tuple(keys) for action, keys in (changed or {}).items()}}

    def does(self, key: str, action: str) -> bool:
        """Tell whether a key does this."""
        return key in self._keys.get(action, ())

    def show(self, action: str) -> str:
        """Return how to write the action's first key: ``Enter``, ``Ctrl+Q``."""
        return show_key(self._keys[action][0]) if self._keys.get(action) else "-"


def show_key(key: str) -> str:
    """Return a key's name for people.

    >>> show_key("ctrl+q"), show_key("r")
    ('Ctrl+Q', 'r')
    """
    if key.startswith("ctrl+"):
        return f"Ctrl+{key[5:].upper()}"
    return _SHOWN.get(key, key)
