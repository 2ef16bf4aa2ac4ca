"""The keys of a screen: how those of the table of commands are bound, and which of them its last line names."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import chain
from typing import Any

from textual.binding import Binding, BindingType
from textual.keys import key_to_character
from textual.screen import Screen

from tictactoe_client.tui.keymap import Keymap
from tictactoe_client.tui.picture import Picture, measure
from tictactoe_protocol.commands import ACTIONS, Key, list_keys

Hint = tuple[str, str]
"""Keys, and what they do; either may be empty."""


def bind_keys(page: str, *, priority: bool = False) -> list[BindingType]:
    """Return the bindings of a page, or of a part of one; a person may change the keys, the foot shows the labels."""
    return [
        Binding(",".join(ACTIONS[name]), _action_of(key), label, priority=priority, id=name, show=bool(label))
        for name, (key, label) in list_keys(page).items()
    ]


def bind_in_line(names: Sequence[str], *pages: str) -> list[BindingType]:
    """Return the bindings by which a line of text leaves keys of these pages, as they come, to the screen."""
    keys = {name: one for page in pages for name, one in list_keys(page).items()}
    found = ((name, *keys[name]) for name in names)
    return [Binding(",".join(ACTIONS[name]), f"screen.{_action_of(key)}", label) for name, key, label in found]


def _action_of(key: Key) -> str:
    """Return what a key does as the library writes it: ``move(-1)``."""
    method, *arguments = (key.does or key.name).split()
    told = ", ".join(one if one.lstrip("-").isdigit() else repr(one) for one in arguments)
    return f"{method}({told})" if told else method


def find_keys(screen: Screen[Any], names: Mapping[str, str]) -> list[Hint]:
    """Return the keys that count now of those actions that are named here, in that order; those of one name together.

    A key that is text where one types has the one there that it comes with.
    """
    keys: dict[str, str] = {}
    line = screen.focused
    for key, active in screen.active_bindings.items():
        binding, name = active.binding, active.binding.id or active.binding.action
        if active.enabled and name in names and name not in keys:
            if line is not None and name in ACTIONS and line.check_consume_key(key, key_to_character(key)):
                binding = replace(binding, key=ACTIONS[name][0])
            keys[name] = screen.app.get_key_display(binding)
    return _join([(keys[name], label) for name, label in names.items() if name in keys])


def join_hints(named: Mapping[str, str], keymap: Keymap, *, in_text: bool = False) -> list[Hint]:
    """Return what is named, with the keys of its actions; what is neither action nor key stands as it is: ``1-9``.

    A key that is text, where that is typed, has the one there that it comes with.
    """
    shown = [_show(name, keymap, in_text=in_text) for name in named]
    return _join([*zip(shown, named.values(), strict=True)])


def _show(name: str, keymap: Keymap, *, in_text: bool) -> str:
    if name in ACTIONS:
        shown = keymap.show(name)
        return keymap.show_key(ACTIONS[name][0]) if in_text and len(shown) == 1 else shown
    digits, _, key = name.rpartition(" ")
    return f"{digits} {keymap.show_key(key)}".lstrip() if key == "enter" else name


def _join(hints: Sequence[Hint]) -> list[Hint]:
    """Return the hints, the keys of those that do the same in one."""
    joined: dict[str, list[str]] = {}
    for keys, label in hints:
        joined.setdefault(label, []).append(keys)
    return [("".join(keys) if keys[0] in ("↑", "←") else "/".join(keys), label) for label, keys in joined.items()]


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
    parts = (((keys, "key"), (f"{' ' if keys and label else ''}{label}  ", "dim")) for keys, label in hints)
    page.put_parts(1, page.height - 1, *chain.from_iterable(parts))


def _width_of(hints: Sequence[Hint]) -> int:
    return sum(measure(f"{keys} {label}".strip()) + 2 for keys, label in hints) - 2
