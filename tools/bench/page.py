"""The speed of the page in a browser: python -m tools.bench.page

Prints each figure with its goal, in the system's Chromium on the loopback: the bytes for a first board, the time from
the first byte to that board on a processor slowed down four times, the cost of drawing a state on 15x15 and 32x32, and
the cost of a wall with a hundred games at a move a second each. Processor times are measured in the page's main thread,
without animations.
"""

import asyncio
import statistics
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack
from typing import Any, Final

from playwright.async_api import Browser, async_playwright

from tests.end_to_end.clients import link_to
from tests.limits import uncounted
from tests.page.conftest import LAPTOP
from tests.page.weight import weigh
from tests.peer import Peer, open_peer
from tictactoe_server.operator.log import set_up_logging
from tictactoe_server.server import Server
from tictactoe_server.settings import Settings
from tictactoe_words.catalogue import LANGUAGES
from tools.page_pictures import CHROMIUM

SLOWED: Final = 4
LOADS: Final = 21
MOVES: Final = 60
MOVE_SECONDS: Final = 0.06
GAMES: Final = 100
WATCHED_SECONDS: Final = 8

_UNTIL_DRAWN: Final = """() => new Promise(done => {
    const look = () =>
        document.querySelector("[data-cell]") ? requestAnimationFrame(() => done()) : setTimeout(look, 1);
    look();
})"""
_SINCE_FIRST_BYTE: Final = "performance.now() - performance.getEntriesByType('navigation')[0].responseStart"

Game = tuple[Peer, Peer, str]


async def open_game(stack: AsyncExitStack, url: str, rules: object) -> Game:
    """Return two players of a running game, and its room."""
    ana, bo = [await stack.enter_async_context(open_peer(url, name)) for name in ("ana", "bo")]
    code = (await ana.ask("create", rules=rules))["room"]
    await bo.ask("join", room=code)
    return ana, bo, code


async def move(game: Game, ply: int, cell: int) -> None:
    await (game[0], game[1])[ply % 2].send("move", room=game[2], cell=cell, ply=ply)


def tell(what: str, figure: float, unit: str, goal: float) -> None:
    print(
        f"{what:<58}{figure:>8.1f} {unit:<5} goal {goal:>5} {unit:<5} {'ok' if figure <= goal else 'MISSED'}",
        flush=True,
    )


async def time_states(browser: Browser, url: str, side: int, state_goal: float) -> None:
    """Print the costs of a first board and of a state on a board of this size."""
    async with AsyncExitStack() as stack:
        game = await open_game(stack, url, {"rows": side, "columns": side, "line": 5})
        context = await browser.new_context(viewport=LAPTOP, reduced_motion="reduce")
        stack.push_async_callback(context.close)
        page = await context.new_page()
        devtools = await context.new_cdp_session(page)
        at = f"{link_to(url, game[2])}#watch"
        await devtools.send("Emulation.setCPUThrottlingRate", {"rate": SLOWED})
        firsts = []
        for _ in range(LOADS):
            await devtools.send("Network.clearBrowserCache")
            await page.goto(at, wait_until="commit")
            await page.evaluate(_UNTIL_DRAWN)
            firsts.append(float(await page.evaluate(_SINCE_FIRST_BYTE)))
            await page.goto("about:blank")
        tell(f"{side}x{side}: first byte to first board, {SLOWED}x slowed", statistics.median(firsts), "ms", 300)
        await devtools.send("Emulation.setCPUThrottlingRate", {"rate": 1})
        await page.goto(at)
        await page.evaluate(_UNTIL_DRAWN)
        await asyncio.sleep(0.5)
        measure = await measuring(devtools)
        before = await measure()
        for ply in range(MOVES):
            await move(game, ply, ply * 17 % (side * side))
            await asyncio.sleep(MOVE_SECONDS)
        after = await measure()
        kinds = ("ScriptDuration", "LayoutDuration", "RecalcStyleDuration")
        parts = [(after[kind] - before[kind]) * 1000 / MOVES for kind in kinds]
        tell(f"{side}x{side}: a state drawn (script, layout, style)", sum(parts), "ms", state_goal)
        print(f"    script {parts[0]:.1f}, layout {parts[1]:.1f}, style {parts[2]:.1f} ms")


async def measuring(devtools: Any) -> Callable[[], Awaitable[dict[str, float]]]:
    """Return a function that reads the page's own measurements of its work, in seconds."""
    await devtools.send("Performance.enable")

    async def measure() -> dict[str, float]:
        return {one["name"]: one["value"] for one in (await devtools.send("Performance.getMetrics"))["metrics"]}

    return measure


async def time_wall(browser: Browser, url: str) -> None:
    """Print the cost of a wall of games that keeps changing."""
    async with AsyncExitStack() as stack:
        games = [await open_game(stack, url, "gomoku") for _ in range(GAMES)]
        context = await browser.new_context(viewport={"width": 1920, "height": 1080})
        stack.push_async_callback(context.close)
        page = await context.new_page()
        devtools = await context.new_cdp_session(page)
        await page.goto(link_to(url, "wall"))
        ply = 0

        async def play(seconds: int) -> None:
            nonlocal ply
            for _ in range(seconds):
                for game in games:
                    await move(game, ply, ply * 17 % 225)
                ply += 1
                await asyncio.sleep(1)

        await play(3)
        await page.wait_for_function(f"document.querySelectorAll('.live-boards li').length === {GAMES}")
        measure = await measuring(devtools)
        before = await measure()
        await play(WATCHED_SECONDS)
        after = await measure()
        busy = (after["TaskDuration"] - before["TaskDuration"]) / (after["Timestamp"] - before["Timestamp"])
        tell(f"a wall of {GAMES} games, a move a second each", busy * 100, "%", 33)


async def main() -> None:
    if CHROMIUM is None:
        raise SystemExit("There is no Chromium on this machine.")
    set_up_logging("text", "error")
    for language in LANGUAGES:
        tell(f"all that travels to a first board, {language}", sum(weigh(language).values()) / 1024, "KiB", 60)
    settings = Settings(host="127.0.0.1", port=0)
    async with Server(settings, limits=uncounted()) as server, async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        await time_states(browser, server.url, 15, 4)
        await time_states(browser, server.url, 32, 16)
        await time_wall(browser, server.url)
        await browser.close()


if __name__ == "__main__":
    asyncio.run(main())
