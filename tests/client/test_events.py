"""What a room announces beyond the vectors: an event's board before its players arrive, and replies to a rematch."""

import pytest
from msgspec.structs import replace

from tests.client.states import announce
from tests.server.tables import ANA, BO, CODE, Table
from tictactoe_client.text.wording import describe_choices
from tictactoe_protocol.pushes import RoomState
from tictactoe_protocol.requests import Draw, Leave, Rematch, Resign, Undo
from tictactoe_server.rooms.play import Command
from tictactoe_server.rooms.room import Player
from tictactoe_server.rooms.seating import drop, enter
from tictactoe_server.rooms.view import state_of
from tictactoe_words.telling import announce_standing

WATCHER = "pwatcher"


class Stage(Table):
    """A table that returns each viewer's announcements after a command."""

    def state_now(self) -> RoomState:
        return state_of(self.room, self.now, watchers=0)

    def tell(self, player: Player, command: Command) -> dict[str, list[str]]:
        before = self.state_now()
        self.do(player, command)
        after = self.state_now()
        return {
            viewer: [*announce(before, after, viewer), *describe_choices(before, after, viewer)]
            for viewer in (ANA.id, BO.id, WATCHER)
        }


@pytest.fixture
def two() -> Stage:
    return Stage(ANA, BO)


def test_a_player_called_to_an_event_board_has_not_dropped_before_arriving(two: Stage) -> None:
    two.do(BO, drop)
    called = replace(two.state_now(), event="E4NT22")
    assert "bo is not here. Waiting for them: 1:00." in announce_standing(called, ANA.id)
    two.do(BO, enter)
    assert announce(called, replace(two.state_now(), event="E4NT22"), ANA.id) == ["bo is here."]


def test_a_draw_offer_lapses_with_an_accepted_undo(two: Stage) -> None:
    two.play(0, 4)
    two.do(ANA, Undo(room=CODE, action="offer"))
    two.do(BO, Draw(room=CODE, action="offer"))
    told = two.tell(BO, Undo(room=CODE, action="accept"))
    lapsed = "The draw offer no longer stands."
    assert told[ANA.id] == ["You take back A1 and B2.", lapsed]
    assert told[BO.id] == told[WATCHER] == ["ana takes back A1 and B2.", lapsed]


def test_only_the_opponent_is_told_how_to_accept_a_rematch(two: Stage) -> None:
    two.do(BO, Resign(room=CODE))
    told = two.tell(BO, Rematch(room=CODE))
    assert told[ANA.id] == ["bo wants a rematch.", "Type rematch or yes to accept."]
    assert told[BO.id] == ["You ask for a rematch."]
    assert told[WATCHER] == ["bo wants a rematch."]


def test_a_rematch_ends_when_the_opponent_leaves(two: Stage) -> None:
    two.do(BO, Resign(room=CODE))
    two.do(ANA, Rematch(room=CODE))
    told = two.tell(BO, Leave(room=CODE))
    assert told[ANA.id] == ["bo left the room.", "No rematch, then. Type new or leave."]
    assert told[WATCHER] == ["bo left the room."]
