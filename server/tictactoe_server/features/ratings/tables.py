"""The stored form of ratings: the entries of the log, and snapshots of all ladders."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Sequence
from typing import Final

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from tictactoe_protocol.ratings.ladder import State
from tictactoe_protocol.ratings.log import Entry, Verdict
from tictactoe_server.storage.specs import Persons, TableSpec
from tictactoe_server.storage.store import Value

PLAYERS_PER_PART: Final = 500  # each at most 0.5 KB of JSON; a message of NATS holds 256 KB


class Snapshot(Struct, frozen=True, omit_defaults=True):
    """The state of all ladders after some entries of the log, or one part of such a state.

    Attributes:
        cursor: From where to read finished games after loading the snapshot; see `GameLog.after`.
        digest: Digest of the whole state, equal in all parts.
        parts: Number of parts. Each part has some of the players.
    """

    state: State
    cursor: str
    digest: str
    parts: int = 1


def key_of(number: int) -> str:
    """Return the key of an entry or a snapshot; both count from 1."""
    return f"{number:08d}"


def keys_of(number: int, snapshot: Snapshot) -> list[str]:
    """Return the keys of all parts of a snapshot, given one part. Equal snapshots have equal keys on all servers."""
    key = key_of(number)
    return [key, *(f"{key}-{snapshot.digest[:8]}-{part}" for part in range(1, snapshot.parts))]


def split(snapshot: Snapshot) -> list[Snapshot]:
    """Return the parts of a snapshot, each small enough for every store."""
    state = snapshot.state
    rows = [(key, *row) for key, ladder in state.ladders.items() for row in ladder.players.items()]
    chunks = [rows[first : first + PLAYERS_PER_PART] for first in range(0, max(1, len(rows)), PLAYERS_PER_PART)]
    parts = []
    for chunk in chunks:
        ladders = {key: replace(ladder, players={}) for key, ladder in state.ladders.items()}
        for key, id, player in chunk:
            ladders[key].players[id] = player
        parts.append(replace(snapshot, state=replace(state, ladders=ladders), parts=len(chunks)))
    return parts


def join(parts: Sequence[Snapshot]) -> Snapshot:
    """Return the snapshot that consists of these parts."""
    first, ladders = parts[0], {key: ladder.copy() for key, ladder in parts[0].state.ladders.items()}
    for part in parts[1:]:
        for key, ladder in part.state.ladders.items():
            ladders[key].players.update(ladder.players)
    return replace(first, state=replace(first.state, ladders=ladders), parts=1)


def _renames(kind: type[Value]) -> Callable[[Value, str, str], Value]:
    """Return a function that replaces a player's id by a stand-in wherever a value has it as a key or a field.

    An id is the whole of a string, and no character in it is escaped in JSON. Digests stay the same.
    """
    decode = msgspec.json.Decoder(kind).decode

    def rename(value: Value, id: str, stand_in: str) -> Value:
        return decode(msgspec.json.encode(value).replace(f'"{id}"'.encode(), f'"{stand_in}"'.encode()))

    return rename


def _verdict_names(verdict: Verdict | None) -> set[str]:
    if verdict is None or verdict.kind not in ("void player", "merge"):
        return set()
    return {verdict.of, verdict.into} - {""}


def _snapshot_names(snapshot: Snapshot) -> set[str]:
    """Return the ids of all players that a snapshot names, as players, as opponents and in verdicts."""
    rows = [row for ladder in snapshot.state.ladders.values() for row in ladder.players.items()]
    named = {id for own, player in rows for id in (own, *player.opponents)}
    return named.union(*(_verdict_names(verdict) for verdict in snapshot.state.verdicts))


_decode_snapshot: Final = msgspec.json.Decoder(Snapshot).decode

ENTRIES: Final[TableSpec[Entry]] = TableSpec(
    "ladder_entries",
    "ladder entry",
    msgspec.json.encode,
    msgspec.json.Decoder(Entry).decode,
    persons=Persons(lambda entry: _verdict_names(entry.verdict), _renames(Entry)),
)
"""The entries of the log by number, from 1 without gaps. Entries are never deleted."""
LADDERS: Final[TableSpec[Snapshot]] = TableSpec(
    "ladders",
    "ladder snapshot",
    lambda snapshot: zlib.compress(msgspec.json.encode(snapshot)),
    lambda document: _decode_snapshot(zlib.decompress(document)),
    persons=Persons(_snapshot_names, _renames(Snapshot), is_indexed=False),  # derived from the entries
)
"""Snapshots by number, one for each `SNAPSHOT_GAMES` games, in one or more parts; see `keys_of`.

Snapshot 0 has no ladders, only a position in the log of finished games: no game before it is rated.
"""
