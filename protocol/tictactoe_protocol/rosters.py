"""Lists of names, pasted from a spreadsheet or saved to a file. The page's twin is `events/roster.js`."""

from __future__ import annotations

from collections import Counter
from typing import Final

_SEPARATORS: Final = "\t;,"
_FIRST: Final = ("vorname", "vornamen", "rufname", "first name", "firstname", "given name", "name", "names")
"""The headers of a column of names, the best first: in `Name;Vorname` the name is a family name."""
_HEADERS: Final = {*_FIRST, "nachname", "familienname", "last name", "lastname", "surname", "family name", "namen"}


def decode_roster(body: bytes) -> str:
    """Return the text of a file in UTF-8, in UTF-16 with a byte order mark, or else in Excel's Windows-1252."""
    if body.startswith((b"\xff\xfe", b"\xfe\xff")):
        return body.decode("utf-16", "replace")
    try:
        return body.decode("utf-8-sig")
    except UnicodeDecodeError:
        return body.decode("cp1252", "replace")


def read_roster(text: str) -> tuple[str, ...]:
    """Return the names in a list: one a line, or in columns separated by tabs, semicolons or commas.

    A header is dropped, and names the column to use; numbers and addresses are no names. Equal names get the initial
    of the next column, or else a number.

    >>> read_roster("Nr;Vorname;Nachname\\n1;Lena;Koch\\n2;Lena;Maus\\n3;Jan;Rot"), read_roster("Anna, Ben")
    (('Lena K.', 'Lena M.', 'Jan'), ('Anna', 'Ben'))
    """
    separator = next((one for one in _SEPARATORS if one in text), "\n")
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    rows = [[cell.strip().strip('"').strip() for cell in line.split(separator)] for line in lines]
    rows = [row for row in rows if any(row)]
    first = 0
    head = [cell.lower() for cell in rows[0]] if rows else []
    if not _HEADERS.isdisjoint(head):
        first = next((head.index(one) for one in _FIRST if one in head), 0)
        rows = rows[1:]
    elif len(rows) == 1:
        rows = [[cell] for cell in rows[0]]
    found = [[cell for cell in row[first:] + row[:first] if _is_name(cell)] for row in rows]
    named = [(row[0], f"{row[0]} {row[1][0]}." if len(row) > 1 else row[0]) for row in found if row]
    count = Counter(name.lower() for name, _ in named)
    names = [longer if count[name.lower()] > 1 else name for name, longer in named]
    count, seen = Counter(name.lower() for name in names), Counter[str]()
    numbered = []
    for name in names:
        seen[name.lower()] += 1
        numbered.append(f"{name} {seen[name.lower()]}" if count[name.lower()] > 1 else name)
    return tuple(numbered)


def _is_name(cell: str) -> bool:
    return "@" not in cell and not all(character in "0123456789. " for character in cell)
