"""Ports for servers that are stopped and started again."""

import contextlib
import random
import socket
from typing import Final

PORTS: Final = range(20_000, 32_000)
"""Below the ports that systems give to outgoing connections, so that a stopped server finds its port free again."""


def free_ports(count: int) -> list[int]:
    """Return free ports that no outgoing connection takes meanwhile."""
    with contextlib.ExitStack() as stack:
        found = list[int]()
        for port in random.sample(PORTS, len(PORTS)):
            with contextlib.suppress(OSError):
                stack.enter_context(socket.create_server(("127.0.0.1", port)))
                found.append(port)
            if len(found) == count:
                break
        return found
