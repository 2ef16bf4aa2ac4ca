"""A visit: entering rooms and events, moving on to other rooms, and leaving with an exit code."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from contextlib import suppress
from typing import Any

from tictactoe_client.exits import dismiss, exit_code_of, hear_rating
from tictactoe_client.input import names
from tictactoe_client.input.ways import Choice, EventWay
from tictactoe_client.online.client import Client
from tictactoe_client.online.errors import ClientError, Refused
from tictactoe_client.online.events import RoomUnanswered
from tictactoe_client.online.messages import Changed, Messages
from tictactoe_client.online.room import GOODBYE_SECONDS, Room
from tictactoe_client.online.tournament import Tournament
from tictactoe_client.session import Session
from tictactoe_client.settings import ExitCode
from tictactoe_client.streams.keyboard import Keyboard
from tictactoe_client.text.arrival import describe_going, describe_going_elsewhere
from tictactoe_client.visit.face import Face, Prompt
from tictactoe_protocol import clean_text
from tictactoe_protocol.challenges import Challenged
from tictactoe_words.catalogue import say
from tictactoe_words.ladders import describe_challenge

AnyWay = Choice | EventWay
Entered = Room | Tournament


class Visit:
    """Enters rooms, one at a time, and events.

    If the server lets us into a room that the person no longer wants, we leave it before the next one is entered.

    Attributes:
        waits_for: A description of the room that is being entered, or "".
        face: The user interface that shows lines and asks.
    """

    def __init__(self, face: Face, session: Session) -> None:
        self.waits_for = ""
        self.face = face
        self._session = session
        self._wanted: object | None = None
        self._entering = asyncio.Lock()

    @property
    def client(self) -> Client | None:
        return self._session.client

    def enter(self, way: AnyWay) -> Coroutine[Any, Any, Entered | None]:
        """Return a coroutine that enters a room or event; a room replaces the one that is being entered now.

        The coroutine returns None if the person gives up, or plays on instead of moving to another server. It raises
        `Refused` if the server refuses and the person does not accept the alternative, if there is one.
        """
        return self._enter(way, self._want(way))

    async def move_on(self, room: Room, choice: Choice) -> Room | None:
        """Enter another room and return it; the caller then leaves `room`. Return None to stay in `room`.

        The person stays after giving up, or if a game has begun in `room` while waiting.
        """
        was_playing, entered = room.plays, await self.enter(choice)
        if not isinstance(entered, Room) or entered is room:
            return None
        if room.plays and not was_playing:
            self.face.show(say("room somebody came"))
            await entered.leave(gives_up=choice.way != "join")
            return None
        return entered

    def give_up(self) -> bool:
        """Stop waiting for the room that is being entered, if any, and return True if there was one.

        We leave the room again if the server lets us in later.
        """
        was_wanted = self._wanted is not None
        self.waits_for, self._wanted = "", None
        return was_wanted

    async def finish(self) -> None:
        """Give up as the program ends, waiting at most a second for the server."""
        self.give_up()
        with suppress(TimeoutError):
            async with asyncio.timeout(GOODBYE_SECONDS), self._entering:
                pass

    async def leave(self, room: Room) -> ExitCode:
        """Leave a room and return the exit code; without a connection, hold the seat for a later run."""
        code, client = self.result(room), self.client
        if client is None or not client.is_here:
            self._session.hold()
            self.face.show(*([] if client is None else [describe_going(room.state, client)]))
            return ExitCode.CONNECTION_LOST
        is_kept = room.keeps_seat and room.ended is None and room.state.status != "over"
        await room.leave()
        self.face.show(describe_going(room.state, client) if is_kept else say("you left", room=room.code))
        return code

    async def stay_after_input(
        self, room: Room, keyboard: Keyboard, changed: Changed, is_rated: Callable[[], bool]
    ) -> ExitCode:
        """Wait for the end of the game after the input has ended; a player leaves after some seconds.

        If the input was a terminal, which the person may have closed, the player does not leave, and the seat is held.

        Args:
            changed: Wakes at each change of the room.
            is_rated: Returns True once the rating changes of the game have arrived.
        """

        def is_over() -> bool:
            return room.state.status == "over"

        client, settings, leaving = self.client, self._session.settings, room.choices(0).find("leave")
        assert client is not None
        goes = room.seat is not None and not settings.stay and not is_over()
        if goes and keyboard.is_terminal:
            self._session.hold()
            self.face.show(say("input ended", going=describe_going(room.state, client)))
            return self.result(room)
        if goes:
            cost = "" if leaving is None else leaving.cost
            id = f"input ended, leaving and {cost}" if cost else "input ended, leaving"
            self.face.show(say(id, n=f"{settings.leaving_seconds:g}"))
        elif not is_over():
            self.face.show(say("input ended, staying"))
        try:
            async with asyncio.timeout(settings.leaving_seconds if goes else None):
                await changed.until(is_over)
        except TimeoutError:
            return await self.leave(room)
        await hear_rating(room.state, changed, is_rated)
        return self.result(room)

    def result(self, room: Room | None) -> ExitCode:
        """Return the exit code of a run that ends in the current state of `room`, or without a room."""
        state = room.state if room is not None and room.has_state else None
        viewer = "" if self.client is None else self.client.player
        return exit_code_of(state, viewer, with_result=self._session.settings.result_code)

    def _want(self, way: AnyWay) -> object | None:
        if isinstance(way, Choice):
            self.waits_for, self._wanted = describe_wait(way), object()
        return self._wanted

    async def _enter(self, way: AnyWay, wanted: object | None) -> Entered | None:
        while True:
            try:
                if isinstance(way, EventWay):
                    return None if self.client is None else await way(self.client)
                return await self._enter_room(way, wanted)
            except Refused as refused:
                other = await self._find_other_way(way, refused)
                client = self.client
                if other is None and refused.code == "moved" and client is not None and client.rooms.plays:
                    return None  # the person plays on here
                if other is None:
                    raise
                way, wanted = other, self._want(other)

    async def _enter_room(self, choice: Choice, wanted: object | None) -> Entered | None:
        session = self._session
        try:
            async with self._entering:
                client = session.client
                if client is None or self._wanted is not wanted:
                    return None
                more = [say("challenge open")] if choice.way == "challenge" else []
                show = lambda line: self.face.show(line, *more)  # noqa: E731
                hearing = asyncio.create_task(self._hear(client, client.messages(), choice))
                try:
                    entered = await session.enter(choice.enter_any(client, show))
                finally:
                    await dismiss(hearing)
                if self._wanted is wanted or not isinstance(entered, Room):
                    return entered
                if any(seat.room == entered.code for seat in client.welcome.rooms):
                    await session.greet_again()  # do not give up the seat of an earlier run
                else:
                    await entered.leave(gives_up=not entered.plays)
                    session.forget_room(entered.code)
        except ClientError:
            if self._wanted is wanted:
                raise
        finally:
            if self._wanted is wanted:
                self.give_up()
        return None

    async def _hear(self, client: Client, messages: Messages, choice: Choice) -> None:
        """Report if the room's server does not answer; while our challenge is open, ask about incoming ones."""
        async with messages:
            async for message in messages:
                if isinstance(message.event, RoomUnanswered):
                    self.face.show(message.event.message)
                elif choice.way != "challenge":
                    continue
                elif isinstance(push := message.push, Challenged) and push.player != client.player:
                    question = f"{describe_challenge(push, client.player)} {say('challenge agree')}"
                    accepts = await self.face.ask(Prompt(question)) is not None
                    with suppress(Refused):  # the challenge may have ended
                        await client.challenges.answer(push.challenge, accept=accepts)

    async def _find_other_way(self, way: AnyWay, refused: Refused) -> AnyWay | None:
        """Offer an alternative to a refused way; return it, or None if there is none or the person says no."""
        client, why = self.client, clean_text(refused.message)
        other: AnyWay | None = None
        if client is None:
            return None
        if isinstance(way, EventWay):
            prompt, other = Prompt(f"{why} {say('card here')}", yes="key play here"), way.instead(refused)
        elif refused.needs_claim:
            return way if await self._claim_name() else None
        elif refused.code == "room_full" and refused.room is not None:
            other = Choice("watch", code=refused.room)
            prompt = Prompt(why, yes="key watch", word="watch")
        elif refused.code == "moved" and client.rooms.plays:
            prompt, other = Prompt(describe_going_elsewhere(way.code, client)), way
        if other is None or await self.face.ask(prompt) is None:
            return None
        if refused.code == "moved":
            client.rooms.step_aside()
        return other

    async def _claim_name(self) -> bool:
        client = self.client
        if client is None:
            return False
        prompt = Prompt(say("claim first", name=clean_text(client.name)), claims_name=True)
        if await self.face.ask(prompt) is None:
            return False
        client = self.client or client
        if client.welcome.claimed is not True:
            lines, _ = await names.carry_out(client, self._session.identity, "claim", client.name)
            self.face.show(*lines)
        return True


def describe_wait(choice: Choice) -> str:
    if choice.way == "create":
        return say("wait for computer" if choice.bots else "wait for room")
    return say(f"wait for {'match' if choice.way == 'challenge' else choice.way}", room=choice.code)
