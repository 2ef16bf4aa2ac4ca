"""The load of the benchmark of moves: tables of two that play drawn games of nine moves with a rematch after each.

Both players await every state, which must be that of the move, before the next move is sent. At our server requests
have ids that count up, and the answer is awaited as well.
"""

from __future__ import annotations

import asyncio
import itertools
import json
import random
import time
from collections import Counter
from collections.abc import Callable, Coroutine, Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Protocol, Self

from tools.bench.load import Spin, Wire, encode_frame, gather_some, open_wire
from tools.bench.processes import core_busy_seconds

DRAWN = (0, 1, 2, 4, 3, 5, 7, 6, 8)
"""The cells of a game without a winner."""

STEPS_A_GAME = len(DRAWN) + 2
WARM_UP_SECONDS = 1.0
RUN_UP_SECONDS = 0.1
"""How long the load runs before a measurement."""


class Step(NamedTuple):
    """A player's request, and what the next message to both and the answer must contain."""

    send: Callable[[bytes], None]
    frame: bytes
    mark: bytes
    is_move: bool
    answer: bytes = b""


class Seat(Wire):
    """A player's connection, which belongs to a table once that is set."""

    def __init__(self) -> None:
        super().__init__()
        self.table: Table | None = None
        self._messages: asyncio.Queue[bytes] = asyncio.Queue()

    def received(self, payload: bytes) -> None:
        table = self.table
        if table is None:
            self._messages.put_nowait(payload)
        elif table.mark in payload or (table.answer and table.answer in payload):
            table.awaited -= 1
            if not table.awaited:
                table.go_on()
        else:
            table.fail(payload)

    def lost(self) -> None:
        self._messages.put_nowait(b'"error": the connection was lost')
        if self.table is not None:
            self.table.fail(b"the connection was lost")

    async def next_message(self) -> bytes:
        """Return the next message before the game."""
        async with asyncio.timeout(30):
            message = await self._messages.get()
        assert b'"error"' not in message or b'"moved"' in message, message
        return message


class Table:
    """Two connections in one room, and their progress in two games, one begun by each player."""

    def __init__(self, seats: tuple[Seat, Seat], steps: Iterator[Step]) -> None:
        self.seats = seats
        self.mark = self.answer = b""
        self.awaited = 0
        self.latencies: list[float] = []
        self._steps = steps
        self._is_move = False
        self._left = 0
        self.sent_at = 0.0
        self._pace_seconds = 0.0
        self._is_open = False
        self._due = 0.0
        self._done: asyncio.Future[None] | None = None
        for seat in seats:
            seat.table = self

    def play(self, steps: int, pace_seconds: float = 0.0, *, is_open: bool = False) -> asyncio.Future[None]:
        """Play steps; the result is done then, or after `stop`. `pace_seconds` is the time between moves.

        With `is_open`, a step is due a fixed time after the previous one was due, and times are measured from then.
        """
        self._left, self._pace_seconds, self._is_open = steps, pace_seconds, is_open
        loop = asyncio.get_running_loop()
        self._done = loop.create_future()
        if pace_seconds:
            wait = random.uniform(0, pace_seconds)
            self._due = time.perf_counter() + wait
            loop.call_later(wait, self.begin_step)
        else:
            self.begin_step()
        return self._done

    def stop(self) -> None:
        """Stop after the awaited state."""
        self._left = 0

    def go_on(self) -> None:
        """Record the time of the completed step, and take the next."""
        if self._is_move:
            self.latencies.append(time.perf_counter() - self.sent_at)
        if self._left <= 0:
            assert self._done is not None
            if not self._done.done():
                self._done.set_result(None)
        elif self._is_open:
            self._begin_when_due()
        elif self._pace_seconds:
            asyncio.get_running_loop().call_later(self._pace_seconds, self.begin_step)
        else:
            self.begin_step()

    def _begin_when_due(self) -> None:
        self._due += self._pace_seconds
        wait = self._due - time.perf_counter()
        if wait > 0:
            asyncio.get_running_loop().call_later(wait, self.begin_step)
        else:
            self.begin_step()
            self.sent_at = self._due

    def fail(self, payload: bytes) -> None:
        """Fail because of an unexpected message."""
        if self._done is not None and not self._done.done():
            wanted, got = self.mark.decode(), payload.decode(errors="replace")
            self._done.set_exception(AssertionError(f"not {wanted!r}, but {got!r}"))

    def close(self) -> None:
        for seat in self.seats:
            seat.table = None
            seat.close()

    def begin_step(self) -> None:
        self._left -= 1
        self.take(next(self._steps))

    def take(self, step: Step) -> None:
        """Send a step's request, and await the messages to both."""
        send, frame, self.mark, self._is_move, self.answer = step
        self.awaited = 3 if self.answer else 2
        self.sent_at = time.perf_counter()
        send(frame)


