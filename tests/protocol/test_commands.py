import pytest

from tests.literals import IDS
from tests.rows import each
from tictactoe_words.choices import Deed
from tictactoe_words.commands import (
    ACTIONS,
    COMMANDS,
    FURTHER_HOME,
    HOME,
    RECORD,
    SITUATIONS,
    SUGGESTED,
    TABLE,
    Command,
    key_for,
    order_keys,
)

TOLD = (*HOME, *FURTHER_HOME, *(row for table in (COMMANDS, RECORD) for rows in table.values() for row in rows))


@each("row", [*TABLE, *TOLD])
def test_the_words_of_every_command_are_in_the_catalogue(row: Command) -> None:
    words = (*row.word_ids, *filter(None, [row.takes]), *(f"way {way}" for way in row.ways))
    labels = {*row.key.shown, row.key.label} - {"", "deed"} if row.key is not None else set()
    does = {row.help or f"does {row.id}"} if row in TOLD else set()
    assert {f"type {id}" for id in words} | labels | does <= set(IDS)


def test_every_key_is_listed_once() -> None:
    told = [row.key.name for row in TABLE if row.key is not None and row.key.keys]
    assert len(told) == len(set(told))
    hints = {name for situation in SITUATIONS.values() for name in situation} - set(ACTIONS)
    assert hints == {"enter", "12 enter"}


def test_the_words_that_are_suggested_can_be_typed() -> None:
    assert set(SUGGESTED) <= {row.id for row in TABLE if row.means is not None}


@pytest.mark.parametrize(
    ("deed", "key"),
    [
        (Deed("draw", "accept"), "accept"),
        (Deed("undo", "withdraw"), "decline"),
        (Deed("rematch", "accept"), "rematch"),
        (Deed("new", "opponent"), "another"),
        (Deed("mistakes"), "mistake"),
        (Deed("resign"), "resign"),
    ],
)
def test_a_deed_has_one_key_or_is_called_by_its_own_name(deed: Deed, key: str) -> None:
    assert key_for(deed) == key


def test_a_last_line_names_keys_as_the_rows_stand_but_for_a_few() -> None:
    assert order_keys("history", ["quit", "save", "help", "up", "back", "open"]) == [
        *("open", "back", "up", "help", "save", "quit")
    ]
    named = ["rematch", "review", "another", "save", "chat", "back"]
    assert [name for name in SITUATIONS["over"] if name in named] == named
