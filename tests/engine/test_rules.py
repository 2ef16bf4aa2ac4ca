"""What `Rules` accepts, what it refuses and how it says so, and the presets as the protocol documents them."""

from __future__ import annotations

import pickle
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import FrozenInstanceError
from typing import Any

import pytest

from tests.environment import environment
from tests.rows import each
from tictactoe_engine import PRESETS, InvalidRules, Rules

CLASSIC: Mapping[str, object] = {
    "rows": 3,
    "columns": 3,
    "line": 3,
    "marks": "XO",
    "blocked": frozenset(),
    "misere": False,
    "gravity": False,
    "exact": False,
    "opening": None,
}

DOCUMENTED_PRESETS: Mapping[str, Mapping[str, object]] = {
    "classic": {},
    "blocker": {"blocked": frozenset({4})},
    "misere": {"misere": True},
    "four": {"rows": 4, "columns": 4, "line": 4},
    "three-players": {"rows": 5, "columns": 5, "line": 4, "marks": "XOA"},
    "connect-four": {"rows": 6, "columns": 7, "line": 4, "gravity": True},
    "gomoku": {"rows": 15, "columns": 15, "line": 5},
    "gomoku-standard": {"rows": 15, "columns": 15, "line": 5, "exact": True, "opening": "swap2"},
    "four-pie": {"rows": 4, "columns": 4, "line": 4, "opening": "pie"},
}


def refusal(**fields: Any) -> InvalidRules:
    with pytest.raises(InvalidRules) as caught:
        Rules(**fields)
    return caught.value


def fields_of(rules: Rules) -> dict[str, object]:
    return {name: getattr(rules, name) for name in CLASSIC}


def test_rules_without_arguments_are_those_of_classic() -> None:
    assert fields_of(Rules()) == CLASSIC


@pytest.mark.parametrize("name", DOCUMENTED_PRESETS)
def test_a_preset_is_what_the_protocol_says(name: str) -> None:
    assert fields_of(PRESETS[name]) == {**CLASSIC, **DOCUMENTED_PRESETS[name]}


def test_the_presets_are_nine_and_come_in_the_documented_order() -> None:
    assert list(PRESETS) == list(DOCUMENTED_PRESETS)


def test_the_presets_cannot_be_replaced() -> None:
    with pytest.raises(TypeError):
        PRESETS["classic"] = Rules(line=2)  # type: ignore[index]


@pytest.mark.parametrize("name", DOCUMENTED_PRESETS)
def test_rules_that_equal_a_preset_know_its_name(name: str) -> None:
    fields: dict[str, Any] = {**CLASSIC, **DOCUMENTED_PRESETS[name]}
    assert Rules(**fields).preset == name


def test_rules_that_equal_no_preset_have_no_preset_name() -> None:
    assert Rules(rows=4).preset is None


def test_the_size_counts_blocked_cells_too() -> None:
    assert Rules(rows=4, columns=5, blocked=frozenset({0, 19})).size == 20


@each("side", ["rows", "columns"])
@each("value", [0, -1, 33, 10**9, True, False, 3.0, "3", None])
def test_a_side_that_is_no_number_from_1_to_32_is_refused(side: str, value: object) -> None:
    error = refusal(**{side: value})
    assert (error.code, error.field) == ("bad_rules", side)
    assert error.message == f"A board has 1 to 32 {side}, not {value!r}."


@pytest.mark.parametrize("fields", [{"rows": 32}, {"columns": 32}, {"rows": 1}, {"columns": 1}])
def test_sides_of_1_and_of_32_are_accepted(fields: dict[str, Any]) -> None:
    rules = Rules(**fields)
    assert fields.items() <= fields_of(rules).items()


@pytest.mark.parametrize("value", [1, 0, -3, 33, True, 3.0, "3", None])
def test_a_line_that_is_no_number_from_2_to_32_is_refused(value: object) -> None:
    error = refusal(rows=32, columns=32, line=value)
    assert (error.code, error.field) == ("bad_rules", "line")
    assert error.message == f"A line has 2 to 32 marks, not {value!r}."


