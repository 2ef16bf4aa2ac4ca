"""The PROXY protocol, by which a proxy says for whom it speaks before anything else.

Source: haproxy's "The PROXY protocol, versions 1 & 2", sections 2.1 and 2.2.
"""

from __future__ import annotations

from ipaddress import ip_address
from typing import Final

from tictactoe_server.transport.admission import canonical
from tictactoe_server.transport.http_messages import BadRequest

_FIRST: Final = b"PROXY "
_SECOND: Final = b"\r\n\r\n\x00\r\nQUIT\n"
_MAX_FIRST_BYTES: Final = 107
_SECOND_BYTES: Final = 16
_SIZES: Final = {1: (4, 12), 2: (16, 36)}
"""How many bytes an address has in version 2, and addresses and ports together, by the family: IPv4 and IPv6."""


def is_header(data: bytes) -> bool:
    """Tell whether the first bytes of a connection begin such a header."""
    return data.startswith((_FIRST, _SECOND))


def read_header(data: bytes) -> tuple[str | None, int] | None:
    """Return for whom is spoken, None for the proxy itself, and where the header ends, 0 where there is none.

    None while it is incomplete; raises `BadRequest`.
    """
    if data.startswith(_SECOND):
        return _read_second(data)
    if not data.startswith(_FIRST):
        return None if _FIRST.startswith(data) or _SECOND.startswith(data) else (None, 0)
    line, end, _ = data[:_MAX_FIRST_BYTES].partition(b"\r\n")
    if not end and len(data) < _MAX_FIRST_BYTES:
        return None
    words = line.decode("latin-1").split(" ")
    if end and words[1:2] == ["UNKNOWN"]:
        return None, len(line) + 2
    address = canonical(words[2]) if len(words) == 6 and words[1] in ("TCP4", "TCP6") else None
    if not end or address is None:
        fault = "names no address" if end else "does not end"
        raise BadRequest(f"The line of the PROXY protocol {fault}.")
    return address, len(line) + 2


def _read_second(data: bytes) -> tuple[str | None, int] | None:
    length = int.from_bytes(data[14:_SECOND_BYTES])
    end = _SECOND_BYTES + length
    if len(data) < end:
        return None
    version, command = divmod(data[12], 16)
    if version != 2 or command > 1:
        raise BadRequest("This version of the PROXY protocol is not known.")
    size, least = _SIZES.get(data[13] >> 4, (0, 0))
    if command == 0 or not size or length < least:
        return None, end
    return canonical(str(ip_address(data[_SECOND_BYTES : _SECOND_BYTES + size]))), end
