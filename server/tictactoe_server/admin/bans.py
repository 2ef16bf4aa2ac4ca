"""Who is not let in: players by their ids, addresses by the networks they are in, each with a reason and an end.

All of them are in memory, so that looking costs nothing, and in the store, so that they outlive the server.
"""

from __future__ import annotations

import ipaddress
import re
import time
from collections import Counter
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from typing import Final

import structlog

from tictactoe_server.core.kept import Ban, ban_or_none
from tictactoe_server.storage.store import Table, delete, save

IPV6_PREFIX: Final = 64  # an IPv6 address stands for its whole /64, which one customer has
_PLAYER: Final = re.compile(r"p[0-9A-Za-z]{10}")

log: Final = structlog.get_logger(__name__)


class BadSubject(ValueError):
    """What can be neither a player nor an address; the message is a sentence for the operator."""


class Bans:
    """The bans that count now. `now_ms` returns ms since 1970."""

    def __init__(self, kept: Table[Ban], now_ms: Callable[[], int] = lambda: time.time_ns() // 1_000_000) -> None:
        self._kept = kept
        self._now_ms = now_ms
        self._bans: dict[str, Ban] = {}
        self._kinds: Counter[tuple[int, int]] = Counter()

    async def load(self) -> None:
        """Take in what is kept; raises `StoreUnavailable`."""
        async for some in self._kept.load_all():
            for stored in some:
                ban = ban_or_none(stored)
                if ban is not None:
                    self.hear(ban.subject, ban)

    def __iter__(self) -> Iterator[Ban]:
        """Iterate over those that count now, in the order in which they were made."""
        return iter([ban for ban in self._bans.values() if self._counts(ban)])

    def __len__(self) -> int:
        return sum(map(self._counts, self._bans.values()))

    def of_player(self, id: str) -> Ban | None:
        """Return the ban of a player, or None."""
        ban = self._bans.get(id)
        return ban if ban is not None and self._counts(ban) else None

    def of_address(self, address: str) -> Ban | None:
        """Return a ban of a network in which an address is, or None."""
        if not self._kinds:
            return None
        try:
            found = _plain(ipaddress.ip_address(address))
        except ValueError:
            return None
        prefixes = [prefix for version, prefix in self._kinds if version == found.version]
        bans = (self._bans.get(str(ipaddress.ip_network((found, prefix), strict=False))) for prefix in prefixes)
        return next((ban for ban in bans if ban is not None and self._counts(ban)), None)

    async def add(self, subject: str, reason: str, seconds: float | None) -> Ban:
        """Ban a subject as `parse_subject` returns it, for so long, None for good; raises `StoreUnavailable`."""
        now = self._now_ms()
        ban = Ban(subject, reason, now, None if seconds is None else now + round(seconds * 1000))
        await save(self._kept, subject, ban, None)
        self.hear(subject, ban)
        return ban

    async def lift(self, subject: str) -> Ban | None:
        """Take a ban back and return it, None where there is none; raises `StoreUnavailable`."""
        ban = self._bans.get(subject)
        await delete(self._kept, subject, None)
        self.hear(subject, None)
        return ban if ban is not None and self._counts(ban) else None

    def hear(self, subject: str, ban: Ban | None) -> None:
        """Take in what is kept now, by another server of the cluster, too; None for what is forgotten."""
        if self._bans.pop(subject, None) is not None:
            self._kinds -= _kind_of(subject)
        if ban is not None:
            self._bans[subject] = ban
            self._kinds += _kind_of(subject)

    async def forget_past(self) -> None:
        """Forget the bans that are over; raises `StoreUnavailable`."""
        for ban in list(self._bans.values()):
            if not self._counts(ban):
                await delete(self._kept, ban.subject, None)
                self.hear(ban.subject, None)
                log.info("ban over", subject=ban.subject)

    def _counts(self, ban: Ban) -> bool:
        return ban.until is None or ban.until > self._now_ms()


def _kind_of(subject: str) -> Counter[tuple[int, int]]:
    """Return one of the version and the prefix of a network, or nothing for a player."""
    network = network_of(subject)
    return Counter() if network is None else Counter([(network.version, network.prefixlen)])


def parse_subject(text: str) -> str:
    """Return a player's id as it is, an address or a network in its one spelling; raises `BadSubject`.

    >>> parse_subject("192.0.2.7"), parse_subject("192.0.2.7/24"), parse_subject("2001:db8:1:2::7")
    ('192.0.2.7/32', '192.0.2.0/24', '2001:db8:1:2::/64')
    """
    if _PLAYER.fullmatch(text):
        return text
    network = network_of(text)
    if network is None:
        raise BadSubject(f'"{text}" is neither the id of a player, nor an address or network.')
    if network.version == 6 and "/" not in text:
        network = network.supernet(new_prefix=IPV6_PREFIX)
    return str(network)


def network_of(text: str) -> ipaddress.IPv4Network | ipaddress.IPv6Network | None:
    """Return the network that a text names, an address alone being one, or None."""
    try:
        return ipaddress.ip_network(text if "/" in text else _plain(ipaddress.ip_address(text)), strict=False)
    except ValueError:
        return None


def describe_ban(ban: Ban) -> str:
    """Return what the one who is banned is told."""
    why = f": {ban.reason}" if ban.reason else ""
    if ban.until is None:
        return f"The operator of this server has banned you{why}."
    until = datetime.fromtimestamp(ban.until / 1000, UTC)
    return f"The operator of this server has banned you until {until:%Y-%m-%d %H:%M} UTC{why}."


def _plain(
    address: ipaddress.IPv4Address | ipaddress.IPv6Address,
) -> ipaddress.IPv4Address | ipaddress.IPv6Address:
    """Return the IPv4 address that an IPv6 socket shows as one of its own, else the address."""
    mapped = address.ipv4_mapped if isinstance(address, ipaddress.IPv6Address) else None
    return address if mapped is None else mapped
