"""The themes: a style for each role. All but ``terminal`` have a contrast of at least 4.5:1."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from textual.theme import Theme as LibraryTheme

Theme = Mapping[str, str]
"""Styles by role, such as ``title``; other roles have the style of ``""``."""

QR: Final = "#000000 on #ffffff"
"""Black on white in every theme, since phones may not read a QR code in other colours."""

_OWN: Final = {  # ground, text, faint text, title, and the six marks
    "night": "#1b1f27 #d8dee9 #969ba5 #88c0d0 #7fdbff #ff8fd0 #f2c14e #8fd694 #8ab4ff #ff7b72",
    "paper": "#f7f3e8 #2b2b2b #6c6b68 #6b4f1d #005f87 #9c1f6b #7d5800 #2f6f2f #2b3fa8 #b3261e",
    "contrast": "#000000 #ffffff #a6a6a6 #ffff00 #00ffff #ff7fff #ffff00 #00ff00 #8fb7ff #ff6f6f",
}
_MARKS: Final = tuple(f"mark{number}" for number in range(6))
_BOLD: Final = {"title": "title", "key": "title", "cursor": "ink", **{f"strong{mark[-1]}": mark for mark in _MARKS}}
"""The roles that are bold, with their colours."""
_LIBRARY_NAMES: Final = {
    "ink": "foreground text ansi-foreground",
    "ground": "background surface panel boost block-hover-background ansi-background",
    "dim": "text-muted text-disabled foreground-muted border border-blurred",
    "title": "primary secondary accent key",
    "good": "success",
    "bad": "error text-error",
}
"""Textual's variables for these colours."""

THEMES: Final = ("auto", "terminal", *_OWN)
"""``auto`` is ``paper`` or ``night``, depending on the variable ``COLORFGBG``; or ``terminal`` with few colours."""
MEANT: Final = {"dark": "night", "light": "paper"}
"""Names that people may type by mistake, with the themes that they mean."""


def theme_named(name: str) -> Theme:
    if name == "terminal":
        return {"": "", **dict.fromkeys((*_BOLD, "bad"), "bold"), "chosen": "reverse", "qr": QR}
    colours = _colours(name)
    ground = colours["ground"]
    plain = {"": "ink", **{role: role for role in ("dim", "good", "bad", "warn", *_MARKS)}}
    return {
        **{role: f"{colours[colour]} on {ground}" for role, colour in plain.items()},
        **{role: f"bold {colours[colour]} on {ground}" for role, colour in _BOLD.items()},
        "chosen": f"bold {ground} on {colours['title']}",
        "qr": QR,
    }


def resolve_theme(name: str, *, colour: bool) -> str:
    """Return the theme to use for a name, which may be ``auto`` or unknown; without colours, ``terminal``."""
    if not colour or name not in THEMES:
        return "terminal"
    if name != "auto":
        return name
    background = os.environ.get("COLORFGBG", "").rpartition(";")[2]
    if not (background.isascii() and background.isdigit()):
        is_page = os.environ.get("TEXTUAL_COLOR_SYSTEM") == "truecolor"
        has_colours = is_page or "COLORTERM" in os.environ or "256color" in os.environ.get("TERM", "")
        return "night" if has_colours else "terminal"
    return "night" if int(background) < 7 or int(background) == 8 else "paper"


def library_theme(name: str) -> LibraryTheme:
    """Return the theme as Textual's widgets and the style sheet need it."""
    from textual.theme import Theme

    colours, is_bare = _colours(name), name == "terminal"
    ground, ink, title = (colours[role] for role in ("ground", "ink", "title"))
    cursor = {"foreground": ground, "background": title, "text-style": "bold reverse" if is_bare else "bold"}
    kinds = ("block-cursor", "block-cursor-blurred", "input-cursor", "input-selection", "button-focus")
    variables = colours | {f"{kind}-{part}": value for kind in kinds for part, value in cursor.items()}
    for role, names in _LIBRARY_NAMES.items():
        variables |= dict.fromkeys(names.split(), colours[role])
    is_dark = name != "paper"
    return Theme(name, title, foreground=ink, background=ground, dark=is_dark, ansi=is_bare, variables=variables)


def _colours(name: str) -> dict[str, str]:
    if name == "terminal":
        return dict.fromkeys(("ink", "ground", "title", "good", "bad", "warn", "dim", *_MARKS), "ansi_default")
    ground, ink, dim, title, *marks = _OWN.get(name, _OWN["night"]).split()
    colours = {"good": marks[3], "bad": marks[5], "warn": marks[2], "dim": dim}
    return {"ink": ink, "ground": ground, "title": title, **colours, **dict(zip(_MARKS, marks, strict=True))}
