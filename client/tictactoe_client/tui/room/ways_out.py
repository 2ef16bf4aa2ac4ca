"""The ways out of a room: home, to another opponent, to the computer, out of the program. None of them waits.

What the server has to hear goes out beside everything else, so that Esc works at once also where no answer comes.
"""

from __future__ import annotations

from collections.abc import Coroutine
from typing import TYPE_CHECKING, Any

from msgspec.structs import asdict

from tictactoe_client.online.client import Choice
from tictactoe_client.online.errors import ClientError
from tictactoe_client.online.room import Room
from tictactoe_client.session import Enter
from tictactoe_client.settings import ExitCode
from tictactoe_client.tui.errands import describe_errand
from tictactoe_client.tui.hints import describe_another
from tictactoe_client.tui.room.desk import Desk
from tictactoe_client.tui.room.table import Table
from tictactoe_protocol.requests import ClockFields

if TYPE_CHECKING:
    from tictactoe_client.tui.room.screen import RoomScreen


class WaysOut:
    """The ways out of one room, seen on `screen`; `again` is what to enter for another opponent, if anything."""

    def __init__(self, desk: Desk, table: Table, screen: RoomScreen, again: Choice | None) -> None:
        self._desk = desk
        self._table = table
        self._screen = screen
        self._again = again

    def leave(self) -> None:
        """Go home, asking where that loses a game."""
        if self._loses_game():
            self._table.hand.confirming = "leave"
        else:
            self.home()

    def asks_first(self) -> bool:
        """Ask before the program ends, with the board in sight, where that loses a game; tell whether it is asked."""
        if not self._loses_game() or self._table.hand.confirming == "quit":
            return False
        while self._desk.screens[-1] is not self._screen:
            self._desk.close_page()
        self._table.hand.confirming = "quit"
        return True

    def home(self) -> None:
        """Go home at once; the server hears of it meanwhile.

        A game that goes on without a connection is not lost by this: the program ends and says how to come back.
        """
        if self._desk.link.phase == "away" and self._table.plays:
            self._desk.leave(ExitCode.CONNECTION_LOST)
            return
        self._close_page()
        if self._table.room.ended is None:
            self._desk.start(self._table.room.leave())

    def to_another(self) -> None:
        """Look for another opponent in the same way as before, asking where that loses a game."""
        if self._again is None:
            self._desk.say("There is nobody to look for here.")
        elif self._loses_game() and self._table.hand.confirming != "another":
            self._table.hand.confirming = "another"
        else:
            again = self._again
            errand = "Opening a private room" if again.private and not again.bots else "Looking for another opponent"
            self._set_out(errand, again.enter)

    def to_computer(self) -> None:
        """Open the same room again with the computer in the free seats; the waiting one closes.

        Only a room that opens can have bots, so it has another code, of which those are told who sent the old one.
        """
        state, seat = self._table.state, self._table.seat
        if state is not None:
            rules, terms = state.rules.to_rules(), state.time_control
            clock = ClockFields(**asdict(terms)) if terms is not None else None
            bots = ("medium",) * (len(rules.marks) - 1)
            same = Choice(
                "create",
                rules,
                clock,
                state.visibility == "private",
                seat,
                bots,
                analysis="open" if state.analysis == "open" else "closed",
                chat="players" if state.chat == "players" else "all",
            )
            self._set_out(describe_errand(same), same.enter, "Room {} now, with the computer.")

    @property
    def another(self) -> str:
        """What would be played next with somebody else, in words; empty for nothing."""
        return describe_another(self._again)

    def _loses_game(self) -> bool:
        return self._table.plays and self._desk.link.phase != "away"

    def _close_page(self) -> None:
        while self._screen in self._desk.screens:
            is_first = self._desk.screens[0] is self._desk.screens[-1]
            self._desk.close_page()
            if is_first:
                return

    def _set_out(self, errand: str, enter: Enter, news: str = "") -> None:
        if not self._desk.errands.errand:
            self._table.hand.errand = errand
            coming = self._desk.errands.fetch(errand, enter)
            self._desk.start(self._go(coming, news, may_lose=self._table.plays))

    async def _go(self, coming: Coroutine[Any, Any, Room | None], news: str, *, may_lose: bool) -> None:
        """Enter the other room, tell the news with its code there, and leave this one.

        Whoever has gone home meanwhile wants neither room. Where a game has begun here meanwhile it is played, unless
        one was to be lost anyway, which `may_lose` says.
        """
        try:
            room = await coming
        except ClientError:
            if self._table.room.ended is not None and self._screen in self._desk.screens:
                self._desk.go_home()
            raise
        finally:
            self._table.hand.errand = None
        if room is None or room is self._table.room:
            return
        if self._table.plays and not may_lose:
            self._desk.say("Somebody has come meanwhile: the game is on.")
            await room.leave()
            return
        self._close_page()
        self._screen.sit_down(room, news.format(room.code))
        if self._table.room.ended is None:
            await self._table.room.leave()
