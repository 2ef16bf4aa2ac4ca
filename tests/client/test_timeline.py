"""Looking back in a game: where steps and jumps lead, and what is told of the moment there."""

from __future__ import annotations

from typing import cast

from tests.client.states import state
from tictactoe_client.input.actions import Actions
from tictactoe_client.input.timeline import Timeline
from tictactoe_client.online.room import Room
from tictactoe_client.settings import Settings

MOVES = (0, 4, 2)


def watching(**options: bool) -> Actions:
    """Return the actions of a watcher who has no connection: looking back needs none."""
    return Actions(cast(Room, None), Settings(**options), "")  # type: ignore[arg-type]


def look(actions: Actions, *lines: str, moves: tuple[int, ...] = MOVES, game: int = 1) -> list[str]:
    told: list[str] = []
    for line in lines:
        told = list(actions.do_line_offline(line, state(moves, game=game), moves).lines)
    return told


def test_the_board_after_a_move_is_drawn_as_it_was() -> None:
    assert look(watching(), "board 2") == [
        "Move 2 of 3: bo plays B2, centre.",
        "   A B C",
        "1  X . .",
        "2  . O .",
        "3  . . .",
    ]
    assert look(watching(), "b 0")[0] == "The start."
    assert look(watching(), "board 4") == ["There is no move 4: 0 to 3."]


def test_steps_go_from_where_one_looks() -> None:
    actions = watching()
    assert look(actions, "p")[0] == "Move 2 of 3: bo plays B2, centre."
    assert look(actions, "back")[0] == "Move 1 of 3: ana plays A1, top left."
    assert look(actions, "previous", "p") == ["This is the start: n goes on."]
    assert look(actions, "n", "next", "n")[0] == "Move 3 of 3: ana plays C1, top right."
    assert look(actions, "next") == ["This is the latest move: p goes back."]


def test_one_stays_where_one_looks_while_the_game_goes_on() -> None:
    actions = watching()
    look(actions, "board 1")
    assert look(actions, "n", moves=(*MOVES, 8))[0] == "Move 2 of 4: bo plays B2, centre."
    assert look(actions, "live", moves=(*MOVES, 8))[0] == "Move 4 of 4: bo plays C3, bottom right."
    assert look(actions, "p", moves=(*MOVES, 8))[0].startswith("Move 3 of 4")


def test_another_game_and_moves_taken_back_begin_at_the_present() -> None:
    actions = watching()
    look(actions, "board 2")
    assert look(actions, "p", moves=(0,)) == look(watching(), "board 0")
    look(actions, "board 2")
    assert look(actions, "p", moves=(8,), game=2)[0] == "The start."


def test_without_boards_a_step_tells_the_move_alone() -> None:
    actions = watching(draws_board=False)
    assert look(actions, "p") == ["Move 2 of 3: bo plays B2, centre."]
    assert len(look(actions, "board 2")) == 5
    told = look(actions, "live")
    assert told == ["Move 3 of 3: ana plays C1, top right.", "It's bo's move."]


def test_what_came_while_one_looked_back_is_counted_until_the_present_is_seen() -> None:
    timeline = Timeline().follow(1, MOVES).step(-2)
    assert (timeline.here, timeline.played_next, timeline.unseen) == (1, 4, 0)
    timeline = timeline.follow(1, (*MOVES, 8, 6))
    assert (timeline.here, timeline.unseen) == (1, 2)
    assert timeline.step(-5).here == 0
    assert (timeline.step(9).ply, timeline.step(9).unseen, timeline.step(9).played_next) == (None, 0, None)
    assert timeline.follow(2, ()).ply is None
