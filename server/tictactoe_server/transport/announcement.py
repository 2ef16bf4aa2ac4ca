"""Tells the local network that there is a server: multicast DNS, where anybody looks for one without an address."""

from __future__ import annotations

import asyncio
import contextlib
import re
import socket
from typing import Final

import structlog

from tictactoe_protocol import PROTOCOL_VERSION, SERVICE_TYPE, clean_text
from tictactoe_server.transport.listen import addresses_at

_MAX_NAME_BYTES: Final = 63
"""Of a name within DNS (RFC 6763, 4.1.1); what tells it from others of this name needs four of them."""

log: Final = structlog.get_logger(__name__)


async def announce(host: str | None, port: int, *, name: str | None = None, tls_name: str | None = None) -> None:
    """Announce a server until cancelled, and then take it back, so that nobody is sent here any more.

    `host` is the address that is listened on, None for all; `tls_name` the name that a certificate is for. A server
    that this machine alone can reach is not announced; where there is no multicast none is, and that is logged.
    """
    addresses = addresses_at(host)
    if not addresses:
        return
    from zeroconf import Error
    from zeroconf.asyncio import AsyncServiceInfo, AsyncZeroconf

    machine = re.sub(r"[^a-z0-9]+", "-", socket.gethostname().lower()).strip("-")[:40] or "server"
    try:
        zeroconf = AsyncZeroconf()
        try:
            await zeroconf.zeroconf.async_wait_for_start()
            info = AsyncServiceInfo(
                SERVICE_TYPE,
                f"{fit_name(name or socket.gethostname())}.{SERVICE_TYPE}",
                port=port,
                parsed_addresses=addresses,
                properties={"v": str(PROTOCOL_VERSION)} | ({} if tls_name is None else {"tls": tls_name}),
                server=f"tictactoe-{machine}-{port}.local.",
            )
            await (await zeroconf.async_register_service(info, allow_name_change=True))
            log.info("announced on the local network", name=info.get_name())
            await asyncio.Event().wait()
        finally:
            closing = asyncio.ensure_future(zeroconf.async_close())  # which takes back what was announced
            while not closing.done():  # what is cancelled while it closes would leave its sockets open
                with contextlib.suppress(asyncio.CancelledError, OSError):
                    await asyncio.shield(closing)
            zeroconf.zeroconf.engine.close()  # and so where the loop that ends has cancelled that too
    except (OSError, Error) as error:
        log.info("not announced on the local network", reason=str(error) or type(error).__name__)


def fit_name(name: str) -> str:
    """Return a name as DNS takes it, without what could not be shown, and room for a number after it.

    >>> fit_name("  Class 4b\\x1b[31m. "), len(fit_name("ä" * 99).encode())
    ('Class 4b[31m.', 58)
    """
    cut = clean_text(name).strip().encode()[: _MAX_NAME_BYTES - 4]
    return cut.decode(errors="ignore").strip() or "tictactoe"
