"""The ways into rooms, on this server or on another one.

Rooms are entered one at a time. A room that is entered after the person has changed their mind is left again before the
next request. Without a connection the wish waits for one.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Coroutine
from typing import Any, Protocol

from textual.screen import Screen

from tictactoe_client.exits import describe_failure, judge
from tictactoe_client.files.players import GUEST
from tictactoe_client.input.names import propose_name
from tictactoe_client.input.ways import Choice
from tictactoe_client.lobby import Lobby
from tictactoe_client.online.address import Address, is_event_link, parse_event, parse_room
from tictactoe_client.online.errors import BadAddress, BadRoomCode, ClientError, Refused
from tictactoe_client.online.room import GOODBYE_SECONDS, Room
from tictactoe_client.session import Enter, Session
from tictactoe_client.settings import Settings
from tictactoe_client.text.arrival import describe_going_elsewhere
from tictactoe_client.tui.question import Question
from tictactoe_protocol import BadName, clean_text, parse_name
from tictactoe_protocol.text import MAX_NAME_LENGTH
from tictactoe_words.catalogue import say
from tictactoe_words.refusals import describe_fault


class Around(Protocol):
    """The parts of the program that this module uses."""

    settings: Settings
    session: Session
    lobby: Lobby

    @property
    def screen(self) -> Screen[Any]: ...
    def push_screen(self, screen: Question, callback: Callable[[str | None], None]) -> object: ...
    def put(self, question: Question, answered: Callable[[str], object]) -> None: ...
    def start(self, work: Coroutine[Any, Any, object]) -> object: ...
    def open_room(self, room: Room, again: Choice | None, over: Screen[Any] | None) -> None: ...
    def open_event(self, code: str, ticket: str, address: Address | None) -> None: ...
    def open_names(self, why: str, go_on: Callable[[], object]) -> None: ...
    def go_home(self) -> None: ...
    def rename(self, name: str) -> None: ...
    def leave(self, code: int, message: str = "") -> None: ...


class WaysIn:
    """The room that the person is entering, shared by all screens.

    Attributes:
        waits_for: A description of the room that is being entered, or "".
        first: The room of the command line; if it is refused, the program ends.
    """

    def __init__(self, program: Around, first: Choice | None) -> None:
        self.first = first
        self.waits_for = ""
        self._program = program
        self._next: tuple[Choice, Screen[Any] | None, bool] | None = None
        self._turn = asyncio.Lock()
        self._wanted: object | None = None

    def fetch(self, what: str, enter: Enter[Room]) -> Coroutine[Any, Any, Room | None]:
        """Cancel the previous wish, and return an awaitable for the room, which is None if the wish is given up.

        The awaitable raises what entering raises, unless the wish was given up.
        """
        self.waits_for, self._wanted = what, object()
        return self._take_turn(self._wanted, enter)

    def give_up(self) -> bool:
        was_wanted = self._wanted is not None
        self.waits_for, self._wanted = "", None
        return was_wanted

    async def finish(self) -> None:
        """Give up and leave what is still being entered, as the program ends; do not wait for a silent server."""
        self.give_up()
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(GOODBYE_SECONDS), self._turn:
                pass

    async def _take_turn(self, wanted: object, enter: Enter[Room]) -> Room | None:
        session = self._program.session
        try:
            async with self._turn:
                client = session.client
                if client is None or self._wanted is not wanted:
                    return None
                room = await enter(client)
                if self._wanted is wanted:
                    return room
                if any(seat.room == room.code for seat in client.welcome.rooms):
                    await session.greet_again()  # the seat of an earlier run stays ours
                else:
                    await room.leave()
        except ClientError:
            if self._wanted is wanted:
                raise
        finally:
            if self._wanted is wanted:
                self.give_up()
        return None

    def enter(self, choice: Choice, over: Screen[Any] | None = None, *, is_first: bool = False) -> None:
        """Enter a room on this server, unless another one is being entered; open its screen above `over` or home."""
        if self._program.session.client is None or asks_name_first(self._program, choice):
            self._next = (choice, over, is_first)
        elif choice.way == "challenge":
            self._program.start(choice.ask(self._program.session.client))
        elif not self.waits_for:
            coming = self.fetch(describe_wait(choice), choice.enter)
            self._program.start(self._arrive(coming, choice, over, is_first=is_first))

    def enter_as(self, name: str, choice: Choice) -> None:
        """Enter a room under a name, after another hello if it is a new one."""
        if name == self._program.session.identity.name:
            self.enter(choice)
        else:
            self._next = (choice, None, False)
            self._program.rename(name)

    def go_on(self) -> None:
        if self.first is not None:
            first, self.first = self.first, None
            self.enter(first, is_first=True)
        elif self._next is not None:
            (choice, over, is_first), self._next = self._next, None
            self.enter(choice, over, is_first=is_first)

    def stay(self) -> None:
        self._next = None

    def ask_for_room(self, typed: str, way: str = "join", over: Screen[Any] | None = None, why: str = "") -> None:
        """Ask for the code or link of a room, beginning with `typed`, and go there."""

        def take(text: str) -> None:
            if self.waits_for:
                return
            try:
                if is_event_link(text):
                    self._program.open_event(*parse_event(text))
                    return
                code, address = parse_room(text)
            except (BadRoomCode, BadAddress) as bad:
                why = clean_text(bad.message) if text else say("enter type a code")
                self.ask_for_room(text, way, over, f"{why}\n")
                return
            choice = Choice("watch" if way == "watch" else "join", code=code)
            if address is None or self._program.session.cluster.has(address):
                self.enter(choice, over)
            else:
                self.travel(address, choice)

        if isinstance(asking := self._program.screen, Question) and asking.line is not None:
            asking.line.write(typed)
            return
        self._program.put(Question(why + say(f"enter code to {way}"), typed, anew=bool(why)), take)

    def travel(self, address: Address, choice: Choice | None = None) -> None:
        self._program.go_home()
        self._next = None if choice is None else (choice, None, False)
        self._program.lobby.forget()
        self.give_up()
        watches = choice is not None and choice.way == "watch"
        room = None if choice is None or watches else choice.code
        self._program.session.move(address, "nobody" if watches else "player", room=room)

    async def _arrive(
        self, coming: Coroutine[Any, Any, Room | None], choice: Choice, over: Screen[Any] | None, *, is_first: bool
    ) -> None:
        """Open the screen of an entered room; offer to watch a full one, and to claim a name for a rated game."""
        program = self._program
        try:
            room = await coming
        except Refused as refused:
            if (client := program.session.client) is not None and await choice.find_event(client, refused) is not None:
                program.open_event(choice.code, "", None)
                return
            if refused.needs_claim:
                program.open_names(refused.message, lambda: self.enter(choice, over))
                return
            code, told = judge(refused)[0], describe_failure(refused, program.settings, program.session.address)

            def take(answer: str | None) -> None:
                if answer is not None:
                    self.enter(Choice("watch", code=choice.code))
                elif is_first:
                    program.leave(code, told)

            def go(_: str) -> None:
                if client is not None:
                    client.rooms.step_aside()
                    self.enter(choice, over)

            if refused.code == "moved" and client is not None and client.rooms.plays:
                program.put(Question(describe_going_elsewhere(choice.code, client)), go)
            elif refused.code == "room_full" and choice.way == "join":
                program.push_screen(Question(say("refused room_full", room=choice.code), yes="key watch"), take)
            elif is_first:
                take(None)
            else:
                raise
            return
        if room is not None:
            program.open_room(room, choice.again(room), over)


def describe_wait(choice: Choice) -> str:
    """Describe the room that is being entered in a few words."""
    if choice.way == "create":
        return say("wait for computer" if choice.bots else "wait for room")
    return say(f"wait for {choice.way}", room=choice.code)


def asks_name_first(program: Around, choice: Choice) -> bool:
    """If the person has no name and no seat to return to, ask for one and return True; any answer sets a name."""
    session, client = program.session, program.session.client
    if client is None or session.identity.name is not None or not client.name.startswith(GUEST) or client.welcome.names:
        return False
    if choice.way == "watch" or any(seat.room == choice.code for seat in client.welcome.rooms):
        return False
    proposed = session.identity.players.find_name() or propose_name()

    def ask(text: str, why: str = "") -> None:
        question = Question(f"{why}{say('name question')}", text, limit=MAX_NAME_LENGTH, anew=True)
        program.push_screen(question, take)

    def take(typed: str | None) -> None:
        try:
            program.rename(parse_name(typed or proposed))
        except BadName as bad:
            ask(typed or "", f"{describe_fault(bad)}\n")

    ask(proposed)
    return True
