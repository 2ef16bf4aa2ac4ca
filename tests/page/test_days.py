"""Games over days on the page: choosing the clock, the games that await a move, and leaving without resigning."""

from playwright.async_api import expect

from tests.page.conftest import FindViolations, Visit, Visitor, find_in_both_schemes
from tests.page.test_play import address
from tests.peer import Peer
from tictactoe_server.server import Server


async def open_days_room(ana: Visitor, clock: str = "3d") -> str:
    """Wait for an opponent in a game over days, and return the room's code."""
    await ana.connects()
    await ana.page.locator("select:has([value='3d'])").select_option(clock)
    await ana.button("Find an opponent").click()
    await expect(ana.page.get_by_text("Waiting for someone")).to_be_visible()
    return ana.code


async def test_waiting_games_are_found_one_after_another(
    server: Server, visit: Visit, bo: Peer, find_violations: FindViolations
) -> None:
    ana = await visit(address(server))
    await ana.page.get_by_label("Playing as").fill("ana")
    rooms = []
    for clock in ("3d", "1d"):
        rooms.append(await open_days_room(ana, clock))
        await bo.ask("join", room=rooms[-1])
        await ana.hears("bo joins as ")
        await ana.page.get_by_role("link", name="tictactoe").click()
    await expect(ana.page.get_by_role("heading", name="2 games await you")).to_be_visible()
    rows = ana.page.locator(".turns li")
    await expect(rows).to_contain_text([rooms[0], rooms[1]])
    await expect(rows.first).to_contain_text("Tic\u2011tac\u2011toe")
    await expect(rows.first).to_contain_text("left")
    await expect(ana.page.locator(".resume .ask")).to_have_count(0)
    assert (await ana.page.title()).startswith("(2) ")
    assert await find_in_both_schemes(find_violations, ana.page) == []
    await ana.page.locator("main h2").first.click()
    await ana.page.keyboard.press(".")
    await expect(ana.page).to_have_url(address(server, f"/{rooms[0]}"))
    await expect(ana.page.locator(".days .deeds button").first).to_be_hidden()
    await ana.play(4)
    await expect(ana.button("Next game (1)")).to_be_visible()
    assert (await ana.page.title()).startswith("(1) ")
    assert await find_in_both_schemes(find_violations, ana.page) == []
    await ana.page.keyboard.press(".")
    await expect(ana.page).to_have_url(address(server, f"/{rooms[1]}"))
    await ana.play(4)
    await expect(ana.page.locator(".days .deeds button").first).to_be_hidden()
    await expect(ana.page).to_have_title("It's bo's move. ana v bo")
    await bo.ask("move", room=rooms[0], cell=0, ply=1)
    await ana.button("Next game (1)").click()
    await expect(ana.page).to_have_url(address(server, f"/{rooms[0]}"))
    await ana.sees(A1="O", B2="X")


async def test_leaving_a_game_over_days_keeps_the_seat_unless_one_resigns(
    server: Server, visit: Visit, bo: Peer
) -> None:
    ana = await visit(address(server))
    room = await open_days_room(ana)
    await ana.page.keyboard.press("Escape")
    await expect(ana.button("Come back later")).to_be_focused()
    await ana.page.keyboard.press("Escape")
    await expect(ana.button("Come back later")).to_be_hidden()
    await bo.ask("join", room=room)
    await ana.play(4)
    await ana.button("leave").click()
    await ana.page.keyboard.press("Enter")
    await expect(ana.button("Find an opponent")).to_be_visible()
    assert (await bo.state())["status"] == "playing"
    await ana.page.go_back()
    await ana.button("leave").click()
    await ana.page.locator(".days .ask").get_by_role("button", name="Resign").click()
    await ana.answer("resign")
    assert (await bo.state(status="over"))["result"]["reason"] == "resigned"
    await ana.choose("leave")
    await expect(ana.button("Find an opponent")).to_be_visible()


async def test_a_typed_clock_of_days_opens_a_room(server: Server, visit: Visit, bo: Peer) -> None:
    ana = await visit(address(server), language="de", phone=True)
    await ana.connects()
    await ana.page.get_by_text("Mehr", exact=True).first.click()
    clock = ana.page.get_by_label("Andere Bedenkzeit")
    await clock.fill("3d+x")
    await ana.button("Freunde einladen").click()
    await expect(clock).to_be_focused()
    await expect(ana.page.locator("label:has([aria-invalid])").get_by_role("alert")).to_contain_text("3d+2d")
    await clock.fill("3d+2d")
    await ana.button("Freunde einladen").click()
    await expect(ana.page.locator(".invite")).to_be_visible()
    await bo.send("watch", room=ana.code)
    assert (await bo.state())["time_control"] == {"days": 3, "bank_days": 2}
