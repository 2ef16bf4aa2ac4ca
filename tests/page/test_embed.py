from contextlib import AbstractAsyncContextManager

from playwright.async_api import expect

from tests.events import begin_event, open_event
from tests.page.conftest import Visit, other_site
from tests.peer import open_peer, play_out, two_playing
from tests.server.test_pages import LINE_FOR_X
from tictactoe_server.server import Server


def framed(address: str) -> AbstractAsyncContextManager[str]:
    """Serve a page of another origin with this address in a frame."""
    return other_site(
        f"<!doctype html><link rel=icon href='data:,'><iframe src='{address}' width=480 height=640></iframe>"
    )


async def test_an_embedded_game_is_live_and_stores_nothing(server: Server, visit: Visit) -> None:
    origin = f"http://127.0.0.1:{server.port}"
    async with two_playing(server) as (ana, bo, room):
        await play_out({"X": ana, "O": bo}, room, [4])
        async with framed(f"{origin}/embed/{room}") as site:
            visitor = await visit("about:blank")
            sockets: list[object] = []
            visitor.page.on("websocket", lambda socket: sockets.append(socket))
            await visitor.page.goto(site)
            frame = visitor.page.frame_locator("iframe")
            await expect(frame.locator("h1")).to_contain_text("ana")
            await expect(frame.locator("[data-in='4'] .mark")).to_have_count(1)
            await bo.ask("move", room=room, cell=0, ply=1)
            await expect(frame.locator("[data-in='0'] .mark")).to_have_count(1)
            assert sockets == []
            full = await visit(f"{origin}/{room}")
            await full.button("Share").click()
            tag = f'<iframe src="{origin}/embed/{room}" title="tictactoe" width="100%" height="600"></iframe>'
            await expect(full.page.get_by_label("Embed in a page")).to_have_value(tag)
            await expect(full.page.get_by_label("Picture")).to_have_value(f"{origin}/preview/{room}.png")
            await expect(full.page.get_by_label("Link")).to_have_value(f"{origin}/{room}")
            inner = next(one for one in visitor.page.frames if one.url.startswith(origin))
            assert "token" not in str(await inner.evaluate("JSON.stringify({...localStorage})"))


async def test_a_shared_game_plays_by_itself_in_a_frame_and_can_be_stepped(server: Server, visit: Visit) -> None:
    async with two_playing(server.url) as (ana, bo, room):
        await play_out({"X": ana, "O": bo}, room, LINE_FOR_X)
        game = (await ana.ask("history"))["games"][0]["game_id"]
        id = (await ana.ask("share", game_id=game))["replay"]
        async with framed(f"http://127.0.0.1:{server.port}/embed/replay/{id}") as site:
            frame = (await visit(site)).page.frame_locator("iframe")
            await expect(frame.locator("[data-in] .mark")).to_have_count(5)
            await frame.get_by_role("button", name="«").or_(frame.locator(".steps button").first).first.click()
            await expect(frame.locator("[data-in] .mark")).to_have_count(0)


async def test_an_event_has_its_games_and_its_table_in_a_frame(server: Server, visit: Visit) -> None:
    async with open_peer(server.url, "ana") as ana, open_peer(server.url, "bo") as bo:
        event = await open_event(ana, ana, bo, kind="swiss", clock={"move_ms": 10_000})
        async with framed(f"http://127.0.0.1:{server.port}/embed/e/{event}") as site:
            frame = (await visit(site)).page.frame_locator("iframe")
            await expect(frame.locator("h1")).to_have_text("Friday")
            await expect(frame.locator(".standings tbody tr").first).to_contain_text("ana")
            await begin_event(ana, event, 2)
            await expect(frame.locator(".pairings li")).to_contain_text("0 moves")
