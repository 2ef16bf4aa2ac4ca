from pathlib import Path

from playwright.async_api import Route, expect

from tests.faults.harness import Harness
from tests.page.conftest import SERVER_GOES, Visit, Visitor
from tests.page.test_play import address, two_at_the_board
from tictactoe_server.server import Server


async def test_leaving_the_page_or_closing_the_tab_keeps_the_seat(server: Server, visit: Visit) -> None:
    ana, bo = await two_at_the_board(server, visit)
    room = ana.page.url
    await ana.play(4)
    await ana.page.get_by_role("link", name="tictactoe").click()
    await expect(ana.page.locator(".resume .ask")).to_contain_text("Your game with bo Tic‑tac‑toe · bo to move")
    resume = ana.page.get_by_role("button", name="Resume")
    await resume.focus()
    await bo.play(0)
    await expect(ana.page.locator(".resume .ask")).to_contain_text("Your game with bo Tic‑tac‑toe · your move")
    await expect(resume).to_be_focused()
    await resume.click()
    await ana.play(8)
    await ana.page.go_back()
    await expect(ana.button("Find an opponent")).to_be_visible()
    await ana.page.go_forward()
    await bo.play(1)
    await ana.play(2)
    await ana.page.close(run_before_unload=True)
    await bo.hears("ana lost the connection.")
    await bo.play(5)
    tab = Visitor(await ana.page.context.new_page(), "")
    await tab.page.goto(room)
    await tab.play(6)
    await bo.hears("You lose.")


async def test_another_tab_takes_the_seat_over_and_gives_it_back(server: Server, visit: Visit) -> None:
    ana, bo = await two_at_the_board(server, visit)
    tab = await ana.page.context.new_page()
    await tab.goto(ana.page.url)
    await ana.hears("You continued this game in another window or on another device.")
    await expect(ana.page.locator("p.turn")).to_have_text("")
    await ana.button("Continue here").click()
    await expect(ana.page.locator("p.turn.mine")).to_be_visible()
    await ana.cell(4).dblclick()
    await bo.sees(B2="X")
    await expect(ana.page.locator("p.turn")).to_have_text("It's bo's move.")
    await expect(ana.page.locator("p.bubble")).to_have_text("")


async def test_a_game_continues_after_the_server_was_killed(tmp_path: Path, visit: Visit) -> None:
    async with Harness(tmp_path) as harness:
        ana = await visit(f"http://127.0.0.1:{harness.port}/", may_fail=SERVER_GOES)
        await ana.quick_match("ana")
        bo = await visit(ana.page.url, may_fail=SERVER_GOES)
        await bo.join("bo")
        await ana.play(4)
        await bo.sees(B2="X")
        await harness.end()
        await bo.hears("Connection lost.")
        await expect(bo.page.locator(".banner")).to_contain_text("Connection lost. Trying again")
        await expect(bo.status).to_have_class("unseen")
        top = "banner.getBoundingClientRect().top >= document.querySelector('h1').getBoundingClientRect().bottom"
        assert await bo.page.locator(".banner").evaluate(f"banner => (banner.textContent = 'long '.repeat(99), {top})")
        await bo.cell(0).click()
        await bo.hears("A1 will be played as soon as the connection is back.")
        await harness.start()
        await ana.sees(A1="O", B2="X")
        await ana.play(8)
        await bo.sees(C3="X")
        await expect(ana.page.locator(".banner")).to_be_hidden()


async def test_a_page_with_a_missing_module_reloads_itself(server: Server, visit: Visit) -> None:
    ana = await visit(address(server), may_fail="404|Failed to fetch dynamically imported module")
    await expect(ana.button("New event…")).to_be_visible()
    loads = []
    ana.page.on("framenavigated", lambda frame: loads.append(frame.url))

    async def answer(route: Route) -> None:
        """Serve no module until the page is reloaded, like an upgraded server."""
        await (route.continue_() if loads else route.fulfill(status=404))

    await ana.page.route("**/*.js", answer)
    async with ana.page.expect_event("load"):
        await ana.button("New event…").click()
    await ana.button("New event…").click()
    await expect(ana.page.get_by_role("dialog")).to_be_visible()
    assert len(loads) == 1
