"""The system's browser, and visitors in it, each with a separate profile.

One browser serves all tests of this folder, because starting a browser takes longer than most tests. The tests share
one event loop for this reason.
"""

import asyncio
import re
from collections import defaultdict
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any, Final, TypedDict, Unpack

import pytest
import pytest_asyncio
from playwright.async_api import (
    Browser,
    ConsoleMessage,
    Dialog,
    Error,
    Locator,
    Page,
    ViewportSize,
    async_playwright,
    expect,
)

from tests.limits import uncounted
from tests.page.checkers import TIMEOUT_SECONDS, axe
from tests.peer import Peer, open_peer
from tests.raw import listening
from tictactoe_server.features.bots.service import BotOptions
from tictactoe_server.server import Server
from tictactoe_server.settings import Settings
from tools.page_pictures import BROWSERS, CHROMIUM

PATIENCE_MS: Final = 120_000
PHONE: Final = ViewportSize(width=390, height=780)
LAPTOP: Final = ViewportSize(width=1280, height=800)

expect.set_options(timeout=PATIENCE_MS)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Run all tests of this folder on the browser's event loop, and allow for the installation of the checkers."""
    for item in items:
        if "find_violations" in getattr(item, "fixturenames", ()):
            item.add_marker(pytest.mark.timeout(TIMEOUT_SECONDS))
        if item.path.parent == Path(__file__).parent and pytest_asyncio.is_async_test(item):
            item.add_marker(pytest.mark.asyncio(loop_scope="session"), append=False)


SERVER_GOES = "^WebSocket connection to|net::ERR_(CONNECTION|EMPTY_RESPONSE|SOCKET_NOT_CONNECTED)|^Failed to fetch$"
"""Messages of a browser about a server that has ended, also while a page loads its parts."""


class Look(TypedDict, total=False):
    """How a visitor opens the page.

    Attributes:
        moves: Whether the page may animate; most pages stand still, because drawing the animations takes time.
        unnamed: Whether the page has yet to ask for a name.
        may_fail: A pattern of browser messages that are no fault of the page.
    """

    phone: bool
    moves: bool
    dark: bool
    unnamed: bool
    may_fail: str
    language: str


class Visitor:
    def __init__(self, page: Page, may_fail: str) -> None:
        self.page = page
        self.complaints: list[str] = []
        self._may_fail = may_fail
        page.set_default_timeout(PATIENCE_MS)
        page.on("pageerror", self._fail)
        page.on("console", self._hear)

    def go(self) -> None:
        self.page.remove_listener("pageerror", self._fail)
        self.page.remove_listener("console", self._hear)

    def _fail(self, error: Error) -> None:
        if not self._is_expected(str(error)):
            self.complaints.append(str(error))

    def _is_expected(self, text: str) -> bool:
        return bool(self._may_fail and re.search(self._may_fail, text))

    def _hear(self, message: ConsoleMessage) -> None:
        """Note a complaint, unless its text is expected, or an idle page loads a part of a server that has stopped."""
        if message.type not in ("error", "warning") or self._is_expected(message.text):
            return
        if not ("ERR_CONNECTION_REFUSED" in message.text and "/assets/" in message.location["url"]):
            self.complaints.append(f"{message.text} {message.location}")

    def cell(self, number: int) -> Locator:
        return self.page.locator(f"[data-cell='{number}']")

    def piece(self, number: int) -> Locator:
        return self.page.locator(f"[data-in='{number}']")

    def tile(self, game: str) -> Locator:
        return self.page.locator(f"[name=game][value={game}]")

    def button(self, name: str) -> Locator:
        """Find a button by its label; the page's style alone capitalises labels."""
        return self.page.get_by_role("button", name=re.compile(f"^{re.escape(name)}$", re.IGNORECASE))

    async def choose(self, name: str) -> None:
        """Open the menu at the end of a game, and choose from it."""
        await self.page.locator(".more summary").click()
        await self.button(name).click()

    async def confirm(self, button: Locator, *, agrees: bool = True) -> str:
        """Click a button that asks for confirmation, answer, and return the question."""
        asked: list[str] = []

        async def reply(question: Dialog) -> None:
            asked.append(question.message)
            await (question.accept() if agrees else question.dismiss())

        self.page.once("dialog", reply)
        await button.click()
        return asked[0]

    async def answer(self, name: str) -> None:
        await self.page.locator(".ask").get_by_role("button", name=re.compile(f"^{name}$", re.IGNORECASE)).click()

    @property
    def code(self) -> str:
        return self.page.url.rsplit("/", 1)[1]

    async def connects(self) -> None:
        await expect(self.page.locator(".link.on")).to_be_visible()

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
        """Make moves, each as soon as it is the visitor's turn, and wait until the server has accepted it."""
        for number in numbers:
            await expect(self.page.locator("p.turn.mine")).to_be_visible()
            await self.cell(number).click()
            await self.has_played(number)

    async def has_played(self, number: int) -> None:
        """Wait until a move is accepted; the page shows it earlier, as pending."""
        await expect(self.piece(number).locator(".mark")).to_have_count(1)
        await expect(self.page.locator(".board .pending")).to_have_count(0)

    async def open_dialog(self, name: str) -> None:
        """Click the button of this name, and wait for the dialog of the same name, which is loaded meanwhile."""
        await self.button(name).click()
        await expect(self.page.get_by_role("dialog", name=name)).to_be_visible()

    async def close_dialog(self) -> None:
        await self.page.keyboard.press("Escape")
        await expect(self.page.get_by_role("dialog")).to_have_count(0)

    async def quick_match(self, name: str, game: str = "classic") -> None:
        await self.page.get_by_label("Playing as").fill(name)
        await self.tile(game).check()
        await self.button("Find an opponent").click()
        await expect(self.page.get_by_text("Waiting for someone")).to_be_visible()

    async def join(self, name: str) -> None:
        """Join the room whose door the page shows."""
        await self.page.get_by_label("Your name").fill(name)
        await self.page.get_by_role("button", name="Play as").click()
        await expect(self.page.locator(".door")).to_have_count(0)


