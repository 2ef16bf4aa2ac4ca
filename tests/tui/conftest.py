"""Fixtures that run the full-screen client in this process, without a terminal, against a real server."""

import asyncio
import contextlib
import re
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import AbstractAsyncContextManager
from typing import Any

import pytest
from textual import events
from textual._compositor import Compositor
from textual._context import visible_screen_stack
from textual.css.model import RuleSet
from textual.css.stylesheet import Stylesheet

from tests.peer import PATIENCE_SECONDS, Peer, open_peer
from tests.tui.quick_pilot import QuickPilot
from tictactoe_client.input.ways import Choice
from tictactoe_client.online.address import parse_address
from tictactoe_client.online.backoff import Backoff
from tictactoe_client.online.client import Client
from tictactoe_client.settings import Settings
from tictactoe_client.streams.terminal import Terminal
from tictactoe_client.tui import FirstPage
from tictactoe_client.tui.app import TicTacToe
from tictactoe_engine import PRESETS, Rules
from tictactoe_protocol.terms import ClockFields
from tictactoe_server.server import Server
from tictactoe_words.catalogue import say

QUICK = Backoff((0.01,), longest=0.02, hold_seconds=60)
NEVER = Backoff((999,), longest=999, jitter=0, hold_seconds=3000)
BRIEF = Backoff((0.01,), longest=0.01, hold_seconds=0.05)

_GLANCE_SECONDS = 0.05


class HeardTerminal(Terminal):
    """A terminal that reports writes which bypass Textual."""

    def __init__(self, has_changed: asyncio.Event) -> None:
        super().__init__()
        self._has_changed = has_changed

    def write(self, text: str) -> bool:
        self._has_changed.set()
        return super().write(text)


class LeavableScreen(TicTacToe):
    """The client's app, observable by tests.

    Attributes:
        seen: The screens shown since the list was emptied, while `remembers` is true.
        is_leaving: Whether the app was told to end; it then has to end before the test does.
    """

    is_leaving = False
    remembers = False

    def __init__(self, *arguments: Any, **options: Any) -> None:
        self.has_changed = asyncio.Event()
        super().__init__(*arguments, terminal=HeardTerminal(self.has_changed), **options)
        self.seen: list[str] = []

    def post_display_hook(self) -> None:
        self.has_changed.set()
        if self.remembers:
            self.seen.append(self.text)

    @property
    def text(self) -> str:
        """The text on the screen, from Textual's own layout."""
        if not self.screen_stack:
            return ""
        lines = [line.text for line in self.screen._compositor.render_strips(self.size)]
        return "\n".join(line.rstrip() for line in lines)

    @property
    def is_laid_out(self) -> bool:
        """Whether the current screen's layout is up to date."""
        return bool(self.screen_stack) and not self.screen._layout_required

    @property
    def pages(self) -> list[Any]:
        return list(self.screens)

    def leave(self, code: int, message: str = "") -> None:
        self.is_leaving = True
        super().leave(code, message)

    async def come_to_end(self) -> None:
        async with asyncio.timeout(PATIENCE_SECONDS):
            while self.is_leaving and self.return_code is None and self.failure is None:  # noqa: ASYNC110
                await asyncio.sleep(0.002)


