"""A game over ten days in virtual time: `python -m tests.server.days.ten_days SEED`.

A day has five virtual minutes. The players are never connected at the same time, the server is killed at every tenth
step, and is down for two weekends. Prints the broken promises.
"""

# ruff: noqa: E402  # the clocks and the length of a day are replaced before the server is imported
from tests.simulation.world import install

install()

from tictactoe_protocol import terms

DAY_SECONDS = 300
terms.DAY_MS = 1000 * DAY_SECONDS  # type: ignore[misc]

import asyncio
import gc
import sys
from contextlib import suppress
from typing import Any

from tests.simulation.ledger import Ledger, Message, Violation
from tests.simulation.network import Network
from tests.simulation.peer import ConnectionLost, RequestRefused
from tests.simulation.people import PASSING, Person, Table
from tests.simulation.run import PORT, Host, Site
from tests.simulation.storage import Disk
from tests.simulation.world import World
from tictactoe_server.features.days import service

service.GRACE_MS = 1000 * DAY_SECONDS // 24  # type: ignore[misc]

SWAP2 = {"rows": 15, "columns": 15, "line": 5, "opening": "swap2"}
CLOCK = {"days": 1, "bank_days": 2}
MOVES = 22
SLACK_SECONDS = 1.5
"""How far a clock may be off: the served time is stored twice a second, and a visit takes a moment."""


class DayGame(Site):
    """A server, and two players who visit it in turn."""

    def __init__(self, world: World) -> None:
        self.world, self.network = world, Network(world)
        self.is_closing = self.loses_answers = self.is_cluster = False
        self.troubled_until = 0.0
        self.ledger = Ledger(world.time, is_cluster=False)
        self.storage = Disk(world, self.ledger.served)
        self.hosts = [Host(self, 0)]
        self.ports = (PORT,)
        self.groups = []
        self.people = [Person(self, Table(), name) for name in ("ana", "bo")]
        self.chance = world.chance("days")
        self.steps = 0
        self._collect_log()

    async def run(self) -> None:
        host, (ana, bo) = self.hosts[0], self.people
        await host.start()
        room = (await self.visit(ana, None))["room"]
        state = await self.visit(bo, room)
        weekends = [MOVES // 3, 2 * MOVES // 3]
        while state["ply"] < MOVES:
            if state["turn"] is None or state["status"] != "playing":
                self.ledger.fail(f"The game has ended: {state}.", room)
                return
            mover = next(one for one in self.people if one.id == state["seats"][state["turn"]]["player"])
            turn, left_ms, began = state["turn"], state["clock"]["remaining_ms"], self.world.time()
            is_opening = "opening" in state
            await self.let_pass(self.chance.uniform(0.25, 1.3))
            if weekends and state["ply"] >= weekends[0]:
                del weekends[0]
                await host.stop()
                await self.let_pass(2.5)
                await host.start()
            waits = mover.welcome and await self.turns_of(mover)
            if waits and [wait["room"] for wait in waits] != [room]:
                self.ledger.fail(f"{mover.name} is not told that it is their turn: {waits}.", room)
            state = await self.visit(mover, room)
            if state["status"] == "playing" and not is_opening:
                self.check_charge(room, turn, left_ms[turn], state["clock"]["remaining_ms"][turn], began)
        loser, left = state["turn"], state["clock"]["remaining_ms"][state["turn"]] / 1000
        began = self.world.time()
        await self.let_pass((left - 5) / DAY_SECONDS)
        state = await self.visit(self.people[0], room, acts=False)
        if state["status"] != "playing":
            self.ledger.fail(f"{loser} lost {left} s after {self.world.time() - began:.1f} s: {state}.", room)
        await self.let_pass(0.2)
        state = await self.visit(self.people[0], room, acts=False)
        winner = next(mark for mark in "XO" if mark != loser)
        if (state["status"], (state["result"] or {}).get("winner")) != ("over", winner):
            self.ledger.fail(f"{loser} should have lost on time: {state}.", room)
        await host.stop()

    def check_charge(self, room: str, mark: str, before_ms: int, after_ms: int, began: float) -> None:
        """Check the clock of a player who has moved: days that were served, and nothing else, cost the reserve."""
        used = self.ledger.served.between(began, self.world.time())
        left = min(before_ms / 1000 - used, CLOCK["bank_days"] * DAY_SECONDS) + CLOCK["days"] * DAY_SECONDS
        if abs(left - after_ms / 1000) > SLACK_SECONDS:
            self.ledger.fail(f"{mark} has {after_ms} ms, not {left} s, after {used:.1f} s of {before_ms} ms.", room)

    async def let_pass(self, days: float) -> None:
        await asyncio.sleep(days * DAY_SECONDS)

    async def turns_of(self, person: Person) -> Any:
        """Connect, and return the games that await a move."""
        while True:
            try:
                await person.connect()
                return person.welcome["turns"]
            except (ConnectionLost, RequestRefused):
                await self.recover()

    async def visit(self, person: Person, room: str | None, *, acts: bool = True) -> Message:
        """Visit the room, move if it is the person's turn, and return the state."""
        while True:
            self.steps += 1
            try:
                await person.connect()
                if room is None:
                    answer = await person.ask(type="create", rules=SWAP2, clock=CLOCK, visibility="private")
                    state = await person.state_of(answer["room"])
                else:
                    await person.ask(type="join", room=room)
                    state = await person.state_of(room)
                    if state["status"] == "playing" and acts:
                        state = await self.act(person, state)
                person.peer.give_up()
                return state
            except ConnectionLost:
                await self.recover()
            except RequestRefused as refused:
                if refused.code not in (*PASSING, "stale", "occupied", "not_your_turn"):
                    raise
                await self.recover()

    async def act(self, person: Person, state: Message) -> Message:
        """Move or choose as often as it is this person's turn, and return the state after that."""
        code = state["room"]
        while (mark := state["turn"]) and state["seats"][mark]["player"] == person.id and state["status"] == "playing":
            seq, opening = state["seq"], state.get("opening") or {}
            if self.steps % 10 == 0:
                self.steps += 1
                self.world.call_later(self.chance.uniform(0, 0.02), lambda: self.hosts[0].crash(is_power=False))
            if "choose" in " ".join(state["may"][mark]):
                take = self.chance.choice(opening["options"])
                await person.ask(type="choose", room=code, take=take, ply=state["ply"])
            else:
                free = [cell for cell in range(0, 225, 2) if state["board"][cell] == "." and cell // 15 % 2 == 0]
                await person.ask(type="move", room=code, cell=self.chance.choice(free), ply=state["ply"])
            while person.states[code]["seq"] <= seq:
                await person.wait_for_news(5.0)
                if not person.is_connected:
                    raise ConnectionLost
            state = person.states[code]
        return state

    async def recover(self) -> None:
        for person in self.people:
            person.peer.give_up()
        await asyncio.sleep(self.chance.uniform(1, 5))
        await self.hosts[0].start()


def main(seed: int) -> list[str]:
    """Play the game, and return the broken promises."""
    gc.disable()
    world = World(seed)
    asyncio.set_event_loop(world)
    game = DayGame(world)
    with suppress(Violation):
        world.run_until_complete(game.run())
    found = [*world.errors, *(failure for failure, _ in game.ledger.failures)]
    print(f"{game.hosts[0].life} lives, {game.steps} steps", file=sys.stderr)
    game.storage.remove()
    return found


if __name__ == "__main__":
    for line in main(int(sys.argv[1])):
        print(line)