@pytest.mark.parametrize(("rows", "columns", "line"), [(3, 3, 4), (1, 1, 2), (5, 7, 8), (7, 5, 8)])
def test_a_line_longer_than_both_sides_is_refused(rows: int, columns: int, line: int) -> None:
    error = refusal(rows=rows, columns=columns, line=line)
    assert (error.code, error.field) == ("bad_rules", "line")
    assert error.message == f"A line of {line} can't fit a {rows}x{columns} board (at most {max(rows, columns)})."


@pytest.mark.parametrize(("rows", "columns", "line"), [(1, 5, 5), (5, 1, 5), (32, 32, 32), (2, 2, 2)])
def test_a_line_as_long_as_the_longer_side_is_accepted(rows: int, columns: int, line: int) -> None:
    assert Rules(rows=rows, columns=columns, line=line).line == line


@pytest.mark.parametrize("value", ["", "X", "XOABCDE", None, 2, ("X", "O"), b"XO"])
def test_marks_that_are_no_text_of_two_to_six_are_refused(value: object) -> None:
    error = refusal(marks=value)
    assert (error.code, error.field) == ("bad_rules", "marks")
    assert error.message == f"A game has 2 to 6 marks, not {value!r}."


@pytest.mark.parametrize("value", ["xo", "X0", "X.", "X#", "X ", "XÖ", "ΧΟ"])
def test_marks_other_than_upper_case_ascii_letters_are_refused(value: str) -> None:
    error = refusal(marks=value)
    assert (error.code, error.field) == ("bad_rules", "marks")
    assert error.message == f"Marks are upper-case letters A to Z, not {value!r}."


@pytest.mark.parametrize("value", ["XX", "XOX", "ABCDEA"])
def test_a_repeated_mark_is_refused(value: str) -> None:
    error = refusal(marks=value)
    assert (error.code, error.field) == ("bad_rules", "marks")
    assert error.message == f"Each mark stands for one player, but {value!r} repeats one."


@pytest.mark.parametrize("marks", ["OX", "AZ", "XOA", "XOAB", "XOABC", "XOABCD"])
def test_two_to_six_different_letters_are_accepted(marks: str) -> None:
    assert Rules(rows=10, columns=10, marks=marks).marks == marks


@each("flag", ["misere", "gravity", "exact"])
@each("value", [0, 1, "yes", None])
def test_a_flag_that_is_no_boolean_is_refused(flag: str, value: object) -> None:
    error = refusal(**{flag: value})
    assert (error.code, error.field) == ("bad_rules", flag)
    assert error.message == f"{flag} is true or false, not {value!r}."


FAIR = [
    ({"exact": True, "gravity": True}, "exact", "Exact lines are for boards without gravity."),
    ({"opening": "swap3"}, "opening", "An opening is one of pie, swap2, not 'swap3'."),
    ({"opening": ""}, "opening", "An opening is one of pie, swap2, not ''."),
    ({"marks": "XOA", "opening": "pie"}, "opening", "The opening pie is for two marks, not for the 3 of 'XOA'."),
    (
        {"rows": 6, "line": 4, "gravity": True, "opening": "swap2"},
        "opening",
        "The opening swap2 is for games without gravity and misère.",
    ),
    ({"opening": "swap2"}, "opening", "The opening swap2 is for lines of 4 or more marks, not of 3."),
    (
        {"rows": 1, "columns": 5, "line": 4, "opening": "swap2"},
        "opening",
        "The opening swap2 needs more than 5 free cells.",
    ),
]


@pytest.mark.parametrize(("fields", "field", "message"), FAIR, ids=lambda value: str(value)[:24])
def test_what_is_to_be_fair_and_makes_no_sense_is_refused(fields: dict[str, Any], field: str, message: str) -> None:
    error = refusal(**fields)
    assert (error.code, error.field, error.message) == ("bad_rules", field, message)


def test_misere_for_more_than_two_marks_is_refused() -> None:
    error = refusal(rows=5, columns=5, marks="XOA", misere=True)
    assert (error.code, error.field) == ("bad_rules", "misere")
    assert error.message == "Misère is for two marks, not for the 3 of 'XOA'."