class ScreenUser:
    def __init__(self, app: LeavableScreen, pilot: QuickPilot) -> None:
        self.app = app
        self.pilot = pilot

    @property
    def text(self) -> str:
        return self.app.text

    @property
    def client(self) -> Client:
        assert self.app.session.client is not None
        return self.app.session.client

    @property
    def code(self) -> str:
        found = re.search(r"Code   ([A-Z0-9]{6})", self.text)
        assert found is not None, self.text
        return found[1]

    async def press(self, *keys: str) -> None:
        self.app.seen.clear()
        await self.pilot.press(*keys)

    def rush(self, *keys: str) -> None:
        """Post all keys before the app handles the first, as when they arrive in one packet."""
        for key in keys:
            self.app.post_message(events.Key(key, key if len(key) == 1 else None))

    async def do(self, keys: str, *words: str, gone: str | None = None) -> str:
        """Press space-separated keys and wait until the screen shows all words and not `gone`."""
        await self.press(*keys.split())
        return await self.until(*words, gone=gone)

    async def type(self, text: str, *words: str, gone: str | None = None) -> str:
        """Type text and wait until the screen shows all words and not `gone`."""
        await self.pilot.press(*("space" if letter == " " else letter for letter in text))
        return await self.until(*words, gone=gone) if words or gone else self.text

    async def enter(self, line: str, *words: str, gone: str | None = None) -> str:
        """Type a line and Enter, and wait until the screen shows all words and not `gone`."""
        await self.type(line)
        await self.press("enter")
        return await self.until(*words, gone=gone) if words or gone else self.text

    async def paste(self, text: str) -> None:
        self.app.post_message(events.Paste(text))
        await self.pilot.pause()

    async def click(self, x: int, y: int) -> None:
        await self.pilot.click(offset=(x, y))

    async def until(self, *words: str, gone: str | None = None) -> str:
        """Wait until the screen shows all words and not `gone`."""
        return await self._until(words, gone, lambda: [self.text])

    async def press_until_seen(self, key: str, *words: str, gone: str | None = None) -> None:
        """Press a key and wait until a screen since then shows or has shown all words and not `gone`."""
        self.app.remembers = True
        await self.press(key)
        await self._until(words, gone, lambda: [*self.app.seen, self.text])
        self.app.remembers = False

    async def _until(self, words: Sequence[str], gone: str | None, texts: Callable[[], list[str]]) -> str:
        try:
            async with asyncio.timeout(PATIENCE_SECONDS):
                while True:
                    self.app.has_changed.clear()
                    for text in texts() if self.app.is_laid_out else ():
                        if all(word in text for word in words) and (gone is None or gone not in text):
                            return text
                    await self._until_changed()
        except TimeoutError:
            raise AssertionError(f"{words} not on the screen, or {gone!r} still:\n{self.text}") from None

    async def _until_changed(self) -> None:
        """Wait for the next redraw; polling more often dominated the time of these tests."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(_GLANCE_SECONDS):
                await self.app.has_changed.wait()
        await self.pilot.pause()

    async def until_it_ends(self) -> None:
        async with asyncio.timeout(PATIENCE_SECONDS):
            while self.app.is_running:
                await self.pilot.pause()

    def colours(self) -> set[str]:
        strips = self.app.screen._compositor.render_strips(self.app.size)
        styles = [segment.style for strip in strips for segment in strip if segment.style is not None]
        found = {colour for style in styles for colour in (style.color, style.bgcolor) if colour is not None}
        return {colour.triplet.hex if colour.triplet else colour.name for colour in found}

    @property
    def canvas(self) -> Any:
        return getattr(self.app.screens[-1], "canvas")  # noqa: B009


OpenScreen = Callable[..., AbstractAsyncContextManager[ScreenUser]]
AtHome = Callable[..., AbstractAsyncContextManager[ScreenUser]]
Game = Callable[..., AbstractAsyncContextManager[tuple[ScreenUser, Peer, str]]]


@pytest.fixture(scope="session", autouse=True)
def parsed_once() -> Iterator[None]:
    """Cache parsed stylesheets across apps, by source and variables."""
    parse = Stylesheet._parse_rules
    parsed: dict[Any, list[RuleSet]] = {}

    def parse_once(self: Stylesheet, *source: Any, **more: Any) -> list[RuleSet]:
        key = (*source, *more.items(), *self._variables.items())
        if key not in parsed:
            parsed[key] = parse(self, *source, **more)
        return parsed[key]

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(Stylesheet, "_parse_rules", parse_once)
        yield


@pytest.fixture(scope="session", autouse=True)
def drawn_when_looked_at() -> Iterator[None]:
    """Skip Textual's rendering of each change, which goes nowhere without a terminal.

    `LeavableScreen.text` renders the current screen when a test looks at it.
    """

    def note_drawn(self: Compositor, full: bool = False, screen_stack: Any = None, simplify: bool = False) -> None:
        visible_screen_stack.set(screen_stack or [])
        self._dirty_regions.clear()

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(Compositor, "render_update", note_drawn)
        yield


@pytest.fixture
def open_screen(monkeypatch: pytest.MonkeyPatch) -> OpenScreen:
    """Return a context manager that opens the full-screen client at a server's URL."""
    monkeypatch.setenv("NO_COLOR", "")
    monkeypatch.setattr("tictactoe_client.tui.app.TICK_SECONDS", 0.1)

    @contextlib.asynccontextmanager
    async def run(
        url: str,
        first: Choice | None = None,
        size: tuple[int, int] = (80, 24),
        first_page: FirstPage | None = None,
        **options: Any,
    ) -> AsyncIterator[ScreenUser]:
        settings = Settings(
            **{
                "mode": "screen",
                "colour": True,
                "name": "ana",
                "theme": "terminal",
                "backoff": QUICK,
                "timeout_seconds": PATIENCE_SECONDS,
                **options,
            }
        )
        app = LeavableScreen(settings, parse_address(url), first, first_page=first_page)
        async with app.run_test(size=size):
            yield ScreenUser(app, QuickPilot(app))
            await app.come_to_end()
            works = list(app.workers)
        # The search for servers nearby closes its sockets only if its task ends before the loop.
        await asyncio.gather(*(work.wait() for work in works), return_exceptions=True)
        assert app.failure is None

    return run


@pytest.fixture
def at_home(server: Server, open_screen: OpenScreen) -> AtHome:
    """Return a context manager that opens the client at the server, on the first page."""

    @contextlib.asynccontextmanager
    async def run(**options: Any) -> AsyncIterator[ScreenUser]:
        async with open_screen(server.url, **options) as ana:
            await ana.until(say("home playing as"))
            yield ana

    return run


@pytest.fixture
def game(server: Server, open_screen: OpenScreen) -> Game:
    """Return a context manager that seats ana at the screen with X, in a small window by default, and bo as O.

    `moves` are the first moves on 3x3. With `gives_up`, bo resigns after them, or after the first two by default.
    """

    @contextlib.asynccontextmanager
    async def begin(
        rules: Rules = PRESETS["classic"],
        *,
        opponent: str = "bo",
        at: Server = server,
        clock: ClockFields | None = None,
        moves: Sequence[int] = (),
        gives_up: bool = False,
        **options: Any,
    ) -> AsyncIterator[tuple[ScreenUser, Peer, str]]:
        moves = moves or (0, 4) * gives_up
        options = {"motion": False, "size": (80, 16) if rules.rows == 3 else (80, 24), "url": at.url, **options}
        async with (
            open_screen(options.pop("url"), Choice("create", rules, clock, private=True), **options) as ana,
            open_peer(at.url, opponent) as bo,
        ):
            await ana.until("Waiting for another player")
            code = ana.code
            await bo.ask("join", room=code)
            await ana.until("Your move, X.")
            for ply, cell in enumerate(moves):
                if ply % 2:
                    await bo.ask("move", room=code, cell=cell, ply=ply)
                else:
                    await ana.press(str(cell + 1))
                    await bo.state(ply=ply + 1)
                while len(ana.app.pages[-1].room.moves) <= ply:
                    await ana.pilot.pause()
            if gives_up:
                await bo.ask("resign", room=code)
            await ana.until("You win" if gives_up else "It's bo's move" if len(moves) % 2 else "Your move")
            yield ana, bo, code

    return begin
