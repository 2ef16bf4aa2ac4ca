"""A person at the page, in a browser."""

from collections.abc import Mapping

from playwright.async_api import expect

from tests.faces.person import Deed
from tests.page.conftest import SERVER_GOES, Visit, Visitor
from tictactoe_engine import PRESETS, parse_cell

BUTTONS: Mapping[Deed, str] = {
    "accept challenge": "Accept",
    "claim": "Claim the win",
    "draw": "Offer a draw",
    "rematch": "Play again",
    "undo": "Take back",
}
"""The button for a deed; for the others, its name."""


class PagePerson:
    def __init__(self, url: str, visit: Visit) -> None:
        self.url = url
        self._visit = visit
        self._rules = PRESETS["classic"]

    async def _open(self, path: str) -> Visitor:
        self.visitor: Visitor = await self._visit(f"http{self.url.removeprefix('ws')}{path}", may_fail=SERVER_GOES)
        return self.visitor

    async def open_room(self, rules: str = "classic") -> str:
        self._rules = PRESETS[rules]
        await (await self._open("/")).quick_match("ana", rules)
        return self.visitor.code

    async def join(self, code: str) -> None:
        await (await self._open(f"/{code}")).join("ana")

    async def watch(self, code: str) -> None:
        await self._open(f"/{code}#watch")

    async def enter_event(self, code: str) -> None:
        ana = await self._open(f"/e/{code}")
        await ana.page.get_by_label("Your name here").fill("ana")
        await ana.button("Join").click()

    async def play(self, cell: str) -> None:
        await self.visitor.play(parse_cell(cell, self._rules))

    async def choose(self, number: int) -> None:
        await self.visitor.page.keyboard.press(str(number))

    async def say(self, text: str) -> None:
        await self.visitor.page.get_by_label("Say something").fill(text)
        await self.visitor.page.keyboard.press("Enter")

    async def do(self, deed: Deed) -> None:
        button = self.visitor.button(BUTTONS.get(deed, deed))
        if deed in ("leave", "resign"):
            await self.visitor.confirm(button)
        else:
            await button.click()

    async def hear(self, *words: str) -> None:
        for word in words:
            await expect(self.visitor.page.locator("body")).to_contain_text(word)

    async def see(self, mark: str, cell: str) -> None:
        stones = {"X": "black", "O": "white"} if self._rules.line == 5 else {}
        await self.visitor.sees(**{cell.upper(): stones.get(mark, mark)})