@pytest.mark.parametrize("value", [[4, 0, 4], (0, 4), {0, 4}, frozenset({0, 4}), range(0, 5, 4), iter([0, 4])])
def test_any_iterable_of_blocked_cells_becomes_a_frozenset(value: Any) -> None:
    blocked = Rules(blocked=value).blocked
    assert isinstance(blocked, frozenset)
    assert blocked == {0, 4}


@pytest.mark.parametrize("value", [None, 4, True, 1.5, [[4]]])
def test_blocked_that_is_no_set_of_cells_is_refused(value: object) -> None:
    error = refusal(blocked=value)
    assert (error.code, error.field) == ("bad_rules", "blocked")
    assert error.message == f"blocked is a set of cells, not {value!r}."


@pytest.mark.parametrize("cell", [-1, 9, 10**9, True, False, 4.0, "4", None])
def test_a_blocked_cell_that_the_board_does_not_have_is_refused(cell: object) -> None:
    error = refusal(blocked=[cell])
    assert (error.code, error.field) == ("bad_rules", "blocked")
    assert error.message == f"The blocked cell {cell!r} is off the board: cells are 0 to 8."


def test_blocking_every_cell_is_refused() -> None:
    error = refusal(blocked=range(9))
    assert (error.code, error.field) == ("bad_rules", "blocked")
    assert error.message == "Every cell is blocked."


@pytest.mark.parametrize("blocked", [{0, 4, 8}, {2, 4, 6}, {1, 2, 4, 6}, {0, 5, 7, 2, 3}])
def test_blocked_cells_that_meet_every_line_are_refused(blocked: set[int]) -> None:
    error = refusal(blocked=blocked)
    assert (error.code, error.field) == ("bad_rules", "blocked")
    assert error.message == "The blocked cells leave no room for a line of 3: nobody could win."


@pytest.mark.parametrize("blocked", [{4}, {1, 3, 8}, {0, 8}])
def test_blocked_cells_that_leave_a_line_are_accepted(blocked: set[int]) -> None:
    assert Rules(blocked=frozenset(blocked)).blocked == blocked


@pytest.mark.parametrize(
    "fields",
    [{"rows": 10**5000}, {"line": -(10**5000)}, {"blocked": [10**5000]}, {"misere": "y" * 9999}, {"marks": "X" * 9999}],
    ids=lambda fields: next(iter(fields)),
)
def test_a_value_too_long_to_quote_is_refused_in_a_short_message(fields: dict[str, Any]) -> None:
    error = refusal(**fields)
    assert (error.code, error.field) == ("bad_rules", next(iter(fields)))
    assert len(error.message) < 120


def test_rules_cannot_be_changed() -> None:
    rules = Rules()
    with pytest.raises(FrozenInstanceError):
        rules.rows = 4  # type: ignore[misc]


def test_equal_rules_hash_alike_whatever_blocked_was_built_from() -> None:
    listed: Any = [0, 8]
    assert {Rules(blocked=listed)} == {Rules(blocked=frozenset({8, 0}))}


def test_rules_that_differ_in_one_field_are_not_equal() -> None:
    variants = {Rules(), Rules(gravity=True), Rules(misere=True), Rules(line=2), Rules(marks="OX"), Rules(rows=4)}
    assert len(variants) == 6


def test_rules_survive_pickling() -> None:
    rules = PRESETS["blocker"]
    assert pickle.loads(pickle.dumps(rules)) == rules


def test_rules_are_hashed_anew_in_the_process_that_unpickles_them() -> None:
    program = "import pickle, sys; rules = pickle.load(sys.stdin.buffer); print(rules in {type(rules)(marks='XYZ')})"
    pickled = pickle.dumps(Rules(marks="XYZ"))
    command = [sys.executable, "-c", program]
    done = subprocess.run(command, input=pickled, capture_output=True, check=True, env=environment(PYTHONHASHSEED="1"))
    assert done.stdout.strip() == b"True"
