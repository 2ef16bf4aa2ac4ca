from msgspec.structs import replace

from tests.client.models import model_of
from tests.client.states import state
from tests.tui.conftest import Game
from tictactoe_protocol.pushes import SeatState
from tictactoe_protocol.terms import ClockState


async def test_a_muted_player_is_hidden_in_a_room_until_unmuted(game: Game) -> None:
    async with game() as (ana, bo, code):
        await ana.enter(":mute bo", "bo is muted. To hear them again: unmute bo")
        await bo.ask("chat", room=code, text="loser")
        await bo.ask("draw", room=code, action="offer")
        assert "loser" not in await ana.until("bo offers a draw")
        await ana.enter(":unmute bo", "bo is not muted.")


def test_in_an_event_the_time_for_a_first_move_runs_while_its_player_is_away() -> None:
    ana, bo = SeatState("p-ana", "ana", False, None, hold_ms=60_000), SeatState("p-bo", "bo", True, None)
    seats = {"X": ana, "O": bo}
    start = replace(state(seats=seats), clock=ClockState({"X": 0, "O": 0}, None, start_ms=20_000))
    assert model_of("p-bo", start).scene(5.0).due == "first move due in 0:20"
    in_event = replace(start, event="EV3NTS", pairing="r1-1")
    assert model_of("p-bo", in_event).scene(5.0).due == "first move due in 0:15"
