"""Rows for spreadsheets and programs."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Sequence
from io import StringIO
from typing import Final

CSV: Final = "text/csv; charset=utf-8"
_FORMULA: Final = ("=", "+", "-", "@", "\t", "\r")  # as which a spreadsheet would take what begins so


def format_csv(rows: Iterable[Sequence[object]]) -> bytes:
    """Return rows as CSV in UTF-8 with a byte order mark, without formulas."""
    text = StringIO()
    csv.writer(text).writerows([_plain(cell) if isinstance(cell, str) else cell for cell in row] for row in rows)
    return text.getvalue().encode("utf-8-sig")


def _plain(text: str) -> str:
    """Escape a text that a spreadsheet would read as a formula."""
    return f"'{text}" if text.startswith(_FORMULA) else text
