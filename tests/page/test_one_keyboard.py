from playwright.async_api import expect

from tests.page.conftest import Visit
from tests.page.test_play import address
from tests.peer import open_peer
from tictactoe_server.server import Server


async def test_two_play_here_over_a_reload_agree_on_taking_back_and_play_again(server: Server, visit: Visit) -> None:
    ana = await visit(address(server))
    await ana.page.get_by_label("Playing as").fill("ana")
    await ana.tile("classic").check()
    await ana.button("Two here").click()
    await expect(ana.page.get_by_label("Name of X")).to_have_value("ana")
    await ana.page.get_by_label("Name of X").fill("Ida")
    await ana.page.get_by_label("Name of O").fill("Bo")
    await ana.button("Begin").click()
    await expect(ana.page.locator(".turn.whose.m0 .icon")).to_be_visible()
    await expect(ana.page.locator(".turn")).to_have_text("It's Ida's move.")
    for none in (".talk", ".heard", ".room-code"):
        await expect(ana.page.locator(none)).to_be_hidden()
    await expect(ana.button("Notify me")).to_have_count(0)
    await ana.play(0, 4)
    await ana.sees(A1="X", B2="O")
    await ana.button("Take back").click()
    await ana.hears("Bo takes back B2.")
    await ana.play(3)
    await ana.page.reload()
    await expect(ana.page.locator(".turn")).to_have_text("It's Ida's move.")
    await ana.sees(A1="X", A2="O")
    await ana.play(1, 4)
    await ana.sees(B1="X", B2="O")
    assert await ana.confirm(ana.button("Resign"), agrees=False) == "Resign for Ida?"
    await ana.button("Offer a draw").click()
    await ana.answer("Decline")
    await ana.hears("Bo declines.")
    await ana.play(2)
    await expect(ana.page.locator(".banner, .turn, .result").filter(has_text="Ida wins.").first).to_be_visible()
    await expect(ana.page.locator(".turn.over.whose.m0 .icon")).to_be_visible()
    await expect(ana.page.locator(".burst")).to_have_count(1)
    await expect(ana.page.get_by_role("link", name="Ida")).to_be_visible()
    await expect(ana.page.get_by_role("link", name="Bo")).to_have_count(0)
    await expect(ana.button("Share")).to_have_count(0)
    await ana.button("Play again").click()
    await expect(ana.page.locator(".turn")).to_have_text("It's Bo's move.")
    await expect(ana.page.locator(".player .score")).to_have_text(["0", "1"])
    await ana.play(8)
    await ana.page.goto(address(server))
    await expect(ana.page.get_by_label("Playing as")).to_have_value("ana")
    async with open_peer(server.url, "bo") as bo:
        assert not (await bo.ask("rooms"))["rooms"]


async def test_an_opening_is_played_by_names_and_leaving_ends_it_for_both(server: Server, visit: Visit) -> None:
    ana = await visit(address(server))
    await ana.tile("three-players").check()
    await expect(ana.button("All here")).to_be_visible()
    await ana.tile("four-pie").check()
    await ana.button("Two here").click()
    await ana.page.get_by_label("Name of O").fill("Bo")
    await ana.page.get_by_role("dialog").get_by_role("button", name="Begin").click()
    await ana.play(5)
    await expect(ana.page.locator(".turn")).to_have_text("Bo chooses a side.")
    await expect(ana.page.locator(".ask")).to_have_count(1)
    await ana.page.locator(".ask").get_by_role("button").first.click()
    await ana.hears("Bo takes X")
    code = ana.code
    await ana.confirm(ana.button("Leave"))
    await expect(ana.tile("classic")).to_be_visible()
    async with open_peer(server.url, "cy") as cy:
        assert (await cy.ask("join", room=code))["code"] == "no_such_room"
