"""Rooms as the bytes of a database: they come back unchanged, or they are unreadable."""

import json
from collections.abc import Callable
from typing import Any
from zlib import crc32

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from tests.rows import each
from tests.server.tables import ANA, BO, CODE, CY, THREE, Table, decode_game, decode_room, encode_room
from tictactoe_engine import PRESETS, Rules
from tictactoe_protocol.requests import Resign
from tictactoe_protocol.terms import ClockFields
from tictactoe_server.features.tournaments.running import purpose_of
from tictactoe_server.records.documents import encode_game
from tictactoe_server.rooms.finished import FinishedGame, finished_game
from tictactoe_server.rooms.room import CASUAL, Room
from tictactoe_server.rooms.seating import open_room, seat_of
from tictactoe_server.storage.store import Unreadable

NOW = 60_000


def played(*cells: int, rules: Rules = PRESETS["classic"], clock: ClockFields | None = None) -> Table:
    players = (ANA, BO, CY) if len(rules.marks) == 3 else (ANA, BO)
    table = Table(*players, rules=rules, clock=clock)
    table.play(*cells)
    return table


BY_SEAT = ClockFields(initial_ms=300_000, increment_ms=2_000)


def in_event(*cells: int) -> Room:
    table = Table(ANA)
    reserved = {mark: seat_of(player) for mark, player in (("X", ANA), ("O", BO))}
    purpose = purpose_of("EV3NTS", "r3-2")
    table.room = open_room(CODE, PRESETS["classic"], None, 5_000, clock=BY_SEAT, reserved=reserved, purpose=purpose)
    table.play(*cells)
    return table.room


ROOMS = {
    "lesson": open_room(CODE, PRESETS["classic"], ANA, NOW, analysis="open", chat="players"),
    "private": open_room(CODE, PRESETS["gomoku"], ANA, NOW, visibility="private"),
    "playing": played(0, 4).room,
    "with clocks": played(0, 4, 1, clock=BY_SEAT).room,
    "passed over": played(0, 1, rules=THREE).do(CY, Resign(room=CODE)),
    "many blocked": Table(ANA, rules=Rules(rows=32, columns=32, line=3, blocked=frozenset(range(4, 1024)))).room,
    "of an event": in_event(0, 4),
}


@each("name", ROOMS)
def test_a_room_comes_back_from_its_document_as_it_was(name: str) -> None:
    room = ROOMS[name]
    copy = decode_room(encode_room(room))
    one, two = room.position, copy.position
    assert (copy, two.moves, two.passed, two.turn) == (room, one.moves, one.passed, one.turn)
    assert encode_room(copy) == encode_room(room)
    assert b"\n" not in encode_room(room)


def with_checksum(content: bytes) -> bytes:
    return b"%08x%b" % (crc32(content), content)


def changed(room: Room, change: Callable[[list[Any]], None]) -> bytes:
    """Return the document of a room with changed JSON and the checksum for it."""
    content = json.loads(encode_room(room)[8:])
    change(content)
    return with_checksum(json.dumps(content).encode())


def put(value: object, *path: int | str) -> Callable[[Any], None]:
    """Return a function that puts a value into JSON at this place."""

    def change(content: Any) -> None:
        for step in path[:-1]:
            content = content[step]
        content[path[-1]] = value

    return change


SETTING, RULES, MOVES, PASSED, RESULT, REMAINING, STARTED = 1, (1, 2), 3, 4, 5, 8, 9


@each(
    "change",
    [
        put(2, 0),
        put(None, SETTING),
        put(5, SETTING, 0),
        put({"O": None, "X": None, "A": None}, SETTING, 3),
        put([0, 0], MOVES),
        put([[0, "X"], [0, "O"], [0, "A"]], PASSED),
        put({"winner": "X", "reason": "luck"}, RESULT),
        put({"X": 1}, REMAINING),
        put(1, STARTED),
    ],
)
def test_a_damaged_document_is_unreadable(change: Callable[[list[Any]], None]) -> None:
    with pytest.raises(Unreadable):
        decode_room(changed(ROOMS["passed over"], change))


@pytest.mark.parametrize("document", [b"", b"{}", b"[]", b"null", b"\xff\xfe", b"[" * 100_000, b'{"schema":1}'])
def test_invalid_documents_are_unreadable(document: bytes) -> None:
    for given_document in (document, with_checksum(document)):
        with pytest.raises(Unreadable):
            decode_room(given_document)


