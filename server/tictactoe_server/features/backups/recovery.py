"""Repairs a copy of a database's write-ahead log, which SQLite ignores from the first wrong checksum on.

A single flipped bit hides everything that was stored after it, although nearly all frames are intact. The checksums are
linear, so that they identify most flipped bits. A frame that cannot be corrected gets a new checksum that matches its
content, so that SQLite reads the frames after it. Format: https://sqlite.org/fileformat2.html#the_write_ahead_log
"""

from __future__ import annotations

import shutil
import struct
import sys
import tempfile
from collections import Counter
from pathlib import Path
from typing import Final

from tictactoe_server.features.backups.files import back_up, database_in
from tictactoe_server.storage.folder import FILE_NAME, DataFolder, files_of
from tictactoe_server.storage.schema import check_file, count_batches

_VERSION: Final = 3_007_000
_MAGICS: Final = {"little": ("<", 0x377F0682), "big": (">", 0x377F0683)}
"""By the machine's byte order: how SQLite reads the words for a checksum, and the magic number for this order."""
_HEADER_BYTES: Final = 32  # magic, version, page size, checkpoint, two salts, two checksums
_FRAME_BYTES: Final = 24  # page number, pages after a commit or 0, two salts, two checksums; the page follows
_SUMS: Final = struct.Struct(">2I")  # two salts or two checksums
_SALTS_PLACE: Final = 16  # the offset of the salts in the header
_MASK: Final = 0xFFFFFFFF
_PAGE_SIZE_PLACE: Final = slice(16, 18)  # of the page size in the database's first page
_MAX_FLIPPED_BITS: Final = 4  # in the salts of a frame; with more, the frame is from an earlier use of the log

Sums = tuple[int, int]


def recover(folder: Path, target: Path) -> tuple[int, int]:
    """Write the contents of the folder's database and of its repaired log to the new file `target`.

    Nothing in the folder is changed. Return how many batches of saves were missing, and how many of them are missing in
    `target`. May raise `OperatorError`, for instance while a server uses the folder. Raise `DamagedDatabase` if the
    database itself is damaged, too.
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
            back_up(copy, target)
        return max(0, missing), max(0, held.mark - count_batches(target))
    finally:
        held.release()


def repair_log(log: bytes, head: bytes) -> bytes:
    """Return a write-ahead log after correcting all flipped bits that its checksums identify.

    Args:
        head: The beginning of the database file, which includes the page size.
    """
    page_size = int.from_bytes(head[_PAGE_SIZE_PLACE], "big")
    page_size = 65_536 if page_size == 1 else page_size
    size = _FRAME_BYTES + page_size
    starts = range(_HEADER_BYTES, len(log) - size + 1, size)
    if not starts or page_size < 512:
        return log
    order, magic = _MAGICS[sys.byteorder]
    fields = struct.pack(">3I", magic, _VERSION, page_size) + log[12 : _SALTS_PLACE + 8]
    frames = [log[start : start + 8] + log[start + _FRAME_BYTES : start + size] for start in starts]
    stored = [_SUMS.unpack_from(log, start + 16) for start in starts]
    following = [*zip(frames[1:], stored[1:], strict=True), None]
    own = _SUMS.unpack_from(log, len(fields))
    fields, sums = _correct(fields, order, (0, 0), own, (frames[0], stored[0]))
    if _checksum(fields, order, (0, 0)) != sums:  # several bits in the salts are flipped; frames repeat the salts
        found = Counter(_SUMS.unpack_from(log, start + 8) for start in starts[:3])
        fields = fields[:_SALTS_PLACE] + _SUMS.pack(*found.most_common(1)[0][0])
    salts = fields[_SALTS_PLACE:]
    written = _checksum(fields, order, (0, 0))
    repaired = bytearray(fields + _SUMS.pack(*written))
    for start, content, wanted, after in zip(starts, frames, stored, following, strict=True):
        if _flipped_bits(log[start + 8 : start + 16], salts) > _MAX_FLIPPED_BITS:
            break  # this frame and the rest are left over from an earlier use of the log
        corrected, sums = _correct(content, order, sums, wanted, after)
        written = _checksum(corrected, order, written)
        repaired += corrected[:8] + salts + _SUMS.pack(*written) + corrected[8:]
    return bytes(repaired)


def _flipped_bits(one: bytes, other: bytes) -> int:
    return (int.from_bytes(one, "big") ^ int.from_bytes(other, "big")).bit_count()


def _correct(
    content: bytes, order: str, before: Sums, stored: Sums, following: tuple[bytes, Sums] | None
) -> tuple[bytes, Sums]:
    """Correct a flipped bit in `content`, and return the content and its original checksum.

    If no single bit explains the wrong checksum, or if several bits do, as the highest bits in a word can, the content
    is returned unchanged.

    Args:
        content: An even number of 32-bit words.
        order: The byte order of the words for the checksum, ">" or "<".
        before: The original checksum of everything before `content`.
        stored: The checksum stored with `content`.
        following: The content of the next frame and the checksum stored with it, or None after the last frame.
    """
    sums = _checksum(content, order, before)
    if sums == stored or (following is not None and _checksum(following[0], order, sums) == following[1]):
        return content, sums  # intact, or only the stored checksum has a flipped bit
    words = list(struct.unpack(f"{order}{len(content) // 4}I", content))
    wanted = (stored[0] - sums[0]) & _MASK, (stored[1] - sums[1]) & _MASK
    found = []
    one, other = (1, 1), (0, 1)  # by how much the sums change with the first and the second word of a pair
    for place in range(len(words) - 2, -1, -2):
        for at, effect in ((place, one), (place + 1, other)):
            for bit in range(32):
                change = -1 << bit if words[at] >> bit & 1 else 1 << bit
                if (change * effect[0] & _MASK, change * effect[1] & _MASK) == wanted:
                    found.append((at, bit))
        one, other = ((first + second & _MASK, first + 2 * second & _MASK) for first, second in (one, other))
    if len(found) == 1:
        (at, bit) = found[0]
        words[at] ^= 1 << bit
        content = struct.pack(f"{order}{len(words)}I", *words)
    return content, stored


def _checksum(content: bytes, order: str, before: Sums) -> Sums:
    """Return SQLite's cumulative checksum of `content`, which follows data with the checksum `before`.

    The length of `content` is a multiple of 8.
    """
    first, second = before
    for one, other in struct.iter_unpack(f"{order}2I", content):
        first = (first + one + second) & _MASK
        second = (second + other + first) & _MASK
    return first, second
