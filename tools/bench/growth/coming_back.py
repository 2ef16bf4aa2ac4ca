"""Clients who come back at once, without any back-off, after the server was killed."""

from __future__ import annotations

import asyncio
import contextlib
import socket
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

from tools.bench.asker import Asker, open_asker, open_askers, read_all
from tools.bench.growth.curve import Curve
from tools.bench.load import Spin, open_wire
from tools.bench.processes import SERVER, Measured, started

SIZES = (500, 1000, 3000)
BOUND_SECONDS = 60.0


@dataclass
class Return:
    """How a herd came back: since when somebody listens, when each was in its room, and what went wrong."""

    listening_at: float = 0.0
    back_at: list[float] = field(default_factory=list)
    lost: int = 0


async def measure(_spin: Spin) -> None:
    curve = Curve(
        "clients coming back at once after kill -9, on disk, two in a room",
        "clients",
        ("s until all", "s until half", "CPU s", "ended early", "queue full"),
        ("s until all", "CPU s"),
    )
    for count in SIZES:
        with tempfile.TemporaryDirectory() as folder:
            command: tuple[str, ...] = (*SERVER, "--data", folder)
            with started(command) as server:
                players = await _seat_all(server.url, count)
                server.kill()
            overflows = _full_queues()
            command = (*command, "--port", str(urlsplit(server.url).port))
            with contextlib.ExitStack() as stack:
                starting = asyncio.create_task(asyncio.to_thread(stack.enter_context, started(command)))
                try:
                    async with asyncio.timeout(BOUND_SECONDS):
                        herd = await _come_back(server.url, players)
                except TimeoutError:
                    await starting
                    curve.add(count, *[None] * 5, remark=f"given up after {BOUND_SECONDS:.0f} s")
                    break
                again: Measured = await starting
                waits = sorted(at - herd.listening_at for at in herd.back_at)
                figures = (waits[-1], waits[len(waits) // 2], again.cpu_seconds(), herd.lost)
                curve.add(count, *figures, _full_queues() - overflows)
    curve.end()


async def _seat_all(url: str, count: int) -> list[tuple[str, str]]:
    """Return token and room of so many players, two in each room."""
    askers = await open_askers(url, count)
    hosts, guests = askers[::2], askers[1::2]
    answers = await read_all([host.ask_soon("create", visibility="private") for host in hosts])
    codes = [answer["room"] for answer in answers]
    await read_all([guest.ask_soon("join", room=code) for guest, code in zip(guests, codes, strict=True)])
    return [(asker.welcome["token"], code) for asker, code in zip(askers, _twice(codes), strict=True)]


def _twice(codes: list[str]) -> Iterator[str]:
    for code in codes:
        yield code
        yield code


async def _come_back(url: str, players: list[tuple[str, str]]) -> Return:
    """Have all come back in the moment in which somebody listens again, one connect right upon the other."""
    herd, where = Return(), (urlsplit(url).hostname, urlsplit(url).port)
    sockets = [socket.socket() for _ in players]
    while not herd.listening_at:
        with contextlib.suppress(OSError):
            (await open_wire(url, Asker)).close()
            herd.listening_at = time.perf_counter()
        await asyncio.sleep(0)
    for sock in sockets:
        sock.setblocking(False)
        sock.connect_ex(where)
    returns = (_come_back_to(url, *player, sock, herd) for player, sock in zip(players, sockets, strict=True))
    await asyncio.gather(*returns)
    return herd


async def _come_back_to(url: str, token: str, code: str, sock: socket.socket | None, herd: Return) -> None:
    """Be greeted and join the room, and try again at once where that fails."""
    while True:
        try:
            asker = await open_asker(url, token, sock)
            await asker.ask("join", room=code)
        except OSError:
            herd.lost += 1
            sock = None
        else:
            herd.back_at.append(time.perf_counter())
            return


def _full_queues() -> int:
    """Return how many handshakes on this machine have found a listen queue full."""
    names, values = (
        row.split() for row in Path("/proc/net/netstat").read_text().splitlines() if row.startswith("TcpExt:")
    )
    return int(values[names.index("ListenOverflows")])
