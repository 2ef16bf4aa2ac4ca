"""Who one is: a name for good, and the devices on which one is the same player."""

from __future__ import annotations

from typing import ClassVar, Final

from textual.binding import BindingType

from tictactoe_client.input.names import carry_out, describe_device, describe_self
from tictactoe_client.online.client import Client
from tictactoe_client.tui.foot import bind
from tictactoe_client.tui.lists import ListPage
from tictactoe_client.tui.question import Question
from tictactoe_protocol.catalogue import say
from tictactoe_protocol.names import Device
from tictactoe_protocol.text import MAX_NAME_LENGTH

_LINK_LENGTH: Final = 8
_OTHER_LINES: Final = 12
"""How many lines of the screen are neither deeds and devices nor the picture of a link."""


class NamesPage(ListPage):
    """What can be done, then the devices; below them what was told last, which is told once."""

    BINDINGS: ClassVar[list[BindingType]] = [bind("back", label="key back"), bind("help", label="key help")]
    heading = "name title"
    opens = "key choose"
    first_keys = ("key choose", "key back")

    def __init__(self) -> None:
        super().__init__()
        self._devices: dict[str, Device] = {}
        self._about = ""
        self._told: list[str] = []
        self._picture: tuple[str, ...] = ()

    def opened(self) -> None:
        self.program.ask(self._learn)

    connected = opened

    def fill(self) -> None:
        deeds = {id: say(f"name deed {id}") for id in ("claim", "link", "code")}
        rows = deeds | {id: describe_device(device) for id, device in self._devices.items()}
        self.keep(list(rows))
        self.rows.show(rows, self.chosen)
        fits = self.size.height >= len(rows) + len(self._picture) + _OTHER_LINES and not self.program.settings.ascii
        picture = [part for line in self._picture for part in ((line, "qr"), ("\n", "")) if fits]
        self.text("hint").show(*((f"{line}\n", "title") for line in self._told), *picture)

    def describe_about(self) -> str:
        return self._about

    def open_row(self, name: str) -> None:
        if name == "link":
            self._do(name)
            return
        client = self.program.link.client
        asks = {"claim": (say("home your name"), client.name if client else ""), "code": (say("name code"), "")}
        text, value = asks.get(name, (say("name revoke", device=name), None))
        limit = MAX_NAME_LENGTH if name == "claim" else 64
        self.program.push_screen(Question(text, value, limit=limit), lambda typed: self._answer(name, typed))

    def _answer(self, name: str, typed: str | None) -> None:
        """Do what was asked for, with what was typed."""
        if typed is None:
            return
        if name == "claim":
            self._do(name, typed)
        elif name == "code":
            is_link = len(typed.replace("-", "").replace(" ", "")) <= _LINK_LENGTH
            self.program.link.become(**{"link" if is_link else "rescue": typed})
        else:
            self._do("revoke", name)

    def _do(self, what: str, value: str = "") -> None:
        self.program.ask(lambda client: self._carry_out(client, what, value))

    async def _carry_out(self, client: Client, what: str, value: str) -> None:
        told = await carry_out(client, what, value)
        if what == "claim":
            self.program.keep_name(client.name)
        if what != "revoke":
            self._told, self._picture = told
        await self._learn(client)

    async def _learn(self, client: Client) -> None:
        found = await client.devices()
        self._devices = {device.id: device for device in found.devices or ()}
        self._about = describe_self(client, found)
        self.program.redraw()
