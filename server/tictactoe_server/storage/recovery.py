"""Repairs a write-ahead log in a copy: SQLite silently ignores every frame after the first one with a wrong checksum.

A flipped bit thereby hides everything stored after it, although nearly all of it is intact. Here each frame of the log
gets the checksum of what it holds. Format: https://sqlite.org/fileformat2.html#the_write_ahead_log
"""

from __future__ import annotations

import shutil
import struct
import tempfile
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from tictactoe_server.storage.backup import back_up_file, database_in
from tictactoe_server.storage.folder import FILE_NAME, DataFolder, files_of
from tictactoe_server.storage.schema import check_file, count_batches

_VERSION: Final = 3_007_000
_MAGIC_LITTLE, _MAGIC_BIG = 0x377F0682, 0x377F0683  # how the words of a checksum are read
_HEADER: Final = struct.Struct(">8I")  # magic, version, page size, checkpoint, two salts, two checksums
_FRAME: Final = struct.Struct(">6I")  # page number, pages after a commit or 0, two salts, two checksums
_PAGE_SIZE_PLACE: Final = slice(16, 18)  # in the database's first page
_MAX_FLIPPED_BITS: Final = 4  # within the salts of one frame


@dataclass(frozen=True, slots=True)
class Recovered:
    """What came of a recovery: how many batches of saves were missing, and how many of them are still missing."""

    missing: int
    still_missing: int


def recover(folder: Path, target: Path) -> Recovered:
    """Write everything that the folder's database and its repaired log hold to the new file `target`.

    Nothing in the folder is changed. Raises `CannotBackUp`, `FolderInUse` while a server runs there, and
    `DamagedDatabase` if the file is damaged beyond its log.
    """
    database = database_in(folder)
    check_file(database)
    held = DataFolder(folder)
    try:
        held.hold_database()
        with tempfile.TemporaryDirectory(prefix="recover-", dir=target.absolute().parent) as name:
            copy = Path(name) / FILE_NAME
            for source, copied in zip(files_of(database)[:2], files_of(copy)[:2], strict=True):
                if source.exists():
                    shutil.copyfile(source, copied)
            missing = held.mark - count_batches(copy)
            _, log, index, _ = files_of(copy)
            index.unlink(missing_ok=True)
            if log.exists():
                with copy.open("rb") as file:
                    log.write_bytes(repair_log(log.read_bytes(), file.read(_PAGE_SIZE_PLACE.stop)))
            back_up_file(copy, target)
        return Recovered(max(0, missing), max(0, held.mark - count_batches(target)))
    finally:
        held.release()


def repair_log(log: bytes, head: bytes) -> bytes:
    """Return a write-ahead log with right checksums for all its frames.

    Args:
        log: The content of the log.
        head: The beginning of its database, which has the page size.
    """
    page_size = int.from_bytes(head[_PAGE_SIZE_PLACE], "big")
    page_size = 65_536 if page_size == 1 else page_size
    size = _FRAME.size + page_size
    starts = range(_HEADER.size, len(log) - size + 1, size)
    if not starts or page_size < 512:
        return log
    magic, _, _, checkpoint, *_ = _HEADER.unpack_from(log)
    magic = _MAGIC_BIG if magic == _MAGIC_BIG else _MAGIC_LITTLE
    order = ">" if magic == _MAGIC_BIG else "<"
    salts = _find_salts(log, starts)
    repaired = bytearray(_HEADER.pack(magic, _VERSION, page_size, checkpoint, *salts, 0, 0))
    sums = _checksum(bytes(repaired[:24]), order, (0, 0))
    struct.pack_into(">2I", repaired, 24, *sums)
    pages = 0
    for start in starts:
        number, pages_after, *own = _FRAME.unpack_from(log, start)[:4]
        if _flipped_bits(own, salts) > _MAX_FLIPPED_BITS:
            break  # left over from an earlier use of the file
        if pages_after:
            pages = pages_after = pages_after if pages <= pages_after <= pages + len(starts) or not pages else pages
        frame_head = struct.pack(">2I", number, pages_after)
        content = log[start + _FRAME.size : start + size]
        sums = _checksum(content, order, _checksum(frame_head, order, sums))
        repaired += frame_head + struct.pack(">4I", *salts, *sums) + content
    return bytes(repaired)


def _find_salts(log: bytes, starts: range) -> tuple[int, int]:
    """Return the salts of the current use of the log: those of most of its header and first two frames."""
    found = [struct.unpack_from(">2I", log, 16), *(struct.unpack_from(">2I", log, start + 8) for start in starts[:2])]
    (first, second), _ = Counter(found).most_common(1)[0]
    return first, second


def _flipped_bits(found: list[int], expected: tuple[int, int]) -> int:
    return sum((one ^ other).bit_count() for one, other in zip(found, expected, strict=True))


def _checksum(content: bytes, order: str, sums: tuple[int, int]) -> tuple[int, int]:
    """Return SQLite's cumulative checksum of `content`, whose length is a multiple of 8."""
    first, second = sums
    for one, other in struct.iter_unpack(f"{order}2I", content):
        first = (first + one + second) & 0xFFFFFFFF
        second = (second + other + first) & 0xFFFFFFFF
    return first, second
