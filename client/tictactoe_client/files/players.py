"""Who we were on a server before, and the rooms in which we held a seat when an earlier run ended.

The tokens make a later run the same player, with the same finished games. Two programs of one person at once are two
players, or one of them would take the other's seats away: a token belongs to the process that plays with it, and the
next one takes it up when that has ended. Whoever only reads may use it at any time. Tokens are secrets: the file is for
its owner alone, and none of them appears in a log or on a screen.
"""

from __future__ import annotations

import contextlib
import os
import threading
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final, TypeVar

import msgspec

from tictactoe_client.files.writer import Busy, NotKept, change_file, state_folder

_MOST_PLAYERS: Final = 100
_GUEST: Final = "guest-"
"""How the names begin that servers give to those who choose none."""


@dataclass(frozen=True, slots=True)
class KnownPlayer:
    """Who we were: where, under which name, which process played last, and in which rooms, the newest last.

    A server with several addresses has a row for each. `used_at` is in seconds since 1970.
    """

    server: str
    name: str
    token: str = field(repr=False)
    pid: int = field(default_factory=os.getpid)
    used_at: float = field(default_factory=time.time)
    rooms: tuple[str, ...] = ()

    @property
    def key(self) -> tuple[str, str]:
        """What no two rows share: server and token."""
        return (self.server, self.token)

    @property
    def is_free(self) -> bool:
        """Whether no living process but this one plays as them."""
        return self.pid == os.getpid() or not is_alive(self.pid)


@dataclass
class _File:
    players: list[KnownPlayer]
    version: int = 2


@dataclass
class _Seat:
    server: str
    room: str
    name: str
    token: str
    pid: int
    saved_at: float


@dataclass
class _SeatsOf1:
    """What version 1 kept in a file of its own."""

    seats: list[_Seat]


Servers = tuple[str, ...]
"""The addresses of one server, at least one."""
Players = list[KnownPlayer]
Change = Callable[[Players], Players]
Content = TypeVar("Content")


