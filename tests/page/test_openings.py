from playwright.async_api import expect

from tests.page.conftest import Visit
from tests.page.test_play import address
from tests.peer import Peer
from tictactoe_server.server import Server


async def test_the_first_choice_of_swap2_cuts_nothing_of_the_chat(server: Server, visit: Visit, bo: Peer) -> None:
    code = (await bo.ask("create", rules="gomoku-standard"))["room"]
    ana = await visit(address(server, f"/{code}"), language="de")
    await ana.page.set_viewport_size({"width": 1280, "height": 800})
    await ana.page.locator(".door button").click()
    await bo.until(lambda message: message.get("status") == "playing")
    for ply, cell in enumerate((112, 97, 113)):
        assert (await bo.ask("move", room=code, ply=ply, cell=cell))["type"] == "ok"
    await expect(ana.page.locator(".ask button")).to_have_count(3)
    await expect(ana.page.locator(".talk")).to_be_in_viewport(ratio=1)


async def test_an_opening_is_chosen_rule_by_rule_and_explained(server: Server, visit: Visit) -> None:
    ana = await visit(address(server, "/#own=15x15x5"))
    await ana.page.get_by_role("checkbox", name="Exact").check()
    await ana.page.get_by_role("combobox", name="Opening").select_option("pie")
    await ana.button("Invite a friend").click()
    terms = ana.page.locator(".sub")
    await expect(terms).to_contain_text("15 by 15, 5 in a row, exact lines only, second player may swap")
    await terms.click()
    own = ana.page.locator("#rules-own")
    await expect(own).to_contain_text("A line longer than 5 doesn't count. After the first move, the other player")
