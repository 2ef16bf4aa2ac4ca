"""The form of a new room: every game by mouse, keyboard and touch, every field, and what is remembered of it."""

from __future__ import annotations

import re

import pytest
from playwright.async_api import Locator, expect

from tests.page.conftest import Visit, Visitor
from tests.page.test_play import address
from tictactoe_engine import PRESETS
from tictactoe_protocol.pushes import RulesState
from tictactoe_protocol.wording import describe_rules
from tictactoe_server.server import Server


def game_of(visitor: Visitor) -> Locator:
    return visitor.page.get_by_role("combobox", name=re.compile("^Game"))


async def choose(visitor: Visitor, game: str, way: str) -> None:
    """Choose a game from the list of the form, as one does with a mouse, with keys or on a phone."""
    select, keys = game_of(visitor), visitor.page.keyboard
    if way == "touch":
        await select.tap()
        await select.select_option(game)
        return
    await (select.click() if way == "mouse" else select.focus())
    await keys.press("Home")
    for _ in range(list(PRESETS).index(game)):
        await keys.press("ArrowDown")
    if way == "mouse":
        await keys.press("Enter")


@pytest.mark.parametrize("way", ["mouse", "keyboard", "touch"])
async def test_every_game_of_the_list_opens(server: Server, visit: Visit, way: str) -> None:
    ana = await visit(address(server), phone=way == "touch")
    for game, rules in PRESETS.items():
        await ana.page.goto(address(server, "/#new"))
        await expect(ana.page.locator(".link.on")).to_be_visible()
        await choose(ana, game, way)
        await expect(game_of(ana)).to_have_value(game)
        opens = ana.button("Open the room")
        await (opens.tap() if way == "touch" else opens.click() if way == "mouse" else opens.press("Enter"))
        terms = re.escape(f"{describe_rules(RulesState.of(rules))} ·")
        await expect(ana.page.locator(".sub")).to_have_text(re.compile(f"^{terms}"))


async def test_every_field_of_the_form_counts_and_a_fault_is_named(server: Server, visit: Visit) -> None:
    ana = await visit(address(server, "/#new"))
    form = ana.page
    await expect(form.locator(".link.on")).to_be_visible()
    await game_of(ana).select_option("connect-four")
    await expect(form.get_by_label("Gravity")).to_be_checked()
    await form.get_by_role("spinbutton", name="Rows").fill("5")
    await form.get_by_role("spinbutton", name="Columns").fill("6")
    await expect(game_of(ana)).to_have_value("your own")
    await form.get_by_label("In a row").fill("9")
    await ana.button("Open the room").click()
    await expect(form.get_by_role("alert")).not_to_be_empty()
    await form.get_by_label("In a row").fill("4")
    await form.get_by_role("textbox", name="Marks").fill("AB")
    await form.get_by_label("Blocked").fill("a1 f5")
    await form.get_by_label("Misère").check()
    await form.get_by_label("Gravity").uncheck()
    await form.get_by_label("Clock").fill("3+2")
    await form.get_by_label("Who may see it").select_option("private")
    await form.get_by_label("Your mark").select_option("B")
    await form.get_by_label("The computer").select_option("easy")
    await form.get_by_label("Chat").select_option("players")
    await form.get_by_label("Analysis").select_option("open")
    await ana.button("Open the room").click()
    terms = "5 by 6, 4 in a row loses, A1 F5 blocked · 3+2 · analysis open · chat for players · private"
    await expect(form.locator(".sub")).to_have_text(terms)
    await expect(form.locator(".player.m1")).to_contain_text("(you)")
    await expect(form.locator("p.turn.mine")).to_be_visible()