@given(st.sampled_from(sorted(ROOMS)), st.data())
def test_a_document_with_other_bytes_is_unreadable(name: str, data: st.DataObject) -> None:
    document = encode_room(ROOMS[name])
    damaged = bytearray(document)
    for place in data.draw(st.lists(st.integers(0, len(document) - 1), min_size=1, max_size=3)):
        damaged[place] = data.draw(st.integers(0, 255))
    if damaged != document:
        with pytest.raises(Unreadable):
            decode_room(bytes(damaged))


KEPT_ROOM = (
    b'a6d6e743[1,["K7M4PQ",5000,{"preset":"classic","rows":3,"columns":3,"line":3,"marks":"XO","blocked":[],'
    b'"misere":false,"gravity":false},{"X":{"player":"pana","name":"ana","online":true,"bot":null},'
    b'"O":{"player":"pbo","name":"bo","online":true,"bot":null}},"public",{"initial_ms":300000,"increment_ms":2000},'
    b'60000,1,{"pana":0,"draws":0,"pbo":0},30000,"closed","all"],5,[0,4,1],[],null,'
    b'{"draw":null,"undo":null,"rematch":[]},{},{"X":302000,"O":300000},5000,{}]'
)
KEPT_IN_EVENT = (
    b'63958ce1[1,["K7M4PQ",5000,{"preset":"classic","rows":3,"columns":3,"line":3,"marks":"XO","blocked":[],'
    b'"misere":false,"gravity":false},{"X":{"player":"pana","name":"ana","online":true,"bot":null},'
    b'"O":{"player":"pbo","name":"bo","online":true,"bot":null}},"public",{"initial_ms":300000,"increment_ms":2000},'
    b'60000,1,{"pana":0,"pbo":0,"draws":0},30000,"closed","all",'
    b'{"name":"event","fields":{"event":"EV3NTS","pairing":"r3-2","round":"3.2"},"terms":{"is_organised":true,'
    b'"absence":"loses","games_count":"never","is_aborted":false,"stands_still":true,"draw_from":8,"undo":false,'
    b'"rematch":false,"hints":false,"guests":false}}],3,[0,4],[],null,'
    b'{"draw":null,"undo":null,"rematch":[]},{},{"X":300000,"O":300000},5000,{}]'
)
KEPT_GAME = (
    b'{"room":"K7M4PQ","game":1,"at":60000,"rules":{"preset":"classic","rows":3,"columns":3,"line":3,"marks":"XO",'
    b'"blocked":[],"misere":false,"gravity":false},"players":{"X":{"player":"pana","name":"ana"},'
    b'"O":{"player":"pbo","name":"bo"}},"moves":[0,1],"result":{"winner":"O","reason":"resigned","line":[]}}'
)


def test_documents_have_the_bytes_that_the_data_folder_promises_and_fields_that_came_later_may_be_absent() -> None:
    assert encode_room(ROOMS["with clocks"]) == KEPT_ROOM
    assert decode_room(KEPT_ROOM) == ROOMS["with clocks"]
    assert decode_game(KEPT_GAME) == replace(game_of(PRESETS["classic"]), public=False)
    assert encode_game(replace(game_of(PRESETS["classic"]), public=False)) == KEPT_GAME
    assert encode_game(game_of(PRESETS["classic"])) == KEPT_GAME.removesuffix(b"}") + b',"public":true}'


def test_a_room_of_an_event_is_stored_with_its_purpose_and_terms() -> None:
    assert encode_room(ROOMS["of an event"]) == KEPT_IN_EVENT
    assert decode_room(KEPT_IN_EVENT).purpose == purpose_of("EV3NTS", "r3-2")
    assert decode_room(KEPT_ROOM).purpose is CASUAL


LARGE = Rules(rows=32, columns=32, line=3, blocked=frozenset(range(4, 1024)))


def game_of(rules: Rules) -> FinishedGame:
    return finished_game(played(0, 1, rules=rules).do(ANA, Resign(room=CODE)), NOW)


@pytest.mark.parametrize("rules", [PRESETS["blocker"], LARGE])
def test_a_finished_game_comes_back_from_its_document_as_it_was(rules: Rules) -> None:
    assert decode_game(encode_game(game_of(rules))) == game_of(rules)


def test_many_blocked_cells_take_few_bytes() -> None:
    assert len(encode_room(Table(ANA, rules=LARGE).room)) < 600
    assert len(encode_game(game_of(LARGE))) < 600


@pytest.mark.parametrize("bitmap", ["no bitmap", "AAA", "////" * 100, "\u00e9"])
def test_an_invalid_bitmap_is_unreadable(bitmap: str) -> None:
    with pytest.raises(Unreadable):
        decode_room(changed(Table(ANA, rules=LARGE).room, put(bitmap, *RULES, "blocked")))
