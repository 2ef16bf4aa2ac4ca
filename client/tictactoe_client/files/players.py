"""Stores the players of earlier runs of the client: their tokens, servers, and the rooms where they have seats.

With a stored token, a later run is the same player. While a run plays with a token, other runs may use it only for
reading, so that two runs that play at once are different players. Files are written outside of the event loop's thread.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import time
from collections.abc import Callable, Collection
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Final, Literal, ParamSpec, TypeVar

import msgspec

from tictactoe_client.files.writer import Busy, NotKept, change_file, state_folder
from tictactoe_client.online.address import Cluster
from tictactoe_client.online.client import Client
from tictactoe_client.online.messages import Work
from tictactoe_protocol import clean_text
from tictactoe_words.catalogue import say

_MOST_PLAYERS: Final = 100
_REFUSED_SECONDS: Final = 7 * 86_400.0  # for how long a refused token is kept and tried again
_NO_PROCESS: Final = 2**31 - 1

GUEST: Final = "guest-"
"""The beginning of the names that servers give to players without a name."""
Role = Literal["player", "reader", "nobody"]
"""Which player a run is: one that no other run uses, the first of `KnownPlayers.on` even if another run uses it, or a
guest that is not stored."""
Given = ParamSpec("Given")
Written = TypeVar("Written")


@dataclass(frozen=True, slots=True)
class KnownPlayer:
    """A player at the address of a server.

    Attributes:
        token: The secret that identifies the player.
        pid: The process that last played as this player.
        rooms: The rooms where the player has a seat, the newest last.
        others: Other addresses of the cluster where the token is valid.
        cluster: The id of the cluster, or "" for a single server.
        refused_at: When a server first refused the token, or 0.
        claimed: Whether the player has claimed the name.
    """

    server: str
    name: str
    token: str = field(repr=False)
    pid: int = field(default_factory=os.getpid)
    used_at: float = field(default_factory=time.time)
    rooms: tuple[str, ...] = ()
    others: tuple[str, ...] = ()
    cluster: str = ""
    refused_at: float = 0.0
    claimed: bool = False

    @property
    def key(self) -> tuple[str, str]:
        return (self.server, self.token)

    def is_known_at(self, servers: Servers) -> bool:
        return self.server in servers or not set(self.others).isdisjoint(servers)

    @property
    def is_free(self) -> bool:
        """Whether no other running process plays as this player."""
        try:
            os.kill(self.pid, 0)
        except ProcessLookupError:
            return True
        except (OSError, OverflowError):
            return False
        return self.pid == os.getpid()


@dataclass
class _File:
    players: list[KnownPlayer]
    version: Literal[3]  # the client's version 1 wrote 2


class UnknownFile(NotKept):
    """The file is damaged or of another version, and stays unchanged, since its tokens may still be needed."""


Servers = tuple[str, ...]
"""The URLs of a server or cluster, at least one."""
Players = dict[tuple[str, str], KnownPlayer]
"""The players by key, the latest last."""
Change = Callable[[Players], object]


class KnownPlayers:
    """The file `players.json` in the state folder.

    A file that is damaged or of another version is never overwritten, and counts as empty.

    Attributes:
        problem: Why the latest change could not be written, or None if it was.
    """

    def __init__(self, path: Path | None = None) -> None:
        self.path = path or state_folder() / "players.json"
        self.problem: str | None = None

    def on(self, servers: Servers) -> list[KnownPlayer]:
        """Return the players at these addresses without duplicates, the best choice first.

        Players stored for one of these addresses come before players stored for another server of the cluster; among
        these, players that a server has refused come first, then players with a claimed name, then the latest.
        """
        newest: dict[str, KnownPlayer] = {}
        for player in sorted(self._read().values(), key=_rank(servers), reverse=True):
            if player.is_known_at(servers):
                known = newest.setdefault(player.token, player)
                newest[player.token] = replace(known, rooms=_join(player.rooms, known.rooms))
        return list(newest.values())

    def find(
        self, servers: Servers, name: str | None = None, *, cluster: str = "", but: Collection[str] = ()
    ) -> KnownPlayer | None:
        """Return the first matching player of `on`, or None; `name` and `cluster` must match if given.

        Args:
            but: Tokens of players to ignore.
        """
        known = (player for player in self.on(servers) if cluster in ("", player.cluster) and player.token not in but)
        return next((player for player in known if name in (None, player.name)), None)

    def find_name(self) -> str | None:
        """Return the latest name that a person chose on any server, or None."""
        chosen = [player for player in self._read().values() if not player.name.startswith(GUEST)]
        return max(chosen, key=lambda player: player.used_at).name if chosen else None

    def take(
        self,
        servers: Servers,
        name: str | None = None,
        room: str | None = None,
        *,
        resumes: bool = False,
        only_seated: bool = False,
        cluster: str = "",
        but: Collection[str] = (),
    ) -> KnownPlayer | None:
        """Claim a player that no other running process uses, and return it; return None if there is none.

        A player with a seat in `room` is preferred, or if `resumes`, a player with any seat; the latest one if there
        are several. Otherwise, unless `only_seated`, a player of this name is taken: preferably one that a server has
        refused, then one with a claimed name, then the latest.

        Args:
            cluster: The id of the cluster that the player must belong to, or "" for any.
            but: Tokens of players to ignore.
        """
        chosen: list[KnownPlayer] = []

        def take(players: Players) -> None:
            candidates = [player for player in players.values() if player.is_known_at(servers)]
            local = [player for player in candidates if cluster in ("", player.cluster)]
            free = [player for player in local if player.is_free and player.token not in but]
            seated = [player for player in free if room in player.rooms or (resumes and player.rooms)]
            matching = seated or [player for player in free if name in (None, player.name) and not only_seated]
            if matching:
                token, now = max(matching, key=_rank(servers, prefers_claimed=not seated)).token, time.time()
                chosen.extend(replace(row, pid=os.getpid(), used_at=now) for row in local if row.token == token)
            _put(players, *chosen)

        self.change(take)
        return chosen[0] if chosen else None

    def keep(self, *kept: KnownPlayer) -> None:
        self.change(lambda players: _put(players, *kept))

    def refuse(self, server: str, token: str) -> None:
        """Mark a player as refused by the server; the token is kept for a week, in case the server is wrong."""

        def note(players: Players) -> None:
            for row in [row for row in players.values() if row.token == token and row.is_known_at((server,))]:
                players[row.key] = replace(row, refused_at=row.refused_at or time.time())

        self.change(note)

    def forget_refused(self, servers: Servers) -> None:
        """Remove the refused players of these addresses; called when the user plays there as a different player."""

        def strike(players: Players) -> None:
            for row in [row for row in players.values() if row.refused_at and row.is_known_at(servers)]:
                del players[row.key]

        self.change(strike)

    def forget(self, server: str, token: str) -> None:
        def strike(players: Players) -> None:
            players.pop((server, token), None)
            for row in [row for row in players.values() if row.token == token and server in row.others]:
                players[row.key] = replace(row, others=tuple(url for url in row.others if url != server))

        self.change(strike)

    def forget_rooms(self, servers: Servers, token: str, is_gone: Callable[[str], bool]) -> None:
        """Remove rooms from a player if `is_gone` returns True for them."""

        def leave(players: Players) -> None:
            for row in [row for row in players.values() if row.token == token and row.is_known_at(servers)]:
                players[row.key] = replace(row, rooms=tuple(room for room in row.rooms if not is_gone(room)))

        self.change(leave)

    def release(self) -> None:
        """Make the players that this process claimed available to other runs."""

        def release(players: Players) -> None:
            for player in players.values():
                if player.pid == os.getpid():
                    players[player.key] = replace(player, pid=_NO_PROCESS)

        if any(player.pid == os.getpid() for player in self._read().values()):
            self.change(release)

    def change(self, change: Change) -> None:
        """Apply a change to the file; after a failure, apply it only to a copy, and do not wait for the lock again."""
        try:
            change_file(self.path, partial(self._rewrite, change), seconds=0.0 if self.problem else None)
            self.problem = None
        except (Busy, UnknownFile) as error:
            self.problem = error.message
            change(self._read())
        except NotKept:
            pass

    def _read(self) -> Players:
        with contextlib.suppress(OSError, ValueError):
            return _parse(self.path.read_bytes())
        return {}

    def _rewrite(self, change: Change, content: bytes) -> bytes:
        try:
            before, players = _parse(content), _parse(content)
        except ValueError:
            raise UnknownFile(say("file unknown", file=self.path)) from None
        change(players)
        if players == before:
            return content
        return msgspec.json.format(msgspec.json.encode(_File([*players.values()][-_MOST_PLAYERS:], 3)), indent=1)


def _parse(content: bytes) -> Players:
    """Return the players in a file; raises `ValueError` if the file is damaged or of another version."""
    players: Players = {}
    if content.strip():
        oldest = time.time() - _REFUSED_SECONDS
        rows = msgspec.json.decode(content, type=_File).players
        _put(players, *(row for row in rows if not row.refused_at or row.refused_at > oldest))
    return players


def _put(players: Players, *rows: KnownPlayer) -> None:
    """Insert players, or move them to the end; their rooms are added to the stored ones.

    If another process is playing as a player, it stays the player's process.
    """
    for row in rows:
        before = players.pop(row.key, row)
        pid = row.pid if before.is_free else before.pid
        players[row.key] = replace(row, pid=pid, rooms=_join(before.rooms, row.rooms))


def _join(before: tuple[str, ...], rooms: tuple[str, ...]) -> tuple[str, ...]:
    return (*(room for room in before if room not in rooms), *rooms)


def _rank(servers: Servers, *, prefers_claimed: bool = True) -> Callable[[KnownPlayer], tuple[bool, bool, bool, float]]:
    """Return a sort key: greatest for players of these addresses, then refused ones, claimed names, the latest."""
    return lambda player: (
        player.server in servers,
        player.refused_at > 0,
        prefers_claimed and player.claimed,
        player.used_at,
    )


class Identity:
    """Which player this run is on servers; changes of the file are written in the background.

    Attributes:
        name: The player's name, or None for any player.
        new_name: The name to give the player, or None to keep the name.
        rooms: The rooms where this run has a seat.
        seat_in: The room whose player is preferred, or None.
        resumes: Whether a player with any seat is preferred.
        codes: A single-use `link` or `rescue` code that identifies the player, by kind.
    """

    def __init__(
        self,
        name: str | None,
        role: Role = "player",
        seat_in: str | None = None,
        *,
        resumes: bool = False,
        codes: dict[str, str] | None = None,
        new_name: str | None = None,
        tell: Callable[[str], object] = lambda line: None,
    ) -> None:
        self.codes, self.new_name = codes or {}, new_name
        self.name, self.role, self.seat_in, self.resumes = name, role, seat_in, resumes
        self.players = KnownPlayers()
        self.rooms: set[str] = set()
        self._tell = tell
        self._tokens: dict[str, str] = {}
        self._refused: set[str] = set()
        self._writing = asyncio.Lock()
        self._work = Work()
        self._has_warned = False

    async def find_token(self, cluster: Cluster) -> str | None:
        """Return the token for hello at these servers, or None to become a new player."""
        here, known = self._tokens.get(cluster.given.first.url), None
        if self.seat_in or self.resumes or here is None or self.role == "reader":
            known = await self._find_player(cluster.given.urls)
        return known.token if known is not None else here

    async def find_in_cluster(self, client: Client) -> tuple[Cluster, str] | None:
        """Return a server of this cluster that knows the player, and the token; return None if there is none.

        The token is sent only to an address where it is known, because any server can claim to belong to a cluster.
        """
        cluster, named = client.welcome.cluster or "", client.cluster.named
        known = await self._find_player(tuple(address.url for address in named), cluster) if cluster else None
        if known is None:
            return None
        return Cluster((next(address for address in named if known.is_known_at((address.url,))),)), known.token

    async def _find_player(self, urls: tuple[str, ...], cluster: str = "") -> KnownPlayer | None:
        is_nobody = self.role == "nobody"
        if self.role == "reader":
            return self.players.find(urls, self.name, cluster=cluster, but=self._refused)
        if is_nobody and not (self.seat_in or self.resumes):
            return None
        take = partial(
            self.players.take, only_seated=is_nobody, resumes=self.resumes, cluster=cluster, but=self._refused
        )
        return await self.write(take, urls, self.name, self.seat_in)

    async def refuse_token(self, server: str, token: str, cluster: Cluster) -> str | None:
        """Mark a token as refused; return another token for hello, or None to become a new player."""
        self._refused.add(token)
        self._tokens = {url: other for url, other in self._tokens.items() if other != token}
        known = next((player for player in self.players.on((server,)) if player.token == token), None)
        if known is not None:
            await self.write(self.players.refuse, server, token)
            self._tell(say("token refused", name=clean_text(known.name)))
        return await self.find_token(cluster)

    async def forget_token(self, server: str, token: str) -> None:
        await self.write(self.players.forget, server, token)
        self._tokens.pop(server, None)

    def settle_in(self, client: Client, *, is_own: bool) -> None:
        """Store the player that the server welcomed, and remove seats that are lost; skip the client's own server."""
        urls = client.cluster.given.urls
        self._tokens.update(dict.fromkeys(urls, client.token))
        self.seat_in, self.resumes = None, False
        if self.role != "player" or is_own:
            return
        self.write_down(client)
        held = {seat.room for seat in client.welcome.rooms} | self.rooms
        self._work.start(self.write(self.players.forget_rooms, urls, client.token, lambda room: room not in held))
        busy = [player for player in self.players.on(urls) if player.token != client.token and not player.is_free]
        is_anyone = self.name is None and self.new_name is None
        namesakes = [
            player for player in busy if (is_anyone and player.claimed) or player.name == self._known_as(client)
        ]
        if namesakes and not self._has_warned:
            self._has_warned = True
            self._tell(say("another program plays", name=clean_text(namesakes[0].name), own=clean_text(client.name)))

    def _known_as(self, client: Client) -> str:
        """Return the name that later runs will look for: our own name, even if the server assigns another."""
        own = self.new_name or self.name
        return own if own and client.welcome.names == "given" else client.name

    def write_down(self, client: Client, *rooms: str) -> None:
        """Store the client's player, with seats in these rooms added."""
        others = tuple(address.url for address in client.cluster.named)
        row = KnownPlayer("", self._known_as(client), client.token, rooms=rooms, others=others)
        row = replace(row, claimed=client.welcome.claimed is True)
        rows = [replace(row, server=url, cluster=client.welcome.cluster or "") for url in client.cluster.given.urls]
        self._work.start(self.write(self.players.keep, *rows))

    def forget_room(self, client: Client, room: str) -> None:
        if room in self.rooms:
            self.rooms.discard(room)
            self._work.start(
                self.write(self.players.forget_rooms, client.cluster.given.urls, client.token, room.__eq__)
            )

    async def write(self, change: Callable[Given, Written], *arguments: Given.args, **options: Given.kwargs) -> Written:
        """Change the file in a thread, one change at a time, and return the result; report a failure once."""
        async with self._writing:
            was_kept = self.players.problem is None
            result = await asyncio.to_thread(change, *arguments, **options)
            if was_kept and self.players.problem is not None:
                self._tell(say("not written down", why=self.players.problem))
        return result

    async def finish(self) -> None:
        await self._work.finish()

    async def release(self) -> None:
        await self._work.finish()
        await self.write(self.players.release)
