"""A person whose program uses the library, and puts what it hears into the words of the other faces."""

from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack

from tests.faces.person import Deed
from tests.peer import until
from tictactoe_client import Backoff, Client, Room, connect
from tictactoe_client.online.events import RoomEvent, Said, Updated
from tictactoe_client.text.talk import announce_chat
from tictactoe_client.text.wording import describe_claim
from tictactoe_engine import parse_cell
from tictactoe_words.choices import absent_opponents
from tictactoe_words.telling import announce
from tictactoe_words.wording import describe_turn


class LibraryPerson:
    def __init__(self, url: str, stack: AsyncExitStack) -> None:
        self.url = url
        self._room: Room | None = None
        self._stack = stack
        self._told: list[str] = []

    async def _connect(self) -> Client:
        backoff = Backoff((0.01,), longest=0.02, hold_seconds=60)
        self.client = await self._stack.enter_async_context(connect(self.url, name="ana", reconnect=backoff))
        return self.client

    @property
    def room(self) -> Room:
        assert self._room is not None
        return self._room

    def _enter(self, room: Room) -> str:
        self._room = room
        room.subscribe(self._take)
        return room.code

    def _take(self, event: RoomEvent) -> None:
        if isinstance(event, Updated):
            self._told += announce(event.news, event.state, self.room.viewer)
        elif isinstance(event, Said):
            self._told.append(announce_chat(event.line))

    async def open_room(self, rules: str = "classic") -> str:
        return self._enter(await (await self._connect()).rooms.create(rules))

    async def join(self, code: str) -> None:
        self._enter(await (await self._connect()).rooms.join(code))

    async def watch(self, code: str) -> None:
        self._enter(await (await self._connect()).rooms.watch(code))

    async def enter_event(self, code: str) -> None:
        await (await self._connect()).tournaments.join(code, name="ana")

    async def play(self, cell: str) -> None:
        await until(lambda: self.room.is_my_turn)
        await self.room.move(cell)

    async def choose(self, number: int) -> None:
        await until(lambda: self.room.is_my_turn)
        swap, stay = "OX" if self.room.seat == "X" else "XO"
        await self.room.choose((swap, stay, "more")[number - 1])

    async def say(self, text: str) -> None:
        await self.room.chat(text)

    async def do(self, deed: Deed) -> None:
        room = self.room
        if deed in ("accept", "decline", "withdraw"):
            await until(lambda: room.state.offers.draw or room.state.offers.undo)
        about = room.undo if room.state.offers.undo else room.draw
        deeds: dict[Deed, Callable[[], Awaitable[object]]] = {
            "accept": lambda: about("accept"),
            "accept challenge": self._accept_challenge,
            "claim": lambda: room.claim("win"),
            "decline": lambda: about("decline"),
            "draw": room.draw,
            "leave": room.leave,
            "rematch": room.rematch,
            "resign": room.resign,
            "undo": room.undo,
            "withdraw": lambda: about("decline"),
        }
        await deeds[deed]()

    async def _accept_challenge(self) -> None:
        code = await self.client.challenges.answer(next(iter(self.client.challenges.open)), accept=True)
        self._enter(await self.client.rooms.join(code or ""))

    async def hear(self, *words: str) -> None:
        if self._room is None:
            await until(lambda: self.client.tournaments.calls)
            self._enter(await self.client.rooms.join(self.client.tournaments.calls[0].room))
        for word in words:
            await until(lambda: any(word in line for line in self._list_told()))  # noqa: B023

    def _list_told(self) -> list[str]:
        state, viewer = self.room.state, self.room.viewer
        absent = absent_opponents(state, viewer)
        claim = [describe_claim(state, [*absent])] if absent else []
        asked = [f"{one.name} challenges you" for one in self.client.challenges.open.values()]
        return [*self._told, describe_turn(state, viewer), *claim, *asked]

    async def see(self, mark: str, cell: str) -> None:
        await until(lambda: self.room.position.board[parse_cell(cell, self.room.position.rules)] == mark)
