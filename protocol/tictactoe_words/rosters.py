"""Reads lists of names, pasted from a spreadsheet or saved to a file."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection
from typing import Final

_SEPARATORS: Final = "\t;,"
_GIVEN: Final = (
    *("vorname", "vornamen", "rufname", "first name", "firstname", "given name"),
    *("name", "names", "namen", "name, vorname", "nachname, vorname", "last name, first name"),
    *("schüler", "schülerin", "schüler/in", "student", "pupil"),
)
_FAMILY: Final = ("nachname", "familienname", "last name", "lastname", "surname", "family name", "name")
"""The headers of columns with given names (`_GIVEN`) and family names, the best ones first.

The header ``name`` is in both: in ``Name;Vorname``, it is a family name.
"""
_MOST_PEOPLE: Final = 1_000
"""The number of people that are read."""
_MOST_LETTERS: Final = 64
"""The number of letters that are read in each column."""
_MOST_ABOVE: Final = 5
"""The number of lines that are searched for a header, which may follow a title."""


def decode_roster(body: bytes) -> str:
    """Decode a file in UTF-16 with a byte order mark, in UTF-8, or otherwise in Windows-1252, which Excel writes."""
    if body.startswith((b"\xff\xfe", b"\xfe\xff")):
        return body.decode("utf-16", "replace")
    try:
        return body.decode("utf-8-sig")
    except UnicodeDecodeError:
        return body.decode("cp1252", "replace")


def read_roster(text: str) -> tuple[str, ...]:
    """Return the names in a list, which has a name in each line, or columns separated by tabs, semicolons or commas.

    A header selects the columns; it is dropped with the lines above it. Numbers and mail addresses are not names. Equal
    names are followed by as many letters of the family name as distinguish them, or otherwise by a number.

    >>> read_roster("Nr;Vorname;Nachname\\n1;Lena;Koch\\n2;Lena;Maus\\n3;Jan;Rot"), read_roster("Anna, Ben")
    (('Lena K.', 'Lena M.', 'Jan'), ('Anna', 'Ben'))
    >>> read_roster("Lena\\tKoch\\nLena\\tKaya"), read_roster("Koch, Lena\\nRot, Jan")
    (('Lena Ko.', 'Lena Ka.'), ('Lena', 'Jan'))
    """
    people, families = _read_people(text), defaultdict[str, set[str]](set)
    for name, family in people:
        families[name.lower()].add(family)
    enough, names = {name: _count_letters(group) for name, group in families.items()}, []
    for name, family in people:
        letters = enough[name.lower()]
        end = "." if letters < len(family) else ""
        names.append(f"{name} {family[:letters]}{end}" if family and letters else name)
    count, seen = Counter(name.lower() for name in names), Counter[str]()
    numbered = []
    for name in names:
        seen[name.lower()] += 1
        numbered.append(f"{name} {seen[name.lower()]}" if count[name.lower()] > 1 else name)
    return tuple(numbered)


def _count_letters(families: Collection[str]) -> int:
    """Return how many letters distinguish the family names; 0 for a single one."""
    longest = max(map(len, families)) if len(families) > 1 else 0
    return next((n for n in range(1, longest) if len({one[:n] for one in families}) == len(families)), longest)


def _read_people(text: str) -> list[tuple[str, str]]:
    """Return the given and the family name of each person in a list. The family name may be ""."""
    separator = next((one for one in _SEPARATORS if one in text), "\n")
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    rows = [[cell.strip().strip('"').strip()[:_MOST_LETTERS] for cell in line.split(separator)] for line in lines]
    rows = [row for row in rows if any(row)]
    heads = [[cell.lower() for cell in row] for row in rows[:_MOST_ABOVE]]
    above = next((at for at, head in enumerate(heads) if len(rows) > 1 and _is_header(at, head)), -1)
    head = heads[above] if above >= 0 else []
    given = next((head.index(one) for one in _GIVEN if one in head), 0)
    family = next((head.index(one) for one in _FAMILY if one in head and head.index(one) != given), -1)
    rows = [[cell] for cell in rows[0]] if len(rows) == 1 and not head else rows[above + 1 :]
    is_spaced = separator == "," and text.count(", ") == text.count(",")
    if is_spaced and len(head) < 2 and {len(row) for row in rows} in ({2}, {1, 2}):
        given, family = 1, 0
    people = []
    for row in rows[:_MOST_PEOPLE]:
        names = [cell for cell in (*row[given:], *row[:given]) if _is_name(cell)]
        others = [row[family]] if 0 <= family < len(row) and len(row) > 1 else names[1:]
        other = next((cell for cell in others if len(cell) > 1 and cell[0].isalpha()), "")
        if names:
            last, comma, first = names[0].partition(", ")
            people.append((first, last) if comma and first else (names[0], other))
    return people


def _is_header(at: int, head: list[str]) -> bool:
    """Return whether the line with index `at` is a header. Above a single column, it is one of the first two lines."""
    return not {*_GIVEN, *_FAMILY}.isdisjoint(head) and (at < 2 or len(head) > 1)


def _is_name(cell: str) -> bool:
    return "@" not in cell and not all(character in "0123456789. " for character in cell)
