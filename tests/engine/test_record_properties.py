import pickle

from hypothesis import given
from hypothesis import strategies as st

from tests.engine.random_records import game_records
from tictactoe_engine.records import GameRecord, RecordError, format_record, parse_record, parse_records

SIGNS = ["[", "]", '"', "{", "}", "\\", " ", "\n", "\r\n", "\r", "\ufeff", "\x1b", "\0", "\u202e", "é", "٣"]
NAMES = ["Rules", "X", "O", "Result", "Passed", "A@4", "Blocked", "b2", "a1", "zz99", "c3", "b٢", "*", "draw", "{hm}"]
NUMBERS = ["1.", "2.", "1...", "9" * 5000 + "."]
TAGS = ['[Rules "gomoku"]', '[Rows "32"]', '[Marks "XOA"]', '[Passed "A@0"]', '[Clock "1+1"]']
WORDS = st.sampled_from(SIGNS + NAMES + NUMBERS + TAGS)


def read(text: str) -> tuple[GameRecord, ...] | RecordError:
    """Return the records in a text, or its `RecordError`."""
    try:
        return parse_records(text)
    except RecordError as error:
        return error


def check(text: str) -> None:
    """Check that records can be written again, and that an error has a printable sentence and a place in the text."""
    found = read(text)
    if not isinstance(found, RecordError):
        assert all(parse_record(format_record(record)) == record for record in found)
        return
    lines = text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n").split("\n")
    assert 1 <= found.line <= len(lines)
    assert 1 <= found.column <= len(lines[found.line - 1]) + 1
    assert found.message
    assert str(found).isprintable()


@given(game_records())
def test_a_record_comes_back_as_it_was_written(record: GameRecord) -> None:
    text = format_record(record)
    back = parse_record(text)
    assert back == record
    assert hash(back) == hash(record)
    assert back.position.board == record.position.board
    assert format_record(back) == text
    assert all(line.isprintable() for line in text.split("\n"))


@given(game_records(), st.sampled_from(["\r\n", "\r", "\n\n", "\n \t"]))
def test_a_record_is_read_whatever_ends_its_lines(record: GameRecord, end: str) -> None:
    assert parse_record("\ufeff" + format_record(record).replace("\n", end)) == record


@given(game_records())
def test_a_record_survives_pickling_and_shows_each_of_its_positions(record: GameRecord) -> None:
    assert pickle.loads(pickle.dumps(record)) == record
    positions = list(record.positions())
    assert len(positions) == len(record.moves) + 1
    assert positions[-1] == record.position


@given(st.text() | st.lists(WORDS, max_size=30).map("".join) | st.lists(WORDS, max_size=30).map(" ".join))
def test_random_text_raises_nothing_but_record_errors(text: str) -> None:
    check(text)


@given(game_records(), st.data())
def test_a_damaged_record_is_refused_with_a_place_or_is_another_record(record: GameRecord, data: st.DataObject) -> None:
    text = format_record(record)
    start = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(start, min(len(text), start + 12)))
    check(text[:start] + data.draw(st.text(max_size=3) | WORDS) + text[end:])
