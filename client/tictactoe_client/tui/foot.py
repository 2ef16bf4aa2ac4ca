"""The foot of a screen: the line of key hints, and the status lines above it. Also makes key bindings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Literal

from textual.binding import Binding, BindingType

from tictactoe_client.tui.keymap import Keymap
from tictactoe_client.tui.picture import Picture, Text, fold, measure
from tictactoe_words.commands import ACTIONS, Key, list_keys

Hint = tuple[str, str]
"""The names of keys and their description; either may be empty."""


def bind_keys(page: str, *, priority: bool = False) -> list[BindingType]:
    """Return Textual's bindings of a page or widget, from the table of commands."""
    return [
        Binding(",".join(ACTIONS[name]), _action_of(key), label, priority=priority, id=name, show=bool(label))
        for name, (key, label) in list_keys(page).items()
    ]


def bind_in_line(names: Sequence[str], *pages: str) -> list[BindingType]:
    """Return the bindings of a text input that pass the default keys of these actions to its screen."""
    keys = {name: key_and_label for page in pages for name, key_and_label in list_keys(page).items()}
    bindings = ((name, *keys[name]) for name in names)
    return [Binding(",".join(ACTIONS[name]), f"screen.{_action_of(key)}", label) for name, key, label in bindings]


def _action_of(key: Key) -> str:
    """Return a key's action in Textual's notation, such as ``move(-1)``."""
    method, *arguments = (key.does or key.name).split()
    listed = ", ".join(argument if argument.lstrip("-").isdigit() else repr(argument) for argument in arguments)
    return f"{method}({listed})" if listed else method


def join_hints(named: Mapping[str, str], keymap: Keymap, *, in_text: bool = False) -> list[Hint]:
    """Return the hints for labels that are given by action, key, or text such as ``1-9``.

    If `in_text`, a text input has the focus: keys that would type a character are replaced by the default keys.
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
    joined: dict[str, list[str]] = {}
    for keys, label in hints:
        joined.setdefault(label, []).append(keys)
    return [("".join(keys) if keys[0] in ("↑", "←") else "/".join(keys), label) for label, keys in joined.items()]


def fit_keys(hints: Sequence[Hint], width: int, lasting: Sequence[str]) -> list[Hint]:
    """Drop hints from the end until the others fit; hints with `lasting` labels are dropped last.

    >>> fit_keys([("r", "refresh"), ("?", "help"), ("t", "theme"), ("Ctrl+Q", "quit")], 22, ("help",))
    [('r', 'refresh'), ('?', 'help')]
    """
    fitting = list(hints)
    lasts = [hint for hint in fitting if hint[1] in lasting] or fitting[-1:]
    while _width_of(fitting) > width and len(fitting) > 1:
        goes = [hint for hint in fitting if hint not in lasts] or fitting
        wide = [hint for hint in goes if _width_of([hint, *lasts]) > width]
        fitting.remove((wide or goes)[-1])
    return fitting


def draw_keys(page: Picture, hints: Sequence[Hint]) -> None:
    """Draw the key hints in the last line."""
    parts = (((keys, "key"), (f"{' ' if keys and label else ''}{label}  ", "dim")) for keys, label in hints)
    page.put_parts(1, page.height - 1, *chain.from_iterable(parts))


def _width_of(hints: Sequence[Hint]) -> int:
    return sum(measure(f"{keys} {label}".strip()) + 2 for keys, label in hints) - 2


@dataclass(frozen=True, slots=True)
class Foot:
    """The lines above the key hints: the banner, then the status.

    Attributes:
        status: The status and the notes that fit.
        beside: A text at the right end of the last line.
        notes: The number of notes that fit.
        marked: The column and text of the highlighted part of the last line, such as the caret; or None.
    """

    banner: tuple[Text, ...]
    status: tuple[Text, ...]
    beside: Text = ("", "")
    notes: int = 0
    marked: tuple[int, str] | None = None

    @property
    def height(self) -> int:
        """The number of lines; an empty banner still takes a line."""
        return max(2, len(self.banner) + len(self.status))

    def draw(self, picture: Picture) -> None:
        bottom = picture.height - 1
        for y, line in enumerate((*self.banner, *self.status), bottom - len(self.banner) - len(self.status)):
            picture.put_parts(1, y, line)
        picture.put_right(bottom - 1, *self.beside)
        if self.marked is not None:
            picture.put(1 + self.marked[0], bottom - 1, self.marked[1], "chosen")


def arrange_foot(
    banner: Text | None,
    status: Text,
    width: int,
    rows: int,
    *,
    beside: Text = ("", ""),
    may_drop: bool = False,
    notes: Sequence[Text] = (),
    keeps: Literal["", "above", "below"] = "",
) -> Foot:
    """Return a foot of at most `rows` lines, which must be two or more.

    Args:
        banner: A question or problem. It gets lines before the status and the notes.
        status: The main text.
        beside: The text at the right of the status.
        may_drop: Whether to drop `beside` if the status does not fit next to it.
        notes: Shown as far as lines are left.
        keeps: Whether the notes are above or below the status. If set, a line is reserved for the first note, even if
            the banner is long.
    """
    reserved = 1 if notes and keeps else 0
    room = rows - 1 - reserved
    upper = fold(banner[0], width, max(1, room)) if banner is not None and (room or not reserved) else []
    beside_width = measure(beside[0]) + 2 if beside[0] else 0
    if may_drop and measure(status[0]) > width - beside_width:
        beside, beside_width = ("", ""), 0
    lines = [(line, status[1]) for line in fold(status[0], width - beside_width, max(1, rows - len(upper) - reserved))]
    drawn: list[Text] = []
    placed = 0
    for text, role in notes:
        left = rows - len(upper) - len(lines) - len(drawn)
        if left < 1 or (drawn and len(fold(text, width - beside_width, left + 1)) > left):
            break
        drawn += [(line, role) for line in fold(text, width - beside_width, left)]
        placed += 1
    role = banner[1] if banner is not None else ""
    whole = [*drawn, *lines] if keeps == "above" else [*lines, *drawn]
    return Foot(tuple((line, role) for line in upper), tuple(whole), beside, placed)
