"""The keys of a screen: how one is bound to what it does, and which of them its last line names."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from textual.binding import Binding
from textual.keys import key_to_character
from textual.screen import Screen

from tictactoe_client.tui.keymap import ACTIONS
from tictactoe_client.tui.picture import Picture, measure

_LASTING = ("help", "quit")
"""What the foot says of keys as long as there is any room."""

Hint = tuple[str, str]
"""Keys, and what they do; either may be empty."""


def bind(name: str, action: str = "", label: str = "", *, priority: bool = False) -> Binding:
    """Return the binding of one of the `ACTIONS`, whose keys a person may change; with a label the foot shows it."""
    return Binding(",".join(ACTIONS[name]), action or name, label, priority=priority, id=name, show=bool(label))


def list_keys(screen: Screen[Any], width: int, first: Sequence[str], renames: Mapping[str, str]) -> Sequence[Hint]:
    """Return the keys that count now with what they do, as many as there is room for, those called `first` first."""
    shown = [active.binding for active in screen.active_bindings.values() if active.enabled and active.binding.show]
    names = {_name_of(binding): renames.get(binding.description, binding.description) for binding in shown}
    hints = sorted(find_keys(screen, names), key=lambda hint: first.index(hint[1]) if hint[1] in first else len(first))
    return fit_keys(hints, width, (*first, *_LASTING))


def find_keys(screen: Screen[Any], names: Mapping[str, str]) -> list[Hint]:
    """Return the keys that count now of those actions that are named here, in that order; those of one name together.

    What is no action stands as it is: ``1-9``. A key that is text where one types has the one there that it comes with.
    """
    keys: dict[str, str] = {}
    line = screen.focused
    for key, active in screen.active_bindings.items():
        name = _name_of(active.binding)
        if active.enabled and name in names and name not in keys:
            is_text = line is not None and name in ACTIONS and line.check_consume_key(key, key_to_character(key))
            binding = replace(active.binding, key=ACTIONS[name][0]) if is_text else active.binding
            keys[name] = screen.app.get_key_display(binding)
    hints: dict[str, list[str]] = {}
    for name, label in names.items():
        if name in keys or name not in ACTIONS:
            hints.setdefault(label, []).append(keys.get(name, name))
    return [("".join(shown) if shown[0] in ("↑", "←") else "/".join(shown), label) for label, shown in hints.items()]


def fit_keys(hints: Sequence[Hint], width: int, lasting: Sequence[str]) -> list[Hint]:
    """Return as many as there is room for: those go that leave none for what lasts, else the last; what lasts stays.

    Where nothing lasts, the last one does.

    >>> fit_keys([("r", "refresh"), ("?", "help"), ("t", "theme"), ("Ctrl+Q", "quit")], 22, ("help",))
    [('r', 'refresh'), ('?', 'help')]
    """
    left = list(hints)
    lasts = [hint for hint in left if hint[1] in lasting] or left[-1:]
    while _width_of(left) > width and len(left) > 1:
        goes = [hint for hint in left if hint not in lasts] or left
        wide = [hint for hint in goes if _width_of([hint, *lasts]) > width]
        left.remove((wide or goes)[-1])
    return left


def draw_keys(page: Picture, hints: Sequence[Hint]) -> None:
    """Draw them in the last line."""
    x = 1
    for keys, label in hints:
        x = page.put_parts(x, page.height - 1, (keys, "key"), (f"{' ' if keys and label else ''}{label}  ", "dim"))


def _width_of(hints: Sequence[Hint]) -> int:
    return sum(measure(f"{keys} {label}".strip()) + 2 for keys, label in hints) - 2


def _name_of(binding: Binding) -> str:
    return binding.id or binding.action
