from tests.faults.hostile_server import OTHER, ROOM, hostile_cluster, identity
from tests.tui.conftest import OpenScreen
from tictactoe_client.input.ways import Choice
from tictactoe_protocol.pushes import ChatLine, Moved, Ok
from tictactoe_protocol.requests import Chat


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
