"""Which colour each role has: themes as tables, and the one without colour.

The first theme takes the terminal's own palette, so it fits dark and light ones alike.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

Theme = Mapping[str, str]
"""Styles by role; a role that is missing has the style of ``""``."""

QR: Final = "#000000 on #ffffff"
"""A code is drawn black on white whatever the theme, or telephones cannot read it."""

_TERMINAL: Final = {
    "": "",
    "title": "bold",
    "dim": "bright_black",
    "key": "bold",
    "cursor": "bold",
    "good": "green",
    "bad": "red",
    "warn": "yellow",
    "chosen": "reverse",
    "mark0": "cyan",
    "mark1": "magenta",
    "mark2": "yellow",
    "mark3": "green",
    "mark4": "blue",
    "mark5": "red",
    "strong0": "bold cyan",
    "strong1": "bold magenta",
    "strong2": "bold yellow",
    "strong3": "bold green",
    "strong4": "bold blue",
    "strong5": "bold red",
}
_PLAIN: Final = {"": "", "title": "bold", "key": "bold", "cursor": "bold", "chosen": "reverse"}


def _paper(base: str, dim: str, accent: str, marks: tuple[str, ...]) -> dict[str, str]:
    """Return a theme on a background of its own."""
    theme = {
        "": base,
        "title": f"bold {accent} {base.partition(' ')[2]}",
        "dim": f"{dim} {base.partition(' ')[2]}",
        "key": f"bold {base}",
        "cursor": f"bold {base}",
        "chosen": f"reverse {base}",
        "good": f"{marks[3]} {base.partition(' ')[2]}",
        "bad": f"{marks[5]} {base.partition(' ')[2]}",
        "warn": f"{marks[2]} {base.partition(' ')[2]}",
    }
    for number, mark in enumerate(marks):
        theme[f"mark{number}"] = f"{mark} {base.partition(' ')[2]}"
        theme[f"strong{number}"] = f"bold {mark} {base.partition(' ')[2]}"
    return theme


THEMES: Final[Mapping[str, Theme]] = MappingProxyType(
    {
        "terminal": _TERMINAL,
        "night": _paper(
            "#d8dee9 on #1b1f27",
            "#77808f",
            "#88c0d0",
            ("#7fdbff", "#ff8fd0", "#f2c14e", "#8fd694", "#8ab4ff", "#ff7b72"),
        ),
        "paper": _paper(
            "#2b2b2b on #f7f3e8",
            "#8a8474",
            "#6b4f1d",
            ("#005f87", "#9c1f6b", "#8a6100", "#2f6f2f", "#2b3fa8", "#b3261e"),
        ),
        "contrast": _paper(
            "#ffffff on #000000",
            "#bbbbbb",
            "#ffff00",
            ("#00ffff", "#ff7fff", "#ffff00", "#00ff00", "#8fb7ff", "#ff6f6f"),
        ),
    }
)


def theme_named(name: str, *, colour: bool) -> Theme:
    """Return the theme, without colour the plain one; an unknown name counts as the default."""
    if not colour:
        return _PLAIN
    return {**THEMES.get(name, _TERMINAL), "qr": QR}
