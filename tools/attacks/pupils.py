"""A class of 300 behind one address, like browsers: it opens the page, plays, talks, and returns all at once."""

import asyncio
import json
import re
import time
from collections import Counter
from typing import Any, ClassVar

from tools.attacks.floods import come_from
from tools.bench.load import Wire, gather_some, open_wire
from tools.bench.processes import Measured

PUPILS = 300
CONNECTIONS = 6
OPENING_SECONDS = 10.0
MOVES = (0, 3, 1, 4, 2)
CLASS = "127.0.0.3"

_PART = re.compile(r'(?:src|href)="(/[^"]+)"|from\s*"(\./[^"]+)"|import\s*"(\./[^"]+)"')


class Pupil(Wire):
    """A player's connection, with answers by id; refusals are counted."""

    refused: ClassVar[Counter[str]] = Counter()

    def __init__(self) -> None:
        super().__init__()
        self.answers: asyncio.Queue[dict[str, Any]] = asyncio.Queue()

    def received(self, payload: bytes) -> None:
        message = json.loads(payload)
        if message["type"] == "error":
            self.refused[message["code"]] += 1
        if message["type"] in ("ok", "error", "welcome"):
            self.answers.put_nowait(message)

    async def ask(self, kind: str, **fields: object) -> dict[str, Any]:
        self.send(json.dumps({"type": kind, "id": "a", **fields}))
        return await asyncio.wait_for(self.answers.get(), 30)


async def fetch(host: str, port: int, paths: list[str], statuses: Counter[str]) -> list[str]:
    """Fetch paths over one keep-alive connection, and return their texts."""
    bodies = []
    reader, writer = await asyncio.open_connection(host, port, local_addr=(CLASS, 0))
    for path in paths:
        writer.write(f"GET {path} HTTP/1.1\r\nHost: {host}:{port}\r\nAccept: text/html\r\n\r\n".encode())
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
        statuses[head.split(" ", 2)[1]] += 1
        length = re.search(r"(?i)content-length: (\d+)", head)
        bodies.append((await reader.readexactly(int(length[1]) if length else 0)).decode())
    asyncio.get_running_loop().call_later(5, writer.close)
    return bodies


async def open_page(server: Measured, parts: list[str], statuses: Counter[str], pause: float) -> None:
    """Open the page like a browser: the page itself, then its parts over six keep-alive connections."""
    await asyncio.sleep(pause)
    host, port = server.url.removeprefix("ws://").split(":")
    try:
        await fetch(host, int(port), ["/"], statuses)
        await asyncio.gather(*(fetch(host, int(port), parts[n::CONNECTIONS], statuses) for n in range(CONNECTIONS)))
    except (OSError, asyncio.IncompleteReadError) as error:
        statuses[type(error).__name__] += 1


async def parts_of(server: Measured) -> list[str]:
    """Return the paths of all parts of the page."""
    host, port = server.url.removeprefix("ws://").split(":")
    (text,) = await fetch(host, int(port), ["/"], Counter())
    known = [found for found in dict.fromkeys(match[0] for match in _PART.findall(text)) if found]
    for path in known:
        if path.endswith(".js"):
            (text,) = await fetch(host, int(port), [path], Counter())
            folder = path.rsplit("/", 1)[0]
            found = (f"{folder}/{(match[1] or match[2]).removeprefix('./')}" for match in _PART.findall(text))
            known += [one for one in dict.fromkeys(found) if one.endswith(".js") and one not in known]
    return known


async def come(server: Measured, token: str | None = None) -> tuple[Pupil, dict[str, Any]]:
    pupil = await open_wire(server.url, Pupil, come_from(CLASS))
    return pupil, await pupil.ask("hello", **({} if token is None else {"token": token}))


async def play(host: Pupil, guest: Pupil) -> bool:
    """Play a game and talk; return whether every request was accepted."""
    room = (await host.ask("create")).get("room")
    answers = [await guest.ask("join", room=room), await guest.ask("chat", room=room, text="hello")]
    for ply, cell in enumerate(MOVES):
        answers.append(await (host, guest)[ply % 2].ask("move", room=room, cell=cell, ply=ply))
        await asyncio.sleep(0.5)
    return all(answer["type"] == "ok" for answer in answers)


async def lesson(server: Measured) -> str:
    """Return a line about the class."""
    statuses: Counter[str] = Counter()
    parts = await parts_of(server)
    begun = time.perf_counter()
    pauses = (OPENING_SECONDS * number / PUPILS for number in range(PUPILS))
    await asyncio.gather(*(open_page(server, parts, statuses, pause) for pause in pauses))
    opened = time.perf_counter() - begun
    here = await gather_some(come(server) for _ in range(PUPILS))
    pairs = zip(here[::2], here[1::2], strict=True)
    games = await asyncio.gather(*(play(host, guest) for (host, _), (guest, _) in pairs))
    for pupil, _ in here:
        pupil.transport.abort()
    begun = time.perf_counter()
    back = await gather_some((come(server, welcome["token"]) for _, welcome in here), PUPILS)
    took = time.perf_counter() - begun
    for pupil, _ in back:
        pupil.close()
    known = sum(welcome["type"] == "welcome" for _, welcome in back)
    return (
        f"class    {PUPILS} pupils, {len(parts) + 1} files each in {opened:.1f} s: {dict(statuses)}; "
        f"{sum(games)} of {len(games)} games without a refusal; {known} back in {took:.1f} s; "
        f"refused: {dict(Pupil.refused) or 'nothing'}"
    )
