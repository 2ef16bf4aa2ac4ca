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
    "share": ("x",),
    "page_up": ("pageup",),
    "page_down": ("pagedown",),
    "aside_left": ("<", "shift+left"),
    "aside_right": (">", "shift+right"),
    "accept": ("ctrl+y",),
    "decline": ("ctrl+n",),
    "confirm": ("enter", "y"),
    "rematch": ("r",),
    "review": ("v",),
    "mistake": ("m",),
    "mistake_before": ("M",),
    "another": ("n",),
    "copy": ("y",),
    "hide_code": ("Q",),
    "computer": ("b",),
    "claim": ("w",),
    "claim_draw": ("d",),
    "retry": ("r",),
    "local": ("l",),
}
"""Actions that may be given other keys; the names of keys are those of the terminal library, characters stand as they
are."""

_ALWAYS: Final = ("leave", "quit", "redraw")
_AT_BOARD: Final = ("chat", "command", "help", "back")
_LOOKING: Final = ("left", "right", "up", "down", "home", "end", "review")
_ROWS: Final = ("up", "down", "home", "end", "page_up", "page_down")
_JUDGED: Final = (*_LOOKING, "mistake", "mistake_before")

SITUATIONS: Final[Mapping[str, tuple[str, ...]]] = {
    "on the first page": ("up", "down", "left", "right", "open", "help", "theme", "settings", "name", "refresh"),
    "without a server": ("retry", "local", "help", "theme", "settings"),
    "in the form of a new room": ("up", "down", "left", "right", "open", "back", "help"),
    "in a list": (*_ROWS, "open", "refresh", "save", "share", "back", "help"),
    "in a replay": (*_JUDGED, "aside_left", "aside_right", "save", "command", "back", "help"),
    "while you wait for others": ("copy", "hide_code", "computer", *_AT_BOARD),
    "in a game": ("up", "down", "left", "right", "place", "accept", "decline", *_AT_BOARD),
    "when an opponent is gone": ("claim", "claim_draw", "up", "down", "left", "right", "place", *_AT_BOARD),
    "while you watch": (*_JUDGED, *_AT_BOARD),
    "after a game": (*_JUDGED, "rematch", "another", "save", *_AT_BOARD),
    "while the connection is lost": ("retry", *_AT_BOARD),
    "while you type": ("accept", "decline", "chat", "back"),
    "when you are asked": ("confirm", "back"),
}
"""The actions that count at the same time, by when that is; one key can mean only one of them."""

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
}
_ASCII_ARROWS: Final = {"up": "up", "down": "down", "left": "<-", "right": "->"}


class Keymap:
    """Which keys do what for this person."""

    def __init__(self, changed: Mapping[str, Sequence[str]] | None = None) -> None:
        self._keys = {**ACTIONS, **{action: tuple(keys) for action, keys in (changed or {}).items()}}

    @property
    def for_library(self) -> Mapping[str, str]:
        """All of them as the library wants them, empty for those that the client comes with.

        Of two actions with one key it would lose one that keeps it when the other one gets another.
        """
        return {name: ",".join(keys) for name, keys in self._keys.items()} if self._keys != ACTIONS else {}

    def does(self, key: str, action: str) -> bool:
        """Tell whether a key does this."""
        return key in self._keys.get(action, ())

    def show(self, action: str, *, ascii_only: bool = False) -> str:
        """Return how to write the action's first key: ``Enter``, ``Ctrl+Q``."""
        keys = self._keys.get(action)
        return self.show_key(keys[0], ascii_only=ascii_only) if keys else "-"

    def show_key(self, key: str, *, ascii_only: bool = False) -> str:
        """Return how to write a key, by the name of the library's where a character has one.

        >>> Keymap().show_key("ctrl+q"), Keymap().show_key("f1"), Keymap().show_key("question_mark")
        ('Ctrl+Q', 'F1', '?')
        """
        from textual.keys import key_to_character

        if key.startswith("ctrl+"):
            return f"Ctrl+{key[5:].upper()}"
        if key[:1] == "f" and key[1:].isdigit():
            return key.upper()
        shown = _SHOWN.get(key) or key_to_character(key) or key
        return _ASCII_ARROWS.get(key, shown) if ascii_only else shown


def find_conflicts(changed: Mapping[str, Sequence[str]]) -> dict[str, str]:
    """Return for each changed action what its keys collide with, in words; nothing for those that are free.

    >>> find_conflicts({"save": ("r",), "theme": ("v",)})
    {'save': '"r" is refresh as well, in a list.'}
    """
    keys = {**ACTIONS, **changed}
    found: dict[str, str] = {}
    for situation, actions in SITUATIONS.items():
        for action in (*actions, *_ALWAYS):
            if action not in changed or action in found:
                continue
            for other in (*actions, *_ALWAYS):
                shared = [key for key in keys[action] if key in keys[other]]
                if other != action and other not in found and shared:
                    found[action] = f'"{shared[0]}" is {other} as well, {situation}.'
                    break
    return found
