import asyncio

import pytest
from msgspec.structs import replace

from tests.client.states import state
from tests.client.test_room import FakeCourier
from tictactoe_client.input.actions import Actions
from tictactoe_client.input.ways import Choice
from tictactoe_client.online.errors import Refused
from tictactoe_client.online.events import Back
from tictactoe_client.online.room import Room
from tictactoe_client.settings import Settings
from tictactoe_engine import PRESETS
from tictactoe_protocol.pushes import Offers, Ok, Result, RoomState
from tictactoe_protocol.requests import Move, Request, Resign
from tictactoe_protocol.terms import ClockTerms

FALLING = PRESETS["connect-four"]


class LateCourier(FakeCourier):
    """A server that returns once the game's result is known, and refuses later moves."""

    def __init__(self) -> None:
        super().__init__()
        self.code: asyncio.Future[str] = asyncio.get_running_loop().create_future()

    async def request(self, request: Request) -> Ok:
        raise Refused(await self.code, "No.")


def alone(
    now: RoomState, moves: tuple[int, ...], courier: FakeCourier | None = None, told: list[str] | None = None
) -> tuple[Actions, Room]:
    """Return ana's actions in a room after these moves, and the room."""
    room = Room(courier or FakeCourier(), "K7M4PQ")
    room._enter(Ok(id="1", room="K7M4PQ", seat="X"))
    room._receive(now)
    return Actions(room, Settings(), tell=print if told is None else told.append), room


def come_back(room: Room, now: RoomState) -> None:
    room._tell(Back(1, 1.0, 0.1))
    room._receive(replace(now, seq=now.seq + 1))


async def answer(actions: Actions, line: str) -> list[str]:
    actions.is_online = False
    return list((await actions.do_line(line)).lines)


async def test_a_queued_column_becomes_the_cell_where_the_mark_lands() -> None:
    courier, told = FakeCourier(), list[str]()
    actions, room = alone(state((38, 31), FALLING), (38, 31), courier, told)
    keeping = asyncio.create_task(answer(actions, "d"))
    await asyncio.sleep(0)
    assert (told, courier.asked) == (["D3 will be played as soon as the connection is back."], [])
    come_back(room, state((38, 31), FALLING))
    assert await keeping == []
    assert courier.asked == [Move(room="K7M4PQ", cell=24, ply=2)]


async def test_a_full_column_is_reported_and_no_move_is_queued() -> None:
    full = (35, 28, 21, 14, 7, 0)
    courier = FakeCourier()
    actions, _ = alone(state(full, FALLING), full, courier)
    assert (await answer(actions, "a")) == ["Column A is full. Free: B C D E F G."]
    assert courier.asked == []


async def test_a_queued_move_is_not_played_in_a_claimed_game() -> None:
    courier, told = LateCourier(), list[str]()
    actions, room = alone(state((0, 4)), (0, 4), courier, told)
    keeping = asyncio.create_task(answer(actions, "b1"))
    await asyncio.sleep(0)
    assert told == ["B1 will be played as soon as the connection is back."]
    assert await answer(actions, "c1") == ["B1 will be played as soon as the connection is back."]
    come_back(room, state((0, 4), result=Result("O", "claimed")))
    courier.code.set_result("game_over")
    assert await keeping == ["B1 was not played: the game went on without it."]
    assert (await answer(actions, "b1"))[0].startswith("The game is over.")


async def test_a_chat_line_that_is_too_long_is_not_sent() -> None:
    courier = FakeCourier()
    actions, _ = alone(state((0,)), (0,), courier)
    assert (await actions.do_line(f"chat {'x' * 312}")).lines == ("Too long: 312 of 200 characters.",)
    assert courier.asked == []


@pytest.mark.parametrize(
    ("line", "again", "question", "word"),
    [
        ("leave", "quit", "Leave and lose this game?", "leave"),
        ("exit", "y", "Leave and lose this game?", "leave"),
        ("new", "new", "Leave and lose this game?", "new"),
        ("resign", "yes", "Resign?", "resign"),
    ],
)
async def test_what_gives_a_game_up_is_confirmed_first(line: str, again: str, question: str, word: str) -> None:
    courier = FakeCourier()
    actions, room = alone(replace(state((0, 4)), may={"X": ("move", "resign", "leave lose")}), (0, 4), courier)
    actions.again = Choice.like(room, "match")
    lines = (f"{question} Type {word} or yes to do it; anything else plays on.",)
    assert (await actions.do_line(line)).lines == lines
    assert (await actions.do_line("no")).lines == ("The game goes on.",)
    assert (await actions.do_line(line)).lines == lines
    assert (await actions.do_line("board")).lines[0] == "   A B C"
    assert (actions.confirming, (await actions.do_line(line)).lines) == ("", lines)
    going = (await actions.do_line(again)).going
    assert (going, courier.asked) == ((None, [Resign(room="K7M4PQ")]) if word == "resign" else (word, []))


