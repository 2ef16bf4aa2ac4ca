import re

import pytest
from playwright.async_api import expect

from tests.page.conftest import LAPTOP, Visit, Visitor, take_turns
from tests.peer import Peer
from tictactoe_server.server import Server

WITHOUT_LONG_TIMERS = """() => {
    const start = window.setTimeout
    window.setTimeout = (run, ms, ...more) => ms > 4000 ? 0 : start(run, ms, ...more)
}"""
"""Keeps what the page shows for a few seconds on the page."""
NOTE_THE_BURST = """() => addEventListener("animationstart", ({ animationName }) => {
    if (animationName === "fly") document.body.dataset.flown = ""
})"""
"""Notes that the winner's burst was animated, which takes only a moment."""


def address(server: Server, path: str = "/") -> str:
    return f"http://127.0.0.1:{server.port}{path}"


async def two_at_the_board(server: Server, visit: Visit) -> tuple[Visitor, Visitor]:
    ana = await visit(address(server))
    await ana.quick_match("ana", "classic")
    bo = await visit(ana.page.url)
    await bo.join("bo")
    await ana.hears("bo joins as ")
    return ana, bo


async def one_at_the_board(
    server: Server, visit: Visit, bo: Peer, game: str = "classic", *, joins: str = "bo"
) -> Visitor:
    """Seat ana at a page against bo, who uses a bare connection."""
    ana = await visit(address(server))
    await ana.quick_match("ana", game)
    await bo.ask("join", room=ana.code)
    await ana.hears(f"{joins} joins as ")
    return ana


async def test_a_link_leads_a_friend_to_the_board_and_a_line_decides(server: Server, visit: Visit) -> None:
    ana, bo = await two_at_the_board(server, visit)
    await take_turns((0, 3, 1, 4, 2), ana, bo)
    await bo.hears("ana plays C1. You lose. Row 1 is X X X.")
    await ana.hears("You win! Row 1 is X X X.")
    await expect(bo.page.locator(".through")).to_have_count(1)
    await expect(bo.page.locator(".burst")).to_have_count(0)
    await expect(ana.page.locator(".burst")).to_have_count(1)
    await expect(ana.page.locator(".winner .name")).to_have_text("ana (you)")
    await bo.sees(A1="X", B2="O", C3="free")
    await ana.page.reload()
    await ana.button("Play again").click()
    await bo.answer("Accept")
    await ana.sees(A1="free")
    await expect(ana.page.locator(".sub.terms")).not_to_contain_text("you watch")


async def test_a_small_board_is_centred_and_signs_have_the_colours_of_marks(server: Server, visit: Visit) -> None:
    ana, _ = await two_at_the_board(server, visit)
    paper, box = [await ana.page.locator(selector).bounding_box() for selector in (".board .paper", ".board-box")]
    assert paper is not None
    assert box is not None
    assert paper["x"] + paper["width"] / 2 == pytest.approx(box["x"] + box["width"] / 2, abs=1)
    colours = """rows => rows.map(row => [
        getComputedStyle(row.querySelector(".name"), "::before").color,
        getComputedStyle(row.querySelector(".mark")).stroke])"""
    signs = await ana.page.locator(".player").evaluate_all(colours)
    assert all(sign == mark for sign, mark in signs)
    assert signs[0] != signs[1]


@pytest.mark.parametrize("moves", [False, True])
async def test_a_misere_line_loses_and_is_not_painted_as_a_win(server: Server, visit: Visit, moves: bool) -> None:
    ana = await visit(address(server), moves=moves)
    await ana.quick_match("ana", "misere")
    bo = await visit(ana.page.url, moves=moves, language="de", phone=True)
    await bo.page.locator(".door input").fill("bo")
    await bo.page.locator(".door button").click()
    await bo.page.evaluate(NOTE_THE_BURST)
    await take_turns((0, 3, 1, 4, 2), ana, bo)
    await expect(ana.page.locator("p.turn")).to_have_text("You lose. You completed the line A1 to C1.")
    won = "Du gewinnst! ana hat die Reihe A1 bis C1 vollendet und damit verloren."
    await expect(bo.page.locator("p.turn")).to_have_text(won)
    await expect(bo.status).to_have_text(f"ana spielt C1. {won}")
    for page in (ana.page, bo.page):
        await expect(page.locator(".cells .fatal")).to_have_count(3)
        await expect(page.locator(".cells .won")).to_have_count(0)
        await expect(page.locator(".deeds button:visible")).to_have_count(1)
    if moves:
        await expect(bo.page.locator("body[data-flown]")).to_be_visible()
    else:
        await expect(bo.page.locator(".burst")).to_be_hidden()


