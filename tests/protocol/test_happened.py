"""Changes between two states of a room, in cases that the vectors lack."""

from itertools import pairwise

from msgspec import UNSET, UnsetType
from msgspec.structs import replace

from tests.client.states import ANA, BO, players, seat, state
from tests.client.tournaments import EVENT
from tictactoe_engine import PRESETS, Rules
from tictactoe_protocol.pushes import Offers, Result, RoomState
from tictactoe_words.happened import (
    Change,
    Chose,
    Dropped,
    Ended,
    Joined,
    Lapsed,
    Left,
    Moved,
    Offered,
    Returned,
    Started,
    happened,
)


def told(*states: RoomState) -> list[Change]:
    numbered = [replace(each, seq=number) for number, each in enumerate(states, 1)]
    return [change for old, new in pairwise(numbered) for change in happened(old, new)]


def test_a_game_that_was_over_before_its_start_was_seen_starts_and_ends() -> None:
    waiting = state(seats={"X": seat(ANA, "ana"), "O": None})
    over = replace(state(), status="over", result=Result(None, "aborted"))
    assert [type(change) for change in told(waiting, over)] == [Joined, Started, Ended]


def test_taking_over_a_card_is_told_as_drop_and_return() -> None:
    def held(player: str, event: str | UnsetType = EVENT, *, online: bool = True) -> RoomState:
        return replace(state(seats={**players(), "O": seat(player, "bo", online=online)}), event=event)

    changes = told(held(BO), held(BO, online=False), held("p-new", online=False), held("p-new"))
    assert [type(change) for change in changes] == [Dropped, Returned]
    assert [type(change) for change in told(held(BO, UNSET), held("p-new", UNSET))] == [Left, Joined]


PIE = PRESETS["four-pie"]
SWAP2 = Rules(5, 5, 4, opening="swap2")
CHANGED_PLACES = {"X": seat(BO, "bo"), "O": seat(ANA, "ana")}


def test_an_unseen_player_who_swapped_sides_is_told_as_joining() -> None:
    waiting = state(rules=PIE, seats={"X": seat(ANA, "ana"), "O": None})
    changes = told(waiting, state((5,), PIE, chosen=("X",), seats=CHANGED_PLACES))
    assert [type(change) for change in changes] == [Joined, Started, Moved, Chose]
    assert isinstance(changes[0], Joined)
    assert changes[0].mark == "X"


def test_an_offer_lapsed_by_a_swap_is_attributed_to_its_player() -> None:
    offered = state((5,), PIE, offers=Offers(draw="X"))
    chose, lapsed = told(offered, state((5,), PIE, chosen=("X",), seats=CHANGED_PLACES))
    assert isinstance(chose, Chose)
    assert isinstance(lapsed, Lapsed)
    assert (lapsed.by, lapsed.cause) == ("O", "unknown")


def test_an_offer_after_a_swap_is_a_new_offer() -> None:
    offered = state((5,), PIE, offers=Offers(draw="X"))
    after = state((5, 6), PIE, chosen=("X",), seats=CHANGED_PLACES, offers=Offers(draw="X"))
    (offer,) = [change for change in told(offered, after) if isinstance(change, Offered)]
    assert (offer.kind, offer.by) == ("draw", "X")


def test_an_offer_in_an_opening_lapses_with_the_opponents_next_mark() -> None:
    offered = state((0,), SWAP2, offers=Offers(draw="O"))
    lapsed = told(offered, state((0, 1), SWAP2))[-1]
    assert isinstance(lapsed, Lapsed)
    assert (lapsed.cause, lapsed.mover) == ("move", "X")


def test_unseen_choices_and_placements_are_told_in_order() -> None:
    before = state((0, 1), SWAP2)
    after = state((0, 1, 2, 3, 4), SWAP2, chosen=("more", "O"), seats=CHANGED_PLACES)
    changes = happened(before, replace(after, seq=before.seq + 5), moves=(0, 1, 2, 3, 4), before=(0, 1))
    said = [(change.mark, change.by) if isinstance(change, Moved) else repr(change) for change in changes]
    more = "Chose(mark='X', take='more', swaps=False)"
    taken = "Chose(mark='O', take='O', swaps=True)"
    assert said == [("X", "O"), more, ("O", "X"), ("X", "X"), taken]
