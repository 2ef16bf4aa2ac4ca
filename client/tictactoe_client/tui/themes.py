"""Which colour each role has, in every theme that is offered: ours, and the library's as far as they can be read.

Whatever a theme says, a colour that stands on its ground with less than 4.5:1 is moved towards black or white until it
has that. ``terminal`` takes the terminal's own default pair, bold and reverse, and no colour at all.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from functools import lru_cache
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from textual.theme import Theme as LibraryTheme

Theme = Mapping[str, str]
"""Styles by role; a role that is missing has the style of ``""``."""

CONTRAST: Final = 4.5
QR: Final = "#000000 on #ffffff"
"""A code is drawn black on white whatever the theme, or telephones cannot read it."""

_OWN: Final = {  # ground, text, title, and the six marks
    "night": ("#1b1f27", "#d8dee9", "#88c0d0", "#7fdbff #ff8fd0 #f2c14e #8fd694 #8ab4ff #ff7b72"),
    "paper": ("#f7f3e8", "#2b2b2b", "#6b4f1d", "#005f87 #9c1f6b #7d5800 #2f6f2f #2b3fa8 #b3261e"),
    "contrast": ("#000000", "#ffffff", "#ffff00", "#00ffff #ff7fff #ffff00 #00ff00 #8fb7ff #ff6f6f"),
}
_LIBRARY: Final = (
    *("nord", "gruvbox", "dracula", "tokyo-night", "monokai", "flexoki", "catppuccin-mocha", "catppuccin-latte"),
    *("solarized-dark", "solarized-light", "rose-pine", "rose-pine-dawn", "atom-one-dark", "atom-one-light"),
    *("textual-dark", "textual-light"),
)

_NAMED: Final = re.compile(r"rgba?:([\da-f]{1,4})/([\da-f]{1,4})/([\da-f]{1,4})(?:/[\da-f]{1,4})?", re.IGNORECASE)
"""A colour as terminals name it, each part with one to four digits."""
_MARKS: Final = tuple(f"mark{number}" for number in range(6))
_BOLD: Final = {"title": "title", "key": "title", "cursor": "ink", **{f"strong{mark[-1]}": mark for mark in _MARKS}}
"""The roles whose text is bold, with what their colour is for."""
_LIBRARY_NAMES: Final = {
    "ink": "foreground text ansi-foreground",
    "ground": "background surface panel boost block-hover-background ansi-background",
    "dim": "text-muted text-disabled foreground-muted border border-blurred",
    "title": "primary secondary accent key",
    "good": "success",
    "bad": "error text-error",
}
"""What the library calls these colours."""

THEMES: Final = ("auto", "terminal", *_OWN, *_LIBRARY)
"""Their names.

``auto`` is `paper` where the terminal or the environment says that it is light, `night` where either says dark; where
neither says anything `night`, or `terminal` where it has few colours.
"""


def theme_named(name: str) -> Theme:
    """Return the styles of a theme that is shown."""
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


def resolve_theme(name: str, *, colour: bool, is_dark: bool | None = None) -> str:
    """Return the theme that is shown under this name; `is_dark` is what the terminal has said of its ground."""
    if not colour or name not in THEMES:
        return "terminal"
    if name != "auto":
        return name
    if is_dark is None:
        is_dark = tell_dark(os.environ.get("COLORFGBG", ""))
    if is_dark is None:
        is_page = os.environ.get("TEXTUAL_COLOR_SYSTEM") == "truecolor"
        has_colours = is_page or "COLORTERM" in os.environ or "256color" in os.environ.get("TERM", "")
        return "night" if has_colours else "terminal"
    return "night" if is_dark else "paper"


def tell_dark(answer: str) -> bool | None:
    """Tell whether the ground is dark that a terminal names, by colour or number; None where this names none.

    >>> tell_dark("rgb:1e1e/1e1e/2e2e"), tell_dark("rgb:ff/ff/ff"), tell_dark("15;0"), tell_dark("0;default;15")
    (True, False, True, False)
    """
    if (colour := _NAMED.fullmatch(answer)) is not None:
        parts = [int(part, 16) / (16 ** len(part) - 1) for part in colour.groups()]
        ground = "#" + "".join(f"{round(part * 255):02x}" for part in parts)
        return contrast(ground, "#ffffff") > contrast(ground, "#000000")
    number = answer.rpartition(";")[2]
    return int(number) < 7 or int(number) == 8 if number.isascii() and number.isdigit() else None


def library_theme(name: str) -> LibraryTheme:
    """Return a theme as the library has it, with our colours for all that its widgets draw."""
    from textual.theme import BUILTIN_THEMES, Theme

    if name == "terminal":
        return Theme(
            "terminal", primary="ansi_default", foreground="ansi_default", background="ansi_default", ansi=True
        )
    if name in BUILTIN_THEMES:
        return BUILTIN_THEMES[name]
    ground, text, title, _ = _OWN[name]
    return Theme(name, primary=title, foreground=text, background=ground, dark=contrast(ground, "#ffffff") > CONTRAST)


def style_variables(name: str) -> dict[str, str]:
    """Return what the style sheet and the library's own widgets call their colours, for a theme that is shown."""
    if name == "terminal":
        colours = dict.fromkeys(("ink", "ground", "dim", "good", "bad", "warn", "title", *_MARKS), "ansi_default")
        bar, bar_style = "ansi_default", "bold reverse"
    else:
        colours = _colours(name)
        bar, bar_style = colours["title"], "bold"
    cursor = {"foreground": colours["ground"], "background": bar, "text-style": bar_style}
    kinds = ("block-cursor", "block-cursor-blurred", "input-cursor", "input-selection", "button-focus")
    variables = {f"{kind}-{part}": value for kind in kinds for part, value in cursor.items()}
    for role, names in _LIBRARY_NAMES.items():
        variables |= dict.fromkeys(names.split(), colours[role])
    return colours | variables


