"""WebSocket frames: encoding the server's frames, and finding the end of received frames.

Source: RFC 6455, section 5.2.
"""

from __future__ import annotations

from collections.abc import Mapping
from struct import Struct
from typing import Any, Final

from tictactoe_protocol import encode

TOO_LONG: Final = -1

_HEADERS: Final = tuple(bytes((0x81, length)) for length in range(126))
_pack: Final = Struct(">BBH").pack


def encode_frame(payload: bytes) -> bytes:
    """Encode a text frame without a mask, as servers must send it."""
    length = len(payload)
    if length < 126:
        return _HEADERS[length] + payload
    if length < 65536:
        return _pack(0x81, 126, length) + payload
    return b"\x81\x7f" + length.to_bytes(8) + payload


def with_fields(encoded: bytes, fields: Mapping[str, Any]) -> bytes:
    """Return an encoded JSON object with `fields` appended.

    >>> with_fields(b'{"a":1}', {"b": [2]}), with_fields(b'{"a":1}', {})
    (b'{"a":1,"b":[2]}', b'{"a":1}')
    """
    return encoded[:-1] + b"," + encode(fields)[1:] if fields else encoded


def end_of_frame(data: bytes, start: int, limit: int) -> int:
    """Return the end of the frame that begins at `start`, or 0 while the frame is incomplete.

    Return `TOO_LONG` as soon as the frame's header announces more than `limit` bytes.
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
