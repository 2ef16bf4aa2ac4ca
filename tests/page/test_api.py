import re
from pathlib import Path

from playwright.async_api import expect

from tests.page.conftest import Visit, other_site
from tests.peer import play_out, two_playing
from tictactoe_server.server import Server

EXAMPLE = Path(__file__).parents[2] / "docs" / "reference" / "http.md"


async def test_a_page_of_another_origin_follows_a_game(server: Server, visit: Visit) -> None:
    found = re.search(r"```html\n(.*?)```", EXAMPLE.read_text("utf-8"), re.DOTALL)
    assert found is not None
    page = found[1].replace("localhost:8765", f"127.0.0.1:{server.port}")
    async with two_playing(server) as (ana, bo, room), other_site(page) as origin:
        eve = await visit(origin, may_fail="favicon|404")
        await expect(eve.page.locator("pre")).to_have_text("...\n...\n...\nplaying")
        await play_out({"X": ana, "O": bo}, room, [0, 3, 1, 4, 2])
        await expect(eve.page.locator("pre")).to_have_text("XXX\nOO.\n...\nover")
