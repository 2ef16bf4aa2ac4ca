"""Fake network interfaces, as the operating system reports them."""

import errno
import socket

from ifaddr import IP


class Adapter:
    """An interface with these addresses."""

    def __init__(self, *addresses: str | tuple[str, int, int]) -> None:
        self.ips = [IP(address, 24, "eth0") for address in addresses]


def no_way_out(*_: object) -> socket.socket:
    """Replace the creation of a socket on a machine without a default route."""
    raise OSError(errno.ENETUNREACH, "Network is unreachable")
