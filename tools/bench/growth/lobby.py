"""The lobby: its listeners while rooms open and close, its biggest message, and the list asked for again and again."""

from __future__ import annotations

import asyncio
import time

from tools.bench.asker import Asker, open_asker, open_askers, open_rooms, read_all
from tools.bench.growth.curve import Curve
from tools.bench.load import Spin
from tools.bench.processes import IN_MEMORY, SERVER, started

LISTENERS = (0, 50, 200, 1000)
CHANGES = 300
CHANGE_SECONDS = 0.005
BURSTS = (1000, 5000, 19_000)
ASKERS = 50
QUESTIONS = (100, 1000, 5000)
LISTED = 200


async def measure(_spin: Spin) -> None:
    await _listeners()
    await _bursts()
    await _lists()


async def _listeners() -> None:
    curve = Curve(
        f"listeners of the lobby while {CHANGES // 2} rooms open and close",
        "listeners",
        ("CPU ms a change", "for listening", "KiB for each", "messages", "biggest KiB"),
        ("for listening",),
    )
    base = 0.0
    for count in LISTENERS:
        with started((*SERVER, *IN_MEMORY)) as server:
            host = await open_asker(server.url)
            listeners = await open_askers(server.url, count)
            await read_all([listener.ask_soon("lobby", on=True) for listener in listeners])
            cpu = server.cpu_seconds()
            for _ in range(CHANGES // 2):
                (code,) = await open_rooms(host, 1)
                await asyncio.sleep(CHANGE_SECONDS)
                await host.ask("leave", room=code)
                await asyncio.sleep(CHANGE_SECONDS)
            await asyncio.sleep(1.5)
            used = (server.cpu_seconds() - cpu) / CHANGES * 1e3
            if not count:
                base = used
                curve.add(count, used, None, None, None, None)
                continue
            received = sum(listener.pushed_bytes for listener in listeners) / count / 1024
            messages = sum(listener.pushes for listener in listeners) / count
            biggest = max(listener.biggest for listener in listeners) / 1024
            curve.add(count, used, max(used - base, 0.0), received, messages, biggest)
    curve.end()


async def _bursts() -> None:
    curve = Curve(
        "listeners while the player of many waiting rooms drops",
        "rooms",
        ("biggest KiB", "messages", "KiB for each"),
        ("biggest KiB",),
    )
    for count in BURSTS:
        with started((*SERVER, *IN_MEMORY)) as server:
            host = await open_asker(server.url)
            await open_rooms(host, count)
            listener = await open_asker(server.url)
            await listener.ask("lobby", on=True)
            await asyncio.sleep(1.5)
            listener.pushes = listener.pushed_bytes = listener.biggest = 0
            host.close()
            before = -1
            while listener.pushed_bytes != before:
                before = listener.pushed_bytes
                await asyncio.sleep(1.5 + count / 5000)
            curve.add(count, listener.biggest / 1024, listener.pushes, listener.pushed_bytes / 1024)
    curve.end()


async def _lists() -> None:
    curve = Curve(
        f"the list of {LISTED} rooms, asked for by {ASKERS} connections",
        "questions",
        ("CPU s", "CPU ms a list", "KiB a list", "s"),
        ("CPU s",),
    )
    for count in QUESTIONS:
        with started((*SERVER, *IN_MEMORY)) as server:
            host = await open_asker(server.url)
            await open_rooms(host, LISTED)
            askers = await open_askers(server.url, ASKERS)
            await asyncio.sleep(0.5)
            cpu, begun = server.cpu_seconds(), time.perf_counter()
            lists = await asyncio.gather(*(_ask_often(asker, count // ASKERS) for asker in askers))
            used, seconds = server.cpu_seconds() - cpu, time.perf_counter() - begun
            curve.add(count, used, used / count * 1e3, len(lists[0]) / 1024, seconds)
    curve.end()


async def _ask_often(asker: Asker, count: int) -> bytes:
    """Ask for the list so often, each time when the answer before is there; return the last one."""
    answer = b""
    for _ in range(count):
        answer = await asker.ask_soon("rooms")
    return answer