async def test_a_refused_move_is_explained_at_the_cell_until_the_next_move(server: Server, visit: Visit) -> None:
    ana, bo = await two_at_the_board(server, visit)
    await ana.play(4)
    await expect(bo.page.locator("p.turn.mine")).to_be_visible()
    await bo.page.evaluate(WITHOUT_LONG_TIMERS)  # so that only the move hides the message
    await bo.cell(4).click()
    await expect(bo.page.locator(".bubble")).to_have_text("B2 is taken by X.")
    await bo.hears("B2 is taken by X.")
    await bo.cell(0).click()
    await expect(bo.page.locator(".bubble")).to_be_hidden()


async def test_a_refused_name_is_not_replaced_silently(server: Server, visit: Visit) -> None:
    eve = await visit(address(server))
    await eve.page.get_by_label("Playing as").fill("hard-bot")
    await eve.button("Find an opponent").click()
    await eve.hears("hard-bot is taken: choose another name.")
    await expect(eve.page.get_by_label("Playing as")).to_have_value("hard-bot")
    await eve.quick_match("eve")
    bo = await visit(eve.page.url)
    await bo.page.get_by_label("Your name").fill("hard-bot")
    await bo.page.get_by_role("button", name="Play as").click()
    await bo.hears("hard-bot is taken: choose another name.")
    await expect(eve.page.get_by_text("Waiting for someone")).to_be_visible()
    await bo.join("bo")
    await eve.hears("bo joins as O.")


async def test_an_aborted_game_is_played_again(server: Server, visit: Visit) -> None:
    ana, bo = await two_at_the_board(server, visit)
    assert await ana.confirm(ana.button("Abort")) == "Abort the game?"
    await bo.hears("The game doesn't count.")
    await bo.button("Play again").click()
    await ana.hears("bo wants a rematch.")
    await ana.page.keyboard.press("r")
    await bo.hears("Game 2. You are O. ana is X.")


async def test_a_finished_game_can_be_reviewed_shared_and_listed(server: Server, visit: Visit) -> None:
    ana, bo = await two_at_the_board(server, visit)
    await take_turns((0, 3, 1, 8, 2), ana, bo)
    await expect(ana.button("Play again")).to_be_visible()  # a move is shown before its answer is here
    await ana.page.keyboard.press("v")
    await expect(ana.page.locator(".worth.best")).to_have_count(1)
    await ana.hears("X wins at once. Best: C1.")
    assert await ana.page.evaluate("document.documentElement.scrollWidth") <= LAPTOP["width"]
    await bo.page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    await bo.choose("Share")
    eve = await visit(await bo.page.get_by_label("Link").input_value())
    await expect(eve.page.locator("h1")).to_contain_text("ana v bo")
    await expect(eve.page.locator(".where")).to_have_text("5 / 5")
    await expect(eve.page.locator(".through")).to_have_count(1)
    await eve.button("Review").click()
    await expect(eve.page.locator(".turned")).to_contain_text("The game turned at move")
    await ana.page.goto(address(server, "/#games"))
    await expect(ana.page.locator(".rooms li")).to_contain_text(re.compile("by a line.*won"))
    await ana.page.get_by_role("link", name="Replay").click()
    await ana.button("To the end").click()
    await ana.sees(A1="X", C1="X")
    await ana.button("Review").click()
    await expect(ana.page.locator(".turned")).to_contain_text("The game turned at move")


