"""The key bindings: the defaults, the user's changes, and the display names of keys."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from tictactoe_words.catalogue import say
from tictactoe_words.commands import ACTIONS

ARROWS: Final = ("up", "down", "left", "right")
_NAMED: Final = frozenset({*ARROWS, "enter", "escape", "space", "tab", "home", "end"})


class Keymap:
    """The keys of each action; the key for yes depends on the language."""

    def __init__(self, changed: Mapping[str, Sequence[str]] | None = None) -> None:
        own = {action: tuple(keys) for action, keys in (changed or {}).items()}
        self._keys = {**ACTIONS, "confirm": ("enter", say("letter of yes")), **own}

    @property
    def for_library(self) -> Mapping[str, str]:
        """The keymap for Textual; {} if no key was changed, because Textual drops keys that two actions share."""
        return {name: ",".join(keys) for name, keys in self._keys.items()} if self._keys != ACTIONS else {}

    def find(self, key: str, text: str, actions: Sequence[str]) -> str:
        """Return the first of these actions that is bound to the key or its character, or ""."""
        return next((name for name in actions if key in self._keys[name] or (text and text in self._keys[name])), "")

    def keys_of(self, action: str) -> tuple[str, ...]:
        return self._keys[action]

    def does(self, key: str, action: str) -> bool:
        return key in self._keys.get(action, ())

    def show(self, action: str) -> str:
        """Return the display name of the action's first key, such as ``Ctrl+Q``; "-" if the action has no key."""
        keys = self._keys.get(action)
        return self.show_key(keys[0]) if keys else "-"

    def show_key(self, key: str) -> str:
        """Return the display name of a key.

        >>> Keymap().show_key("ctrl+q"), Keymap().show_key("f1"), Keymap().show_key("question_mark")
        ('Ctrl+Q', 'F1', '?')
        """
        if len(key) == 1:
            return key
        if key in _NAMED:
            return say(f"key {key}")
        if key.startswith("ctrl+"):
            return say("key ctrl", letter=key[5:].upper())
        if key[0] == "f" and key[1:].isdigit():
            return key.upper()
        from textual.keys import key_to_character

        return key_to_character(key) or key
