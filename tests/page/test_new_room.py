import re

import pytest
from playwright.async_api import expect

from tests.page.conftest import Visit
from tests.page.test_play import address
from tests.peer import Peer
from tictactoe_engine import PRESETS
from tictactoe_protocol.terms import RulesState
from tictactoe_server.server import Server
from tictactoe_words.wording import describe_rules


@pytest.mark.parametrize("way", ["keyboard", "touch"])
async def test_the_last_game_of_the_list_opens_by_keys_or_a_thumb(server: Server, visit: Visit, way: str) -> None:
    ana = await visit(address(server, "/#new"), phone=way == "touch")
    await ana.connects()
    game, rules = list(PRESETS.items())[-1]
    if way == "touch":
        await ana.tile(game).tap()
        await ana.button("Begin").tap()
    else:
        await ana.tile("classic").focus()
        for _ in range(len(PRESETS) - 1):
            await ana.page.keyboard.press("ArrowRight")
        await ana.button("Begin").press("Enter")
    terms = re.escape(f"{describe_rules(RulesState.of(rules))} ·")
    await expect(ana.page.locator(".sub")).to_have_text(re.compile(f"^{terms}"))


async def test_every_field_of_the_form_counts_and_a_fault_is_named(server: Server, visit: Visit) -> None:
    ana = await visit(address(server, "/#new"))
    form = ana.page
    await ana.connects()
    await form.get_by_text("More").click()
    await ana.tile("connect-four").check()
    await expect(form.get_by_label("Gravity")).to_be_checked()
    await form.get_by_role("spinbutton", name="Rows").fill("5")
    await form.get_by_role("spinbutton", name="Columns").fill("6")
    await expect(ana.tile("custom")).to_be_checked()
    await form.get_by_role("spinbutton", name="In a row").fill("9")
    await ana.button("Begin").click()
    line = form.locator("label", has=form.get_by_role("spinbutton", name="In a row"))
    await expect(line.get_by_role("alert")).to_have_text("A line of 9 can't fit a 5x6 board (at most 6).")
    await expect(line.locator("input")).to_be_focused()
    await line.locator("input").fill("4")
    await expect(form.get_by_role("alert")).to_be_empty()
    for name, wrong in (("Blocked", "z9"), ("Another clock", "soon"), ("Marks", "XX")):
        await form.get_by_role("textbox", name=name).fill(wrong)
        await ana.button("Begin").click()
        await expect(form.locator("label:has([aria-invalid])").get_by_role("alert")).not_to_be_empty()
        await expect(form.get_by_role("textbox", name=name)).to_be_focused()
        await form.get_by_role("textbox", name=name).fill("" if name != "Marks" else "XO")
    await form.get_by_role("textbox", name="Marks").fill("AB")
    await form.get_by_role("textbox", name="Blocked").fill("a1 f5")
    await form.get_by_role("checkbox", name="Misère").check()
    await form.get_by_label("Gravity").uncheck()
    await form.get_by_label("Another clock").fill("3+2")
    await form.get_by_label("Who may see it").select_option("private")
    await form.get_by_label("Your mark").select_option("B")
    await form.get_by_role("radio", name="Play the computer").check()
    await form.get_by_label("Strength").select_option("easy")
    await form.get_by_label("Chat").select_option("players")
    await form.get_by_label("Analysis").select_option("open")
    await ana.button("Begin").click()
    terms = "5 by 6, 4 in a row loses, A1 F5 blocked · 3+2 · analysis open · chat for players · private"
    await expect(form.locator(".sub")).to_have_text(terms)
    await expect(form.locator(".player.m1")).to_contain_text("(you)")
    await expect(form.locator("p.turn.mine")).to_be_visible()


@pytest.mark.parametrize(
    ("who", "privacy"),
    [("Invite a friend", "private"), ("Invite a friend", "public"), ("Play the computer", "private")],
)
async def test_a_new_room_is_private_unless_everybody_may_see_it(
    server: Server, visit: Visit, bo: Peer, who: str, privacy: str
) -> None:
    ana = await visit(address(server, "/#new"))
    await ana.connects()
    await ana.page.get_by_role("radio", name=who).check()
    if privacy == "public":
        await ana.page.get_by_text("More").click()
        await ana.page.get_by_label("Who may see it").select_option(privacy)
    await ana.button("Begin").click()
    await ana.hears("You are X.")
    code = ana.code
    await bo.send("watch", room=code)
    state = await bo.next_of("room")
    assert (state["visibility"], state["seats"]["O"] is not None) == (privacy, who == "Play the computer")
