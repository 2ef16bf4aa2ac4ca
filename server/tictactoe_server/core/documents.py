"""Rooms, players, bans and finished games as the bytes that a store keeps.

A room is an array in JSON behind its checksum: first the fields that moves do not change, encoded once, then the
others. The position is its rules and moves. Most flipped bits leave JSON that is none, or a room that breaks its own
rules; the checksum finds those that would leave another room than was stored.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from operator import attrgetter
from typing import Any, Final, Generic, TypeVar
from zlib import crc32

import msgspec
from msgspec import NODEFAULT, Raw, Struct
from msgspec.structs import asdict, fields

from tictactoe_engine import Position
from tictactoe_protocol.pushes import RESULT_REASONS, VISIBILITIES, RulesState, SeatState
from tictactoe_server.core.kept_rules import KeptRules, kept_rules, rules_kept
from tictactoe_server.core.rooms import FinishedGame, Room
from tictactoe_server.core.rooms.view import rules_state

SCHEMA: Final = 3  # schemas 1 and 2, which were objects, 1 without a checksum, are read as well
SETTING: Final = (
    *("code", "opened_at", "rules", "seats", "visibility", "clock", "hold_ms", "game", "score"),
    *("start_ms", "analysis", "chat"),
)
"""The fields that moves do not change. All others of `Room` follow in their order: what is new there goes last."""

_CHECKSUM_DIGITS: Final = 8

AnyRoom = TypeVar("AnyRoom", bound=Room)

_encode: Final = msgspec.json.Encoder().encode


def _like(struct: type[Struct], names: Iterable[str], **types: Any) -> list[Any]:
    """Return fields of a struct, those of other `types` as they are, for `msgspec.defstruct`."""
    known = {field.name: field for field in fields(struct)}
    found: list[Any] = []
    for name in names:
        field = known.get(name)
        kind = types.get(name, field and field.type)
        if field is None or field.required:
            found.append((name, kind))
        elif field.default is NODEFAULT:
            found.append((name, kind, msgspec.field(default_factory=field.default_factory)))
        else:
            found.append((name, kind, field.default))
    return found


class _OldPosition(Struct, frozen=True):
    rules: RulesState
    moves: tuple[int, ...]
    passed: tuple[tuple[int, str], ...] = ()


def _check_sum(checksum: bytes, content: bytes) -> None:
    if checksum != b"%08x" % crc32(content):
        raise ValueError("the checksum is that of another document")


def _check_schema(found: int, meant: int) -> None:
    if found != meant:
        raise ValueError(f"schema {found}, where {meant} is known")


class RoomDocuments(Generic[AnyRoom]):
    """What the documents of rooms look like, read off a struct, whatever fields it has."""

    def __init__(self, struct: type[AnyRoom]) -> None:
        others = tuple(name for name in struct.__struct_fields__ if name not in (*SETTING, "position", "seq"))
        self.others_of: Callable[[Room], tuple[Any, ...]] = attrgetter(*others)
        self.rest_of: Callable[[Room], tuple[Any, ...]] = attrgetter(
            "seq", "position.moves", "position.passed", *others
        )
        self._struct = struct
        self._others = others
        self._setting_of: Callable[[Room], tuple[Any, ...]] = attrgetter(*SETTING)
        setting = msgspec.defstruct("Setting", _like(struct, SETTING, rules=KeptRules), array_like=True)
        beginning = [
            *[("schema", int), ("setting", Raw), ("seq", int)],
            *[("moves", tuple[int, ...]), ("passed", tuple[tuple[int, str], ...])],
        ]
        document = msgspec.defstruct("Document", beginning + _like(struct, others), array_like=True)
        old_room = msgspec.defstruct("OldRoom", _like(struct, struct.__struct_fields__, position=_OldPosition))
        old = msgspec.defstruct("OldDocument", [("schema", int), ("room", old_room)])
        self._decode_setting = msgspec.json.Decoder(setting).decode
        self._decode_document = msgspec.json.Decoder(document).decode
        self._decode_old = msgspec.json.Decoder(old).decode

    def encode_beginning(self, room: Room) -> bytes:
        """Return what moves do not change, up to the first field that they do."""
        values = dict(zip(SETTING, self._setting_of(room), strict=True))
        values["rules"] = kept_rules(rules_state(room.rules))
        return b"[%d,%b," % (SCHEMA, _encode(tuple(values.values())))

    def decode(self, document: bytes) -> AnyRoom:
        """Return the room that a document of any schema holds; raises what `TableSpec.decode` may raise."""
        room = self._read_old(document) if document.startswith(b"{") else self._read(document)
        marks = tuple(room.rules.marks)
        if tuple(room.seats) != marks:
            raise ValueError(f"Seats {', '.join(room.seats)} for the marks {room.rules.marks}.")
        if set(room.remaining_ms) != set(() if room.clock is None else marks):
            raise ValueError(f"Clocks {', '.join(room.remaining_ms)} for the marks {room.rules.marks}.")
        if room.visibility not in VISIBILITIES or (
            room.result is not None and room.result.reason not in RESULT_REASONS
        ):
            raise ValueError("A word that no server wrote.")
        if room.clock is None and room.clock_started_at is not None:
            raise ValueError("A clock runs in a room without clocks.")
        return room

    def _read(self, document: bytes) -> AnyRoom:
        checksum, content = document[:_CHECKSUM_DIGITS], document[_CHECKSUM_DIGITS:]
        _check_sum(checksum, content)
        found: Any = self._decode_document(content)
        _check_schema(found.schema, SCHEMA)
        setting = asdict(self._decode_setting(found.setting))
        rules = rules_kept(setting.pop("rules")).to_rules()
        others = {name: getattr(found, name) for name in self._others}
        position = Position.replay(rules, found.moves, found.passed)
        return self._struct(position=position, seq=found.seq, **setting, **others)

    def _read_old(self, document: bytes) -> AnyRoom:
        """Return the room of a document of schema 2, which ends with its checksum, or 1, which has none."""
        content, has_checksum, checksum = document.partition(b"\n")
        if has_checksum:
            _check_sum(checksum, content)
        found: Any = self._decode_old(content)
        _check_schema(found.schema, 2 if has_checksum else 1)
        old: _OldPosition = found.room.position
        position = Position.replay(old.rules.to_rules(), old.moves, old.passed)
        return self._struct(**{**asdict(found.room), "position": position})


ROOM_DOCUMENTS: Final = RoomDocuments(Room)


class RoomEncoder:
    """Encodes rooms, and keeps for each of them the part that moves do not change until `forget`."""

    def __init__(self, documents: RoomDocuments[Any] = ROOM_DOCUMENTS) -> None:
        self._documents = documents
        self._rest_of = documents.rest_of
        self._others_of = documents.others_of
        self._beginnings: dict[str, tuple[dict[str, SeatState | None], dict[str, int], bytes, int]] = {}

    def encode(self, room: Room, *, without_moves: bool = False) -> bytes:
        """Return the room's document, one line; that of an outline has no moves."""
        known = self._beginnings.get(room.code)
        if known is None or known[0] is not room.seats or known[1] is not room.score:
            beginning = self._documents.encode_beginning(room)
            known = self._beginnings[room.code] = (room.seats, room.score, beginning, crc32(beginning))
        rest = _encode(self._rest_of(room) if not without_moves else (room.seq, (), (), *self._others_of(room)))[1:]
        return b"%08x%b%b" % (crc32(rest, known[3]), known[2], rest)

    def forget(self, code: str) -> None:
        """Let go of a room that is gone."""
        self._beginnings.pop(code, None)


def encode_room(room: Room) -> bytes:
    """Return the room's document."""
    return RoomEncoder().encode(room)


class GameDocuments:
    """Encodes and decodes finished games of a struct, whatever fields it has."""

    def __init__(self, struct: type[FinishedGame]) -> None:
        like = _like(struct, struct.__struct_fields__, rules=KeptRules)
        self._struct = struct
        self._kept = msgspec.defstruct("KeptGame", like, omit_defaults=True)
        self._decode = msgspec.json.Decoder(self._kept).decode

    def encode(self, game: FinishedGame) -> bytes:
        return _encode(self._kept(**{**asdict(game), "rules": kept_rules(game.rules)}))

    def decode(self, document: bytes) -> FinishedGame:
        """Return the game that a document holds; raises what `TableSpec.decode` may raise."""
        kept: Any = self._decode(document)
        return self._struct(**{**asdict(kept), "rules": rules_kept(kept.rules)})