Seating = Callable[[str, int], Coroutine[Any, Any, Table]]
"""Seats two players at a numbered table of the server with this address."""


def relayed_steps(seats: tuple[Seat, Seat]) -> Iterator[Step]:
    """Yield the moves of successive games; a relay returns each to both players."""
    steps = list[Step]()
    for number, cell in enumerate(DRAWN * 2):
        ply = number % len(DRAWN)
        text = f'{{"type":"move","room":"K7M4PQ","cell":{cell},"ply":{ply},"id":"client-{number}"}}'
        send = seats[number % 2].transport.write
        steps.append(Step(send, encode_frame(text.encode()), f'"ply":{ply},'.encode(), is_move=True))
    return itertools.cycle(steps)


def steps_of(seats: tuple[Seat, Seat], code: str) -> Iterator[Step]:
    """Yield the requests of successive games at our server."""
    ids = itertools.count(1)

    def step(seat: Seat, fields: str, ply: int, *, is_move: bool) -> Step:
        id = f'"id":"client-{next(ids)}"'
        frame = encode_frame(f"{{{fields},{id}}}".encode())
        return Step(seat.transport.write, frame, f'"ply":{ply},'.encode(), is_move, f'"type":"ok",{id}'.encode())

    for game in itertools.count(1):
        for ply, cell in enumerate(DRAWN):
            move = f'"type":"move","room":"{code}","cell":{cell},"ply":{ply}'
            yield step(seats[(game + ply + 1) % 2], move, ply + 1, is_move=True)
        for seat, ply in zip(seats, (len(DRAWN), 0), strict=True):
            yield step(seat, f'"type":"rematch","room":"{code}","game":{game}', ply, is_move=False)


async def seat_at_relay(url: str, number: int) -> Table:
    seats = (await open_wire(f"{url}/{number}", Seat), await open_wire(f"{url}/{number}", Seat))
    return Table(seats, relayed_steps(seats))


async def seat_at_server(url: str, _number: int) -> Table:
    seats, code = await open_room(url)
    return Table(seats, steps_of(seats, code))


async def seat_in_cluster(urls: str, number: int) -> Table:
    """Seat two players at different servers of a cluster, whose addresses are separated by commas."""
    servers = urls.split(",")
    first, second = (servers[(number + place) % len(servers)] for place in (0, 1))
    seats, code = await open_room(first, second)
    return Table(seats, steps_of(seats, code))


async def open_room(url: str, other_url: str | None = None) -> tuple[tuple[Seat, Seat], str]:
    """Return two players in a room of our server, and its code; the second may use another address."""
    first = await greet(url)
    first.send('{"type":"create","id":"c"}')
    code = json.loads(await first.next_message())["room"]
    await first.next_message()
    second = await join(other_url or url, code)
    assert b'"playing"' in await first.next_message()
    return (first, second), code


async def greet(url: str) -> Seat:
    seat = await open_wire(url, Seat)
    seat.send('{"type":"hello"}')
    await seat.next_message()
    return seat


async def join(url: str, code: str) -> Seat:
    """Return a player in a room, at the server that has it."""
    seat = await greet(url)
    seat.send(f'{{"type":"join","room":"{code}"}}')
    message = await seat.next_message()
    if b'"moved"' in message:
        seat.close()
        return await join(json.loads(message)["url"], code)
    assert b'"playing"' in message
    return seat


