"""The page about the player's name and devices."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Final

from textual.app import ComposeResult

from tictactoe_client.input.names import carry_out, describe_device, describe_self
from tictactoe_client.online.client import Client
from tictactoe_client.tui.lists import ListPage
from tictactoe_client.tui.page import Part, Scroll
from tictactoe_client.tui.prompt import PromptScreen
from tictactoe_client.visit.face import Prompt
from tictactoe_protocol import clean_text
from tictactoe_protocol.names import Device, Devices
from tictactoe_protocol.text import MAX_NAME_LENGTH
from tictactoe_words.catalogue import say

_OTHER_LINES: Final = 12
"""The lines of the screen that are not commands, devices or the QR code of a link."""


class NamesPage(ListPage):
    """Lists commands and devices, and shows the latest answer; rescue codes stay until the user has noted them.

    Attributes:
        claimed: Set when the page is closed: "" if the name is claimed, otherwise None.
    """

    situation = "names"
    heading = "name title"

    def __init__(self) -> None:
        super().__init__()
        self.claimed: asyncio.Future[str | None] = asyncio.get_running_loop().create_future()
        self._devices: dict[str, Device] = {}
        self._about = self._name = ""
        self._is_own_name = self._deletes_data = False
        self._told: list[str] = []
        self._codes: list[str] = []
        self._picture: tuple[str, ...] = ()
        self._answers = Scroll(self.text("hint"), can_focus=False)

    def compose_body(self) -> ComposeResult:
        yield self.rows
        yield self._answers

    def closed(self) -> None:
        self.claimed.set_result("" if self._is_own_name else None)

    def fill(self) -> None:
        commands = {id: say(f"name deed {id}") for id in ("claim", "link", "code", "back", "export", "forget")}
        rows = commands | {id: describe_device(device) for id, device in self._devices.items()}
        self.keep(list(rows))
        self.rows.show(rows, self.chosen)
        fits = self.size.height >= len(rows) + len(self._picture) + _OTHER_LINES and not self.program.settings.ascii
        picture = [part for line in self._picture for part in ((line, "qr"), ("\n", "")) if fits]
        self.text("hint").show(*((f"{line}\n", "title") for line in (*self._codes, *self._told)), *picture)

    def describe_about(self) -> str:
        return self._about

    def describe_news(self) -> Part | None:
        failure = None if self._deletes_data else self.program.session.failure
        return super().describe_news() if failure is None else (f"╳ {failure.message}", "bad")

    def survives_loss(self) -> bool:
        return self._deletes_data or bool(self._codes)

    def gives_way(self) -> bool:
        return not self._codes

    def open_row(self, name: str) -> None:
        if name == "link":
            self._do(name)
        else:
            self.program.start(self._ask(name))

    async def _ask(self, name: str) -> None:
        client = self.program.session.client
        asks: dict[str, tuple[str, str | None]] = {
            "claim": (say("name question"), client.name if client else ""),
            "code": (say("name code"), ""),
            "back": (say("name back"), ""),
            "export": (say("name export file"), "tictactoe.json"),
            "forget": (say("name forget"), None),
        }
        text, value = asks.get(name, (say("name revoke", device=name), None))
        limit = {"code": 64, "export": 4096}.get(name, MAX_NAME_LENGTH)
        ask = self.program.ask
        if (typed := await ask(Prompt(text, value, limit=limit))) is None:
            return
        match name:
            case "claim" | "export":
                self._do(name, typed)
            case "code":
                self.program.session.become(link=typed)
            case "back":
                code = await ask(Prompt(say("name back code"), "", limit=64))
                if typed and code:
                    self.program.keep_name(typed)
                    self.program.session.become(rescue=code)
            case "forget":
                twice = Prompt(say("name forget twice", name=clean_text(self._name)))
                if not self._is_own_name or await ask(twice) is not None:
                    self._do("forget")
            case _:
                self._do("revoke", name)

    def action_page(self, by: int) -> None:
        """Scroll the answers, which may be longer than the window."""
        self._answers.scroll_relative(y=by * self._answers.size.height, animate=False)

    def action_back(self) -> None:
        if not self.asks_first(super().action_back):
            super().action_back()

    def asks_first(self, leave: Callable[[], None]) -> bool:
        asks = bool(self._codes) and not isinstance(self.program.screen, PromptScreen)
        if asks:
            self.program.start(self._ask_whether_written(leave))
        return asks

    async def _ask_whether_written(self, leave: Callable[[], None]) -> None:
        if await self.program.ask(Prompt(say("name written"), yes="key written")) is not None:
            self._codes = []
            leave()

    def _do(self, what: str, value: str = "") -> None:
        self.program.start_online(lambda client: self._carry_out(client, what, value))

    async def _carry_out(self, client: Client, what: str, value: str) -> None:
        self._deletes_data = what == "forget"
        session = self.program.session
        lines, picture = await carry_out(client, session.identity, what, value)
        if what == "claim":
            self.program.keep_name(client.name)
            self._codes = lines
            self._is_own_name = True
        elif what == "forget":
            session.identity.name = None
            self._told, self._picture = lines, picture
            session.become()
            return
        elif what in ("link", "export"):
            self._told, self._picture = lines, picture
        await self.fetch(client)
        scroll = self._answers.scroll_home if what == "claim" else self._answers.scroll_end  # codes precede links
        scroll(animate=False)

    async def fetch(self, client: Client) -> None:
        answer = await client.ask(Devices())
        self._devices = {device.id: device for device in answer.devices or ()}
        self._about = describe_self(client, answer)
        self._name = client.name
        self._is_own_name = bool(answer.claimed)
        self._deletes_data = False
        self.program.redraw()
