from msgspec.structs import replace

from tests.client.test_several_servers import heard
from tests.client.tournaments import BYE, CALL, EVENT, HEAD, OWN, ROWS, event, news, with_events
from tests.faults.hostile_server import ROOM, hostile_server, identity, state
from tests.peer import until
from tests.tui.conftest import OpenScreen
from tictactoe_client.input.ways import Choice, EventWay
from tictactoe_client.settings import ExitCode
from tictactoe_client.tui import FirstPage
from tictactoe_engine import PRESETS
from tictactoe_engine.records import GameRecord, GameResult, format_record
from tictactoe_protocol.events import EventGame, EventJoin, EventLeave, EventMatch, EventReady, EventWatch
from tictactoe_protocol.pushes import Error, Ok, Replaced, Result
from tictactoe_protocol.requests import Join, Leave, Record
from tictactoe_protocol.terms import ClockState

PAGE = FirstPage("event", enter=EventWay(EVENT, watches=True))


async def test_home_leads_to_the_list_of_events_and_to_one_of_them(open_screen: OpenScreen) -> None:
    async with hostile_server() as server, open_screen(with_events(server, event()).url) as ana:
        await ana.until("Events")
        await ana.type("e")
        await ana.do("enter", "E4NT22  Friday  Swiss  running  2")
        await ana.do("enter", "Friday", "Round 2 of 3, running; 2 of 3 players are here.", "E4NT22")
        await ana.do("escape", "players", gone="Round 2")
        await until(lambda: [one.on for one in heard(server, EventWatch)] == [True, False])


async def test_an_event_page_shows_results_and_the_time_to_the_next_round(open_screen: OpenScreen) -> None:
    async with hostile_server() as server, open_screen(with_events(server, event()).url, first_page=PAGE) as ana:
        await ana.until("Waiting for ana and bo.")
        won = replace(OWN, state="scored", result="X", by="game")
        await server.push(news(6, pairings=(won,), due_ms=5_000))
        await ana.until("ana (X) - bo (O)  1-0", "The next round begins in 0:0", gone="Waiting for")


async def test_the_link_of_a_card_leads_from_home_into_the_event(open_screen: OpenScreen) -> None:
    async with hostile_server() as server, open_screen(with_events(server, event()).url) as ana:
        await ana.until("Find an opponent")
        await ana.paste(f"{server.url.replace('ws', 'http')}/e/E4NT22#ana-1")
        await ana.until("ana-1")
        await ana.do("enter", "Round 2 of 3")
        (join,) = heard(server, EventJoin)
        assert join.ticket == "ana-1"


async def test_an_event_code_is_accepted_in_place_of_a_room_code(open_screen: OpenScreen) -> None:
    async with hostile_server() as server, open_screen(with_events(server, event()).url) as ana:
        refusal = Error(code="no_such_room", message="No room.", data={"room": EVENT})
        server.answers[Join] = lambda request: [replace(refusal, id=identity(request))]
        await ana.until("Find an opponent")
        await ana.paste(EVENT)
        await ana.until(EVENT)
        await ana.do("enter", "Round 2 of 3")
        await ana.do("escape", "Find an opponent", gone="Round 2")


async def test_a_player_whose_card_is_taken_over_is_told_and_does_not_reconnect(open_screen: OpenScreen) -> None:
    async with hostile_server() as server, open_screen(with_events(server, event()).url, first_page=PAGE) as ana:
        await ana.until("Waiting for")
        there = replace(state(), event=EVENT, pairing="r2-1")
        server.answers[Join] = lambda request: [Ok(id=identity(request), room=ROOM, seat="X"), there]
        await server.push(CALL)
        await ana.until("Your move, X.")
        await server.push(Replaced(room=ROOM, by_card=True))
        await ana.until("Your card was opened on another device. The game goes on there.", "Waiting for")
        await server.close(1012, "restart")
        await until(lambda: len(heard(server, EventWatch)) == 2)
        assert len(heard(server, Join)) == 1
        await server.push(CALL)
        await ana.until("Your move, X.")


async def test_the_link_of_an_event_elsewhere_leads_to_its_server(open_screen: OpenScreen) -> None:
    async with hostile_server() as here, hostile_server() as there, open_screen(here.url) as ana:
        await ana.until("Find an opponent")
        await ana.paste(f"{with_events(there, event()).url}/e/E4NT22")
        await ana.until("E4NT22")
        await ana.do("enter", "Round 2 of 3")
        assert heard(there, EventWatch)


async def test_one_enters_pauses_and_comes_back_by_a_key(open_screen: OpenScreen) -> None:
    outside = event(table=ROWS[:1], head=replace(HEAD, organisers=(), late_until=2))
    async with hostile_server() as server, open_screen(with_events(server, outside).url, first_page=PAGE) as ana:
        await ana.until("j join", gone="p pause")
        await ana.press("j")
        await until(lambda: heard(server, EventJoin))
        await server.push(news(6, rows=(ROWS[1],)))
        await ana.until("p pause", gone="j join")
        await ana.press("p")
        await until(lambda: heard(server, EventReady))
        await server.push(news(7, rows=(replace(ROWS[1], status="away"),)))
        await ana.until("ana (you, away)")
        await ana.press("p")
        await until(lambda: [one.on for one in heard(server, EventReady)] == [False, True])


