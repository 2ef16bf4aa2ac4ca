"""What is kept of ratings: the log of entries, a snapshot of all ladders at each checkpoint, and what signs them."""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from hashlib import sha256
from typing import Final

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from tictactoe_protocol.ratings.checkpoints import SALT_BYTES, Checkpoint
from tictactoe_protocol.ratings.ladder import Ladder, Player, State
from tictactoe_protocol.ratings.log import Entry, Verdict
from tictactoe_server.storage.specs import NOBODY, Persons, TableSpec

SECRET_KEY: Final = "secret"
PLAYERS_A_PART: Final = 500
"""Of at most 0.5 KB each, as JSON: of a message of NATS there are 256 KB."""


class LoggedEntry(Entry, frozen=True, omit_defaults=True):
    """An entry as it is kept, with a hash of each of its games, or of its verdict, in hex figures."""

    leaves: tuple[str, ...] = ()


class Snapshot(Struct, frozen=True, omit_defaults=True):
    """The ladders at a checkpoint, and up to where the games were read; see `GameLog.after`.

    Where it is kept in several `parts`, each has some of the players; of one without any its players are not kept.
    """

    state: State
    cursor: str
    checkpoint: Checkpoint
    parts: int = 1


class Secret(Struct, frozen=True):
    """What checkpoints are signed with, and salts are made from, in hex figures.

    No game up to the `cursor` is rated.
    """

    hex: str
    cursor: str = ""

    def salt(self, id: str) -> bytes:
        """Return the salt of what is known by an id, which nobody guesses who does not have the secret."""
        return sha256(bytes.fromhex(self.hex) + id.encode()).digest()[:SALT_BYTES]


def key_of(number: int) -> str:
    """Return under which key the entry, or the snapshot, of this number is kept, from 1."""
    return f"{number:08d}"


def split(snapshot: Snapshot) -> list[Snapshot]:
    """Return the parts in which a snapshot is kept, so that each is small enough for every store."""
    state = snapshot.state
    rows = [(key, *row) for key, ladder in state.ladders.items() for row in ladder.players.items()]
    somes = [rows[first : first + PLAYERS_A_PART] for first in range(0, max(1, len(rows)), PLAYERS_A_PART)]
    parts = []
    for some in somes:
        ladders = {key: replace(ladder, players={}) for key, ladder in state.ladders.items()}
        for key, id, own in some:
            ladders[key].players[id] = own
        parts.append(replace(snapshot, state=replace(state, ladders=ladders), parts=len(somes)))
    return parts


def join(parts: Sequence[Snapshot]) -> Snapshot:
    """Return the snapshot that has these parts."""
    first, ladders = parts[0], {key: ladder.copy() for key, ladder in parts[0].state.ladders.items()}
    for part in parts[1:]:
        for key, ladder in part.state.ladders.items():
            ladders[key].players.update(ladder.players)
    return replace(first, state=replace(first.state, ladders=ladders), parts=1)


def head_of(snapshot: Snapshot) -> Snapshot:
    """Return what is kept of a snapshot from which nothing is folded on any more."""
    return replace(snapshot, state=replace(snapshot.state, ladders={}), parts=0)


def keys_of(number: int, snapshot: Snapshot) -> list[str]:
    """Return under which keys the parts of a snapshot are kept, or one of its parts: of the same ladders, the same."""
    key, digest = key_of(number), snapshot.checkpoint.digest[:8]
    return [key, *(f"{key}-{digest}-{part}" for part in range(1, snapshot.parts))]


def _rename(verdict: Verdict, id: str, name: str) -> Verdict:
    return replace(
        verdict, of=name if verdict.of == id else verdict.of, into=name if verdict.into == id else verdict.into
    )


def _entry_without(entry: LoggedEntry, id: str, stand_in: str) -> LoggedEntry:
    return entry if entry.verdict is None else replace(entry, verdict=_rename(entry.verdict, id, stand_in))


def _players_of(snapshot: Snapshot) -> set[str]:
    """Return all whom a snapshot names: opponents too, who may be in another part, and those of its verdicts."""
    rows = [row for ladder in snapshot.state.ladders.values() for row in ladder.players.items()]
    named = {one for id, own in rows for one in (id, *own.opponents)}
    return named.union(*(_verdict_names(one) for one in snapshot.state.verdicts))


def _snapshot_without(snapshot: Snapshot, id: str, stand_in: str) -> Snapshot:
    """Return a snapshot with a stand-in in place of one who is forgotten: nothing else of it changes."""
    state = snapshot.state
    verdicts = tuple(_rename(one, id, stand_in) for one in state.verdicts)
    ladders = {key: _ladder_without(ladder, id, stand_in) for key, ladder in state.ladders.items()}
    return replace(snapshot, state=replace(state, verdicts=verdicts, ladders=ladders))


def _ladder_without(ladder: Ladder, id: str, stand_in: str) -> Ladder:
    def rename(own: Player) -> Player:
        if id not in own.opponents:
            return own
        return replace(own, opponents=tuple(stand_in if one == id else one for one in own.opponents))

    players = {stand_in if one == id else one: rename(own) for one, own in ladder.players.items()}
    return replace(ladder, players=players)


def _verdict_names(verdict: Verdict | None) -> set[str]:
    if verdict is None or verdict.kind not in ("void player", "merge"):
        return set()
    return {verdict.of, verdict.into} - {""}


_encode: Final = msgspec.json.Encoder().encode
_decode_snapshot: Final = msgspec.json.Decoder(Snapshot).decode

ENTRIES: Final[TableSpec[LoggedEntry]] = TableSpec(
    "ladder_entries",
    "entry of the ladders",
    _encode,
    msgspec.json.Decoder(LoggedEntry).decode,
    keys="[0-9]{8}",
    persons=Persons(lambda entry: _verdict_names(entry.verdict), _entry_without),
)
"""By their numbers, from 1 without a gap. Nothing is ever taken out."""
LADDERS: Final[TableSpec[Snapshot]] = TableSpec(
    "ladders",
    "snapshot of the ladders",
    lambda snapshot: zlib.compress(_encode(snapshot)),
    lambda document: _decode_snapshot(zlib.decompress(document)),
    keys="[0-9]{8}(-[0-9a-f]{8}-[0-9]+)?",
    persons=Persons(_players_of, _snapshot_without, lambda snapshot: {"checkpoint": snapshot.checkpoint.number}),
)
"""By the numbers of their checkpoints, those with more than `PLAYERS_A_PART` in parts; see `keys_of`."""
SECRETS: Final[TableSpec[Secret]] = TableSpec(
    *("ladder_secrets", "secret of the ladders", _encode, msgspec.json.Decoder(Secret).decode), persons=NOBODY
)
"""Under `SECRET_KEY`: one for all servers of a cluster."""
