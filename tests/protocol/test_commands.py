from tests.literals import IDS
from tests.rows import each
from tictactoe_words.commands import (
    ACTIONS,
    COMMANDS,
    FURTHER_HOME,
    HOME,
    RECORD,
    SITUATIONS,
    TABLE,
    Command,
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
