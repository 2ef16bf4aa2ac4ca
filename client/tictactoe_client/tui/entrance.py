"""The ways from a screen into a room, one at a time: on this server, or on another one that a link names.

Where there is no connection yet, what is wanted waits for one.
"""

from __future__ import annotations

from collections.abc import Coroutine
from typing import TYPE_CHECKING, Any

from tictactoe_client.exits import describe_failure, exit_code_for
from tictactoe_client.online.address import Address, parse_room
from tictactoe_client.online.client import Choice
from tictactoe_client.online.errors import BadAddress, Refused
from tictactoe_client.online.room import Room
from tictactoe_client.tui.errands import describe_errand
from tictactoe_client.tui.question import Question
from tictactoe_protocol import BadRoomCode, clean_text

if TYPE_CHECKING:
    from tictactoe_client.tui.app import TicTacToe
    from tictactoe_client.tui.screen import ClientScreen


class Entrance:
    """Leads into rooms; `first` is where the command line wants to go."""

    def __init__(self, desk: TicTacToe, first: Choice | None) -> None:
        self.first = first
        self._desk = desk
        self._next: Choice | None = None

    def enter(self, choice: Choice, over: ClientScreen | None = None) -> None:
        """Go into a room here, unless one is being entered already; its screen is laid over this one, or home."""
        if not self._desk.errands.errand:
            self._desk.start(self._arrive(self._ask(choice), choice, over))

    def ask_for_room(self, typed: str, way: str = "join", over: ClientScreen | None = None, why: str = "") -> None:
        """Ask for the code or the link of a room, of which something is typed already, and go there."""

        def take(text: str | None) -> None:
            if text is None or self._desk.errands.errand:
                return
            try:
                code, address = parse_room(text)
            except (BadRoomCode, BadAddress) as bad:
                why = clean_text(bad.message) if text else "Type or paste a room code or a link."
                self.ask_for_room(text, way, over, f"{why}\n")
                return
            choice = Choice("watch" if way == "watch" else "join", code=code)
            if address is None or self._desk.link.house.has(address):
                self.enter(choice, over)
            else:
                self.travel(address, choice)

        self._desk.push_screen(Question(f"{why}The code of a room to {way}, or its link:", typed, anew=bool(why)), take)

    def go_on(self) -> None:
        """Go where one wanted to before there was this connection."""
        if self.first is not None:
            first, self.first = self.first, None
            self._desk.start(self._arrive(self._ask(first), first, is_first=True))
        elif self._next is not None:
            following, self._next = self._next, None
            self.enter(following)

    def travel(self, address: Address, choice: Choice) -> None:
        """Go to another server, and into a room there."""
        link = self._desk.link
        self._desk.go_home()
        self._leave_server(choice)
        if choice.way == "watch":
            link.move(address, "nobody")
        else:
            link.move(address, room=choice.code if choice.way == "join" else None)

    def travel_back(self) -> bool:
        """Go back to the server that we came from; tell whether there is one."""
        if self._desk.link.before is None:
            return False
        self._leave_server()
        self._desk.link.move_back()
        return True

    def stay(self) -> None:
        """Want no more what waits for a connection."""
        self._next = None

    def _leave_server(self, following: Choice | None = None) -> None:
        self._next = following
        self._desk.lobby.forget()
        self._desk.errands.give_up()

    def _ask(self, choice: Choice) -> Coroutine[Any, Any, Room | None]:
        return self._desk.errands.enter(describe_errand(choice), choice.enter)

    async def _arrive(
        self,
        coming: Coroutine[Any, Any, Room | None],
        choice: Choice,
        over: ClientScreen | None = None,
        *,
        is_first: bool = False,
    ) -> None:
        """Open the screen of the room when we are in, whatever lies on the one below by then."""
        from tictactoe_client.tui.room.screen import RoomScreen

        desk = self._desk
        try:
            room = await coming
        except Refused as refused:
            if is_first:
                desk.leave(exit_code_for(refused), describe_failure(refused, desk.settings, desk.link.address))
            elif refused.code == "room_full" and choice.way == "join":
                self._offer_to_watch(choice.code)
            else:
                raise
            return
        if room is None:
            return
        screens = desk.screens
        below = over if over in screens else screens[0]
        while desk.screens[-1] is not below:
            desk.close_page()
        desk.open(RoomScreen(desk, room, choice.again))

    def _offer_to_watch(self, code: str) -> None:
        """Ask whether a room that is full is to be watched."""

        def take(answer: str | None) -> None:
            if answer is not None:
                self.enter(Choice("watch", code=code))

        self._desk.push_screen(Question(f"Room {code} is full; you may watch it.", yes="watch"), take)