async def test_a_review_shows_the_turning_point_and_the_mistake(server: Server, visit: Visit) -> None:
    ana, bo = await two_at_the_board(server, visit)
    await take_turns((4, 1, 0, 8, 6, 2, 3), ana, bo)
    for text in "abcde":
        await bo.page.get_by_label("Say something").fill(text)
        await bo.page.keyboard.press("Enter")
        await expect(ana.page.locator(".lines li").last).to_have_text(f"bo {text}")
    await ana.choose("Review")
    await expect(ana.page.locator(".lines li").last).to_be_in_viewport(ratio=0.9)
    await expect(ana.page.get_by_label("Say something")).to_be_in_viewport(ratio=1)
    await expect(ana.page.locator(".turned")).to_contain_text("The game turned at move 2. B1 gives the draw away")
    await expect(ana.page.locator(".graph")).to_be_visible()
    await expect(ana.page.locator(".moves .mistake")).to_have_count(1)
    await ana.button("Next mistake").click()
    await expect(ana.page.locator(".where")).to_have_text("2 / 7")
    await expect(ana.page.locator(".better")).to_have_count(4)
    await ana.button("A move back").click()
    await expect(ana.page.locator(".worth.best")).to_have_count(4)
    await expect(ana.page.locator(".worth")).to_have_count(4)
    await ana.cell(1).hover()
    await expect(ana.page.locator(".worth.loss")).to_have_count(1)
    await expect(ana.page.locator(".pointed")).to_have_text("B1 loses in 6")
    await ana.cell(1).click()
    await expect(ana.page.locator(".bubble")).to_be_hidden()
    await ana.button("Values of all cells").click()
    await expect(ana.page.locator(".worth")).to_have_count(8)
    await ana.button("A move back").click()
    await expect(ana.page.locator(".worth")).to_have_count(9)
    await expect(ana.page.locator(".worth.best")).to_have_count(0)


async def test_gomoku_is_played_with_stones_unless_marks_are_chosen(server: Server, visit: Visit, bo: Peer) -> None:
    ana = await one_at_the_board(server, visit, bo, "gomoku")
    await ana.play(112)
    await expect(ana.piece(112).locator("circle.stone")).to_have_count(1)
    await expect(ana.page.locator(":is(.player, .moves) .mark")).to_have_count(0)
    await expect(ana.page.locator(".moves li")).to_have_text("1 black H8")
    await ana.button("stones or letters").click()
    await expect(ana.piece(112).locator("path.mark")).to_have_count(1)
    await ana.page.reload()
    await expect(ana.piece(112).locator("path.mark")).to_have_count(1)


HIDDEN = "Object.defineProperty(document, 'hidden', {get: () => true})"
TOLD = """window.told = [];
Notification = class extends Notification {constructor(...all) {super(...all); told.push(all)}};
void 0"""


async def test_a_hidden_page_notifies_its_player_if_allowed(server: Server, visit: Visit, bo: Peer) -> None:
    ana = await visit(address(server))
    await ana.page.context.grant_permissions(["notifications"])
    await ana.page.reload()
    await ana.quick_match("ana")
    code = ana.code
    await bo.ask("join", room=code)
    await ana.play(4)
    await ana.page.evaluate(f"{HIDDEN}; {TOLD}")
    await bo.send("move", room=code, cell=0, ply=1)
    await ana.hears("bo plays A1")
    assert await ana.page.evaluate("told.map(([title, {body}]) => [title, body])") == [
        ["Your move", "ana v bo · Tic-tac-toe"]
    ]


async def test_the_board_is_played_by_keyboard_and_an_offer_keeps_the_focus(server: Server, visit: Visit) -> None:
    ana, bo = await two_at_the_board(server, visit)
    await expect(ana.page.locator("p.turn.mine")).to_be_visible()
    for _ in range(40):
        await ana.page.keyboard.press("Tab")
        if await ana.page.evaluate("!!document.activeElement.closest('.board-box')"):
            break
    await expect(ana.cell(4)).to_be_focused()
    for key in ("ArrowUp", "ArrowLeft", "Enter"):
        await ana.page.keyboard.press(key)
    await bo.sees(A1="X")
    await bo.play(4)
    await ana.button("Offer a draw").focus()
    await ana.page.keyboard.press("Enter")
    await expect(ana.button("Withdraw")).to_be_focused()
