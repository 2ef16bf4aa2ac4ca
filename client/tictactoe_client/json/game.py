"""JSON mode: the server's messages on standard output as they came, requests from standard input, one a line.

What the client adds for comfort is little, and documented in `docs/client.md`.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Coroutine
from typing import Any, Final, TypeVar

import msgspec
from msgspec import UNSET, DecodeError, ValidationError

from tictactoe_client.exits import dismiss, exit_code_of
from tictactoe_client.online.client import Client
from tictactoe_client.online.errors import ConnectionLost, Interrupted
from tictactoe_client.online.events import Back, ConnectionEvent, Gone, Lost, Retrying
from tictactoe_client.online.messages import Messages
from tictactoe_client.online.requests import is_repeatable_line
from tictactoe_client.online.room import Room
from tictactoe_client.session import Enter, Session
from tictactoe_client.settings import ExitCode, Settings
from tictactoe_client.streams.keyboard import Keyboard
from tictactoe_client.streams.output import OutputFailed, print_json, print_own
from tictactoe_client.text.news import can_play_again
from tictactoe_engine import IllegalMove, UnknownNotation, parse_cell
from tictactoe_protocol import BadRoomCode, parse_room_code
from tictactoe_protocol.codes import MAX_ID_LENGTH
from tictactoe_protocol.pushes import Closed, Error, Ok, Push, Replaced
from tictactoe_protocol.requests import Leave

Line = dict[str, Any]
Answer = TypeVar("Answer")


def print_connected(client: Client, latency_seconds: float) -> None:
    """Print the first line of every conversation: where it leads, and how long the answer to hello took."""
    print_own("connected", server=client.address.url, latency_ms=max(1, round(latency_seconds * 1000)))


async def pass_through(client: Client, ask: Callable[[], Coroutine[Any, Any, Answer]]) -> Answer:
    """Carry out requests, print everything that the server says meanwhile, and return what came of them."""
    messages = client.messages()
    print_connected(client, client.latency_seconds)
    asking = asyncio.create_task(ask())
    asking.add_done_callback(lambda _: messages.put(None))
    try:
        async for message in messages:
            if message.event is None:
                print_json(message.text)
        return await asking
    finally:
        await dismiss(asking)


def parse_line(text: str) -> Line:
    """Return the object on a line; raises ValueError for anything else."""
    try:
        return msgspec.json.decode(text, type=Line)
    except RecursionError:
        raise ValueError("This is nested too deeply.") from None
    except ValidationError:
        raise ValueError("A line holds one JSON object.") from None
    except DecodeError as error:
        raise ValueError(f"This is not JSON: {error}.") from None


_ROOM_REQUESTS: Final = frozenset(
    {"leave", "move", "resign", "draw", "undo", "claim", "rematch", "chat", "sync", "analyse"}
)


class JsonGame:
    """One run of JSON mode, from entering a room to the exit code; `seats` writes down where one sits.

    Requests go out in order, each after the answer to the one before; a move without a `ply` waits for this player's
    turn. The room is the one that was entered last, None before the first and after leaving it.
    """

    def __init__(self, client: Client, settings: Settings, keyboard: Keyboard, seats: Session) -> None:
        self._client = client
        self._settings = settings
        self._keyboard = keyboard
        self._seats = seats
        self._room: Room | None = None
        self._left_with = ExitCode.NORMAL
        self._rematch_asked_in: int | None = None
        self._request: Line = {}
        self._reply: asyncio.Future[Ok | Error | None] | None = None
        self._is_sent = False
        self._resending: asyncio.Task[None] | None = None
        self._changed = asyncio.Event()

    async def run(self, enter: Enter) -> int:
        """Enter a room and return the exit code; when cancelled or cut off, give the seat up first."""
        print_connected(self._client, self._client.latency_seconds)
        hearing = asyncio.create_task(self._hear_all(self._client.messages()))
        speaking = asyncio.create_task(self._speak(enter))
        try:
            await asyncio.wait({hearing, speaking}, return_when=asyncio.FIRST_COMPLETED)
            if speaking.done() and self._client.was_cut_off:
                await asyncio.wait({hearing})
            return hearing.result() if hearing.done() else speaking.result()
        except (asyncio.CancelledError, BrokenPipeError, OutputFailed):
            if self._room is not None:
                await self._room.say_goodbye()
            raise
        finally:
            await dismiss(hearing, speaking)

    # -- what comes -------------------------------------------------------------------------------------------------

    async def _hear_all(self, messages: Messages) -> int:
        """Pass on everything until the room or the connection is gone."""
        try:
            async for message in messages:
                if message.event is None:
                    print_json(message.text)
                if (ending := self._hear(message.event or message.push)) is not None:
                    return ending
                self._changed.set()
                self._changed.clear()
        except ConnectionLost as lost:
            if not lost.gave_up:
                print_own("disconnected", reason=lost.reason, hold_ms=None)
            raise
        return ExitCode.NORMAL

    def _hear(self, what: ConnectionEvent | Push | None) -> ExitCode | None:
        """Take note of what happens; return how the run ends where it ends by that."""
        code = None if self._room is None else self._room.code
        match what:
            case Lost():
                print_own("disconnected", reason=what.reason, hold_ms=round(what.hold_seconds * 1000))
            case Retrying():
                in_ms = round(what.in_seconds * 1000)
                print_own("reconnecting", attempt=what.attempt, in_ms=in_ms, server=what.server)
            case Back():
                print_connected(self._client, what.latency_seconds)
                self._resend()
            case Ok() | Error():
                if isinstance(what, Ok) and what.room and what.seat is not UNSET:
                    self._room = self._client.room(what.room)
                    if what.seat is not None:
                        self._seats.keep_room(what.room)
                self._settle(what)
            case Gone() if what.room == code:
                return ExitCode.NO_ROOM
            case Closed() if what.room == code:
                return self._result_code() if self._is_over() else ExitCode.NO_ROOM
            case Replaced() if what.room == code:
                return ExitCode.REFUSED
        return None

    # -- what is asked ----------------------------------------------------------------------------------------------

    async def _speak(self, enter: Enter) -> int:
        """Enter the room, send what the input says, and end as the end of the input asks for."""
        await self._seats.enter(enter)
        number = 0
        while (text := await self._read_line()) is not None:
            number += 1
            if text.strip():
                await self._take_line(text, number)
        return await self._wait_for_the_end()

    async def _read_line(self) -> str | None:
        """Return the next line; None at the end of the input and, where nothing is to be asked, of the game."""
        if self._settings.asks:
            return await self._keyboard.read_line()
        reading = asyncio.create_task(self._keyboard.read_line())
        ending = asyncio.create_task(self._until(self._is_over))
        try:
            await asyncio.wait({reading, ending}, return_when=asyncio.FIRST_COMPLETED)
            return None if ending.done() else reading.result()
        finally:
            reading.cancel()
            ending.cancel()

    async def _take_line(self, text: str, number: int) -> None:
        try:
            request = parse_line(text)
        except ValueError as error:
            print_own("error", code="bad_json", message=str(error), line=number)
            return
        kind, room = request.get("type"), self._room
        request.setdefault("id", f"line-{number}")
        if isinstance(kind, str) and kind in _ROOM_REQUESTS and room is not None:
            request.setdefault("room", room.code)
        room = room if _names(request, room) else None
        try:
            if kind == "move" and room is not None:
                await self._complete_move(request, room)
        except (IllegalMove, UnknownNotation) as error:
            print_own("error", id=request["id"], code=error.code, message=error.message, line=number)
            return
        reply = await self._send(request)
        if isinstance(reply, Ok) and room is not None:
            await self._follow(request, room)

    async def _send(self, request: Line) -> Ok | Error | None:
        """Send a request and return its reply, or None where the reply could not be told from others."""
        identity, reply = request["id"], asyncio.get_running_loop().create_future()
        is_known = isinstance(identity, str) and 1 <= len(identity) <= MAX_ID_LENGTH
        self._request, self._reply, self._is_sent = request, reply if is_known else None, False
        await self._client.send_text(json.dumps(request))
        self._is_sent = True
        return await reply if is_known else None

    def _settle(self, answer: Ok | Error | None) -> None:
        """Hand an answer to the request that it belongs to, None where there will be none."""
        if self._reply and not self._reply.done() and (answer is None or answer.id == self._request["id"]):
            self._reply.set_result(answer)

    def _resend(self) -> None:
        """Send the request again that had no answer when the connection was lost, where it may be sent twice."""
        if self._reply is None or self._reply.done() or not self._is_sent:
            return
        if is_repeatable_line(self._request):
            self._resending = asyncio.create_task(self._client.send_text(json.dumps(self._request)))
            return
        print_own("error", id=self._request["id"], code="interrupted", message=Interrupted().message)
        self._settle(None)

    async def _complete_move(self, move: Line, room: Room) -> None:
        """Fill in `cell` from `at`, and `ply` when it is this player's turn, or when it never will be."""
        if "at" not in move and "ply" in move:
            return
        await self._until(lambda: room.state is not None if "ply" in move else self._may_move(room))
        state = room.state
        if state is None:
            return
        if "at" in move and "cell" not in move:
            settings, rules = self._settings, state.rules.to_rules()
            name = str(move.pop("at"))
            move["cell"] = parse_cell(name, rules, keys=settings.keys, coordinates=settings.coordinates)
        move.setdefault("ply", state.ply)

    def _may_move(self, room: Room) -> bool:
        """Tell whether a move can be sent: at this player's turn, or where waiting for it would be in vain."""
        state = room.state
        if state is None or room.seat is None:
            return state is not None
        if state.status == "over":
            return self._rematch_asked_in != state.game or not can_play_again(state)
        return room.is_my_turn

    async def _follow(self, request: Line, room: Room) -> None:
        """Wait until the state says what the answer promised, so that the next line stands on it."""
        state = room.state
        if request["type"] == "move" and state is not None:
            game, ply = state.game, request["ply"]
            await self._until(lambda: room.state is None or room.state.game != game or room.state.ply > ply)
        elif request["type"] == "rematch" and state is not None and state.status == "over":
            self._rematch_asked_in = state.game
        elif request["type"] == "leave":
            self._left_with = self._result_code()
            self._seats.forget_room(room.code)
            self._room = None

    # -- how it ends ------------------------------------------------------------------------------------------------

    async def _wait_for_the_end(self) -> int:
        """Return when the room's game is over; a player whose moves cannot come any more leaves after five seconds."""
        room = self._room
        if room is None:
            return self._left_with
        await self._until(lambda: room.state is not None)
        patience = self._settings.leaving_seconds if room.seat is not None and not self._settings.stay else None
        try:
            async with asyncio.timeout(patience):
                await self._until(self._is_over)
        except TimeoutError:
            await self._client.request(Leave(room=room.code))
            return ExitCode.ABANDONED if self._settings.result_code else ExitCode.NORMAL
        return self._result_code()

    async def _until(self, condition: Callable[[], bool]) -> None:
        while not condition():
            await self._changed.wait()

    def _is_over(self) -> bool:
        state = None if self._room is None else self._room.state
        return state is not None and state.status == "over"

    def _result_code(self) -> ExitCode:
        state = None if self._room is None else self._room.state
        return exit_code_of(state, self._client.player, with_result=self._settings.result_code)


def _names(request: Line, room: Room | None) -> bool:
    """Tell whether a request names this room, in whatever spelling."""
    try:
        return room is not None and parse_room_code(str(request.get("room"))) == room.code
    except BadRoomCode:
        return False
