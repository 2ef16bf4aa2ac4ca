"""The ways from the first page into a room, one at a time: on this server, or on another one that a link names.

Where there is no connection yet, what is wanted waits for one.
"""

from __future__ import annotations

from collections.abc import Coroutine
from typing import Any

from tictactoe_client.online.address import Address
from tictactoe_client.online.choice import Choice
from tictactoe_client.online.errors import Refused
from tictactoe_client.online.room import Room
from tictactoe_client.tui.entering import describe_errand
from tictactoe_client.tui.home_menu import HomeMenu
from tictactoe_client.tui.lobby import Lobby
from tictactoe_client.tui.page import Desk
from tictactoe_client.tui.room.screen import RoomScreen
from tictactoe_client.tui.typed_room import read_room


class Entrance:
    """Leads into rooms; the `menu` may have one typed and is asked about a full one, `first` is of the command line."""

    def __init__(self, desk: Desk, menu: HomeMenu, lobby: Lobby, first: Choice | None) -> None:
        self.first = first
        self._desk = desk
        self._menu = menu
        self._lobby = lobby
        self._next: Choice | None = None

    def enter(self, choice: Choice) -> None:
        """Go into a room here."""
        self._desk.start(self._arrive(self._ask(choice), choice))

    def enter_typed(self) -> None:
        """Go into the room that is typed, here or on its own server; where it is none, say so."""
        typed = self._menu.code
        if not typed.text.strip():
            self._desk.say("Type or paste a room code or a link.")
            return
        room = read_room(typed, self._desk)
        if room is None:
            return
        choice = Choice("join", code=room.code)
        if room.elsewhere is None:
            self.enter(choice)
        else:
            self.travel(room.elsewhere, choice)

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
        self._lobby.forget()
        self._desk.entering.give_up()

    def _ask(self, choice: Choice) -> Coroutine[Any, Any, Room | None]:
        return self._desk.entering.enter(describe_errand(choice), choice.enter)

    async def _arrive(
        self, coming: Coroutine[Any, Any, Room | None], choice: Choice, *, is_first: bool = False
    ) -> None:
        """Open the page of the room when we are in, whatever lies on the first page by then."""
        try:
            room = await coming
        except Refused as refused:
            if is_first:
                self._leave_refused(refused)
            elif refused.code == "room_full":
                self._menu.full = choice.code
                self._desk.redraw()
            else:
                raise
            return
        if room is None:
            return
        self._menu.code.clear()
        self._menu.held = tuple(seat for seat in self._menu.held if seat.room != room.code)
        if len(self._desk.pages) > 1:
            self._desk.go_home()
        self._desk.open(RoomScreen(self._desk, room, choice.again))

    def _leave_refused(self, refused: Refused) -> None:
        """End the program as a command does whose room is not to be had."""
        from tictactoe_client.exits import describe_failure, exit_code_for

        desk = self._desk
        desk.leave(exit_code_for(refused), describe_failure(refused, desk.settings, desk.link.address))
