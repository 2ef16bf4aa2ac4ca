"""What a service manager is told of a server: that it is ready, alive, and about to stop.

It is systemd's own small protocol (sd_notify(3)): lines in datagrams to the socket that `NOTIFY_SOCKET` names. Where
nobody supervises, nothing is said.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import socket
from collections.abc import Mapping


class Supervisor:
    """Whoever started this process and wants to know how it is; `environment` says whether there is one."""

    def __init__(self, environment: Mapping[str, str] = os.environ) -> None:
        place = environment.get("NOTIFY_SOCKET", "")
        self._place = f"\0{place[1:]}" if place.startswith("@") else place
        patience = environment.get("WATCHDOG_USEC", "")
        is_ours = environment.get("WATCHDOG_PID", str(os.getpid())) == str(os.getpid())
        self._patience_seconds = int(patience) / 1e6 if patience.isdecimal() and is_ours else None

    def tell(self, *lines: str) -> None:
        """Say something, such as ``READY=1``; one who does not listen is not waited for."""
        if not self._place:
            return
        with contextlib.suppress(OSError), socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as sender:
            sender.setblocking(False)
            sender.sendto("\n".join(lines).encode(), self._place)

    async def keep_alive(self) -> None:
        """Say so at half the time after which a silent server counts as hung; never, where there is none."""
        while self._patience_seconds:
            self.tell("WATCHDOG=1")
            await asyncio.sleep(self._patience_seconds / 2)
