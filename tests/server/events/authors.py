"""Short ways to create and play events."""

from collections.abc import Callable, Iterable
from typing import Any

from tictactoe_engine import PRESETS
from tictactoe_protocol.events import EventOpen, EventRun
from tictactoe_protocol.terms import ClockFields
from tictactoe_server.features.tournaments.commands import EnterEvent, Opened, RoomCodes, Score, apply, pair_next
from tictactoe_server.features.tournaments.event import Event, Pairing, due_at, open_event

CLOCK = ClockFields(initial_ms=60_000, increment_ms=1_000)
ORGANISER = "organiser"
Decide = Callable[[Pairing], str]


def new_event(kind: str = "round_robin", *, rules: str = "classic", seed: int = 7, **terms: Any) -> Event:
    request = EventOpen(kind=kind, title="Friday", clock=CLOCK, **terms)  # type: ignore[arg-type]
    return open_event("K7M4PQ", ORGANISER, request, PRESETS[rules], now=0, seed=seed, secret="secret")


def entered(players: int | Iterable[str], kind: str = "round_robin", **terms: Any) -> Event:
    """Return an event with this many players, ``p1`` and so on, or with these names."""
    event = new_event(kind, **terms)
    for player in (f"p{number}" for number in range(1, players + 1)) if isinstance(players, int) else players:
        event = apply(event, player, EnterEvent(player.title()), 0)
    return event


def run(event: Event, action: str, now: int = 0, *, seq: int | None = None, **fields: Any) -> Event:
    """Return the event after an action of its organiser."""
    request = EventRun(event=event.code, seq=event.seq if seq is None else seq, action=action, **fields)  # type: ignore[arg-type]
    return apply(event, ORGANISER, request, now)


def begun(players: int | Iterable[str], kind: str = "round_robin", **terms: Any) -> Event:
    return tick(run(entered(players, kind, **terms), "begin"), 0)


def tick(event: Event, now: int) -> Event:
    """Return the event with its next round, if one is due."""
    return apply(event, "", pair_next(event), now)


def opened(event: Event, now: int = 0) -> Event:
    """Return the event with a room for each pairing that needs one."""
    due = [one for one in event.open_pairings if one.state == "due"]
    event = apply(event, "", RoomCodes({one.id: f"ROOM-{one.id}" for one in due}), now)
    for one in due:
        event = apply(event, "", Opened(one.id), now)
    return event


def play_round(event: Event, decide: Decide, now: int = 0) -> Event:
    """Return the event with all games of the round played; `decide` returns a game's result."""
    while waiting := event.open_pairings:
        for one in waiting:
            event = apply(event, "", Score(one.id, decide(one), game_id=f"game-{one.id}"), now)
    return event


def play_on(event: Event, decide: Decide) -> Event:
    now = 0
    while True:
        event = play_round(event, decide, now)
        due = due_at(event)
        if due is None:
            return event
        now = max(now, due)
        event = tick(event, now)


def first_wins(one: Pairing) -> str:
    return next(iter(one.players))


def better_wins(one: Pairing) -> str:
    """Return the result in which the player with the smaller number in ``p17`` wins."""
    return min(one.players, key=lambda mark: int(one.players[mark][1:]))


def pairs_of(event: Event) -> list[tuple[str, ...]]:
    """Return the opponents of each pairing in any order, without byes."""
    return [tuple(sorted(one.players.values())) for one in event.pairings if not one.is_bye]
