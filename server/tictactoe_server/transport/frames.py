"""WebSocket frames as bytes: ours, made once for every receiver, and where a peer's ends.

Source: RFC 6455, section 5.2.
"""

from __future__ import annotations

from struct import Struct
from typing import Final

TOO_LONG: Final = -1

_HEADERS: Final = tuple(bytes((0x81, length)) for length in range(126))
_pack: Final = Struct(">BBH").pack


def encode_frame(payload: bytes) -> bytes:
    """Encode a server's text frame: FIN and opcode, length in 7, 16 or 64 bits, no mask."""
    length = len(payload)
    if length < 126:
        return _HEADERS[length] + payload
    if length < 65536:
        return _pack(0x81, 126, length) + payload
    return b"\x81\x7f" + length.to_bytes(8) + payload


def end_of_frame(data: bytes, start: int, limit: int) -> int:
    """Return where the frame that begins at `start` ends, or 0 where that has not come yet.

    `TOO_LONG` for one that says that it carries more than `limit` bytes, as soon as it says so.
    """
    if len(data) < start + 2:
        return 0
    second = data[start + 1]
    length, header = second & 0x7F, 2
    if length >= 126:
        header = 4 if length == 126 else 10
        if len(data) < start + header:
            return 0
        length = int.from_bytes(data[start + 2 : start + header])
    if length > limit:
        return TOO_LONG
    end = start + header + (4 if second & 0x80 else 0) + length
    return end if end <= len(data) else 0
