from zeroconf.asyncio import AsyncZeroconf

from tests.client.test_nearby import announced, register
from tests.kept import rooms_left
from tests.peer import open_peer
from tests.proxy import Proxy
from tests.tui.conftest import AtHome, OpenScreen, ScreenUser
from tictactoe_client.files.players import KnownPlayers
from tictactoe_client.online.address import parse_cluster
from tictactoe_server.server import Server
from tictactoe_server.settings import Settings as ServerSettings

NOWHERE = "ws://127.0.0.1:1/K7M4PQ"


async def paste(user: ScreenUser, text: str) -> None:
    await user.paste(text)
    await user.press("enter")


async def test_a_pasted_link_to_another_server_leads_there(server: Server, open_screen: OpenScreen) -> None:
    async with Server(ServerSettings(host="127.0.0.1", port=0)) as other, open_peer(other.url, "bo") as bo:
        code = (await bo.ask("create", visibility="private"))["room"]
        async with open_screen(server.url) as ana:
            await ana.until("Playing as  ana")
            await paste(ana, f"{other.url}/{code}")
            await ana.until("It's bo's move.", "O  ana (you)")
            await bo.state(status="playing")
            text = await ana.do("escape enter", "Playing as  ana", f"Back to {server.url}")
            assert other.url in text.splitlines()[0]
            assert server.url not in text.splitlines()[0]


async def test_a_server_that_is_not_there_is_left_again_with_a_key(server: Server, at_home: AtHome) -> None:
    async with at_home() as ana:
        player = ana.client.player
        await paste(ana, NOWHERE)
        await ana.until("Can't reach ws://127.0.0.1:1", f"Back to {server.url}", "press Esc", "Esc back")
        text = await ana.do("escape", "Playing as  ana", gone="Back to")
        assert server.url in text.splitlines()[0]
        assert ana.client.player == player


async def test_a_room_of_this_server_needs_no_journey(server: Server, open_screen: OpenScreen) -> None:
    async with open_screen(server.url) as ana, open_peer(server.url, "bo") as bo:
        code = (await bo.ask("create"))["room"]
        await ana.until("Playing as")
        client = ana.client
        await paste(ana, f"ws://localhost:{server.port}/{code}")
        await ana.until("It's bo's move.")
        assert ana.client is client
        await ana.app.session.identity.release()
        assert code in rooms_left(server.url)


async def test_a_server_nearby_is_listed_and_gone_to(server: Server, open_screen: OpenScreen) -> None:
    announcing = AsyncZeroconf()
    try:
        await register(announcing, announced())
        async with open_screen(NOWHERE.rpartition("/")[0]) as ana:
            await ana.until("Can't reach", "> Near you: hall  ws://10.1.2.3:8765")
            ana.app.session.cluster = parse_cluster(server.url)
            await ana.do("r", "> Find an opponent", "Near you: hall")
        async with open_screen(server.url) as ana:
            await ana.until("Playing as", "Near you: hall")
            await ana.do("end enter", "ws://10.1.2.3:8765  ●")
            await ana.do("escape", "Playing as", "Near you: hall")
            await announcing.async_unregister_all_services()
            await ana.until("Playing as", gone="Near you: hall")
    finally:
        await announcing.async_close()


async def test_home_shows_the_current_server(server: Server, open_screen: OpenScreen) -> None:
    async with (
        Proxy(server.port) as one,
        Proxy(server.port) as two,
        open_screen(one.url, server=f"{one.url},{two.url}") as ana,
    ):
        await ana.until(one.url, "Playing as")
        one.lose()
        await ana.until(two.url, "Playing as")
    assert {KnownPlayers().find((way.url,)) is not None for way in (one, two)} == {True}
