"""JSON mode: messages on standard output, requests on standard input; see `docs/reference/client.md`."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any, Final, TypeVar, get_args

import msgspec
from msgspec import UNSET, DecodeError

from tictactoe_client.exits import RATED_SECONDS, awaits_rating, dismiss
from tictactoe_client.input.intents import BadInput, describe_move
from tictactoe_client.online.client import Client
from tictactoe_client.online.connection import hide_secrets
from tictactoe_client.online.errors import ConnectionLost, Interrupted, Refused
from tictactoe_client.online.events import Back, ConnectionEvent, Gone, Lost, Retrying, RoomMoved, RoomUnanswered
from tictactoe_client.online.messages import Changed, Message
from tictactoe_client.online.room import Room
from tictactoe_client.online.tournament import Tournament
from tictactoe_client.session import Session
from tictactoe_client.settings import ExitCode
from tictactoe_client.streams.keyboard import Keyboard
from tictactoe_client.streams.output import OutputFailed, own_line, print_json, print_own
from tictactoe_client.text.wording import can_play_again, describe_unknown
from tictactoe_client.visit.face import NoPerson
from tictactoe_client.visit.visit import AnyWay, Visit
from tictactoe_engine import IllegalMove, UnknownNotation, parse_cell
from tictactoe_engine.errors import shorten
from tictactoe_protocol import MAX_MESSAGE_BYTES, BadRoomCode, encode, parse_room_code
from tictactoe_protocol.codes import MAX_ID_LENGTH
from tictactoe_protocol.pushes import Closed, Ok, Push, Replaced, RoomState, Welcome
from tictactoe_protocol.rated import Rated
from tictactoe_protocol.requests import Request
from tictactoe_words.catalogue import say
from tictactoe_words.refusals import describe_fault

Line = dict[str, Any]
Position = tuple[str, int, str]
Answer = TypeVar("Answer")


def print_connected(client: Client) -> None:
    print_own("connected", server=client.address.url, latency_ms=max(1, round(client.latency_seconds * 1000)))


def print_message(message: Message, *, shows_token: bool) -> None:
    """Print a message of the server; unless `shows_token`, the token in a welcome is hidden."""
    if message.event is None:
        is_secret = isinstance(message.push, Welcome) and not shows_token
        print_json(hide_secrets(message.text) if is_secret else message.text)


async def pass_through(client: Client, ask: Callable[[], Coroutine[Any, Any, Answer]]) -> Answer:
    """Await `ask`, which sends requests, and return its result; until then, print all messages of the server."""
    messages = client.messages()
    print_connected(client)
    asking = asyncio.create_task(ask())
    asking.add_done_callback(lambda _: messages.put(None))
    try:
        async for message in messages:
            print_message(message, shows_token=False)
        return await asking
    finally:
        await dismiss(asking)


_LINES_AHEAD: Final = 64
_ABOUT: Final = {
    field: {kind.__struct_config__.tag for kind in get_args(Request) if field in kind.__struct_fields__}
    for field in ("room", "event")
}
"""The types of the requests that have a field `room`, or a field `event`."""


class JsonGame:
    """A run of JSON mode, from entering a room to the exit code; at an event, it includes all rooms that we enter.

    Each request is sent after the answer to the previous one. A move without `ply` waits for our turn. From a pipe, it
    is then refused if the position has changed since the move was read; the moves of a file are made turn by turn.
    """

    def __init__(self, session: Session, keyboard: Keyboard, *, shows_token: bool = True) -> None:
        self._client = session.connection
        self._settings = session.settings
        self._keyboard = keyboard
        self._session = session
        self._visit = Visit(NoPerson(), session)
        self._event: Tournament | None = None
        self._messages = self._client.messages()
        self._shows_token = shows_token and session.identity.role == "player"
        self._room: Room | None = None
        self._left_with = ExitCode.NORMAL
        self._rematch_asked_in: int | None = None
        self._rated_in = ""  # the room of the latest rating change
        self._changed = Changed()
        self._printed: Position | None = None
        self._lines: asyncio.Queue[tuple[str, Position | None] | None] = asyncio.Queue(_LINES_AHEAD)

    async def run(self, way: AnyWay) -> int:
        """Enter a room or an event, carry out all lines, and return the exit code; an interrupt gives the seat up."""
        print_connected(self._client)
        hearing = asyncio.create_task(self._hear_all())
        speaking, reading = asyncio.create_task(self._send_lines(way)), asyncio.create_task(self._read())
        try:
            await asyncio.wait({hearing, speaking}, return_when=asyncio.FIRST_COMPLETED)
            if speaking.done() and self._client.was_cut_off:
                await asyncio.wait({hearing})
            return hearing.result() if hearing.done() else speaking.result()
        except (asyncio.CancelledError, OutputFailed) as end:
            await self._session.end_by(end)
            raise
        finally:
            await dismiss(hearing, speaking, reading)

    async def _hear_all(self) -> int:
        try:
            async for message in self._messages:
                print_message(message, shows_token=self._shows_token)
                if (ending := self._hear(message.event or message.push)) is not None:
                    return ending
                self._changed.note()
        except ConnectionLost as lost:
            if not lost.gave_up:
                print_own("disconnected", reason=lost.reason, hold_ms=None)
            raise
        return self._result_code()

    def _hear(self, what: ConnectionEvent | Push | None) -> ExitCode | None:
        """Handle an event or a message; return the exit code if it ends the run, otherwise None."""
        code = None if self._room is None else self._room.code
        if isinstance(what, RoomState) and code in (None, what.room):
            self._printed = what.room, what.game, what.board
        match what:
            case Lost():
                print_own("disconnected", reason=what.reason, hold_ms=round(what.hold_seconds * 1000))
            case Retrying():
                in_ms = round(what.in_seconds * 1000)
                print_own("reconnecting", attempt=what.attempt, in_ms=in_ms, server=what.server)
            case Back():
                print_connected(self._client)
            case RoomMoved():
                print_own("moved", room=what.room, url=what.url)
            case RoomUnanswered(room, there):
                print_own("unanswered", room=room, url=there.url, step=there.step, message=what.message)
            case Ok() if what.room and what.seat is not UNSET:
                self._room = self._client.rooms.get(what.room)
                if what.seat is not None:
                    self._session.keep_room(what.room)
            case Closed() | Gone() | Replaced() if self._event is not None and what.room == code:
                self._room = None
            case RoomState(room=room, status="over") if (
                room == code and self._event is None and not self._settings.asks
            ):
                if not awaits_rating(what):
                    return self._result_code()
                asyncio.get_running_loop().call_later(RATED_SECONDS, self._messages.put, None)
            case Rated(room=room) if room == code:
                self._rated_in = room
                return None if self._event is not None or self._settings.asks else self._result_code()
            case Closed() if what.room == code and self._is_over():
                return self._result_code()
            case Closed() | Gone() if what.room == code:
                return ExitCode.NO_ROOM
            case Replaced() if what.room == code:
                return ExitCode.REFUSED
        return None

    async def _read(self) -> None:
        """Queue each line of the input with the position that had been printed when the line was read."""
        while (text := await self._keyboard.read_line()) is not None:
            await self._lines.put((text, None if self._keyboard.is_file else self._printed))
        await self._lines.put(None)

    async def _send_lines(self, way: AnyWay) -> int:
        entered, number = await self._visit.enter(way), 0
        self._event = entered if isinstance(entered, Tournament) else None
        while (line := await self._lines.get()) is not None:
            number += 1
            if line[0].strip():
                await self._take_line(*line, number)
        return await self._wait_for_the_end()

    async def _take_line(self, text: str, follows: Position | None, number: int) -> None:
        try:
            request = msgspec.json.decode(text, type=Line)
        except (DecodeError, RecursionError) as error:
            self._complain("bad_json", say("bad line", error=error), line=number)
            return
        kind, room = str(request.get("type")), self._room
        request.setdefault("id", f"line-{number}")
        for field, here in (("room", room), ("event", self._event)):
            if here is not None and kind in _ABOUT[field] - {"join", "watch"}:
                request.setdefault(field, here.code)
        if kind == "event_run" and self._event is not None:
            request.setdefault("seq", self._event.state.seq)
        room = room if _names(request, room) else None
        try:
            if kind in ("move", "choose") and room is not None:
                await self._complete_move(request, room, follows)
            await self._send(request, room)
        except IllegalMove as error:
            self._complain(error.code, describe_fault(error), id=request["id"], line=number)
        except BadInput as error:
            self._complain(error.code, error.message, id=request["id"], line=number)
        except Interrupted as error:
            self._complain("interrupted", error.message, id=request["id"])
        except Refused:
            return  # the server's error has been printed

    def _complain(self, code: str, message: str, **fields: object) -> None:
        """Print an error of the client after all earlier messages of the server."""
        self._messages.put(Message(own_line("error", code=code, message=message, **fields), None))

    async def _send(self, request: Line, room: Room | None) -> None:
        """Send a request and handle its answer; raises `BadInput` for an `id` that is not a short string."""
        identity, length = request["id"], len(encode(request))
        if length > MAX_MESSAGE_BYTES:  # the server would close the connection
            self._complain("too_long", say("too long bytes", n=length, most=MAX_MESSAGE_BYTES), id=identity)
            return
        if not (isinstance(identity, str) and 1 <= len(identity) <= MAX_ID_LENGTH):
            raise BadInput(say("bad id", most=MAX_ID_LENGTH), "bad_message")
        await self._client.request(request)
        if room is not None:
            await self._follow(request, room)

    async def _complete_move(self, move: Line, room: Room, follows: Position | None) -> None:
        """Wait until we may move, then set the `cell` of a move from `at`, and the `ply` of a move or choice.

        Raises `BadInput` if the position is no longer the one that the move `follows`.
        """

        def is_gone() -> bool:
            return "ply" not in move and follows is not None and follows != self._printed

        await self._changed.until(
            lambda: room.has_state and ("ply" in move or is_gone() or self._may_move(room, room.state))
        )
        if is_gone():
            raise BadInput(say("move gone"), "stale")
        if move["type"] == "move" and "at" in move and "cell" not in move:
            settings, rules = self._settings, room.state.rules.to_rules()
            name = str(move.pop("at"))
            try:
                move["cell"] = parse_cell(name, rules, keys=settings.keys, coordinates=settings.coordinates)
            except UnknownNotation:
                raise BadInput(describe_unknown(shorten(name), describe_move(rules))) from None
        move.setdefault("ply", room.state.ply)

    def _may_move(self, room: Room, state: RoomState) -> bool:
        if room.seat is None:
            return True
        if state.status == "over":
            return self._rematch_asked_in != state.game or not can_play_again(state)
        return room.is_my_turn

    async def _follow(self, request: Line, room: Room) -> None:
        state = room.state if room.has_state else None
        if request["type"] in ("move", "choose") and state is not None:
            game, ply, is_move = state.game, request["ply"], request["type"] == "move"

            def is_due(now: RoomState) -> bool:
                return now.game == game and now.ply <= ply and (is_move or bool(now.opening and now.opening.options))

            await self._changed.until(lambda: not is_due(room.state))
        elif request["type"] == "rematch" and state is not None and state.status == "over":
            self._rematch_asked_in = state.game
        elif request["type"] == "leave":
            self._left_with = self._result_code()
            self._session.forget_room(room.code)
            self._room = None

    async def _wait_for_the_end(self) -> int:
        if (event := self._event) is not None:
            await self._changed.until(lambda: event.is_over)
            return ExitCode.NORMAL
        room = self._room
        if room is None:
            return self._left_with
        await self._changed.until(lambda: room.has_state)
        is_rated = lambda: self._rated_in == room.code  # noqa: E731
        return await self._visit.stay_after_input(room, self._keyboard, self._changed, is_rated)

    @property
    def _state(self) -> RoomState | None:
        return self._room.state if self._room is not None and self._room.has_state else None

    def _is_over(self) -> bool:
        return self._state is not None and self._state.status == "over"

    def _result_code(self) -> ExitCode:
        return self._visit.result(self._room)


def _names(request: Line, room: Room | None) -> bool:
    try:
        return room is not None and parse_room_code(str(request.get("room"))) == room.code
    except BadRoomCode:
        return False
