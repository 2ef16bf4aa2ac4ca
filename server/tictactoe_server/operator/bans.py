"""Bans of players, by id, and of addresses, by network; and closing connections with a reason.

All bans are kept in memory, so that checks are cheap.
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final

import structlog

from tictactoe_protocol import BadMessage, CloseCode, ErrorCode
from tictactoe_protocol.codec import decode_request
from tictactoe_server import clock
from tictactoe_server.records.mirror import Mirror, Peers
from tictactoe_server.records.tables import BANS, Ban
from tictactoe_server.rooms.room import Refused
from tictactoe_server.scheduler import Listeners, Tasks
from tictactoe_server.storage.store import Table
from tictactoe_server.transport.admission import key_of, parse_address
from tictactoe_server.transport.connection import Connection, Receiver, encode_push
from tictactoe_words.catalogue import speaking

PLAYER_ID: Final = re.compile(r"p[0-9A-Za-z]{10}")

log: Final = structlog.get_logger(__name__)


class Bans:
    """The bans in the store, mirrored in memory; in a cluster, they apply on all servers.

    Attributes:
        on_ban: The listeners that are called with each ban when this server learns of it.
    """

    def __init__(
        self, table: Table[Ban], peers: Peers, tasks: Tasks, now_ms: Callable[[], int] = lambda: clock.wall_ms()
    ) -> None:
        self._now_ms = now_ms
        self._prefixes: set[tuple[int, int]] = set()  # IP versions and prefix lengths of all networks
        self._stored = Mirror(table, BANS.name, peers, tasks)
        self._stored.on_change.add(self._note)
        self.on_ban = Listeners[[Ban]]()
        self.load = self._stored.load
        self.run = self._stored.run

    def __iter__(self) -> Iterator[Ban]:
        """Iterate over the active bans, oldest first."""
        return iter(sorted(filter(self._counts, self._stored), key=lambda ban: ban.since))

    def __len__(self) -> int:
        return sum(map(self._counts, self._stored))

    def of_subject(self, subject: str) -> Ban | None:
        """Return the active ban of exactly this subject, a player's id or a network, or None."""
        ban = self._stored.get(subject)
        return ban if ban is not None and self._counts(ban) else None

    def refusal_of(self, address: str) -> Refused | None:
        """Return the refusal for an address if it is in a banned network, or None."""
        try:
            found = parse_address(address)
        except ValueError:
            return None
        prefixes = [prefix for version, prefix in self._prefixes if version == found.version]
        networks = (ipaddress.ip_network((found, prefix), strict=False) for prefix in prefixes)
        bans = filter(None, (self.of_subject(str(network)) for network in networks))
        return next(map(banned, bans), None)

    async def add(self, subject: str, reason: str, seconds: float | None) -> Ban:
        """Store a ban and return it. May raise `StoreUnavailable`.

        Args:
            subject: A player's id or a network, as `parse_subject` returns it.
            seconds: The duration; None for a permanent ban.
        """
        now = self._now_ms()
        ban = Ban(subject, reason, now, None if seconds is None else now + round(seconds * 1000))
        await self._stored.change(subject, lambda old: ban)
        return ban

    async def lift(self, subject: str) -> Ban | None:
        """Delete a ban; return it, or None if it was not active. May raise `StoreUnavailable`."""
        ban = self.of_subject(subject)
        await self._stored.change(subject, lambda old: None)
        return ban

    async def forget_past(self) -> None:
        """Delete expired bans. May raise `StoreUnavailable`."""
        for ban in [ban for ban in self._stored if not self._counts(ban)]:
            await self.lift(ban.subject)
            log.info("ban expired", subject=ban.subject)

    def _note(self, subject: str, before: Ban | None, after: Ban | None) -> None:
        if after is None:
            return
        if (network := network_of(subject)) is not None:
            self._prefixes.add((network.version, network.prefixlen))
        self.on_ban(after)

    def _counts(self, ban: Ban) -> bool:
        return ban.until is None or ban.until > self._now_ms()


def parse_subject(text: str) -> str | None:
    """Return the subject of a ban: a player's id, unchanged, or a network. Return None if the text is neither.

    >>> parse_subject("192.0.2.7"), parse_subject("192.0.2.7/24"), parse_subject("2001:db8:1:2::7")
    ('192.0.2.7/32', '192.0.2.0/24', '2001:db8:1:2::/64')
    """
    network = network_of(text)
    return text if PLAYER_ID.fullmatch(text) else None if network is None else str(network)


def network_of(text: str) -> ipaddress.IPv4Network | ipaddress.IPv6Network | None:
    """Parse an address or a network; return None if the text is neither. An IPv6 address means its /64."""
    try:
        return ipaddress.ip_network(text if "/" in text else key_of(str(parse_address(text))), strict=False)
    except ValueError:
        return None


def is_in(network: ipaddress.IPv4Network | ipaddress.IPv6Network, address: str) -> bool:
    """Return True if an address is in a network. The address need not be in canonical form."""
    try:
        return parse_address(address) in network
    except ValueError:
        return False


def banned(ban: Ban) -> Refused:
    """Return the refusal for a ban. Its data contains the end of the ban in UTC, if any, and the reason."""
    data: dict[str, Any] = {}
    if ban.until is not None:
        data["until"] = f"{datetime.fromtimestamp(ban.until / 1000, UTC):%Y-%m-%d %H:%M}"
    if ban.reason:
        data["reason"] = ban.reason
    return Refused(ErrorCode.BANNED, " ".join(data), **data)


def expel(connection: Connection, refused: Refused, language: str, *, id: str | None = None) -> None:
    """Send a refusal and close the connection with a code after which clients do not reconnect.

    Args:
        id: The id of the request that the refusal answers, or None.
    """
    with speaking(language):
        connection.push_frame(encode_push(refused.answer(id=id)))
    connection.close(CloseCode[refused.code.name], str(refused.code))


@dataclass(frozen=True, slots=True)
class Barred(Receiver):
    """Refuses a client from a banned address in reply to its first message; an earlier message might be ignored."""

    connection: Connection
    refusal: Refused

    def received(self, message: bytes) -> None:
        if not self.connection.is_open:
            return
        language = ""
        with suppress(BadMessage):
            language = getattr(decode_request(message), "language", "") or ""
        expel(self.connection, self.refusal, language)
