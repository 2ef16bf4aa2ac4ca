"""Tells the local network that there is a server: multicast DNS, where anybody looks for one without an address."""

from __future__ import annotations

import asyncio
import contextlib
import re
import socket
from typing import TYPE_CHECKING, Final

import structlog

from tictactoe_protocol import PROTOCOL_VERSION, SERVICE_TYPE, clean_text
from tictactoe_server.transport.listen import addresses_at

if TYPE_CHECKING:
    from zeroconf.asyncio import AsyncZeroconf

_MAX_NAME_BYTES: Final = 63
"""Of a name within DNS (RFC 6763, 4.1.1); what tells it from others of this name needs four of them."""
_GOODBYE_SECONDS: Final = 2.0

log: Final = structlog.get_logger(__name__)


class Announcement:
    """One server's, from `open` to `close`; where there is no multicast nothing is announced, and that is logged.

    `host` is the address that is listened on, None for all; `tls_name` the name that a certificate is for.
    """

    def __init__(self, host: str | None, port: int, *, name: str | None = None, tls_name: str | None = None) -> None:
        self._host = host
        self._port = port
        self._name = fit_name(name or socket.gethostname())
        self._properties = {"v": str(PROTOCOL_VERSION)} | ({} if tls_name is None else {"tls": tls_name})
        self._zeroconf: AsyncZeroconf | None = None
        self._work: asyncio.Task[None] | None = None

    def open(self) -> None:
        """Begin to announce, and wait for nothing; a server that this machine alone can reach is not announced."""
        addresses = addresses_at(self._host)
        if addresses:
            self._work = asyncio.create_task(self._announce(addresses))

    async def close(self) -> None:
        """Take back what was announced, so that nobody is sent here any more."""
        if self._work is None:
            return
        self._work.cancel()
        await asyncio.gather(self._work, return_exceptions=True)
        if self._zeroconf is not None:
            with contextlib.suppress(OSError, TimeoutError):
                async with asyncio.timeout(_GOODBYE_SECONDS):
                    await self._zeroconf.async_unregister_all_services()
                    await self._zeroconf.async_close()

    async def _announce(self, addresses: list[str]) -> None:
        from zeroconf import Error
        from zeroconf.asyncio import AsyncServiceInfo, AsyncZeroconf

        machine = re.sub(r"[^a-z0-9]+", "-", socket.gethostname().lower()).strip("-")[:40] or "server"
        try:
            self._zeroconf = AsyncZeroconf()
            info = AsyncServiceInfo(
                SERVICE_TYPE,
                f"{self._name}.{SERVICE_TYPE}",
                port=self._port,
                parsed_addresses=addresses,
                properties=self._properties,
                server=f"tictactoe-{machine}-{self._port}.local.",
            )
            await (await self._zeroconf.async_register_service(info, allow_name_change=True))
        except (OSError, Error) as error:
            log.info("not announced on the local network", reason=str(error) or type(error).__name__)
        else:
            log.info("announced on the local network", name=info.get_name())


def fit_name(name: str) -> str:
    """Return a name as DNS takes it, without what could not be shown, and room for a number after it.

    >>> fit_name("  Class 4b\\x1b[31m. "), len(fit_name("ä" * 99).encode())
    ('Class 4b[31m.', 58)
    """
    cut = clean_text(name).strip().encode()[: _MAX_NAME_BYTES - 4]
    return cut.decode(errors="ignore").strip() or "tictactoe"