class KnownPlayers:
    """The file, `players.json` in the folder for state; one that cannot be read counts as empty.

    A change waits for other programs, at most for a moment; `problem` then says why it is not in the file. It counts
    for this run, and is written with the next one.
    """

    def __init__(self, path: Path | None = None) -> None:
        self.path = path or state_folder() / "players.json"
        self.problem: str | None = None
        self._old_path = self.path.with_name("seats.json")
        self._waiting: list[Change] = []
        self._turn = threading.Lock()

    def on(self, servers: Servers) -> Players:
        """Return the players at these addresses of one server, each once, whoever played last before the others."""
        found: dict[str, KnownPlayer] = {}
        for player in sorted(self._read(), key=lambda player: -player.used_at):
            if player.server in servers:
                newest = found.setdefault(player.token, player)
                found[player.token] = replace(newest, rooms=_join(player.rooms, newest.rooms))
        return list(found.values())

    def find(self, servers: Servers, name: str | None = None) -> KnownPlayer | None:
        """Return whom we played as last, under this name where one is given, or None."""
        return next((player for player in self.on(servers) if name in (None, player.name)), None)

    def find_name(self) -> str | None:
        """Return the name that we chose last, on any server, or None where we never chose one."""
        chosen = [player for player in self._read() if not player.name.startswith(_GUEST)]
        return max(chosen, key=lambda player: player.used_at).name if chosen else None

    def take(
        self,
        servers: Servers,
        name: str | None = None,
        room: str | None = None,
        *,
        resumes: bool = False,
        only_seated: bool = False,
    ) -> KnownPlayer | None:
        """Return whom we play as from now, of those whom no other living process plays as, or None.

        That is whoever left a seat in the `room`, in any one where one `resumes`; else, unless `only_seated`,
        the last one of this name.
        """
        taken: list[KnownPlayer] = []

        def take(players: Players) -> Players:
            if taken:  # a second attempt to write it
                return _put(players, taken)
            free = [player for player in players if player.server in servers and player.is_free]
            seated = [player for player in free if room in player.rooms or (resumes and player.rooms)]
            found = seated or [player for player in free if name in (None, player.name) and not only_seated]
            if not found:
                return players
            token, pid, now = max(found, key=lambda player: player.used_at).token, os.getpid(), time.time()
            taken[:] = [
                replace(row, pid=pid, used_at=now) for row in players if row.server in servers and row.token == token
            ]
            return _put(players, taken)

        self.change(take)
        return taken[0] if taken else None

    def keep(self, *kept: KnownPlayer) -> None:
        """Write down whom we play as, and rooms beside those that are known."""
        self.change(lambda players: _put(players, kept))

    def forget(self, server: str, token: str) -> None:
        """Strike out a player whom the server does not know any more."""
        self.change(lambda players: [player for player in players if player.key != (server, token)])

    def forget_room(self, servers: Servers, token: str, room: str) -> None:
        """Strike out a player's seat in a room."""
        keys = {(server, token) for server in servers}

        def leave(player: KnownPlayer) -> KnownPlayer:
            rooms = tuple(code for code in player.rooms if code != room)
            return replace(player, rooms=rooms) if player.key in keys else player

        self.change(lambda players: [leave(player) for player in players])

    def change(self, *changes: Change) -> None:
        """Write changes, after those that still wait: where others were waited for in vain before, not again."""
        with self._turn:
            seconds = 0.0 if self._waiting else None
            self._waiting += changes
            try:
                change_file(self.path, self._rewrite, lock=self.path.with_suffix(".lock"), seconds=seconds)
            except Busy as busy:
                self.problem = busy.message
                self._read()  # by which the change sees what there is
                return
            except NotKept:
                pass
            else:
                with contextlib.suppress(OSError):
                    self._old_path.unlink()
            self._waiting, self.problem = [], None

    def _read(self) -> Players:
        return self._apply_waiting(self._parse(_read_bytes(self.path)))

    def _rewrite(self, content: bytes) -> bytes:
        before = self._parse(content)
        after = self._apply_waiting(before)[-_MOST_PLAYERS:]
        if after == before and not self._old_path.exists():
            return content
        return msgspec.json.format(msgspec.json.encode(_File(after)), indent=1)

    def _parse(self, content: bytes) -> Players:
        """Return the rows, with the seats that version 1 wrote down elsewhere."""
        players = _decode(content, _File([])).players
        for seat in _decode(_read_bytes(self._old_path), _SeatsOf1([])).seats:
            row = KnownPlayer(seat.server, seat.name, seat.token, seat.pid, seat.saved_at)
            known = next((player for player in players if player.key == row.key), row)
            players = _put(players, [replace(known, rooms=(seat.room,))])
        return players

    def _apply_waiting(self, players: Players) -> Players:
        for change in tuple(self._waiting):
            players = change(players)
        return players


def is_alive(pid: int) -> bool:
    """Tell whether a process of this number runs on this machine."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except (OSError, OverflowError):
        return True
    return True


def _put(players: Players, rows: Iterable[KnownPlayer]) -> Players:
    """Return the players with these rows in place of what was known of them, but for their rooms, behind all others."""
    old = {player.key: player.rooms for player in players}
    new = {row.key: replace(row, rooms=_join(old.get(row.key, ()), row.rooms)) for row in rows}
    return [*(player for player in players if player.key not in new), *new.values()]


def _join(old: tuple[str, ...], new: tuple[str, ...]) -> tuple[str, ...]:
    return (*(room for room in old if room not in new), *new)


def _read_bytes(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError:
        return b""


def _decode(content: bytes, empty: Content) -> Content:
    """Return what a file holds, without what newer versions add, or the empty one where it cannot be read."""
    try:
        return msgspec.json.decode(content, type=type(empty))
    except msgspec.MsgspecError:
        return empty
