"""Looking back in a game: where steps and jumps lead, and what is told of the moment there."""

from __future__ import annotations

from msgspec.structs import replace

from tests.client.states import state
from tests.client.test_room import FakeCourier
from tictactoe_client.input.actions import Actions
from tictactoe_client.input.past import Timeline
from tictactoe_client.online.room import Room
from tictactoe_client.settings import Settings
from tictactoe_protocol.pushes import Ok

MOVES = (0, 4, 2)


class Watcher:
    """Somebody who looks at a game of ana and bo, without a connection: looking back needs none."""

    def __init__(self, **options: bool) -> None:
        self._room = Room(FakeCourier(player="p-wat"), "K7M4PQ")
        self._room._enter(Ok(id="1", room="K7M4PQ", moves=MOVES))
        self.see()
        self._actions = Actions(self._room, Settings(**options))  # type: ignore[arg-type]

    def see(self, moves: tuple[int, ...] = MOVES, game: int = 1) -> None:
        self._room._told = moves
        self._room._take(replace(state(moves, game=game), seq=(self._room.state.seq + 1) if self._room.state else 1))

    async def look(self, *lines: str) -> list[str]:
        return [list((await self._actions.do_line(line, is_offline=True)).lines) for line in lines][-1]


async def test_the_board_after_a_move_is_drawn_as_it_was() -> None:
    assert (await Watcher().look("board 2")) == [
        "Move 2 of 3: bo plays B2, centre.",
        "   A B C",
        "1  X . .",
        "2  .(O).",
        "3  . . .",
    ]
    assert (await Watcher().look("b 0"))[0] == "The start."
    assert (await Watcher().look("board 4")) == ["There is no move 4: 0 to 3."]


async def test_steps_go_from_where_one_looks() -> None:
    watcher = Watcher()
    assert (await watcher.look("p"))[0] == "Move 2 of 3: bo plays B2, centre."
    assert (await watcher.look("back"))[0] == "Move 1 of 3: ana plays A1, top left."
    assert (await watcher.look("previous", "p")) == ["This is the start: n goes on."]
    assert (await watcher.look("n", "next", "n"))[0] == "Move 3 of 3: ana plays C1, top right."
    assert (await watcher.look("next")) == ["This is the latest move: p goes back."]


async def test_one_stays_where_one_looks_while_the_game_goes_on() -> None:
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


async def test_without_boards_a_step_tells_the_move_alone() -> None:
    watcher = Watcher(draws_board=False)
    assert (await watcher.look("p")) == ["Move 2 of 3: bo plays B2, centre."]
    assert len(await watcher.look("board 2")) == 5
    told = await watcher.look("live")
    assert told == ["Move 3 of 3: ana plays C1, top right.", "It's bo's move."]


def test_what_came_while_one_looked_back_is_counted_until_the_present_is_seen() -> None:
    timeline = Timeline().follow(1, MOVES).jump(1)
    assert (timeline.here, timeline.played_next, timeline.unseen) == (1, 4, 0)
    timeline = timeline.follow(1, (*MOVES, 8, 6))
    assert (timeline.here, timeline.unseen) == (1, 2)
    assert timeline.jump(-4).here == 0
    assert (timeline.jump(9).ply, timeline.jump(9).unseen, timeline.jump(9).played_next) == (None, 0, None)
    assert timeline.follow(2, ()).ply is None
