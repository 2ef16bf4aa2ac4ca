import pickle
import subprocess
import sys
from collections.abc import Mapping
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


WRONG_RULES: list[tuple[dict[str, Any], str]] = [
    *(({side: size}, side) for side in ("rows", "columns") for size in (0, -1, 33, 10**9, True, False, 3.0, "3", None)),
    *(({"rows": 32, "columns": 32, "line": value}, "line") for value in (1, 0, -3, 33, True, 3.0, "3", None)),
    *(({"rows": rows, "columns": columns, "line": 8}, "line") for rows, columns in ((1, 1), (5, 7), (7, 5))),
    *(({"marks": marks}, "marks") for marks in ("", "X", "XOABCDE", None, 2, ("X", "O"), b"XO")),
    *(({"marks": marks}, "marks") for marks in ("xo", "X0", "X.", "X#", "X ", "XÖ", "ΧΟ", "XX", "XOX", "ABCDEA")),
    *(({flag: value}, flag) for flag in ("misere", "gravity", "exact") for value in (0, 1, "yes", None)),
    *(({"blocked": cells}, "blocked") for cells in (None, 4, True, 1.5, [[4]], range(9))),
    *(({"blocked": [cell]}, "blocked") for cell in (-1, 9, 10**9, True, False, 4.0, "4", None)),
    *(({"blocked": cells}, "blocked") for cells in ({0, 4, 8}, {2, 4, 6}, {1, 2, 4, 6}, {0, 5, 7, 2, 3})),
    ({"rows": 5, "columns": 5, "marks": "XOA", "misere": True}, "misere"),
    ({"exact": True, "gravity": True}, "exact"),
    *(({"opening": opening}, "opening") for opening in ("swap3", "", "swap2")),
    ({"marks": "XOA", "opening": "pie"}, "opening"),
    ({"rows": 6, "line": 4, "gravity": True, "opening": "swap2"}, "opening"),
    ({"rows": 6, "columns": 6, "line": 4, "misere": True, "opening": "swap2"}, "opening"),
    ({"rows": 1, "columns": 5, "line": 4, "opening": "swap2"}, "opening"),
]
"""Rules that are refused, with the field at fault."""


@each(("fields", "field"), WRONG_RULES)
def test_invalid_rules_are_refused_with_the_field_at_fault(fields: dict[str, Any], field: str) -> None:
    error = refusal(**fields)
    assert (error.code, error.field) == ("bad_rules", field)


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
