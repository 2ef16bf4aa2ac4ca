from typing import Any

import pytest
from msgspec.structs import replace

from tictactoe_engine import PRESETS
from tictactoe_protocol.events import EventHead, EventMatch, EventRow, EventState
from tictactoe_protocol.terms import ClockTerms, RulesState
from tictactoe_words.attendance import MOST_NAMED, describe_progress, draw_bracket, list_bracket, list_notes, name_some

FREE = EventMatch(("p1",), ("ana",), (0,), "p1")
PLAYED = EventMatch(("p2", "p3"), ("bo", "cy"), (1.5, 0.5), "p2")
FINAL = EventMatch(("p1", "p2"), ("ana", "bo"), (3, 3), "p1", "draw")


def row(name: str, points: float, place: int, *tie: tuple[str, float]) -> EventRow:
    return EventRow(place, name, name, None, points, 3, tuple((about, value, "") for about, value in tie))


def standing(kind: str, table: list[EventRow], status: str = "running", **more: Any) -> EventState:
    rules, clock = RulesState.of(PRESETS["classic"]), ClockTerms(move_ms=1_000)
    head = EventHead("Friday", kind, rules, clock, ("p-org",), len(table), len(table))
    return EventState("EV3NTS", 1, status, 1, None, head, tuple(table), (), **more)


LEVEL = [row("ana", 2, 1, ("wins", 2)), row("bo", 2, 1, ("wins", 2)), row("cy", 1, 3)]


@pytest.mark.parametrize(
    ("kind", "table", "told"),
    [
        ("round_robin", [row("ana", 2, 1), row("bo", 1, 2)], []),
        ("round_robin", LEVEL, []),
        (
            "round_robin",
            [row("ana", 2, 1, ("direct", 1), ("wins", 2)), row("bo", 2, 2, ("direct", 0), ("wins", 2))],
            ["ana and bo have the same points. ana is first: direct encounter 1 to 0."],
        ),
        (
            "swiss",
            [
                row("ana", 2, 1, ("buchholz_cut_1", 4), ("wins", 2)),
                row("bo", 2, 2, ("buchholz_cut_1", 4), ("wins", 1.5)),
            ],
            ["ana and bo have the same points. ana is first: wins 2 to 1½."],
        ),
        (
            "swiss",
            [row("a", 2, 1, ("new", 1)), row("b", 2, 2, ("new", 0))],
            ["a and b have the same points. a is first: new 1 to 0."],
        ),
    ],
)
def test_the_deciding_tie_break_is_explained(kind: str, table: list[EventRow], told: list[str]) -> None:
    assert list_notes(standing(kind, table)) == told


def test_a_deserted_tournament_says_how_to_continue() -> None:
    state = standing("swiss", LEVEL, "paused")
    told = "Paused: nobody was here. It goes on when 2 players are back, or when the organiser continues it."
    assert describe_progress(replace(state, needed=2), None)[1:] == [told]
    assert describe_progress(state, None)[1:] == []


def test_long_lists_of_names_are_shortened() -> None:
    names = [f"p{number}" for number in range(MOST_NAMED + 3)]
    assert name_some(names, len(names) + 2) == "p0, p1, p2, p3, p4, p5 and 5 more"
    assert name_some(names[:2], 2) == "p0 and p1"


def test_a_bracket_is_read_aloud_by_its_rounds() -> None:
    assert list_bracket([[FREE, PLAYED], [FINAL]], 2) == [
        "Semi-finals: ana * - (bye); bo 1½* - cy ½.",
        "Final: ana 3* - bo 3, the draw decided.",
    ]


def test_a_bracket_is_drawn_so_that_winners_meet_in_the_middle_of_their_matches() -> None:
    assert draw_bracket([[FREE, PLAYED], [FINAL]], 2, 40, lambda text, width: f"{text:<{width}}"[:width]) == [
        "Semi-finals          Final",
        "ana              *",
        "(bye)              ┐",
        "                   │ ana             3*",
        "bo             1½* ┘ bo               3",
        "cy               ½   the draw decided",
    ]
