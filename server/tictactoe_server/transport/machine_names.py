"""The names that this machine has in the DNS of its network, as a router at home gives them (``nas.fritz.box``).

A name is looked up because one of our addresses has it, never because a request said it: so no stranger makes us look
anything up, and a name of the internet that somebody has bound to our address (DNS rebinding) is not among them.
"""

from __future__ import annotations

import contextlib
import ipaddress
import socket
import threading
from collections.abc import Callable, Collection
from typing import Final

from tictactoe_server.transport.listen import addresses_at

INTERVAL_SECONDS: Final = 300.0
"""How often the names are looked up: a machine may start before its network, or go to another one."""


class SystemLookup:
    """Asks the operating system, which may take seconds to answer; what is not found is nothing."""

    def names_of(self, place: str) -> Collection[str]:
        """Return the names of an address, or the whole names of a short one."""
        with contextlib.suppress(OSError, UnicodeError):
            name, others, _ = socket.gethostbyaddr(place)
            return name, *others
        return ()

    def addresses_of(self, name: str) -> Collection[str]:
        with contextlib.suppress(OSError, UnicodeError):
            return {str(address[0]) for *_, address in socket.getaddrinfo(name, None, type=socket.SOCK_STREAM)}
        return ()


class MachineNames:
    """Tells `learn` the names of what listens on `host` (None: all addresses) again and again.

    That is done in a thread: nobody waits for a slow resolver.
    """

    def __init__(
        self, host: str | None, learn: Callable[[frozenset[str]], None], lookup: SystemLookup | None = None
    ) -> None:
        self._host = host
        self._learn = learn
        self._lookup = lookup or SystemLookup()
        self._is_over = threading.Event()

    def start(self) -> None:
        threading.Thread(target=self._keep, name="machine names", daemon=True).start()

    def stop(self) -> None:
        """Look up nothing more; what is being looked up is not waited for."""
        self._is_over.set()

    def _keep(self) -> None:
        while not self._is_over.is_set():
            names = find_machine_names(addresses_at(self._host), socket.gethostname(), self._lookup)
            if not self._is_over.is_set():
                self._learn(names)
            self._is_over.wait(INTERVAL_SECONDS)


def find_machine_names(addresses: Collection[str], hostname: str, lookup: SystemLookup) -> frozenset[str]:
    """Return the names of these addresses and of this host that lead back to one of them, or to the loopback."""
    found = {name.rstrip(".").lower() for place in (*addresses, hostname) for name in lookup.names_of(place)}
    return frozenset(
        name
        for name in found
        if any(each in addresses or ipaddress.ip_address(each).is_loopback for each in lookup.addresses_of(name))
    )
