from playwright.async_api import expect

from tests.page.conftest import Visit, Visitor, take_turns
from tests.page.test_play import address, two_at_the_board
from tests.peer import Peer
from tictactoe_server.server import Server


async def colour(visitor: Visitor, cell: int) -> str | None:
    return await visitor.piece(cell).locator(".stone").get_attribute("style")


async def sit_at(visitor: Visitor, mark: str) -> None:
    await expect(visitor.page.locator(f".player.m{'XO'.index(mark)} .name")).to_contain_text("(you)")


async def test_a_game_by_swap2_is_placed_chosen_and_won_between_two_pages(server: Server, visit: Visit) -> None:
    ana, bo = await two_at_the_board(server, visit, "gomoku-standard")
    turn, asked = ana.page.locator("p.turn"), bo.page.locator(".ask")
    await expect(turn).to_have_text("Place black: 3 to go, then bo chooses a side.")
    await ana.play(112)
    await expect(turn).to_have_text("Place white: 2 to go, then bo chooses a side.")
    await ana.cell(98).hover()
    await expect(ana.page.locator(".ghost .stone")).to_have_attribute("style", 'fill: url("#stone1");')
    await ana.play(98, 127)
    assert [await colour(bo, cell) for cell in (112, 98)] == [f'fill: url("#stone{index}");' for index in (0, 1)]
    await expect(ana.button("Take back")).to_have_count(0)
    await expect(asked).to_contain_text("ana has placed three stones for both sides. Choose your side")
    await bo.cell(0).click()
    await expect(bo.page.locator(".bubble")).to_have_text("Choose your side.")
    answers = ["play black, white moves", "stay white, and move", "place two more, then ana chooses"]
    await expect(asked.locator("button")).to_have_text(answers)
    await bo.page.keyboard.press("3")
    await ana.hears("bo places two more, then you choose.")
    await bo.play(96, 113)
    await expect(ana.page.locator(".ask button")).to_have_text(["play white, and move", "stay black, white moves"])
    await ana.page.keyboard.press("1")
    await bo.hears("ana takes white: you are black now.")
    await ana.hears("You take white: bo is black now. Your move, white.")
    await sit_at(ana, "O")
    await sit_at(bo, "X")
    await take_turns((97, 142, 95, 157, 94), ana, bo)
    await bo.hears("You lose.")
    chosen = ["You place two more, then ana chooses.", "ana takes white: you are black now."]
    await expect(bo.page.locator(".moves .choice")).to_have_text(chosen)
    await ana.button("Play again").click()
    await bo.answer("accept")
    await expect(bo.page.locator("p.turn")).to_have_text("Place black: 3 to go, then ana chooses a side.")


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