async def test_an_event_with_tickets_asks_for_one(open_screen: OpenScreen) -> None:
    closed = event(table=ROWS[:1], head=replace(HEAD, organisers=(), entry="code", late_until=2))
    async with hostile_server() as server, open_screen(with_events(server, closed).url, first_page=PAGE) as ana:
        await ana.until("j join")
        await ana.do("j", "Code to enter")
        await ana.enter("friday-7c2f")
        await until(lambda: heard(server, EventJoin))
        (join,) = heard(server, EventJoin)
        assert join.ticket == "friday-7c2f"


async def test_leaving_an_event_is_confirmed_first(open_screen: OpenScreen) -> None:
    async with hostile_server() as server, open_screen(with_events(server, event()).url, first_page=PAGE) as ana:
        await ana.until("Waiting for")
        await ana.do("l", "An unfinished game is forfeited.")
        assert not heard(server, EventLeave)
        await ana.do("enter", gone="is forfeited")
        await until(lambda: [one.event for one in heard(server, EventLeave)] == [EVENT])


async def test_boards_show_progress_and_a_knock_out_its_bracket(open_screen: OpenScreen) -> None:
    game = EventGame(3, "X", ClockState({"X": 62_000, "O": 9_000}, None))
    semifinals = (
        EventMatch(("p-ana", "p-bo"), ("ana", "bo"), (2, 0), "p-ana"),
        EventMatch(("p-3", "p-4"), ("Robo", "dee"), (1, 0)),
    )
    final = (EventMatch(("p-ana", None), ("ana", None)),)
    cup = event(head=replace(HEAD, kind="knock_out", rounds=2), games={OWN.id: game}, bracket=(semifinals, final))
    async with hostile_server() as server, open_screen(with_events(server, cup).url, first_page=PAGE) as ana:
        await ana.until("3 moves, ana to move, 1:02 - 0:09", "Semi-finals", "Final")
        await server.push(news(6, rows=(), pairings=()))
        await ana.until("Semi-finals", gone="3 moves")


async def test_the_game_of_a_scored_pairing_is_looked_through(open_screen: OpenScreen) -> None:
    rules, result = PRESETS["classic"], GameResult("line", "X")
    game = GameRecord(rules=rules, moves=(0, 4, 1, 3, 2), result=result, players=(("X", "ana"), ("O", "bo")))
    played = event(pairings=(replace(OWN, state="scored", result="X", by="game", game_id="K7M4PQ-1"), BYE))
    async with hostile_server() as server, open_screen(with_events(server, played).url, first_page=PAGE) as ana:
        server.answers[Record] = lambda request: [Ok(id=identity(request), record=format_record(game))]
        await ana.until("ana (X) - bo (O)  1-0")
        await ana.do("enter", "REPLAY  ana v bo")
        assert [one.game_id for one in heard(server, Record)] == ["K7M4PQ-1"]
        await ana.do("escape", "ana (X) - bo (O)  1-0")


async def test_a_call_during_another_game_is_announced_with_a_key(open_screen: OpenScreen) -> None:
    async with hostile_server() as server, open_screen(with_events(server, event()).url, Choice("match")) as ana:
        await ana.until("Your move, X.")
        called = replace(CALL, room="K7M4P2")
        there = replace(state(), room="K7M4P2")
        server.answers[Join] = lambda request: [Ok(id=identity(request), room="K7M4P2", seat="X"), there]
        await server.push(called)
        await ana.until("You are called: X against bo in K7M4P2. Come within 0:", "Ctrl+G: go.")
        assert not heard(server, Join)
        await ana.do("ctrl+g", "Tic-tac-toe  K7M4P2")


async def test_the_next_board_replaces_a_finished_one(open_screen: OpenScreen) -> None:
    async with (
        hostile_server("guest-otter") as server,
        open_screen(with_events(server, event()).url, first_page=PAGE, name=None) as ana,  # who is not asked for a name
    ):
        await ana.until("Waiting for")
        await server.push(CALL)
        await ana.until("Your move, X.")
        await server.push(state(2, (0, 4, 1, 3, 2), result=Result("X", "line", (0, 1, 2))))
        await ana.until("You win")
        there = replace(state(), room="K7M4P2")
        server.answers[Join] = lambda request: [Ok(id=identity(request), room="K7M4P2", seat="X"), there]
        await server.push(replace(CALL, room="K7M4P2", pairing="r3-1"))
        await ana.until("Tic-tac-toe  K7M4P2")
        await until(lambda: [one.room for one in heard(server, Leave)] == [ROOM])


async def test_an_event_that_there_is_none_of_ends_the_command(open_screen: OpenScreen) -> None:
    async with hostile_server() as server:
        refusal = Error(code="no_such_event", message="No event.", data={"event": EVENT})
        with_events(server, event()).answers[EventWatch] = lambda request: [replace(refusal, id=identity(request))]
        async with open_screen(server.url, first_page=PAGE) as ana:
            await ana.until_it_ends()
            assert ana.app.return_code == ExitCode.NO_ROOM
            assert "E4NT22" in ana.app.last_words
