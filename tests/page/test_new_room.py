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
    ana = await visit(address(server), phone=way == "touch")
    await ana.connects()
    game, rules = list(PRESETS.items())[-1]
    if way == "touch":
        await ana.tile(game).tap()
        await ana.button("Invite a friend").tap()
    else:
        await ana.tile("classic").focus()
        for _ in range(len(PRESETS) - 1):
            await ana.page.keyboard.press("ArrowRight")
        await ana.button("Invite a friend").press("Enter")
    terms = re.escape(f"{describe_rules(RulesState.of(rules))} ·")
    await expect(ana.page.locator(".sub")).to_have_text(re.compile(f"^{terms}"))


async def test_every_field_of_ones_own_game_counts_and_a_fault_is_named(server: Server, visit: Visit) -> None:
    ana = await visit(address(server, "/#own=5x6x4&marks=AB&blocked=a1,f5"))
    form = ana.page.get_by_role("region", name="Play", exact=True)
    await ana.connects()
    await form.get_by_text("More").click()
    await form.get_by_role("checkbox", name="Misère").check()
    await form.get_by_label("Opening").select_option("swap2")
    await ana.button("Invite a friend").click()
    opening = form.locator("label", has_text="Opening")
    await expect(opening.get_by_role("alert")).to_have_text(
        re.compile("The opening swap2 is for games without gravity and misère")
    )
    await expect(opening.locator("select")).to_be_focused()
    await opening.locator("select").select_option("none")
    await form.get_by_label("Another clock").fill("soon")
    await ana.button("Invite a friend").click()
    await expect(form.locator("label:has([aria-invalid])").get_by_role("alert")).not_to_be_empty()
    await expect(form.get_by_label("Another clock")).to_be_focused()
    await form.get_by_label("Another clock").fill("3+2")
    await expect(form.locator(".fault")).to_be_empty()
    await form.get_by_label("Your mark").select_option("B")
    await form.get_by_label("The computer").select_option("easy")
    await form.get_by_label("Players-only chat").check()
    await form.get_by_label("Analysis open").check()
    await ana.button("Play the computer").click()
    terms = "5 by 6, 4 in a row loses, A1 F5 blocked · 3+2 · analysis open · players-only chat · private"
    await expect(ana.page.locator(".sub")).to_have_text(terms)
    await expect(ana.page.locator(".player.m1")).to_contain_text("(you)")
    await expect(ana.page.locator("p.turn.mine")).to_be_visible()


async def test_a_new_room_is_private_unless_everybody_may_see_it(server: Server, visit: Visit, bo: Peer) -> None:
    ana = await visit(address(server))
    for who, privacy in (
        ("Invite a friend", "private"),
        ("Invite a friend", "public"),
        ("Play the computer", "private"),
        ("Find an opponent", "public"),
    ):
        await ana.connects()
        await ana.page.get_by_text("More").click()
        if privacy == "public":
            await ana.page.get_by_label("Who may see it").select_option(privacy)
        await ana.page.get_by_label("Players-only chat").check()
        await ana.button(who).click()
        await ana.hears("You are X.")
        await bo.send("watch", room=ana.code)
        state = await bo.state(room=ana.code)
        found = (state["visibility"], state["seats"]["O"] is not None, state["chat"])
        assert found == (privacy, who == "Play the computer", "players")
        await ana.page.goto(address(server))
