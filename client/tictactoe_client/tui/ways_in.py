"""Takes the person into rooms, on this server or another one; without a connection, the request waits for one."""

from __future__ import annotations

from collections.abc import Coroutine
from typing import Any, Protocol

from textual.screen import Screen

from tictactoe_client.exits import describe_failure, judge
from tictactoe_client.files.players import GUEST
from tictactoe_client.input.names import propose_name
from tictactoe_client.input.ways import Choice
from tictactoe_client.lobby import Lobby
from tictactoe_client.online.address import Address, is_event_link, parse_event, parse_room
from tictactoe_client.online.errors import Refused
from tictactoe_client.online.room import Room
from tictactoe_client.online.tournament import Tournament
from tictactoe_client.session import Session
from tictactoe_client.settings import Misuse, Settings
from tictactoe_client.tui.prompt import PromptScreen
from tictactoe_client.visit.face import Face, Prompt, ask_for, choose_name
from tictactoe_client.visit.visit import Entered, Visit
from tictactoe_words.catalogue import say


class Around(Face, Protocol):
    """The parts of the program that this module uses."""

    settings: Settings
    session: Session
    lobby: Lobby

    @property
    def screen(self) -> Screen[Any]: ...
    def start(self, work: Coroutine[Any, Any, object]) -> object: ...
    def open_room(self, room: Room, choice: Choice, over: Screen[Any] | None) -> None: ...
    def open_event(self, code: str, ticket: str, address: Address | None) -> None: ...
    def go_home(self) -> None: ...
    def rename(self, name: str) -> None: ...
    def leave(self, code: int, message: str = "") -> None: ...


class WaysIn(Visit):
    """Enters rooms for all screens, one at a time.

    Attributes:
        first: The room that the command line asks for, until it is entered; a refusal ends the program.
    """

    def __init__(self, program: Around, first: Choice | None) -> None:
        super().__init__(program, program.session)
        self.first = first
        self._program = program
        self._next: tuple[Choice, Screen[Any] | None, bool] | None = None

    def go(self, choice: Choice, over: Screen[Any] | None = None, *, is_first: bool = False) -> None:
        """Enter a room on this server and open its screen above `over`, by default above the home screen.

        Does nothing if another room is being entered.

        Args:
            is_first: Whether the command line asked for this room.
        """
        client = self._program.session.client
        if client is None or needs_name(self._program.session, choice):
            self._next = (choice, over, is_first)
            if client is not None:
                self._program.start(self._choose_name())
        elif choice.way == "challenge":
            self._program.start(choice.ask(client))
        elif not self.waits_for:
            self._program.start(self._arrive(self.enter(choice), choice, over, is_first=is_first))

    def go_as(self, name: str, choice: Choice) -> None:
        """Enter a room under a name; a new name needs another hello first."""
        if name == self._program.session.identity.name:
            self.go(choice)
        else:
            self._next = (choice, None, False)
            self._program.rename(name)

    def go_on(self) -> None:
        if self.first is not None:
            first, self.first = self.first, None
            self.go(first, is_first=True)
        elif self._next is not None:
            (choice, over, is_first), self._next = self._next, None
            self.go(choice, over, is_first=is_first)

    def stay(self) -> None:
        self._next = None

    def ask_for_room(self, typed: str, way: str = "join", over: Screen[Any] | None = None) -> None:
        """Ask for the code or link of a room or event, with `typed` as its beginning, and go there."""
        self._program.start(self._ask_for_room(typed, way, over))

    async def _ask_for_room(self, typed: str, way: str, over: Screen[Any] | None) -> None:
        if isinstance(asking := self._program.screen, PromptScreen) and asking.line is not None:
            asking.line.write(typed)
            return
        prompt = Prompt(say("page code"), typed)
        place = await ask_for(self._program, prompt, _parse_place, replaces=True)
        if place is None or self.waits_for:
            return
        if len(place) == 3:
            self._program.open_event(*place)
            return
        code, address = place
        choice = Choice("watch" if way == "watch" else "join", code=code)
        if address is None or self._program.session.cluster.has(address):
            self.go(choice, over)
        else:
            self.travel(address, choice)

    def travel(self, address: Address, choice: Choice | None = None) -> None:
        self._program.go_home()
        self._next = None if choice is None else (choice, None, False)
        self._program.lobby.forget()
        self.give_up()
        watches = choice is not None and choice.way == "watch"
        room = None if choice is None or watches else choice.code
        self._program.session.move(address, "nobody" if watches else "player", room=room)

    async def _arrive(
        self, coming: Coroutine[Any, Any, Entered | None], choice: Choice, over: Screen[Any] | None, *, is_first: bool
    ) -> None:
        """Wait until a room or event is entered, and open its screen."""
        program = self._program
        try:
            entered = await coming
        except Refused as refused:
            if not is_first:
                raise
            program.leave(judge(refused)[0], describe_failure(refused, program.settings, program.session.address))
            return
        if isinstance(entered, Tournament):
            program.open_event(entered.code, "", None)
        elif entered is not None:
            program.open_room(entered, choice, over)

    async def _choose_name(self) -> None:
        proposed = self._program.session.identity.players.find_name() or propose_name()
        self._program.rename(await choose_name(self._program, proposed))


def needs_name(session: Session, choice: Choice) -> bool:
    """Return True if the person has to choose a name first: they have none, and the choice takes a new seat."""
    client = session.client
    if client is None or session.identity.name is not None or not client.name.startswith(GUEST) or client.welcome.names:
        return False
    own = {seat.room for seat in client.welcome.rooms} | {turn.room for turn in client.turns}
    return choice.way != "watch" and choice.code not in own | {call.room for call in client.tournaments.calls}


def _parse_place(text: str) -> tuple[str, Address | None] | tuple[str, str, Address | None]:
    """Return a room's code and server, or an event's code, ticket and server; the server may be None."""
    if not text:
        raise Misuse(say("enter type a code"))
    return parse_event(text) if is_event_link(text) else parse_room(text)
