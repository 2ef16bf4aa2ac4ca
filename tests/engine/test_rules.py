import pickle
import subprocess
import sys
from collections.abc import Iterator, Mapping
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


def test_the_presets_match_the_protocol_in_its_order() -> None:
    assert list(PRESETS) == list(DOCUMENTED_PRESETS)
    for name, documented in DOCUMENTED_PRESETS.items():
        fields: dict[str, Any] = {**CLASSIC, **documented}
        assert fields_of(PRESETS[name]) == fields
        assert Rules(**fields).preset == name
    assert Rules(rows=4).preset is None
    with pytest.raises(TypeError):
        PRESETS["classic"] = Rules(line=2)  # type: ignore[index]


def test_the_size_counts_blocked_cells_too() -> None:
    assert Rules(rows=4, columns=5, blocked=frozenset({0, 19})).size == 20


Refusal = tuple[dict[str, Any], str, str]


def refusals() -> Iterator[Refusal]:
    """Yield invalid rules with the field and the message of their error."""
    for side in ("rows", "columns"):
        for value in (0, -1, 33, 10**9, True, False, 3.0, "3", None):
            yield {side: value}, side, f"A board has 1 to 32 {side}, not {value!r}."
    for value in (1, 0, -3, 33, True, 3.0, "3", None):
        yield {"rows": 32, "columns": 32, "line": value}, "line", f"A line has 2 to 32 marks, not {value!r}."
    for rows, columns, line in ((3, 3, 4), (1, 1, 2), (5, 7, 8), (7, 5, 8)):
        most = f"A line of {line} can't fit a {rows}x{columns} board (at most {max(rows, columns)})."
        yield {"rows": rows, "columns": columns, "line": line}, "line", most
    for marks in ("", "X", "XOABCDE", None, 2, ("X", "O"), b"XO"):
        yield {"marks": marks}, "marks", f"A game has 2 to 6 marks, not {marks!r}."
    for marks in ("xo", "X0", "X.", "X#", "X ", "XÖ", "ΧΟ"):
        yield {"marks": marks}, "marks", f"Marks are upper-case letters A to Z, not {marks!r}."
    for marks in ("XX", "XOX", "ABCDEA"):
        yield {"marks": marks}, "marks", f"Every player needs a mark of their own, but {marks!r} repeats one."
    for flag in ("misere", "gravity", "exact"):
        for value in (0, 1, "yes", None):
            yield {flag: value}, flag, f"{flag} is true or false, not {value!r}."
    for cells in (None, 4, True, 1.5, [[4]]):
        yield {"blocked": cells}, "blocked", f"blocked is a set of cells, not {cells!r}."
    for cell in (-1, 9, 10**9, True, False, 4.0, "4", None):
        yield {"blocked": [cell]}, "blocked", f"The blocked cell {cell!r} is off the board: cells are 0 to 8."
    yield {"blocked": range(9)}, "blocked", "Every cell is blocked."
    for blocked in ({0, 4, 8}, {2, 4, 6}, {1, 2, 4, 6}, {0, 5, 7, 2, 3}):
        no_room = "The blocked cells leave no room for a line of 3: nobody could win."
        yield {"blocked": blocked}, "blocked", no_room


AT_ODDS: list[Refusal] = [
    (
        {"rows": 5, "columns": 5, "marks": "XOA", "misere": True},
        "misere",
        "Misère is for two marks, not for the 3 of 'XOA'.",
    ),
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


@each(("fields", "field", "message"), [*refusals(), *AT_ODDS])
def test_invalid_rules_are_refused_with_the_field_at_fault(fields: dict[str, Any], field: str, message: str) -> None:
    error = refusal(**fields)
    assert (error.code, error.field, error.message) == ("bad_rules", field, message)


ACCEPTED: list[dict[str, Any]] = [
    *({"rows": 32}, {"columns": 32}, {"rows": 1}, {"columns": 1}),
    *({"rows": 1, "columns": 5, "line": 5}, {"rows": 5, "columns": 1, "line": 5}),
    *({"rows": 32, "columns": 32, "line": 32}, {"rows": 2, "columns": 2, "line": 2}),
    *({"rows": 10, "columns": 10, "marks": marks} for marks in ("OX", "AZ", "XOA", "XOAB", "XOABC", "XOABCD")),
    *({"blocked": frozenset(blocked)} for blocked in ({4}, {1, 3, 8}, {0, 8})),
]


@each("fields", ACCEPTED)
def test_the_smallest_and_the_largest_that_is_allowed_is_accepted(fields: dict[str, Any]) -> None:
    assert fields.items() <= fields_of(Rules(**fields)).items()


@pytest.mark.parametrize("value", [[4, 0, 4], (0, 4), {0, 4}, frozenset({0, 4}), range(0, 5, 4), iter([0, 4])])
def test_any_iterable_of_blocked_cells_becomes_a_frozenset(value: Any) -> None:
    blocked = Rules(blocked=value).blocked
    assert isinstance(blocked, frozenset)
    assert blocked == {0, 4}


@pytest.mark.parametrize(
    "fields",
    [{"rows": 10**5000}, {"line": -(10**5000)}, {"blocked": [10**5000]}, {"misere": "y" * 9999}, {"marks": "X" * 9999}],
    ids=lambda fields: next(iter(fields)),
)
def test_a_value_too_long_to_quote_is_refused_in_a_short_message(fields: dict[str, Any]) -> None:
    error = refusal(**fields)
    assert (error.code, error.field) == ("bad_rules", next(iter(fields)))
    assert len(error.message) < 120


def test_rules_are_equal_that_differ_in_no_field() -> None:
    listed: Any = [0, 8]
    assert {Rules(blocked=listed)} == {Rules(blocked=frozenset({8, 0}))}
    variants = {Rules(), Rules(gravity=True), Rules(misere=True), Rules(line=2), Rules(marks="OX"), Rules(rows=4)}
    assert len(variants) == 6


def test_unpickled_rules_are_rehashed() -> None:
    program = "import pickle, sys; rules = pickle.load(sys.stdin.buffer); print(rules in {type(rules)(marks='XYZ')})"
    pickled = pickle.dumps(Rules(marks="XYZ"))
    command = [sys.executable, "-c", program]
    done = subprocess.run(command, input=pickled, capture_output=True, check=True, env=environment(PYTHONHASHSEED="1"))
    assert done.stdout.strip() == b"True"
