"""The rows of a database file, read from its pages without SQLite.

SQLite gives up a whole table where the page that leads to it is damaged, and a whole file where its first page is. Each
page alone says which rows are on it, so here every page is looked at for itself, with what the log beside the file
holds. The format is https://www.sqlite.org/fileformat2.html; what cannot be read in it is passed over.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from pathlib import Path
from typing import Final, NamedTuple

PAGE_BYTES: Final = 4096  # what every SQLite since 2016 takes for a new database; ours names no other
_HEADER_BYTES: Final = 100
_FIRST_FREE: Final = 32
_LOG_HEADER_BYTES: Final = 32
_LOG_FRAME: Final = struct.Struct(">II8s8x")
_LARGEST_ROW_BYTES: Final = 1 << 26
_TABLE_LEAF, _INDEX_LEAF, _INDEX_INTERIOR = 0x0D, 0x0A, 0x02
_INTEGER_BYTES: Final = {1: 1, 2: 2, 3: 3, 4: 4, 5: 6, 6: 8}
_CONSTANTS: Final = {0: None, 8: 0, 9: 1}

Value = int | str | bytes | None


class Row(NamedTuple):
    """The values of a row; `id` is its number, None in a table without numbers, where the key is the first value."""

    id: int | None
    values: tuple[Value, ...]


class DatabasePages:
    """The pages of a database file and of its log, as they are now."""

    def __init__(self, path: Path) -> None:
        """Open the file; raises OSError."""
        self._newer = _pages_in_log(path.with_name(f"{path.name}-wal"))
        self._numbers = {*range(1, -(-path.stat().st_size // PAGE_BYTES) + 1), *self._newer}
        self._file = path.open("rb")

    def close(self) -> None:
        self._file.close()

    def rows(self) -> Iterator[Row | None]:
        """Yield every row that can be read, in no order, and None for each that cannot."""
        for number in self._numbers - self._unused():
            yield from self._rows_on(self._page(number), _HEADER_BYTES if number == 1 else 0)

    def _page(self, number: int) -> bytes:
        """Return a page, with zeros for what the disk does not give of it."""
        page = self._newer.get(number)
        if page is None:
            try:
                self._file.seek((number - 1) * PAGE_BYTES)
                page = self._file.read(PAGE_BYTES)
            except OSError:
                page = b""
        return page.ljust(PAGE_BYTES, b"\0")

    def _unused(self) -> set[int]:
        """Return the pages that hold what was deleted; none where the list of them is damaged."""
        unused = set[int]()
        trunk, count = struct.unpack_from(">II", self._page(1), _FIRST_FREE)
        while trunk and trunk not in unused:
            following, length = struct.unpack_from(">II", self._page(trunk))
            if trunk not in self._numbers or length > PAGE_BYTES // 4 - 2:
                return set()
            unused |= {trunk, *struct.unpack_from(f">{length}I", self._page(trunk), 8)}
            trunk = following
        return unused if len(unused) == count else set()

    def _rows_on(self, page: bytes, start: int) -> Iterator[Row | None]:
        kind = page[start]
        if kind not in (_TABLE_LEAF, _INDEX_LEAF, _INDEX_INTERIOR):
            return
        (count,) = struct.unpack_from(">H", page, start + 3)
        first = start + (12 if kind == _INDEX_INTERIOR else 8)
        for place in range(first, min(first + 2 * count, PAGE_BYTES - 1), 2):
            try:
                (cell,) = struct.unpack_from(">H", page, place)
                yield self._row(page, cell, kind)
            except (LookupError, ValueError, struct.error):
                yield None

    def _row(self, page: bytes, place: int, kind: int) -> Row:
        """Return the row that begins at a place of a page."""
        id = None
        size, place = _number(page, place + (4 if kind == _INDEX_INTERIOR else 0))
        if size > _LARGEST_ROW_BYTES:
            raise ValueError("no row is that long")
        if kind == _TABLE_LEAF:
            id, place = _number(page, place)
            most = PAGE_BYTES - 35
        else:
            most = (PAGE_BYTES - 12) * 64 // 255 - 23
        if size <= most:
            return Row(id, _values(page[place : place + size]))
        least = (PAGE_BYTES - 12) * 32 // 255 - 23
        here = least + (size - least) % (PAGE_BYTES - 4)
        here = here if here <= most else least
        (further,) = struct.unpack_from(">I", page, place + here)
        return Row(id, _values(page[place : place + here] + self._overflow(further, size - here)))

    def _overflow(self, number: int, size: int) -> bytes:
        """Return so many bytes of a row from the pages on which it goes on."""
        found = b""
        while len(found) < size and number in self._numbers:
            page = self._page(number)
            found += page[4:]
            (number,) = struct.unpack_from(">I", page)
        return found[:size]


def _pages_in_log(path: Path) -> dict[int, bytes]:
    """Return the newest of each page in a log, of the transactions in it that were finished."""
    newest, unfinished = dict[int, bytes](), dict[int, bytes]()
    content = path.read_bytes() if path.is_file() else b""
    salt = content[16:24]
    for place in range(
        _LOG_HEADER_BYTES, len(content) - _LOG_FRAME.size - PAGE_BYTES + 1, _LOG_FRAME.size + PAGE_BYTES
    ):
        number, size_after, found = _LOG_FRAME.unpack_from(content, place)
        if found != salt:
            break
        unfinished[number] = content[place + _LOG_FRAME.size :][:PAGE_BYTES]
        if size_after:
            newest |= unfinished
            unfinished.clear()
    return newest


def _values(record: bytes) -> tuple[Value, ...]:
    """Return the values of a record; raises ValueError and LookupError."""
    body, place = _number(record, 0)
    end, values = body, list[Value]()
    while place < end:
        kind, place = _number(record, place)
        size = (kind - 12) // 2 if kind >= 12 else _INTEGER_BYTES.get(kind, 0)
        part = record[body : body + size]
        body += size
        if len(part) < size:
            raise ValueError("the record ends too early")
        if kind >= 12:
            values.append(part.decode(errors="replace") if kind % 2 else part)
        else:
            values.append(int.from_bytes(part, "big", signed=True) if size else _CONSTANTS[kind])
    return tuple(values)


def _number(content: bytes, place: int) -> tuple[int, int]:
    """Return a number of one to nine bytes, and the place behind it."""
    number = 0
    for index in range(8):
        byte = content[place + index]
        number = number << 7 | byte & 0x7F
        if byte < 0x80:
            return number, place + index + 1
    return number << 8 | content[place + 8], place + 9