async def test_a_typed_line_does_not_answer_the_question_after_an_interrupt() -> None:
    actions, _ = alone(replace(state((0, 4)), may={"X": ("move", "resign", "leave lose")}), (0, 4))
    assert actions.ask_before("quit")
    assert (await actions.do_line("yes")).lines == ("There is no question to answer. Your move, X.",)
    assert actions.confirming == ""


async def test_quitting_a_game_over_days_gives_nothing_up_and_leaving_it_may() -> None:
    over_days = replace(state((0, 4)), time_control=ClockTerms(days=3), may={"X": ("move", "resign", "leave lose")})
    actions, _ = alone(over_days, (0, 4))
    assert actions.ask_before("leave")
    assert not actions.ask_before("quit")


@pytest.mark.parametrize(
    ("offers", "result", "line", "told"),
    [
        (Offers(draw="O", undo="O"), None, "yes", "Which one? Type draw accept or undo accept."),
        (Offers(), None, "decline", "There is no question to answer. Your move, X."),
        (Offers(), None, "draw withdraw", "You have offered no draw."),
        (Offers(), None, "undo withdraw", "You have not asked to take a move back."),
        (Offers(), None, "draw please", "Type draw, draw accept, draw decline or draw withdraw."),
        (Offers(rematch=("O",)), Result("O", "resigned"), "no", "To refuse a rematch, leave the room: type leave, or"),
    ],
)
async def test_an_answer_that_fits_no_question_is_explained(
    offers: Offers, result: Result | None, line: str, told: str
) -> None:
    courier = FakeCourier()
    actions, _ = alone(state((0, 4), offers=offers, result=result), (0, 4), courier)
    assert "\n".join((await actions.do_line(line)).lines).startswith(told)
    assert courier.asked == []


@pytest.mark.parametrize("line", ["mistakes", "next mistake", "previous mistake"])
async def test_while_a_game_runs_nothing_here_looks_for_mistakes(line: str) -> None:
    actions, room = alone(state((4, 1, 0)), (4, 1, 0))
    assert (await actions.do_line(line)).lines == ("You can see what moves are worth when the game is over.",)
    assert (actions.judge, room.is_watching) == (None, False)


async def test_long_reviews_are_announced_with_their_duration() -> None:
    moves = (112, 113, 97, 98, 82, 83, 67, 68, 52)
    room = alone(state(moves, PRESETS["gomoku"]), moves)[1]
    announced = asyncio.get_running_loop().create_future()
    actions = Actions(room, Settings(), tell=announced.set_result)
    looking = asyncio.create_task(actions.do_line("mistakes"))
    assert await announced == "Analysing the game: this takes up to 4 seconds."
    looking.cancel()


MOVES = (0, 4, 2)


class Watcher:
    """A watcher of a game without a connection, which browsing past moves does not need."""

    def __init__(self) -> None:
        self._room = Room(FakeCourier(player="p-wat"), "K7M4PQ")
        self._room._enter(Ok(id="1", room="K7M4PQ"))
        self.see()
        self._actions = Actions(self._room, Settings())

    def see(self, moves: tuple[int, ...] = MOVES, game: int = 1) -> None:
        self._room._enter(Ok(id="1", room="K7M4PQ"))
        self._room._receive(
            replace(state(moves, game=game), seq=self._room.state.seq + 1 if self._room.has_state else 1)
        )

    async def look(self, *lines: str) -> list[str]:
        self._actions.is_online = False
        return [list((await self._actions.do_line(line)).lines) for line in lines][-1]


async def test_the_displayed_move_stays_while_the_game_continues() -> None:
    watcher = Watcher()
    await watcher.look("board 1")
    watcher.see((*MOVES, 8))
    assert (await watcher.look("n"))[0] == "Move 2 of 4: bo plays B2, centre."
    assert (await watcher.look("live"))[0] == "Move 4 of 4: bo plays C3, bottom right."
    assert (await watcher.look("p"))[0].startswith("Move 3 of 4")


async def test_another_game_and_moves_taken_back_begin_at_the_present() -> None:
    watcher = Watcher()
    await watcher.look("board 2")
    watcher.see((0,))
    assert (await watcher.look("p"))[0] == "The start."
    await watcher.look("board 0")
    watcher.see((8, 4), game=2)
    assert (await watcher.look("p"))[0] == "Move 1 of 2: ana plays C3, bottom right."
