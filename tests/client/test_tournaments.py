from pathlib import Path

import pytest
from msgspec.structs import replace

from tests.client.conftest import Program
from tests.client.test_several_servers import heard
from tests.client.tournaments import BYE, CALL, EVENT, OWN, ROWS, event, news, with_events
from tests.end_to_end.test_client_library import state_where
from tests.faults.hostile_server import CLIENT, OTHER, ROOM, Answer, hostile_server, make_welcome
from tests.kept import session_of
from tictactoe_client import connect
from tictactoe_client.input.intents import BadInput
from tictactoe_client.online.backoff import Backoff
from tictactoe_client.online.tournament import take_in
from tictactoe_client.visit.event import carry_out
from tictactoe_client.visit.face import NoPerson
from tictactoe_client.visit.visit import Visit
from tictactoe_protocol.events import EventRun, EventWatch
from tictactoe_protocol.requests import Hello
from tictactoe_words.catalogue import speak
from tictactoe_words.tournaments import tabulate

QUICK = Backoff((0.01,), longest=0.02, hold_seconds=60)


async def test_an_event_is_followed_to_its_end() -> None:
    async with hostile_server() as server, connect(with_events(server, event()).url) as client:
        tournament = await client.tournaments.watch(EVENT)
        won = replace(OWN, state="scored", result="X", by="game")
        await server.push(news(6, rows=(replace(ROWS[1], place=1, points=1.5),), pairings=(won,), status="over"))
        states = [state async for state in tournament]
        assert [row.name for row in states[-1].table] == ["bo", "ana", "Robo"]
        assert states[-1].pairings == (won, BYE)
        assert states[-1].head.present == 3


def test_changed_rows_keep_the_table_ordered_and_limited() -> None:
    many = tuple(replace(ROWS[2], place=place, player=f"p-{place}") for place in range(1, 21))
    state = event(table=(*many, replace(ROWS[1], place=25)))
    first = replace(ROWS[0], place=1)
    table = take_in(state, news(6, rows=(first, replace(many[0], place=2))), CLIENT).table
    assert len(table) == 21
    assert [row.player for row in table[:3]] == [first.player, "p-1", "p-2"]
    assert table[-1].player == CLIENT


def test_only_pairings_of_the_current_round_are_kept() -> None:
    following = replace(OWN, id="r3-1", round=3)
    assert take_in(event(), news(6, round=3, pairings=(following,)), CLIENT).pairings == (following,)


def test_half_points_are_decimal_in_ascii() -> None:
    speak(in_ascii=True)
    assert tabulate(ROWS[:1], "")[OTHER][2:] == ("1.5", "2", "2.5 = 2+.5 (0)")


async def test_an_event_is_watched_again_after_a_loss() -> None:
    async with hostile_server() as server, connect(with_events(server, event()).url, reconnect=QUICK) as client:
        tournament = await client.tournaments.watch(EVENT)
        server.answers |= with_events(server, event(9)).answers
        await server.close(1012, "restart")
        await state_where(tournament, seq=9)
        await tournament.unwatch()
        assert [one.on for one in heard(server, EventWatch)] == [True, True, False]
        assert [state.seq async for state in tournament] == [9]


async def test_a_call_is_open_until_one_comes_to_the_board() -> None:
    async with hostile_server() as server, connect(with_events(server, event()).url) as client:
        async with client.messages() as messages:
            await server.push(CALL)
            async for message in messages:
                if message.push == CALL:
                    break
        (call,) = client.tournaments.calls
        assert (call.room, call.mark, call.against) == (ROOM, "X", "bo")
        assert 0 < call.due_ms <= 60_000
        await client.rooms.join(ROOM)
        assert client.tournaments.calls == ()


async def test_calls_that_are_open_are_in_the_welcome() -> None:
    answers: dict[type, Answer] = {Hello: lambda _: [make_welcome(calls=(CALL,))]}
    async with hostile_server(answers=answers) as server, connect(server.url) as client:
        assert [call.pairing for call in client.tournaments.calls] == ["r2-1"]


def test_limits_of_an_event_and_a_roster_without_names_are_mistakes(program: Program, tmp_path: Path) -> None:
    roster = tmp_path / "class.txt"
    roster.write_text("\n \n")
    assert f"There are no names in {roster}." in program.complaint("event", "new", "--roster", str(roster), "--plain")
    for option, value in (("--size", "201"), ("--rounds", "51"), ("--late", "51"), ("--ready", "3601")):
        assert f"{value} is out of range: " in program.complaint("event", "new", option, value, "--plain")


async def test_organiser_commands_about_a_player_need_a_name() -> None:
    state = event(expected=("Cy",))
    async with hostile_server() as server, connect(with_events(server, state).url) as client:
        tournament = await client.tournaments.watch(EVENT)
        visit = Visit(NoPerson(), session_of(client))
        for command in ("expel", "forfeit", "void", "add"):
            with pytest.raises(BadInput, match=f"{command} whom"):
                await carry_out(visit, tournament, command)
        assert not heard(server, EventRun)
        await carry_out(visit, tournament, "expel", "cy")
        assert heard(server, EventRun)[0].name == "Cy"
