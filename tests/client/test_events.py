"""What a room brings beyond what the vectors have: as it waits, unseen, and how to answer what is asked."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from tests.client.states import announce
from tests.server.tables import ANA, BO, CODE, CY, THREE, Table
from tictactoe_client.text.wording import describe_choices
from tictactoe_protocol.pushes import RoomState
from tictactoe_protocol.requests import Draw, Leave, Rematch, Resign, Undo
from tictactoe_protocol.telling import announce_standing
from tictactoe_server.rooms import Command, Dropped, Enter, Player, state_of

WATCHER = "pwatcher"


class Stage(Table):
    """A table whose states are told to everybody; `heard` has the lines of the last command, by listener."""

    def state_now(self, watchers: int = 0) -> RoomState:
        return state_of(self.room, self.now, watchers=watchers)

    def tell(self, player: Player, command: Command) -> dict[str, list[str]]:
        before = self.state_now()
        self.do(player, command)
        after = self.state_now()
        heard = {}
        for listener in (ANA.id, BO.id, CY.id, WATCHER):
            told = announce(before, after, listener)
            heard[listener] = [*told, *describe_choices(before, after, listener)]
            assert announce(after, after, listener) == []
        return heard


def draw(action: str) -> Draw:
    return Draw(room=CODE, action=action)  # type: ignore[arg-type]


def undo(action: str) -> Undo:
    return Undo(room=CODE, action=action)  # type: ignore[arg-type]


@pytest.fixture
def two() -> Stage:
    return Stage(ANA, BO)


@pytest.fixture
def three() -> Stage:
    return Stage(ANA, BO, CY, rules=THREE)


def test_sitting_down_and_going_while_the_room_waits() -> None:
    stage = Stage(ANA)
    heard = stage.tell(BO, Enter())
    assert (heard[ANA.id], heard[WATCHER]) == (["bo joins as O."], ["bo joins as O."])
    assert heard[BO.id] == []
    assert Stage(ANA, BO, rules=THREE).tell(BO, Leave(room=CODE))[ANA.id] == ["bo has left. The seat O is free."]


def test_one_who_is_called_to_a_board_of_an_event_has_not_dropped_before_coming(two: Stage) -> None:
    two.do(BO, Dropped())
    called = replace(two.state_now(), event="E4NT22")
    assert "bo is not here. Waiting for them: 1:00." in announce_standing(called, ANA.id)
    two.do(BO, Enter())
    assert announce(called, replace(two.state_now(), event="E4NT22"), ANA.id) == ["bo is here."]


def test_a_draw_offer_that_lapses_with_the_taking_back_is_nobody_s_doing(two: Stage) -> None:
    two.play(0, 4)
    two.do(ANA, undo("offer"))
    two.do(BO, draw("offer"))
    heard = two.tell(BO, undo("accept"))
    lapsed = "The draw offer lapses with the taking back."
    assert heard[ANA.id] == ["You take back A1 and B2.", lapsed]
    assert heard[BO.id] == heard[WATCHER] == ["ana takes back A1 and B2.", lapsed]


def test_a_rematch_asked_for_and_begun_with_the_marks_moved_on(two: Stage) -> None:
    two.play(0, 4)
    two.do(BO, Resign(room=CODE))
    heard = two.tell(BO, Rematch(room=CODE))
    assert heard[ANA.id] == ["bo wants a rematch.", "Type rematch or yes to accept."]
    assert heard[BO.id] == ["You ask for a rematch."]
    assert heard[WATCHER] == ["bo wants a rematch."]
    heard = two.tell(ANA, Rematch(room=CODE))
    assert heard[ANA.id] == ["Game 2. You are O. bo is X."]
    assert heard[WATCHER] == ["Game 2. bo is X, ana is O."]


def test_a_rematch_that_nobody_is_left_for(two: Stage) -> None:
    two.do(BO, Resign(room=CODE))
    two.do(ANA, Rematch(room=CODE))
    heard = two.tell(BO, Leave(room=CODE))
    assert heard[ANA.id] == ["bo left the room.", "No rematch, then. Type new or leave."]
    assert heard[WATCHER] == ["bo left the room."]


def test_watchers_and_times_are_no_news(two: Stage) -> None:
    before = two.state_now()
    two.wait(5_000)
    assert announce(before, two.state_now(watchers=7), ANA.id) == []


def test_what_was_skipped_is_told_in_its_order(three: Stage) -> None:
    before = three.state_now()
    three.play(0, 1)
    three.do(CY, Leave(room=CODE))
    three.play(2)
    three.do(BO, Dropped())
    assert announce(before, three.state_now(), ANA.id, three.room.position.moves) == [
        "You play A1.",
        "bo plays B1.",
        "You play C1.",
        "cy left the game and is passed over from now on.",
        "bo has dropped. Waiting for them: 1:00.",
    ]


def test_a_game_that_began_and_went_on_unseen(two: Stage) -> None:
    before = two.state_now()
    two.play(0, 4)
    two.do(BO, Resign(room=CODE))
    two.do(BO, Rematch(room=CODE))
    two.do(ANA, Rematch(room=CODE))
    two.play(4)
    two.do(BO, draw("offer"))
    two.do(BO, Dropped())
    assert announce(before, two.state_now(), ANA.id, (4,)) == [
        "Game 1 has ended: ana won.",
        "Game 2. You are O. bo is X.",
        "bo plays B2, centre.",
        "bo has dropped. Waiting for them: 1:00.",
        "bo offers a draw.",
    ]
    two.do(BO, Enter())
    two.play(0)
    two.do(BO, Resign(room=CODE))
    assert announce(before, two.state_now(), ANA.id, (4,)) == [
        "Game 1 has ended: ana won.",
        "Game 2. You are O. bo is X.",
        "bo plays B2, centre.",
        "You play A1, top left.",
        "bo resigns. You win.",
    ]
    two.do(BO, Rematch(room=CODE))
    two.do(ANA, Rematch(room=CODE))
    assert announce(before, two.state_now(), ANA.id)[0] == "Games 1 to 2 have been played unseen."
