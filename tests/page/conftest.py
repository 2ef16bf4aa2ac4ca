"""A real browser, the system's, and visitors in it, each with a profile of their own."""

from __future__ import annotations

import shutil
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Final, TypedDict, Unpack

import pytest
from playwright.async_api import Browser, Locator, Page, ViewportSize, async_playwright, expect

PATIENCE_MS: Final = 15_000
PHONE: Final = ViewportSize(width=390, height=780)
LAPTOP: Final = ViewportSize(width=1280, height=800)
CHROMIUM: Final = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
MODULES: Final = Path(__file__).parents[2] / ".ci-work" / "npm" / "node_modules"
"""Where `.ci/run` puts what checks the page from outside: axe-core and TypeScript."""

expect.set_options(timeout=PATIENCE_MS)


class Look(TypedDict, total=False):
    """How a visitor sees the page, and what the server may say that is no fault of the page."""

    phone: bool
    still: bool
    dark: bool
    may_fail: str


class Visitor:
    """Somebody in front of a page."""

    def __init__(self, page: Page, may_fail: str) -> None:
        self.page = page
        self.complaints: list[str] = []
        page.set_default_timeout(PATIENCE_MS)
        page.on("pageerror", lambda error: self.complaints.append(str(error)))
        page.on("console", lambda message: self._hear(message.type, message.text, may_fail))

    def _hear(self, kind: str, text: str, may_fail: str) -> None:
        if kind in ("error", "warning") and not (may_fail and may_fail in text):
            self.complaints.append(text)

    def cell(self, number: int) -> Locator:
        return self.page.locator(f"[data-cell='{number}']")

    def button(self, name: str) -> Locator:
        return self.page.get_by_role("button", name=name, exact=True)

    @property
    def status(self) -> Locator:
        return self.page.get_by_role("status")

    async def hears(self, words: str) -> None:
        await expect(self.status).to_contain_text(words)

    async def sees(self, **cells: str) -> None:
        """Wait until these cells bear these marks: ``sees(B2="X")``."""
        for name, mark in cells.items():
            await expect(self.page.get_by_role("gridcell", name=f"{name}, {mark}", exact=True)).to_have_count(1)

    async def play(self, *numbers: int) -> None:
        """Make moves, each as soon as it is one's turn."""
        for number in numbers:
            await expect(self.page.locator("p.turn.mine")).to_be_visible()
            await self.cell(number).click()
            await expect(self.cell(number).locator(".mark")).to_have_count(1)

    async def quick_match(self, name: str, game: str = "classic") -> None:
        await self.page.get_by_label("Playing as").fill(name)
        await self.page.get_by_role("combobox", name="Game").select_option(game)
        await self.button("Quick match").click()
        await expect(self.page.get_by_text("Waiting for someone")).to_be_visible()

    async def join(self, name: str) -> None:
        """Go through the door of a room that one's link led to."""
        await self.page.get_by_label("Your name").fill(name)
        await self.page.get_by_role("button", name="Play as").click()
        await expect(self.page.locator(".door")).to_have_count(0)


Visit = Callable[..., Awaitable[Visitor]]


@pytest.fixture
async def browser() -> AsyncIterator[Browser]:
    if CHROMIUM is None:
        pytest.skip("no Chromium on this machine: chromium, chromium-browser or google-chrome")
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield browser
        await browser.close()


@pytest.fixture
async def visit(browser: Browser) -> AsyncIterator[Visit]:
    """Return what opens an address as somebody new; in the end no page may have complained, of an error or a breach."""
    visitors: list[Visitor] = []
    async with AsyncExitStack() as stack:

        async def open_as_new(address: str, **look: Unpack[Look]) -> Visitor:
            is_phone = look.get("phone", False)
            context = await browser.new_context(
                viewport=PHONE if is_phone else LAPTOP,
                has_touch=is_phone,
                is_mobile=is_phone,
                color_scheme="dark" if look.get("dark") else "light",
                reduced_motion="reduce" if look.get("still") else "no-preference",
            )
            stack.push_async_callback(context.close)
            visitor = Visitor(await context.new_page(), look.get("may_fail", ""))
            visitors.append(visitor)
            await visitor.page.goto(address)
            return visitor

        yield open_as_new
    assert [visitor.complaints for visitor in visitors if visitor.complaints] == []