async def take_turns(cells: tuple[int, ...], *players: Visitor) -> None:
    for ply, cell in enumerate(cells):
        await players[ply % len(players)].play(cell)


class Idle:
    """Unused windows; emptying a window is faster than opening another."""

    def __init__(self, browser: Browser) -> None:
        self._browser = browser
        self._pages: defaultdict[tuple[bool, bool, str, bool], list[Page]] = defaultdict(list)

    @asynccontextmanager
    async def lend(self, look: Look) -> AsyncIterator[Visitor]:
        """Yield a visitor with an empty window."""
        phone, dark, language = look.get("phone", False), look.get("dark", False), look.get("language", "en-GB")
        unnamed = look.get("unnamed", False)
        pages = self._pages[phone, dark, language, unnamed]
        page = pages.pop() if pages else await self._open(phone, dark, language, unnamed)
        await page.emulate_media(reduced_motion="no-preference" if look.get("moves") else "reduce")
        visitor = Visitor(page, look.get("may_fail", ""))
        yield visitor
        visitor.go()
        if await self._is_emptied(page, phone):
            pages.append(page)

    async def _open(self, phone: bool, dark: bool, language: str, unnamed: bool) -> Page:
        context = await self._browser.new_context(
            locale=language,
            viewport=PHONE if phone else LAPTOP,
            has_touch=phone,
            is_mobile=phone,
            color_scheme="dark" if dark else "light",
        )
        if not unnamed:
            await context.add_init_script("try { localStorage.tictactoe ??= '{\"asked\":true}' } catch {}")
        return await context.new_page()

    async def _is_emptied(self, page: Page, phone: bool) -> bool:
        """Empty a window completely, because a later server may get the port of an earlier server."""
        if page.is_closed():
            return False
        context = page.context
        for other in set(context.pages) - {page}:
            await other.close()
        await context.set_offline(False)
        await context.unroute_all()
        await context.clear_permissions()
        await page.unroute_all()
        await page.goto("about:blank")
        devtools = await context.new_cdp_session(page)
        await devtools.send("Storage.clearDataForOrigin", {"origin": "*", "storageTypes": "all"})
        await devtools.detach()
        await page.set_viewport_size(PHONE if phone else LAPTOP)
        return True


Visit = Callable[..., Awaitable[Visitor]]
FindViolations = Callable[..., Awaitable[list[str]]]


async def find_in_both_schemes(find_violations: FindViolations, page: Page) -> list[str]:
    """Return what axe-core finds on a light page, and the faults of contrast that it has when it is dark."""
    found = await find_violations(page)
    await page.emulate_media(color_scheme="dark")
    found += await find_violations(page, "color-contrast")
    await page.emulate_media(color_scheme="light")
    return found


@asynccontextmanager
async def other_site(page: str) -> AsyncIterator[str]:
    """Serve a page at an origin of its own, and yield its address."""
    body = page.encode()

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        head = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: %d\r\nConnection: close\r\n\r\n"
        writer.write(head % len(body) + body)
        await writer.drain()
        writer.close()

    async with listening(answer) as port:
        yield f"http://localhost:{port}/"


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def browser() -> AsyncIterator[Browser]:
    if CHROMIUM is None:
        pytest.skip(f"no Chromium on this machine: none of {', '.join(BROWSERS)}")
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox", "--disable-gpu"])
        yield browser
        await browser.close()


@pytest.fixture(scope="session")
def find_violations() -> FindViolations:
    """Return a function that returns what axe-core finds wrong on a page that stands still, by some rules or all.

    This is a fixture so that axe-core is installed before a server starts, which could not answer meanwhile.
    """
    script = axe().read_text(encoding="utf-8")

    async def find(page: Page, *rules: str) -> list[str]:
        await page.evaluate("Promise.allSettled(document.getAnimations().map(each => each.finished))")
        await page.evaluate(script)
        options = {"resultTypes": ["violations"], **({"runOnly": list(rules)} if rules else {})}
        found: dict[str, Any] = await page.evaluate("options => axe.run(options)", options)
        return [
            f"{one['id']}: {one['nodes'][0]['html']} {one['nodes'][0]['failureSummary']}" for one in found["violations"]
        ]

    return find


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def idle(browser: Browser) -> Idle:
    return Idle(browser)


@pytest_asyncio.fixture(loop_scope="session")
async def server() -> AsyncIterator[Server]:
    async with Server(
        Settings(host="127.0.0.1", port=0, features=(BotOptions(demo=False),)), limits=uncounted()
    ) as running:
        yield running


@pytest_asyncio.fixture(loop_scope="session")
async def bo(server: Server) -> AsyncIterator[Peer]:
    """A peer at the server without a page."""
    async with open_peer(server.url, "bo") as peer:
        yield peer


@pytest_asyncio.fixture(loop_scope="session")
async def visit(idle: Idle) -> AsyncIterator[Visit]:
    """Return a function that opens an address as a new visitor; errors on any page fail the test."""
    visitors: list[Visitor] = []
    async with AsyncExitStack() as stack:

        async def open_as_new(address: str, **look: Unpack[Look]) -> Visitor:
            visitor = await stack.enter_async_context(idle.lend(look))
            visitors.append(visitor)
            await visitor.page.goto(address)
            return visitor

        yield open_as_new
        complaints = [visitor.complaints for visitor in visitors if visitor.complaints]
    assert complaints == []
