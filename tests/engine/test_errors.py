"""The engine's three errors as values: what they carry, and that they cross a process boundary whole."""

from __future__ import annotations

import copy
import pickle

import pytest

from tictactoe_engine import IllegalMove, InvalidRules, UnknownNotation

ERRORS = [
    InvalidRules("bad_rules", "A board has 1 to 32 rows, not 0.", "rows"),
    InvalidRules("bad_rules", "Every cell is blocked."),
    IllegalMove("occupied", "B2 is taken by O."),
    UnknownNotation("I don't know that."),
]


@pytest.mark.parametrize("error", ERRORS, ids=repr)
def test_an_error_survives_pickling_and_copying(error: InvalidRules | IllegalMove | UnknownNotation) -> None:
    for twin in (pickle.loads(pickle.dumps(error)), copy.copy(error)):
        assert type(twin) is type(error)
        assert (vars(twin), str(twin)) == (vars(error), error.message)


@pytest.mark.parametrize("error", ERRORS, ids=repr)
def test_an_error_reads_as_its_message(error: InvalidRules | IllegalMove | UnknownNotation) -> None:
    assert str(error) == error.message


def test_an_unknown_notation_has_the_code_of_bad_input() -> None:
    assert UnknownNotation("I don't know that.").code == "bad_input"


def test_rules_at_fault_as_a_whole_name_no_field() -> None:
    assert InvalidRules("bad_rules", "Every cell is blocked.").field is None
