"""Take pictures of the page in a browser, of games played on a real server.

``python -m tools.page_pictures --out docs/browser/`` needs the `dev` extra and the system's Chromium.
With ``--every`` it takes the pages in windows of all sizes, light and dark, for a review.
"""

import argparse
import asyncio
import re
import shutil
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from itertools import count, product
from pathlib import Path
from typing import Final, Literal

from playwright.async_api import Browser, Page, ViewportSize, async_playwright

from tictactoe_server.server import Server
from tictactoe_server.settings import Settings

BROWSERS: Final = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")
"""The fastest comes first: the headless shell takes half the time."""

CHROMIUM: Final = next(filter(None, map(shutil.which, BROWSERS)), None)
_LAPTOP: Final = ViewportSize(width=1280, height=800)
_PHONE: Final = ViewportSize(width=390, height=844)
_SCREEN: Final = ViewportSize(width=1920, height=1080)
_SIZES: Final = (
    *(_LAPTOP, _SCREEN, _PHONE),
    *(ViewportSize(width=width, height=height) for width, height in ((844, 390), (640, 400), (320, 568))),
)
_GAMES: Final = {
    "gomoku": ("H8", "H7", "I8", "G8", "I7", "I9", "G9", "H6", "H9", "J9", "J6"),
    "connect-four": ("D1", "D2", "E1", "C1", "E2", "E3", "D3", "C2", "C3", "F1"),
    "four": ("B2", "C2", "B3", "C3", "A1"),
    "classic": ("A1", "B2", "C3", "C1", "A3", "A2", "B3"),
}
_ENTRANTS: Final = ("Ana", "Bo", "Cem", "Dilara", "Emil", "Fatima", "Gustav", "Hannah")
_EVENT_MOVES: Final = 9
_EVENT_PAUSE_MS: Final = 250
Look = Literal["light", "dark"]


async def take_pictures(folder: Path, *, every: bool) -> None:
    """Write the pictures into an existing folder: those for the documentation, or `every` page in every window."""
    if CHROMIUM is None:
        raise SystemExit(f"No Chromium on this machine: {', '.join(BROWSERS)}")
    async with (
        Server(Settings(host="127.0.0.1", port=0)) as server,
        async_playwright() as playwright,
        AsyncExitStack() as stack,
    ):
        browser = await playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        at = f"http://127.0.0.1:{server.port}"
        for game in ("four", "connect-four"):
            cleo, dan = [await stack.enter_async_context(_open(browser, at, "light")) for _ in range(2)]
            await _play(cleo, dan, ("cleo", "dan"), game)
        async with _open(browser, at, "light") as ana, _open(browser, at, "dark", _PHONE) as bo:
            await _play(ana, bo, ("ana", "bo"), "gomoku")
            await (_take_every(browser, at, ana, folder) if every else _take_best(browser, at, ana, bo, folder))
        await browser.close()


async def _take_every(browser: Browser, at: str, ana: Page, folder: Path) -> None:
    """Take each page in windows of all sizes, light and dark; the pages of games are ana's."""
    shared = await _finish_and_share(browser, at, ana)
    pages = {"first": "/", "new-room": "/#own=4x5x4&blocked=b2", "games": "/#games", "shared": shared, "wall": "/wall"}
    for (name, path), look, size in product(pages.items(), ("light", "dark"), _SIZES):
        await ana.emulate_media(color_scheme="light" if look == "light" else "dark", reduced_motion="reduce")
        await ana.set_viewport_size(size)
        await ana.goto("about:blank")
        await ana.goto(f"{at}{path}")
        await ana.locator(".link.on").wait_for()
        await _shoot(ana, folder / f"{name}-{size['width']}x{size['height']}-{look}.png")


async def _take_best(browser: Browser, at: str, ana: Page, bo: Page, folder: Path) -> None:
    """Take the pictures of the documentation."""
    async with (
        _open(browser, at, "light") as home,
        _open(browser, at, "dark", _PHONE) as phone,
        _open(browser, f"{at}/wall", "dark", _SCREEN) as wall,
    ):
        for page in (home, phone, wall):
            await page.locator(".live-boards svg.mini").first.wait_for()
        await home.locator("[name=game][value=gomoku]").check()
        await _shoot(home, folder / "home.png")
        await _shoot(phone, folder / "home-phone.png")
        await _shoot(wall, folder / "wall.png")
        await home.goto(f"{at}/#own=4x5x4&blocked=b2,d4")
        await home.locator(".own-game").wait_for()
        await _shoot(home, folder / "own-game.png")
        await home.goto(at)
        await home.get_by_label("Playing as").fill("gia")  # a player without a name is asked for one first
        await home.get_by_role("button", name="Invite a friend").click()
        await home.locator(".invite img").wait_for()
        await _shoot(home, folder / "invitation.png")
    await _take_event(browser, at, folder)
    await _shoot(ana, folder / "gomoku.png")
    await bo.locator("[data-cell='101']").tap()
    await _shoot(bo, folder / "phone.png")
    await _finish_and_share(browser, at, ana)
    async with _open(browser, at, "dark") as eve, _open(browser, at, "light") as gus:
        await _play(eve, gus, ("eve", "gus"), "classic")
        await _shoot(eve, folder / "end.png")
        await eve.keyboard.press("v")
        await eve.locator(".worth.best").first.wait_for()
        await _shoot(eve, folder / "review.png")
    await ana.goto(f"{at}/#games")
    await ana.locator(".games li").first.wait_for()
    await _shoot(ana, folder / "games.png")


