"""The ways out of a room: home, to another opponent, to a room with the computer; and what one reads who went away."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from functools import partial
from typing import Any

from msgspec.structs import asdict

from tictactoe_client.input.ways import Choice
from tictactoe_client.online.client import Client
from tictactoe_client.online.errors import ClientError
from tictactoe_client.online.room import Room
from tictactoe_client.settings import ExitCode
from tictactoe_client.text.arrival import describe_going, describe_return_command
from tictactoe_client.tui.program import ClientScreen, Program
from tictactoe_client.tui.room.model import Asked, RoomModel
from tictactoe_client.tui.ways_in import describe_wait
from tictactoe_protocol.catalogue import say
from tictactoe_protocol.choices import Cost
from tictactoe_protocol.pushes import RoomState
from tictactoe_protocol.telling import describe_result
from tictactoe_protocol.terms import ClockFields
from tictactoe_protocol.wording import join_words, name_of, seat_of


class WaysOut:
    """How one goes from the room of `model`, whose `screen` it is."""

    def __init__(self, program: Program, model: RoomModel, screen: ClientScreen) -> None:
        self._program = program
        self._model = model
        self._screen = screen

    # -- with a question first ------------------------------------------------------------------------------------

    def ask_before(self, kind: Asked, deed: Callable[[], object]) -> None:
        """Do this, asking first where it loses the game."""
        if self._model.cost:
            self._model.question = kind, deed
        else:
            deed()

    # -- home -----------------------------------------------------------------------------------------------------

    def go_home(self) -> None:
        """Go home at once; the server hears of it meanwhile.

        A game that goes on without a connection is not lost by this: the program ends and says how to come back.
        """
        if self._program.session.phase == "away" and self._model.plays:
            self._program.leave(ExitCode.CONNECTION_LOST)
            return
        self._program.close(self._screen)
        if self._model.room.ended is None:
            self._program.start(self._model.room.leave())

    def end(self, why: str) -> None:
        """Go back to the page under the room, as there is no room any more."""
        if self._screen in self._program.screens and not self._program.ways_in.waits_for:
            self._program.close(self._screen)
            self._program.say(why)

    # -- to another room ------------------------------------------------------------------------------------------

    def go_to_another(self) -> None:
        """Look for another opponent in the same way as before, asking where that loses a game."""
        again = self._model.again
        if again is None:
            self._program.say(say("room nobody to look for"))
            return
        what = say("room opening private" if again.private and not again.bots else "room looking for another")
        self.ask_before("another", partial(self._set_out, what, again))

    def go_to_computer(self) -> None:
        """Open the same room again with the computer in the free seats; the waiting one closes.

        Only a room that opens can have bots, so it has another code, of which those are told who sent the old one.
        """
        state, rules = self._model.room.state, self._model.rules
        terms = state.time_control
        same = Choice(
            "create",
            rules,
            ClockFields(**asdict(terms)) if terms is not None else None,
            state.visibility == "private",
            self._model.seat,
            ("medium",) * (len(rules.marks) - 1),
            analysis="open" if state.analysis == "open" else "closed",
            chat="players" if state.chat == "players" else "all",
        )
        self._set_out(describe_wait(same), same, "room with computer")

    def _set_out(self, what: str, choice: Choice, news: str = "") -> None:
        if not self._program.ways_in.waits_for:
            coming = self._program.ways_in.fetch(what, choice.enter)
            self._program.start(self._go_over(coming, news, may_lose=self._model.plays))

    async def _go_over(self, coming: Coroutine[Any, Any, Room | None], news: str, *, may_lose: bool) -> None:
        """Enter the other room, tell the news with its code there, and leave this one.

        Whoever has gone home meanwhile wants neither room. Where a game has begun here meanwhile it is played, unless
        one was to be lost anyway, which `may_lose` says.
        """
        program, here = self._program, self._model.room
        try:
            room = await coming
        except ClientError:
            if here.ended is not None and self._screen in program.screens:
                program.go_home()
            raise
        if room is None or room is here:
            return
        if self._model.plays and not may_lose:
            program.say(say("room somebody came"))
            await room.leave()
            return
        program.close(self._screen)
        told = say(news, code=room.code) if news else ""
        program.open_room(room, self._model.again, program.screens[-1], told)
        if here.ended is None:
            await here.leave()


def describe_farewell(state: RoomState, client: Client, reader: str, *, has_left: bool, cost: Cost) -> str:
    """Return the line for one who went away from this state, or nothing; `cost` is what that did to the game.

    The `reader` is whom it calls "you", nobody where several play at one keyboard.
    """
    viewer = client.player
    own = seat_of(state, viewer)
    if state.status == "over":
        return say("farewell over", room=state.room, told=describe_result(state, reader))
    if own is None:
        command = describe_return_command(state, viewer, client.cluster.given.first)
        return say("farewell watcher", command=command) if state.status == "playing" else ""
    if not has_left:
        return describe_going(state, client)
    if state.status == "waiting" or cost == "abort":
        return say("farewell before" if state.status == "waiting" else "farewell aborted", room=state.room)
    staying = {mark: name_of(state, mark) for mark, seat in state.seats.items() if seat is not None and not seat.out}
    did = "left" if staying.pop(own, "") else "out"
    return say(f"farewell {did}", room=state.room, names=join_words([*staying.values()]), n=len(staying))
