"""Worker processes send the engine's errors back, so the errors must survive pickling."""

import copy
import pickle

from tests.rows import each
from tictactoe_engine import IllegalMove, InvalidRules, UnknownNotation

WHOLE = InvalidRules("bad_rules", "Every cell is blocked.")
TAKEN = IllegalMove("occupied", "{cell} is taken by {mark}.", {"cell": "B2", "mark": "O"})
UNKNOWN = UnknownNotation("I don't know that.")
SIDE = InvalidRules("bad_rules", "A board has 1 to 32 rows, not 0.", "rows")


@each("error", [SIDE, WHOLE, TAKEN, UNKNOWN])
def test_an_error_reads_as_its_message_and_survives_pickling_and_copying(error: InvalidRules | IllegalMove) -> None:
    for twin in (pickle.loads(pickle.dumps(error)), copy.copy(error)):
        assert type(twin) is type(error)
        assert vars(twin) == vars(error)
        assert str(twin) == str(error) == error.message


def test_an_error_has_a_code_and_names_the_field_at_fault_if_there_is_one() -> None:
    assert UNKNOWN.code == "bad_input"
    assert (SIDE.field, WHOLE.field) == ("rows", None)