@dataclass
class Figures:
    """A server's measurements under load, in one slice of time or several."""

    seconds: float = 0.0
    cpu_seconds: float = 0.0
    beside_seconds: Counter[str] = field(default_factory=Counter)
    idle_bytes: int = 0
    core_seconds: float = 0.0
    load_idle_seconds: float = 0.0
    latencies: list[float] = field(default_factory=list, repr=False)

    def add(self, other: Figures) -> None:
        self.seconds += other.seconds
        self.cpu_seconds += other.cpu_seconds
        self.beside_seconds += other.beside_seconds
        self.idle_bytes += other.idle_bytes
        self.core_seconds += other.core_seconds
        self.load_idle_seconds += other.load_idle_seconds
        self.latencies += other.latencies

    @property
    def moves(self) -> int:
        return len(self.latencies)

    @property
    def busy(self) -> float:
        """The share of the time while the server had its core."""
        return self.cpu_seconds / self.seconds

    @property
    def others(self) -> float:
        """The share of the time while another process had the server's core."""
        return max(self.core_seconds - self.cpu_seconds, 0.0) / self.seconds

    @property
    def load(self) -> float:
        """The share of the time while the load was busy."""
        return 1 - self.load_idle_seconds / self.seconds

    @property
    def moves_a_second(self) -> float:
        return self.moves / self.seconds

    @property
    def cpu_us(self) -> float:
        """The processor time of a move, rematches included."""
        return self.cpu_seconds / self.moves * 1e6

    @property
    def beside_us(self) -> dict[str, float]:
        """The processor time of a move in helper processes, by name."""
        return {name: seconds / self.moves * 1e6 for name, seconds in self.beside_seconds.items()}

    def percentile_ms(self, percent: int) -> float:
        ordered = sorted(self.latencies)
        return ordered[min(len(ordered) * percent // 100, len(ordered) - 1)] * 1e3


class Meter(Protocol):
    """A server, or the servers of a cluster, with their processor time."""

    url: str

    def cpu_seconds(self) -> float: ...
    def beside_seconds(self) -> dict[str, float]: ...
    def idle_bytes(self) -> int: ...
    def pause(self) -> None: ...
    def resume(self) -> None: ...


class Hall:
    """A server and its tables, which rest except during `play`.

    Players without a pause are driven by a loop that never sleeps; for `is_open` see `Table.play`.
    """

    def __init__(self, server: Meter, tables: list[Table], pace_seconds: float, *, is_open: bool = False) -> None:
        self.server = server
        self._tables = tables
        self._pace_seconds = pace_seconds
        self._is_open = is_open

    @classmethod
    async def open(
        cls, server: Meter, seating: Seating, rooms: int, *, pace_seconds: float = 0.0, is_open: bool = False
    ) -> Self:
        """Seat everyone and warm up: for at least a second and two games, until the tables are at different plies."""
        tables = await gather_some(seating(server.url, number) for number in range(rooms))
        hall = cls(server, tables, pace_seconds, is_open=is_open)
        warm_until = time.perf_counter() + WARM_UP_SECONDS
        while time.perf_counter() < warm_until:
            await asyncio.gather(*(table.play(STEPS_A_GAME * 2, pace_seconds) for table in hall._tables))
        spread = ((number * STEPS_A_GAME // rooms + 1, table) for number, table in enumerate(hall._tables))
        await asyncio.gather(*(table.play(steps, pace_seconds) for steps, table in spread))
        return hall

    async def play(self, seconds: float) -> Figures:
        """Play at all tables, and return the measurements of this many seconds."""
        playing = asyncio.gather(
            *(table.play(1 << 60, self._pace_seconds, is_open=self._is_open) for table in self._tables)
        )
        spin = None if self._pace_seconds else Spin()
        await asyncio.wait([playing], timeout=RUN_UP_SECONDS)
        for table in self._tables:
            table.latencies.clear()
        heard = self.server.idle_bytes()
        cpu, beside, core = self.server.cpu_seconds(), self.server.beside_seconds(), core_busy_seconds()
        begun = time.perf_counter()
        idle = spin.idle_seconds if spin is not None else 0.0
        await asyncio.wait([playing], timeout=seconds)
        figures = Figures(
            seconds=time.perf_counter() - begun,
            cpu_seconds=self.server.cpu_seconds() - cpu,
            beside_seconds=Counter(self.server.beside_seconds()) - Counter(beside),
            core_seconds=core_busy_seconds() - core,
            idle_bytes=self.server.idle_bytes() - heard,
            load_idle_seconds=spin.idle_seconds - idle if spin is not None else 0.0,
            latencies=[latency for table in self._tables for latency in table.latencies],
        )
        for table in self._tables:
            table.stop()
        await playing
        if spin is not None:
            spin.stop()
        return figures

    async def close(self) -> None:
        for table in self._tables:
            table.close()
        await asyncio.sleep(0.1)
