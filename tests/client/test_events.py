"""Every event that a room can bring, made by the server's own rooms and told to each who is there: once, in words."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from tests.client.states import announce
from tests.server.tables import ANA, BO, CODE, CY, THREE, Table
from tictactoe_client.text.wording import describe_choices
from tictactoe_engine import Rules
from tictactoe_protocol.pushes import RoomState
from tictactoe_protocol.requests import Claim, Draw, Leave, Move, Rematch, Resign, Undo
from tictactoe_protocol.telling import announce_standing
from tictactoe_protocol.terms import ClockFields
from tictactoe_server.rooms import NOBODY, Command, Dropped, Enter, Expire, Player, state_of

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

    def move_of(self, cell: int) -> Move:
        return Move(room=CODE, cell=cell, ply=self.room.position.ply)


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


def test_one_who_took_the_seat_of_another_meanwhile() -> None:
    stage = Stage(ANA, BO, rules=THREE)
    before = stage.state_now()
    stage.do(BO, Leave(room=CODE))
    stage.do(CY, Enter())
    assert announce(before, stage.state_now(), ANA.id) == ["bo has left.", "cy joins as O."]


def test_dropping_and_coming_back(two: Stage) -> None:
    heard = two.tell(BO, Dropped())
    assert heard[ANA.id] == heard[WATCHER] == ["bo has dropped. Waiting for them: 1:00."]
    heard = two.tell(BO, Enter())
    assert heard[ANA.id] == heard[WATCHER] == ["bo is back."]
    assert heard[BO.id] == []


def test_one_who_is_called_to_a_board_of_an_event_has_not_dropped_before_coming(two: Stage) -> None:
    two.do(BO, Dropped())
    called = replace(two.state_now(), event="E4NT22")
    assert "bo is not here. Waiting for them: 1:00." in announce_standing(called, ANA.id)
    two.do(BO, Enter())
    assert announce(called, replace(two.state_now(), event="E4NT22"), ANA.id) == ["bo is here."]


def test_coming_back_under_another_name(two: Stage) -> None:
    two.do(BO, Dropped())
    heard = two.tell(Player(BO.id, "bob"), Enter())
    assert heard[ANA.id] == ["bo is now called bob.", "bob is back."]


def test_one_who_dropped_after_the_end_is_not_waited_for(two: Stage) -> None:
    two.do(ANA, Resign(room=CODE))
    assert two.tell(BO, Dropped())[ANA.id] == ["bo has dropped."]


def test_a_draw_offered_declined_withdrawn_lapsed_and_agreed(two: Stage) -> None:
    heard = two.tell(ANA, draw("offer"))
    assert heard[ANA.id] == ["You offer a draw."]
    assert heard[BO.id] == ["ana offers a draw.", "Type yes to accept, no to refuse."]
    assert heard[WATCHER] == ["ana offers a draw."]
    heard = two.tell(BO, draw("decline"))
    assert (heard[ANA.id], heard[BO.id]) == (["bo declines the draw."], ["You decline the draw."])
    assert heard[WATCHER] == ["bo declines the draw."]
    two.do(ANA, draw("offer"))
    heard = two.tell(ANA, draw("decline"))
    assert (heard[ANA.id], heard[BO.id]) == (["You withdraw the draw offer."], ["ana withdraws the draw offer."])
    two.do(ANA, draw("offer"))
    assert two.tell(ANA, two.move_of(0))[BO.id] == ["ana plays A1, top left."]
    heard = two.tell(BO, two.move_of(4))
    assert heard[ANA.id] == ["bo plays B2, centre.", "The draw offer lapses, as bo plays on."]
    assert heard[BO.id] == ["You play B2, centre.", "The draw offer lapses, as you play on."]
    two.do(BO, draw("offer"))
    heard = two.tell(ANA, draw("accept"))
    assert set(map(tuple, heard.values())) == {("Both agreed. It's a draw.",)}


def test_an_undo_asked_declined_lapsed_and_done(two: Stage) -> None:
    two.play(0)
    heard = two.tell(ANA, undo("offer"))
    assert heard[ANA.id] == ["You ask to take back A1."]
    assert heard[BO.id] == ["ana asks to take back A1.", "Type yes to let them, no to refuse."]
    heard = two.tell(BO, undo("decline"))
    assert (heard[ANA.id], heard[BO.id]) == (["bo lets the move stand."], ["You let the move stand."])
    two.do(ANA, undo("offer"))
    assert two.tell(ANA, undo("decline"))[BO.id] == ["ana withdraws the request to take a move back."]
    two.do(ANA, undo("offer"))
    told = two.tell(BO, two.move_of(4))[ANA.id]
    assert told == ["bo plays B2, centre.", "The request to take a move back lapses, as bo plays on."]
    two.do(ANA, undo("offer"))
    heard = two.tell(BO, undo("accept"))
    assert heard[ANA.id] == ["You take back A1 and B2."]
    assert heard[BO.id] == heard[WATCHER] == ["ana takes back A1 and B2."]


def test_a_draw_offer_that_lapses_with_the_taking_back_is_nobody_s_doing(two: Stage) -> None:
    two.play(0, 4)
    two.do(ANA, undo("offer"))
    two.do(BO, draw("offer"))
    heard = two.tell(BO, undo("accept"))
    lapsed = "The draw offer lapses with the taking back."
    assert heard[ANA.id] == ["You take back A1 and B2.", lapsed]
    assert heard[BO.id] == heard[WATCHER] == ["ana takes back A1 and B2.", lapsed]


def test_nobody_is_blamed_for_an_offer_whose_end_was_not_seen(two: Stage) -> None:
    two.play(0, 4)
    two.do(BO, draw("offer"))
    before = two.state_now()
    two.do(ANA, undo("offer"))
    two.do(BO, undo("accept"))
    two.play(0, 4)
    after, moves = two.state_now(), two.room.position.moves
    for listener in (ANA.id, BO.id, WATCHER):
        assert announce(before, after, listener, moves, moves) == ["The draw offer is off."]


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


def test_resigning_and_leaving_a_game_for_two(two: Stage) -> None:
    two.play(0, 4)
    heard = two.tell(BO, Resign(room=CODE))
    assert heard[ANA.id] == ["bo resigns. You win."]
    other = Stage(ANA, BO)
    other.play(0, 4)
    assert other.tell(BO, Leave(room=CODE))[WATCHER] == ["bo left the game. ana wins."]


def test_a_game_that_is_aborted(two: Stage) -> None:
    two.play(0)
    heard = two.tell(ANA, Resign(room=CODE))
    assert set(map(tuple, heard.values())) == {
        ("The game was aborted, as not everybody had moved yet. It doesn't count.",)
    }
    heard = Stage(ANA, BO).tell(BO, Leave(room=CODE))
    assert heard[ANA.id] == [
        "The game was aborted, as not everybody had moved yet. It doesn't count.",
        "bo left the room.",
    ]


def test_resigning_and_leaving_a_game_for_three(three: Stage) -> None:
    three.play(0, 1, 2, 3)
    heard = three.tell(BO, Resign(room=CODE))
    assert heard[ANA.id] == heard[WATCHER] == ["bo resigns and is passed over from now on."]
    assert heard[BO.id] == ["You resign and are passed over from now on."]
    assert three.tell(BO, Leave(room=CODE))[ANA.id] == ["bo left the game."]
    heard = three.tell(CY, Leave(room=CODE))
    assert heard[ANA.id] == ["cy left the game. You win."]
    other = Stage(ANA, BO, CY, rules=THREE)
    assert other.tell(BO, Leave(room=CODE))[ANA.id] == ["bo left the game and is passed over from now on."]


def test_time_that_runs_out() -> None:
    clock = ClockFields(move_ms=1_000)
    two = Stage(ANA, BO, clock=clock)
    two.play(0, 4)
    two.wait(1_000)
    assert two.tell(NOBODY, Expire())[BO.id] == ["ana ran out of time. You win."]
    three = Stage(ANA, BO, CY, rules=THREE, clock=clock)
    three.play(0, 1, 2)
    three.wait(1_000)
    heard = three.tell(NOBODY, Expire())
    assert heard[BO.id] == ["ana ran out of time and is passed over from now on."]
    assert heard[ANA.id] == ["You ran out of time and are passed over from now on."]


def test_a_claim_for_two_and_for_three(two: Stage, three: Stage) -> None:
    for stage in (two, three):
        stage.play(0, 1)
        stage.do(BO, Dropped())
        stage.wait(60_000)
    assert two.tell(ANA, Claim(room=CODE, as_="win"))[ANA.id] == [
        "The game was claimed, as the other seat stayed empty. You win."
    ]
    heard = three.tell(ANA, Claim(room=CODE, as_="win"))
    assert heard[ANA.id] == heard[CY.id] == ["bo stayed away too long and is passed over from now on."]


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


def test_whoever_comes_late_hears_how_things_stand(three: Stage) -> None:
    three.play(0)
    three.do(BO, Leave(room=CODE))
    three.do(CY, draw("offer"))
    three.do(CY, Dropped())
    assert announce_standing(three.state_now(), WATCHER) == [
        "bo left the game and is passed over from now on.",
        "cy has dropped. Waiting for them: 1:00.",
        "cy offers a draw.",
    ]
    assert announce_standing(Stage(ANA, BO).state_now(), WATCHER) == []


def test_whoever_comes_after_the_end_hears_how_it_ended() -> None:
    two = Stage(ANA, BO, rules=Rules())
    two.play(0, 3, 1, 4, 2)
    assert announce_standing(two.state_now(), WATCHER) == ["Row 1 is X X X. ana wins."]
    two.do(ANA, Rematch(room=CODE))
    two.do(BO, Rematch(room=CODE))
    assert announce_standing(two.state_now(), WATCHER) == ["This is game 2 of the room."]


def test_of_three_the_two_who_are_left_may_draw(three: Stage) -> None:
    three.do(CY, Resign(room=CODE))
    three.do(ANA, draw("offer"))
    assert three.tell(BO, draw("decline"))[ANA.id] == ["bo declines the draw."]
