"""The PROXY protocol, by which a proxy says for whom it speaks before anything else.

Source: haproxy's "The PROXY protocol, versions 1 & 2", sections 2.1 and 2.2.
"""

from __future__ import annotations

from ipaddress import IPv4Address, IPv6Address
from typing import Final

from tictactoe_server.transport.door import canonical

_FIRST: Final = b"PROXY "
_SECOND: Final = b"\r\n\r\n\x00\r\nQUIT\n"
_MAX_FIRST_BYTES: Final = 107
_SECOND_BYTES: Final = 16
_IPV4: Final = 1
_IPV6: Final = 2


class BadProxyHeader(ValueError):
    """It begins like a header of this protocol and is none."""


def is_one(data: bytes) -> bool:
    """Tell whether the first bytes of a connection begin such a header."""
    return data.startswith((_FIRST, _SECOND))


def begins_like_one(data: bytes) -> bool:
    """Tell whether they may do so, once more of them come."""
    return is_one(data) or _FIRST.startswith(data) or _SECOND.startswith(data)


def read(data: bytes) -> tuple[str | None, int] | None:
    """Return who speaks, None for the proxy itself, and where the header ends; None where it has not all come yet.

    Raises `BadProxyHeader`.
    """
    if data.startswith(_SECOND):
        return _read_second(data)
    if not data.startswith(_FIRST):
        return None
    line, end, _ = data[:_MAX_FIRST_BYTES].partition(b"\r\n")
    if not end:
        if len(data) >= _MAX_FIRST_BYTES:
            raise BadProxyHeader("The line of the PROXY protocol does not end.")
        return None
    words = line.decode("latin-1").split(" ")
    if words[1:2] == ["UNKNOWN"]:
        return None, len(line) + 2
    address = canonical(words[2]) if len(words) == 6 and words[1] in ("TCP4", "TCP6") else None
    if address is None:
        raise BadProxyHeader("The line of the PROXY protocol names no address.")
    return address, len(line) + 2


def _read_second(data: bytes) -> tuple[str | None, int] | None:
    if len(data) < _SECOND_BYTES:
        return None
    command, family, length = data[12], data[13] >> 4, int.from_bytes(data[14:16])
    if len(data) < _SECOND_BYTES + length:
        return None
    end, addresses = _SECOND_BYTES + length, data[_SECOND_BYTES:]
    if command >> 4 != 2 or command & 0x0F > 1:
        raise BadProxyHeader("This version of the PROXY protocol is not known.")
    if command & 0x0F and family == _IPV4 and length >= 12:
        return str(IPv4Address(addresses[:4])), end
    if command & 0x0F and family == _IPV6 and length >= 36:
        return canonical(str(IPv6Address(addresses[:16]))), end
    return None, end
