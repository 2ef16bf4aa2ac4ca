import pytest
from playwright.async_api import expect

from tests.page.conftest import Visit
from tests.page.test_play import address, one_at_the_board
from tests.peer import Peer
from tictactoe_engine import PRESETS
from tictactoe_server.server import Server
from tictactoe_words.catalogue import say


async def test_a_thumb_chooses_a_small_cell_and_confirms_it(server: Server, visit: Visit) -> None:
    cy = await visit(address(server), phone=True)
    await cy.quick_match("cy", "gomoku")
    dee = await visit(cy.page.url, phone=True)
    await dee.join("dee")
    await cy.cell(100).tap()
    await expect(cy.button("Place at K7")).to_be_visible()
    await dee.sees(K7="free")
    await cy.cell(112).tap()
    await cy.button("Place at H8").tap()
    await dee.sees(H8="black", K7="free")
    await dee.cell(96).tap()
    await dee.cell(96).tap()
    await cy.sees(G7="white")


async def test_a_button_on_phones_opens_the_chat_and_counts_unread_lines(server: Server, visit: Visit) -> None:
    ana = await visit(address(server), phone=True)
    await ana.quick_match("ana")
    bo = await visit(ana.page.url)
    await bo.join("bo")
    await ana.hears("bo joins as O.")
    await expect(ana.page.get_by_label("Say something")).to_be_hidden()
    await bo.page.get_by_label("Say something").fill("good luck")
    await bo.page.keyboard.press("Enter")
    await ana.hears("bo: good luck")
    await ana.button("Talk 1").tap()
    await expect(ana.page.locator(".talk .lines")).to_be_in_viewport(ratio=1)
    await expect(ana.page.locator(".lines li").last).to_be_in_viewport(ratio=1)
    await ana.page.get_by_label("Say something").fill("thanks")
    await ana.page.keyboard.press("Enter")
    await bo.hears("ana: thanks")
    await ana.button("Talk").tap()
    await expect(ana.page.get_by_label("Say something")).to_be_hidden()
    await expect(bo.button("Talk")).to_be_hidden()


async def test_the_focus_goes_to_the_board_when_a_question_is_answered(server: Server, visit: Visit, bo: Peer) -> None:
    ana = await one_at_the_board(server, visit, bo)
    await bo.ask("draw", room=ana.code, action="offer")
    await ana.button("Decline").press("Enter")
    await expect(ana.cell(4)).to_be_focused()


async def test_the_keyboard_alone_leads_from_the_first_page_to_the_end_of_a_game(server: Server, visit: Visit) -> None:
    ana = await visit(address(server))
    keys = ana.page.keyboard
    await ana.connects()
    await ana.button("Find an opponent").focus()
    await keys.press("Enter")
    await expect(ana.page.get_by_text("Waiting for someone")).to_be_visible()
    bo = await visit(ana.page.url)
    await expect(bo.page.locator(".door")).to_be_visible()
    await bo.page.keyboard.press("Enter")
    await ana.hears("joins as O.")
    await keys.press("5")
    await bo.sees(B2="X")
    await bo.page.keyboard.press("ArrowUp")
    await bo.page.keyboard.press("ArrowUp")
    await bo.page.keyboard.press("Enter")
    await ana.sees(B1="O")
    await keys.type("a1")
    await expect(ana.page.locator("p.turn")).to_have_text("move: a1_")
    await keys.press("Enter")
    await bo.sees(A1="X")
    await bo.page.keyboard.press("2")
    await bo.hears("B1 is taken by O.")
    await bo.page.keyboard.press("4")
    await ana.sees(A2="O")
    await keys.press("9")
    await bo.hears("You lose. The diagonal A1 to C3 is X X X.")
    await ana.hears("You win!")
    await keys.press("ArrowLeft")
    await ana.sees(C3="free")
    await keys.press("End")
    await ana.sees(C3="X")
    await keys.press("r")
    await bo.hears("wants a rematch.")


WINDOWS = [(1280, 800), (1920, 1080), (390, 844), (844, 390), (640, 400), (320, 568)]


@pytest.mark.parametrize("game", ["gomoku", "connect-four"])
async def test_all_columns_are_visible_and_the_board_is_still(
    server: Server, visit: Visit, bo: Peer, game: str
) -> None:
    ana = await one_at_the_board(server, visit, bo, game)
    board = ana.page.locator(".board")

    async def places() -> list[tuple[float, float, float, float]]:
        found = []
        for width, height in WINDOWS:
            await ana.page.set_viewport_size({"width": width, "height": height})
            box = await board.bounding_box()
            assert box is not None
            assert 0 <= box["x"] <= width - box["width"], (width, height)
            found.append((box["x"], box["y"], box["width"], box["height"]))
        return found

    before = await places()
    assert before[0][3] >= 620
    await ana.page.set_viewport_size({"width": 1280, "height": 800})
    await ana.play(38)
    await bo.send("draw", room=ana.code, action="offer")
    await expect(ana.button("Accept")).to_be_visible()
    assert await places() == before


async def test_every_page_has_the_rules_of_each_game_and_cuts_nothing_off_at_400_percent(
    server: Server, visit: Visit, bo: Peer
) -> None:
    ana = await one_at_the_board(server, visit, bo, "gomoku")
    for path in ("", "/", "/#games", "/wall"):
        if path:
            await ana.page.goto(address(server, path))
        await ana.page.set_viewport_size({"width": 1280, "height": 800})
        await ana.button("Rules").click()
        rules = ana.page.get_by_role("dialog", name="Rules")
        for game in PRESETS:
            await expect(rules).to_contain_text(say(f"rules of {game}"))
        if not path:
            await expect(rules.locator("#rules-gomoku")).to_be_in_viewport()
        await ana.close_dialog()
        for width in (320, 1280):
            await ana.page.set_viewport_size({"width": width, "height": 256})
            assert await ana.page.evaluate("document.documentElement.scrollWidth") <= width, path
