"""Events that peers open, begin and play in."""

from tests.peer import Peer

CLOCK = {"initial_ms": 60_000, "increment_ms": 0}


async def open_event(organiser: Peer, *players: Peer, **terms: object) -> str:
    """Open an event, a round robin by default, enter these players, and return its code."""
    fields = {"kind": "round_robin", "title": "Friday", "clock": CLOCK, "break_ms": 50} | terms
    event = str((await organiser.ask("event_open", **fields))["event"])
    for player in players:
        await player.ask("event_join", event=event)
    return event


async def begin_event(organiser: Peer, event: str, players: int = 0) -> None:
    """Begin an event once this number of players has entered."""
    await organiser.ask("event_watch", event=event, on=True)
    state = await organiser.until(lambda told: told["type"] == "event" and len(told["table"]) >= players)
    answer = await organiser.ask("event_run", event=event, seq=state["seq"], action="begin")
    assert answer["type"] == "ok", answer


async def come(peer: Peer) -> str:
    """Go to the room that an event calls this player to, and return the room."""
    room = str((await peer.next_of("call"))["room"])
    await peer.ask("join", room=room)
    return room
