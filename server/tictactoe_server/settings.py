"""Everything an operator can choose, and the limits that a server keeps to, each in one value with its defaults."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from ipaddress import IPv4Network, IPv6Network
from pathlib import Path
from typing import Final, Literal

from tictactoe_protocol import DEFAULT_PORT

LogFormat = Literal["text", "json"]


@dataclass(frozen=True, slots=True)
class Settings:
    """How one server runs.

    `host` is None for all addresses, IPv4 and IPv6; port 0 picks a free one. `data` is the folder that keeps rooms and
    games, None to keep nothing.
    A seat is held for `hold_seconds` for a player whose connection dropped; then the others may claim the game.
    Bots wait `bot_pause_seconds` before they move, think for at most `bot_deadline_seconds`, and share `bot_workers`
    processes (None: one less than the cores, at least one). Web pages of these `origins` may connect, and peers in
    the networks of `trusted_proxies` are believed whom they speak for.
    With `tls_cert` and `tls_key`, two files in PEM, the server speaks TLS and nothing else; None is without.
    With `announces` it is to be found on the local network, under the name `announce_as`, None for the machine's.
    `metrics` is the host and port on which figures are shown, None for none. Finished games are kept for
    `keep_history_days`, for good where that is None.
    `store` names the NATS servers that keep everything for several of ours, as in ``nats://a,b,c``, None for none, and
    `data` then keeps a copy of the finished games alone; `advertise` is the URL at which players reach this one of
    them, None for where it listens. `store_credentials` and `store_ca` are files, and with
    `store_unsafe` a store is taken that may lose what it has acknowledged. With `page` the server answers browsers,
    and others who ask in plain HTTP.
    """

    host: str | None = None
    port: int = DEFAULT_PORT
    log_format: LogFormat = "text"
    log_level: str = "info"
    hold_seconds: float = 60.0
    bot_pause_seconds: float = 0.6
    bot_deadline_seconds: float = 1.0
    bot_workers: int | None = None
    data: Path | None = None
    origins: tuple[str, ...] = ()
    trusted_proxies: tuple[IPv4Network | IPv6Network, ...] = ()
    tls_cert: Path | None = None
    tls_key: Path | None = None
    metrics: tuple[str, int] | None = None
    announces: bool = True
    announce_as: str | None = None
    keep_history_days: float | None = None
    store: str | None = None
    store_credentials: Path | None = None
    store_ca: Path | None = None
    store_unsafe: bool = False
    page: bool = True
    advertise: str | None = None


@dataclass(frozen=True, slots=True)
class Limits:
    """How long and how much a server puts up with. The defaults are for play; tests choose what they need not wait for.

    hello_seconds: how long a connection may stay without saying hello; a fifth of that later it is gone in any case.
    ping_seconds: how often each peer is asked whether it is there; who says nothing for three such times is gone.
    close_seconds: how long a peer may take to answer that the connection is closed.
    outbox_bytes: what may wait for a peer that does not read; past it only the newest state of each room is kept,
        and as much again of everything else.
    catch_up_seconds: how long a peer may stay past that before it is cut off.
    deserted_seconds: how long a room that no player is connected to is kept while it waits or its game is over.
    deserted_game_seconds: the same while a game is on.
    unwatched_seconds: the same for a game of bots among themselves that nobody watches.
    start_seconds: within how long a first move is due in a game with a clock, or within the time for a move if longer.
    flood_seconds: how long a connection may want to say more than it may before it is closed.
    certificate_seconds: how often it is looked whether the files of the certificate have changed.
    The others are `COUNTS`; 0 is no limit.
    """

    hello_seconds: float = 5.0
    ping_seconds: float = 4.8
    close_seconds: float = 2.0
    outbox_bytes: int = 256 * 1024
    catch_up_seconds: float = 5.0
    deserted_seconds: float = 600.0
    deserted_game_seconds: float = 3600.0
    unwatched_seconds: float = 60.0
    start_seconds: float = 30.0
    flood_seconds: float = 10.0
    certificate_seconds: float = 60.0
    messages_per_second: int = 100
    messages_at_once: int = 300
    messages_per_second_per_address: int = 1_000
    messages_at_once_per_address: int = 3_000
    connections: int = 20_000
    connections_per_address: int = 1_000
    connections_per_minute_per_address: int = 3_000
    connections_at_once_per_address: int = 1_000
    rooms: int = 20_000
    rooms_per_player: int = 20
    rooms_per_address: int = 400
    bot_games_per_player: int = 5
    creates_per_minute_per_player: int = 20
    creates_per_minute_per_address: int = 200
    misses_per_minute_per_player: int = 10
    misses_per_minute_per_address: int = 100
    misses_at_once_per_address: int = 300
    requests_per_minute_per_address: int = 20_000
    new_players_per_minute_per_address: int = 120
    new_players_at_once_per_address: int = 400
    seats_per_player: int = 20
    seats_per_address: int = 1_000
    kept_megabytes_per_hour_per_player: int = 10
    kept_megabytes_per_hour_per_address: int = 100
    watchers_per_room: int = 500
    offers_per_ten_seconds_per_player: int = 5
    turn_milliseconds: int = 80


COUNTS: Final[Mapping[str, str]] = {
    "messages-per-second": "messages that a player, or a connection before its hello, may send",
    "messages-at-once": "messages that may come at once, before that rate counts",
    "messages-per-second-per-address": "messages that may come from one address",
    "messages-at-once-per-address": "messages that may come at once from one address, before that rate counts",
    "connections": "connections; never more than the system's descriptors allow",
    "connections-per-address": "connections from one address",
    "connections-per-minute-per-address": "new connections from one address in a minute, but those of plain HTTP",
    "connections-at-once-per-address": "how many of these may come at once, before that rate counts",
    "rooms": "rooms",
    "rooms-per-player": "rooms that one player has opened",
    "rooms-per-address": "rooms that were opened from one address",
    "bot-games-per-player": "running games with bots that one player has opened",
    "creates-per-minute-per-player": "rooms that a player may open in a minute",
    "creates-per-minute-per-address": "rooms that may be opened from one address in a minute",
    "misses-per-minute-per-player": "requests of a player for rooms that are not there or not theirs, in a minute",
    "misses-per-minute-per-address": "the same from one address",
    "misses-at-once-per-address": "how many of these may come at once from one address",
    "requests-per-minute-per-address": "requests of plain HTTP from one address, in a minute",
    "new-players-per-minute-per-address": "players that are made from one address in a minute",
    "new-players-at-once-per-address": "how many of these may come at once from one address",
    "seats-per-player": "seats of unfinished games with others that one player holds",
    "seats-per-address": "seats of such games that were taken from one address",
    "kept-megabytes-per-hour-per-player": "of finished games that are kept for good for one player, in an hour",
    "kept-megabytes-per-hour-per-address": "the same for all who play from one address",
    "watchers-per-room": "connections that watch one room",
    "offers-per-ten-seconds-per-player": "offers of a draw, requests for a move back or a game after an aborted one",
    "turn-milliseconds": "of the processor for requests in a turn of the event loop; the next are refused as busy",
}
"""The limits that an operator may choose, and what each counts."""


def with_counts(limits: Limits, counts: Mapping[str, int]) -> Limits:
    """Return the limits with some of `COUNTS` in place of what they say."""
    return replace(limits, **{name.replace("-", "_"): count for name, count in counts.items()})


def count_of(limits: Limits, name: str) -> int:
    """Return one of `COUNTS`."""
    return int(getattr(limits, name.replace("-", "_")))