@lru_cache(maxsize=4)
def _colours(name: str) -> dict[str, str]:
    """Return the colours of a theme with a ground of its own, by what they are for."""
    if name in _OWN:
        ground, ink, title, names = _OWN[name]
        marks = names.split()
    else:
        system = library_theme(name).to_color_system().generate()
        ground, ink, title = system["background"], system["foreground"], system["primary"]
        marks = [system[role] for role in ("primary", "accent", "warning", "success", "secondary", "error")]
        if marks[1] in (marks[0], marks[2]):
            marks[1] = marks[5]
    ink, title = lift(ink, ground), lift(title, ground)
    marks = [lift(colour, ground) for colour in marks]
    told = {"good": marks[3], "bad": marks[5], "warn": marks[2], "dim": lift(_mix(ink, ground, 0.35), ground)}
    return {"ink": ink, "ground": ground, "title": title, **told, **dict(zip(_MARKS, marks, strict=True))}


def lift(colour: str, ground: str) -> str:
    """Return the colour, moved as little as need be towards black or white to be read on this ground.

    >>> lift("#777777", "#ffffff"), lift("#0000ff", "#000000")
    ('#717171', '#6666ff')
    """
    end = "#ffffff" if contrast(ground, "#ffffff") > contrast(ground, "#000000") else "#000000"
    ways = (_mix(colour, end, step / 20) for step in range(21))
    return next(way for way in ways if contrast(way, ground) >= CONTRAST)


def contrast(one: str, other: str) -> float:
    """Return the ratio of two colours' luminances, from 1 to 21, as WCAG 2 defines it."""
    dark, light = sorted((_luminance(one), _luminance(other)))
    return (light + 0.05) / (dark + 0.05)


def _luminance(colour: str) -> float:
    parts = [value / 255 for value in _rgb(colour)]
    red, green, blue = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def _rgb(colour: str) -> tuple[int, ...]:
    return tuple(int(colour[at : at + 2], 16) for at in (1, 3, 5))


def _mix(one: str, other: str, share: float) -> str:
    """Return a colour on the way from one to the other."""
    parts = zip(_rgb(one), _rgb(other), strict=True)
    return "#" + "".join(f"{round(a + (b - a) * share):02x}" for a, b in parts)


STYLE: Final = """
Screen { background: $ground; color: $ink; overflow: hidden; align: center middle; }
Input, Input:focus { background: $ground; background-tint: $ground 0%; color: $ink; border: none; height: 1; }
Input > .input--cursor, Input > .input--selection {
    color: $block-cursor-foreground; background: $block-cursor-background; text-style: $block-cursor-text-style;
}
Canvas { layers: below above; }
Rows, Page { position: absolute; background: $ground !important; color: $ink; border: none; padding: 0; layer: below; }
Rows { display: none; }
Rows, Page { scrollbar-size: 0 0; text-wrap: nowrap; text-overflow: clip; }
Rows > .option-list--option-highlighted {
    color: $block-cursor-foreground; background: $block-cursor-background; text-style: $block-cursor-text-style;
}
Page Static { height: auto; text-wrap: wrap; }
#line { position: absolute; width: 18; padding: 0 1; display: none; layer: above; }

Question { align: center middle; background: transparent; }
#question { width: 60; max-width: 100%; height: auto; border: round $title; padding: 0 1; background: $ground; }
#question Label { width: 100%; }
#question Input { width: 100%; padding: 0; }
#keys { margin-top: 1; }
.-ascii #question { border: ascii $dim; }
"""
