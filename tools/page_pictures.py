"""Pictures of the page in a browser, taken of the real thing: a server, Chromium and games that are played in it.

``python -m tools.page_pictures --out docs/browser/`` needs the `dev` extra and a Chromium of the system.
"""

from __future__ import annotations

import argparse
import asyncio
import shutil
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Final, Literal

from playwright.async_api import Browser, Page, ViewportSize, async_playwright

from tictactoe_server.server import Server
from tictactoe_server.settings import Settings

_LAPTOP: Final = ViewportSize(width=1120, height=740)
_PHONE: Final = ViewportSize(width=390, height=844)
_GOMOKU: Final = ("H8", "H7", "I8", "G8", "I7", "I9", "G9", "H6", "H9", "J9", "J6")
_CLASSIC: Final = ("A1", "B2", "C3", "C1", "A3", "A2", "B3")
Look = Literal["light", "dark"]


async def take_pictures(folder: Path) -> None:
    """Write all pictures to a folder that is there."""
    chromium = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    if chromium is None:
        raise SystemExit("No Chromium on this machine: chromium, chromium-browser or google-chrome")
    async with Server(Settings(host="127.0.0.1", port=0)) as server, async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        at = f"http://127.0.0.1:{server.port}"
        async with _open(browser, at, "light") as ana, _open(browser, at, "dark", is_phone=True) as bo:
            await _play(ana, bo, "gomoku", _GOMOKU)
            async with _open(browser, at, "light") as home, _open(browser, f"{at}/wall", "dark") as wall:
                await home.locator(".live-boards svg").wait_for()
                await wall.locator(".live-boards svg").wait_for()
                await _shoot(home, folder / "home.png")
                await _shoot(wall, folder / "wall.png")
            await _shoot(ana, folder / "gomoku.png")
            await bo.locator("[data-cell='101']").tap()
            await _shoot(bo, folder / "phone.png")
        async with _open(browser, at, "dark") as ana, _open(browser, at, "light", is_phone=True) as bo:
            await _play(ana, bo, "classic", _CLASSIC)
            await _shoot(ana, folder / "end.png")
            await ana.keyboard.press("v")
            await ana.locator(".worth.best").first.wait_for()
            await _shoot(ana, folder / "review.png")
        await browser.close()


def main(arguments: Sequence[str] | None = None) -> None:
    """Take the pictures into the folder that the command line names."""
    parser = argparse.ArgumentParser(prog="python -m tools.page_pictures", description="Take pictures of the page.")
    parser.add_argument("--out", type=Path, required=True, metavar="FOLDER", help="where they go: docs/browser/")
    folder: Path = parser.parse_args(arguments).out
    folder.mkdir(parents=True, exist_ok=True)
    asyncio.run(take_pictures(folder))


@asynccontextmanager
async def _open(browser: Browser, address: str, look: Look, *, is_phone: bool = False) -> AsyncIterator[Page]:
    """Open an address as somebody new, whose page moves nothing."""
    context = await browser.new_context(
        viewport=_PHONE if is_phone else _LAPTOP,
        color_scheme=look,
        has_touch=is_phone,
        is_mobile=is_phone,
        reduced_motion="reduce",
    )
    page = await context.new_page()
    await page.goto(address)
    await page.locator(".link.on").wait_for()
    yield page
    await context.close()


async def _play(ana: Page, bo: Page, game: str, cells: Sequence[str]) -> None:
    """Let two meet and make these moves in turn."""
    await ana.get_by_label("Playing as").fill("ana")
    await ana.get_by_role("combobox", name="Game").select_option(game)
    await ana.get_by_role("button", name="Quick match").click()
    await ana.locator(".invite").wait_for()
    await bo.goto(ana.url)
    await bo.get_by_label("Your name").fill("bo")
    await bo.get_by_role("button", name="Play as").click()
    for number, cell in enumerate(cells):
        mover = bo if number % 2 else ana
        await mover.locator("p.turn.mine").wait_for()
        await mover.get_by_role("gridcell", name=f"{cell}, free", exact=True).dispatch_event("click")
        for page in (ana, bo):
            await page.get_by_role("gridcell", name=f"{cell}, free", exact=True).wait_for(state="detached")


async def _shoot(page: Page, path: Path) -> None:
    await page.wait_for_timeout(300)
    await page.screenshot(path=path)
    print(path)


if __name__ == "__main__":
    main()
