"""In every state of the page, nothing covers a control or is cut off, and axe-core finds no fault."""

import pytest
from playwright.async_api import expect

from tests.page.conftest import LAPTOP, PHONE, FindViolations, Visit, Visitor, find_in_both_schemes
from tests.page.test_play import address
from tests.peer import Peer, two_playing
from tictactoe_server.server import Server

COVERED = """() => {
    const root = document.querySelector("dialog[open]") ?? document;
    const controls = [...root.querySelectorAll("button, a[href], input, select, summary, textarea, [role=gridcell]")]
        .filter((one) => one.checkVisibility() && !one.disabled && !one.closest(".unseen"));
    const found = new Set();
    for (let top = 0; top < document.documentElement.scrollHeight; top += innerHeight / 2) {
        scrollTo(0, top);
        for (const one of controls) {
            const { left, right, top, bottom } = one.getBoundingClientRect();
            const seen = (one.closest(".after, .moves, .board-box, dialog") ?? root).getBoundingClientRect?.();
            if (top < Math.max(0, seen?.top ?? 0) || bottom > Math.min(innerHeight, seen?.bottom ?? Infinity)) continue;
            const middle = (top + bottom) / 2;
            for (const [x, y] of [[(left + right) / 2, middle], [left + 4, middle], [right - 4, bottom - 4]]) {
                const hit = document.elementFromPoint(x, y);
                const isOwn = one.contains(hit) || one.closest("label")?.contains(hit);
                if (!isOwn) found.add(`${one.outerHTML.slice(0, 80)} under ${hit?.outerHTML.slice(0, 80)}`);
            }
        }
    }
    scrollTo(0, 0);
    return [...found];
}"""


# The line of terms is shortened by an ellipsis on purpose: a click on it opens the rules.
CUT = """() => [...document.querySelectorAll(".game *")].filter((one) => one.checkVisibility()
    && !one.closest("svg, .unseen, .moves") && (one.getBoundingClientRect().right > innerWidth
    || getComputedStyle(one).overflowX === "hidden" && one.scrollWidth > one.clientWidth + 1
    && !one.matches(".terms")))
    .map((one) => `${one.outerHTML.slice(0, 99)} is cut off`)"""


@pytest.mark.parametrize("window", [PHONE, LAPTOP], ids=["phone", "laptop"])
async def test_everything_can_be_seen_and_clicked(
    server: Server, find_violations: FindViolations, visit: Visit, bo: Peer, window: dict[str, int]
) -> None:
    found: dict[str, list[str]] = {}
    ana = await visit(address(server), phone=window is PHONE)

    async def look(state: str, *, of: Visitor = ana, is_silent: bool = True) -> None:
        await of.page.evaluate("Promise.allSettled(document.getAnimations().map(one => one.finished))")
        found[state] = await of.page.evaluate(COVERED) + await of.page.evaluate(CUT)
        if window is PHONE or state in ("door", "question", "review"):
            found[state] += await find_in_both_schemes(find_violations, of.page)
        assert await of.page.evaluate("document.documentElement.scrollWidth <= innerWidth"), state
        box = await of.page.locator("#news").bounding_box()
        assert not is_silent or box is None or box["height"] <= 1, state

    await ana.connects()
    await look("first page")
    await ana.tile("custom").click()
    await ana.page.get_by_text("More").click()
    await look("own game")
    for path in ("/#games", "/wall"):
        await ana.page.goto(address(server, path))
        await ana.connects()
        await look(path)
    async with two_playing(server, "cy", "dee"):
        for path in ("/wall", "/"):
            await ana.page.goto(address(server, path))
            await expect(ana.page.locator(".live-boards li")).to_have_count(1)
            found[f"a game on {path}"] = await find_in_both_schemes(find_violations, ana.page)
    await ana.quick_match("Maximiliane Hohenthal 2", "gomoku-standard")
    await look("invitation")
    eve = await visit(ana.page.url, phone=window is PHONE)
    await expect(eve.page.locator(".door")).to_be_visible()
    await look("door", of=eve)
    await eve.page.close()
    await bo.ask("join", room=ana.code)
    await expect(ana.page.locator("p.turn.mine")).to_be_visible()
    await look("own move")
    assert await ana.cell(0).evaluate("cell => cell.getBoundingClientRect().width") >= 24
    for cell in (112, 98, 127):
        if window is PHONE:
            await ana.cell(cell).tap()
            await look("move to confirm")
            await ana.page.locator(".confirm-bar .primary").tap()
        else:
            await ana.cell(cell).click()
        await ana.has_played(cell)
    await bo.ask("choose", room=ana.code, take="more", ply=3)
    for ply, cell in ((3, 96), (4, 113)):
        await bo.ask("move", room=ana.code, cell=cell, ply=ply)
    await expect(ana.page.locator(".ask")).to_contain_text("has placed two more")
    await look("choice of sides")
    for part in (".ask button:last-child", *((".talk input", ".moves [aria-current]") if window is LAPTOP else ())):
        await expect(ana.page.locator(part)).to_be_in_viewport(ratio=1)
    await ana.page.locator(".ask button").first.click()
    await bo.ask("chat", room=ana.code, text="good luck")
    await ana.hears("bo: good luck")
    await bo.ask("draw", room=ana.code, action="offer")
    await expect(ana.page.locator(".ask")).to_have_count(1)
    await look("question")
    if window is PHONE:
        await ana.page.locator(".heard").click()
        await look("open talk")
    await ana.confirm(ana.button("Resign"))
    await ana.hears("You lose.")
    await look("end")
    await ana.page.locator(".more summary").click()
    await look("menu")
    await ana.button("Review").click()
    await expect(ana.page.locator(".turned")).to_be_visible()
    await look("review")
    for name in ("Rules", "Keys"):
        await ana.open_dialog(name)
        await look(name)
        await ana.close_dialog()
    assert {state: faults for state, faults in found.items() if faults} == {}
