"""More moves than a server can carry out, from players who do not wait for answers.

Two hundred pairs, ten of them at each address, play on large boards. Each player sends the next move when it is due,
without waiting, so that requests queue wherever they can.
"""

import asyncio
import contextlib
import itertools
import json
import random
import re
import time
from collections import Counter
from collections.abc import Iterator

from tests.limits import UNCOUNTED
from tools.attacks.floods import Asking, come_from
from tools.bench.load import gather_some, open_wire
from tools.bench.processes import Measured

OPTIONS = (*UNCOUNTED, "--limit", "turn-milliseconds=80")
"""The server's options: no rate limits, which would hide the effects of pressure."""

ROOMS = 200
CALM, WILD = 500.0, 16_700.0
"""How many moves all pairs request in a second."""

RECOVERY_SECONDS = 5.0
TICK_SECONDS = 0.002
LARGE = {"rows": 20, "columns": 20, "line": 20}

_STATE = re.compile(rb'"type":"room".*?"game":(\d+).*?"ply":(\d+)')
_ANSWER = re.compile(rb'"id":"(\d+)"')
_CODE = re.compile(rb'"code":"(\w+)"')


class Figures:
    """The times of accepted moves in seconds, and the number of each refusal."""

    def __init__(self) -> None:
        self.asked = 0
        self.seconds: list[float] = []
        self.refused: Counter[str] = Counter()
        self.refused_seconds: list[float] = []

    def describe(self, seconds: float) -> str:
        def p99(found: list[float]) -> str:
            return f"{sorted(found)[len(found) * 99 // 100] * 1e3:.0f} ms" if found else "-"

        return (
            f"{self.asked / seconds:,.0f} asked a second, {len(self.seconds) / seconds:,.0f} accepted with p99 "
            f"{p99(self.seconds)}, refused {dict(self.refused)} with p99 {p99(self.refused_seconds)}"
        )


class Player(Asking):
    """Sends moves without waiting for answers, and measures the time of each."""

    figures = Figures()

    def __init__(self) -> None:
        super().__init__()
        self.room = ""
        self._ply = 0
        self._ids = itertools.count()
        self._sent: dict[int, tuple[float, Figures]] = {}

    def received(self, payload: bytes) -> None:
        super().received(payload)
        if state := _STATE.search(payload):
            self._ply = int(state[2])
        elif answer := _ANSWER.search(payload):
            sent = self._sent.pop(int(answer[1]), None)
            if sent is not None:
                self._note(payload, *sent)

    def move(self) -> None:
        """Send a move for the newest position; by then it may be the opponent's turn."""
        number = next(self._ids)
        self._sent[number] = time.perf_counter(), self.figures
        self.figures.asked += 1
        cell = self._ply % 400
        self.send(f'{{"type":"move","room":"{self.room}","cell":{cell},"ply":{self._ply},"id":"{number}"}}')

    @staticmethod
    def _note(payload: bytes, sent_at: float, figures: Figures) -> None:
        took = time.perf_counter() - sent_at
        code = _CODE.search(payload)
        if code is None:
            figures.seconds.append(took)
        else:
            figures.refused[code[1].decode()] += 1
            figures.refused_seconds.append(took)


async def sit_down(url: str, number: int) -> tuple[Player, Player]:
    address = f"127.0.1.{number // 10 + 1}"
    pair = [await open_wire(url, Player, come_from(address)) for _ in range(2)]
    for player in pair:
        await player.ask('{"type":"hello"}')
    asked = json.dumps({"type": "create", "rules": LARGE, "id": "c"})
    code = json.loads(await pair[0].ask(asked))["room"]
    await pair[1].ask(f'{{"type":"join","room":"{code}","id":"j"}}')
    for player in pair:
        player.room = code
    return pair[0], pair[1]


async def play(players: list[Player], a_second: float, seconds: float) -> str:
    """Request moves at this rate, evenly, and return their outcomes."""
    Player.figures = figures = Figures()
    order = _in_turn(players)
    begun, asked = time.perf_counter(), 0
    while (passed := time.perf_counter() - begun) < seconds:
        for _ in range(int(passed * a_second) - asked):
            next(order).move()
            asked += 1
        await asyncio.sleep(TICK_SECONDS)
    await asyncio.sleep(2)
    return figures.describe(seconds)


def _in_turn(players: list[Player]) -> Iterator[Player]:
    while True:
        random.shuffle(players)
        yield from players


async def suffer(server: Measured, seconds: float) -> str:
    """Return lines about accepted and refused moves before, during and after the pressure."""
    pairs = await gather_some(sit_down(server.url, number) for number in range(ROOMS))
    players = [player for pair in pairs for player in pair]
    lines = ["overload   before " + await play(players, CALM, seconds)]
    lines.append("           during " + await play(players, WILD, seconds))
    await asyncio.sleep(RECOVERY_SECONDS - 2)
    lines.append("           after  " + await play(players, CALM, seconds))
    for player in players:
        with contextlib.suppress(AttributeError):
            player.close()
    return "\n".join(lines)
