from playwright.async_api import expect

from tests.page.conftest import Visit, other_site
from tests.peer import play_out, two_playing
from tictactoe_server.server import Server

PAGE = r"""<!doctype html>
<title>The newest game</title>
<pre></pre>
<script type="module">
	const server = "http://localhost:8765";
	const { rooms: [newest] } = await (await fetch(`${server}/api/rooms`)).json();
	if (!newest) document.querySelector("pre").textContent = "Nobody plays.";
	const { body } = newest ? await fetch(`${server}/api/rooms/${newest.room}/stream`) : new Response("");
	let text = "";
	for await (const part of body.pipeThrough(new TextDecoderStream())) {
		const lines = (text + part).split("\n");
		text = lines.pop();
		const states = lines.filter(Boolean).map(JSON.parse).filter(({ type }) => type === "room");
		for (const { board, rules, status } of states) {
			const rows = board.match(new RegExp(`.{${rules.columns}}`, "g"));
			document.querySelector("pre").textContent = [...rows, status].join("\n");
		}
	}
</script>
"""
"""A page that shows the newest public game of a server."""


async def test_a_page_of_another_origin_follows_a_game(server: Server, visit: Visit) -> None:
    page = PAGE.replace("localhost:8765", f"127.0.0.1:{server.port}")
    async with two_playing(server) as (ana, bo, room), other_site(page) as origin:
        eve = await visit(origin, may_fail="favicon|404")
        await expect(eve.page.locator("pre")).to_have_text("...\n...\n...\nplaying")
        await play_out({"X": ana, "O": bo}, room, [0, 3, 1, 4, 2])
        await expect(eve.page.locator("pre")).to_have_text("XXX\nOO.\n...\nover")
