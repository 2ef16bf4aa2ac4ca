"""The table of an event: a fold over its pairings that does not depend on the order of their results."""

import asyncio
import random
from typing import cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.fakes import Watcher
from tests.peer import until
from tests.server.events.authors import begun, better_wins, new_event, play_on, play_round, tick
from tictactoe_protocol.events import EventReady
from tictactoe_protocol.standings import Game
from tictactoe_server.core.session import Session
from tictactoe_server.features.tournaments import broadcasts
from tictactoe_server.features.tournaments.attendance import Attendance
from tictactoe_server.features.tournaments.broadcasts import EventBroadcasts
from tictactoe_server.features.tournaments.commands import Score, apply
from tictactoe_server.features.tournaments.event import Event, due_at
from tictactoe_server.features.tournaments.table import rows


def play_in_any_order(event: Event, results: dict[str, str], shuffled: random.Random) -> Event:
    """Return an event after three rounds whose results arrived in this order."""
    for _ in range(3):
        while waiting := event.open_pairings:
            shuffled.shuffle(waiting)
            for one in waiting:
                event = apply(event, "", Score(one.id, results.get(one.id, "draw")), 0)
        event = tick(event, due_at(event) or 0)
    return event


@given(
    st.sampled_from(["round_robin", "swiss", "knock_out"]),
    st.integers(2, 12),
    st.dictionaries(st.builds("r{}-{}".format, st.integers(1, 3), st.integers(1, 6)), st.sampled_from("XO")),
    st.randoms(use_true_random=False),
)
def test_table_and_next_round_ignore_the_order_of_the_results(
    kind: str, players: int, results: dict[str, str], shuffled: random.Random
) -> None:
    event = begun(players, kind)
    one, other = (play_in_any_order(event, results, order) for order in (shuffled, random.Random(0)))
    assert rows(one) == rows(other)
    assert {pairing.id: pairing for pairing in one.pairings} == {pairing.id: pairing for pairing in other.pairings}


def test_a_row_has_the_player_and_the_tie_breaks() -> None:
    event = new_event(bots=("hard", "rules"))
    assert [(row.name, row.bot, row.points, row.played, row.place) for row in rows(event)] == [
        ("hard-bot", "hard", 0, 0, 1),
        ("rules-bot", "rules", 0, 0, 1),
    ]
    table = rows(play_on(begun(3), lambda one: "X"))
    assert [(row.place, row.points, row.tie) for row in table] == [
        (1, 1, (("direct", 1, "1+0"), ("wins", 1, "1"), ("sonneborn_berger", 1, "1")))
    ] * 3


def test_a_swiss_table_counts_unpaired_rounds_and_running_games() -> None:
    event = apply(play_round(begun(4, "swiss"), better_wins), "p4", EventReady(event="", on=False), 0)
    event = tick(event, due_at(event) or 0)
    (game,) = event.open_pairings
    first, second = game.players.values()
    counted = [*event.counted_games()]
    assert Game("p4", None, 0, 0, is_played=False, round=2) in counted
    assert Game(first, second, 0, 0, is_played=None, round=2) in counted


async def test_a_subscriber_gets_the_own_pairing_first_and_unused_views_are_dropped() -> None:
    event, watcher = begun(120, "swiss"), Watcher("p7")
    topic, session = EventBroadcasts(lambda: 0, lambda event: Attendance()), cast(Session, watcher)
    idle = topic.gather_seconds()
    topic.watch(session, event)
    assert "p7" in watcher.seen[0]["pairings"][0]["players"].values()
    assert topic.gather_seconds() > idle
    topic.unwatch(session, event.code)
    topic.publish()
    assert topic.gather_seconds() == idle


async def test_a_new_watcher_of_a_changed_event_is_not_shown_the_state_before_the_change(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(broadcasts, "LOOK_SECONDS", 0)
    monkeypatch.setattr(broadcasts, "PLAYERS_A_SECOND", 10**9)
    event, attendance = begun(4, "swiss"), Attendance()
    topic, first, second = EventBroadcasts(lambda: 0, lambda event: attendance), Watcher("p1"), Watcher("p2")
    topic.watch(cast(Session, first), event)
    changed = play_round(event, better_wins)
    topic.note(changed)
    topic.watch(cast(Session, second), changed)
    attendance = Attendance(present=3)
    looking = asyncio.create_task(topic.run())
    await until(lambda: attendance.present in [message.get("present") for message in first.seen])
    looking.cancel()
    assert [message["seq"] for message in second.seen] == [changed.seq] * len(second.seen)
