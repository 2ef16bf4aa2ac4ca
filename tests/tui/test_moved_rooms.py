from msgspec.structs import replace

from tests.client.tournaments import CALL
from tests.faults.hostile_server import OTHER, ROOM, hostile_cluster, identity, lets_in, sends_to, state
from tests.tui.conftest import OpenScreen
from tictactoe_client.input.ways import Choice
from tictactoe_protocol.pushes import ChatLine, Moved, Ok, Result
from tictactoe_protocol.requests import Chat, Join, Leave


async def test_the_new_server_is_announced_above_the_typed_line(open_screen: OpenScreen) -> None:
    async with hostile_cluster() as (one, two), open_screen(one.url, Choice("join", code=ROOM)) as ana:
        await ana.until("Your move, X.")
        line = ChatLine(room=ROOM, from_="ana", seat="X", text="heard over there", at=0, player=OTHER)
        two.answers[Chat] = lambda request: [Ok(id=identity(request)), line]
        await ana.do("tab h i", "say: hi_")
        await one.push(Moved(ROOM, two.url))
        await ana.until("The room is at", f"{two.url} now.", "say: hi_")
        await ana.do("! enter", "heard over there", gone="say:")
        assert [request.text for request in two.heard if isinstance(request, Chat)] == ["hi!"]


async def test_a_call_from_another_server_asks_and_keeps_the_seat(open_screen: OpenScreen) -> None:
    async with hostile_cluster() as (one, two), open_screen(one.url, Choice("join", code=ROOM)) as ana:
        await ana.until("Your move, X.")
        one.answers[Join] = sends_to(two.url, "K7M4P2")
        await one.push(replace(CALL, room="K7M4P2"))
        await ana.until("Ctrl+G: go.")
        await ana.do("ctrl+g", "Room K7M4P2 is at another server. Go there?", "is held for 1 minute.")
        await ana.do("escape", "Ctrl+G: go.", gone="Go there?")
        over = replace(state(2, (0, 4, 1, 3, 2), result=Result("X", "line", (0, 1, 2))), room="K7M4P2")
        two.answers[Join] = lambda request: [Ok(id=identity(request), room="K7M4P2", seat="X"), over]
        await ana.do("ctrl+g", "Go there?")
        await ana.do("enter", "Tic-tac-toe  K7M4P2", "You win")
        one.answers[Join], two.answers[Join] = lets_in(ROOM), sends_to(one.url)
        await ana.do("escape", f"Tic-tac-toe  {ROOM}", "Your move, X.")
        assert [request.room for request in one.heard if isinstance(request, Leave)] == []
