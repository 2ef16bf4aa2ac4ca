"""Balanced openings (X, O, X) on 15x15 for lines of exactly five; `tools.openings` made them."""

from __future__ import annotations

from typing import Final

OPENINGS: Final = (
    "E5 H11 K9",
    "F5 F11 H11",
    "F5 G7 G9",
    "F5 I10 E8",
    "F5 J7 F8",
    "F6 F9 I8",
    "F6 K11 J7",
    "G5 E7 I9",
    "G5 F5 G8",
    "G5 G7 G10",
    "G5 G8 E8",
    "G5 H10 H8",
    "G5 J6 I9",
    "G5 J7 J8",
    "G5 K7 I10",
    "G6 G7 H10",
    "G6 G8 I7",
    "G6 J9 I8",
    "H5 E9 G10",
    "H5 G6 F10",
)
