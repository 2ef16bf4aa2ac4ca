"""WebSocket frames as bytes: encoding those of the server, and finding the end of those of a peer.

Source: RFC 6455, section 5.2.
"""

from __future__ import annotations

from struct import Struct
from typing import Final

TOO_LONG: Final = -1

_HEADERS: Final = tuple(bytes((0x81, length)) for length in range(126))
_pack: Final = Struct(">BBH").pack


def encode_frame(payload: bytes) -> bytes:
    """Encode a text frame without a mask, as a server sends it."""
    length = len(payload)
    if length < 126:
        return _HEADERS[length] + payload
    if length < 65536:
        return _pack(0x81, 126, length) + payload
    return b"\x81\x7f" + length.to_bytes(8) + payload


def end_of_frame(data: bytes, start: int, limit: int) -> int:
    """Return the end of the frame that begins at `start`, or 0 while it is incomplete.

    Returns `TOO_LONG` as soon as the header announces more than `limit` bytes.
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