async def _take_event(browser: Browser, at: str, folder: Path) -> None:
    """Take the wall of an event before and during the event, and the page of an organiser who plays."""
    async with _open(browser, at, "light") as ana, AsyncExitStack() as stack:
        await ana.get_by_role("button", name="New event").click()
        await ana.get_by_label("Title").fill("Friday evening")
        await ana.locator("dialog select").first.select_option("connect-four")
        await ana.get_by_role("button", name="Open", exact=True).click()
        await ana.locator(".entry").wait_for()
        event = ana.url
        players = [ana, *[await stack.enter_async_context(_open(browser, event, "light")) for _ in _ENTRANTS[1:]]]
        for name, player in zip(_ENTRANTS, players, strict=True):
            await player.get_by_label("Your name here").fill(name)
            await player.get_by_role("button", name="Join").click()
            await player.locator(".standings .own").wait_for()
        wall = await stack.enter_async_context(_open(browser, f"{event}/wall", "light", _SCREEN))
        await wall.locator(".wall-in li").nth(len(players) - 1).wait_for()
        await _shoot(wall, folder / "event-wall-before.png")
        await ana.get_by_role("button", name="Begin").click()
        for number in count():
            await asyncio.gather(*(_move_if_due(player, number + 3 * place) for place, player in enumerate(players)))
            await wall.wait_for_timeout(_EVENT_PAUSE_MS)
            is_late = "Round 3" in await wall.locator(".wall-head").inner_text()
            if is_late and await ana.locator("[data-in]").count() > _EVENT_MOVES:
                break
        await _shoot(wall, folder / "event-wall.png")
        look = await stack.enter_async_context(_open(browser, event, "light"))
        await look.locator(".against").wait_for()
        await _shoot(look, folder / "event.png")


async def _move_if_due(player: Page, number: int) -> None:
    """Make a move if it is the player's turn."""
    if await player.locator("p.turn.mine").count():
        free = player.get_by_role("gridcell", name=re.compile("free$"))
        await free.nth(number * 5 % await free.count()).dispatch_event("click")


async def _finish_and_share(browser: Browser, at: str, ana: Page) -> str:
    """Play three games that ana wins, loses and wins, and share the last; return the path of its link."""
    async with _open(browser, at, "light") as fay:
        await _play(ana, fay, ("ana", "fay"), "classic")
        await _play(fay, ana, ("fay", "ana"), "classic")
        await _play(ana, fay, ("ana", "fay"), "classic")
        await ana.get_by_text("More", exact=True).click()
        await ana.get_by_role("button", name="Share", exact=True).click()
        link = await ana.locator(".share input").first.input_value()
    return f"/replay/{link.rpartition('/')[2]}"


def main(arguments: Sequence[str] | None = None) -> None:
    """Take the pictures into the folder that the command line names."""
    parser = argparse.ArgumentParser(prog="python -m tools.page_pictures", description="Take pictures of the page.")
    parser.add_argument("--out", type=Path, required=True, metavar="FOLDER", help="where they go: docs/browser/")
    parser.add_argument("--every", action="store_true", help="each page in windows of all sizes, light and dark")
    chosen = parser.parse_args(arguments)
    folder: Path = chosen.out
    folder.mkdir(parents=True, exist_ok=True)
    asyncio.run(take_pictures(folder, every=chosen.every))


@asynccontextmanager
async def _open(browser: Browser, address: str, look: Look, size: ViewportSize = _LAPTOP) -> AsyncIterator[Page]:
    """Open an address as a new visitor with reduced motion."""
    context = await browser.new_context(
        viewport=size,
        color_scheme=look,
        has_touch=size is _PHONE,
        is_mobile=size is _PHONE,
        reduced_motion="reduce",
    )
    page = await context.new_page()
    await page.goto(address)
    await page.locator(".link.on").wait_for()
    yield page
    await context.close()


async def _play(ana: Page, bo: Page, names: tuple[str, str], game: str) -> None:
    """Seat two players and play the moves of a game."""
    await ana.goto(ana.url.partition("/#")[0].rpartition("/")[0] + "/")
    await ana.locator(".link.on").wait_for()
    await ana.get_by_label("Playing as").fill(names[0])
    await ana.locator(f"[name=game][value={game}]").check()
    await ana.get_by_role("button", name="Find an opponent").click()
    await ana.locator(".invite").wait_for()
    await bo.goto(ana.url)
    await bo.get_by_label("Your name").fill(names[1])
    await bo.get_by_role("button", name="Play as").click()
    for number, cell in enumerate(_GAMES[game]):
        mover = bo if number % 2 else ana
        await mover.locator("p.turn.mine").wait_for()
        await mover.get_by_role("gridcell", name=f"{cell}, free", exact=True).dispatch_event("click")
        for page in (ana, bo):
            await page.get_by_role("gridcell", name=f"{cell}, free", exact=True).wait_for(state="detached")


async def _shoot(page: Page, path: Path) -> None:
    await page.mouse.move(0, 0)  # nothing is pointed at
    await page.wait_for_timeout(300)
    await page.screenshot(path=path)
    print(path)


if __name__ == "__main__":
    main()
