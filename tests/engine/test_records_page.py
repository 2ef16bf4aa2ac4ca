"""The page about records is true: its examples are records, and it names all tags, reasons, presets and limits."""

import re
from pathlib import Path

import pytest

from tictactoe_engine import PRESETS
from tictactoe_engine.records import format_record, parse_records
from tictactoe_engine.records.game_record import KNOWN_TAGS, MAX_COMMENT_LENGTH, MAX_VALUE_LENGTH, REASONS
from tictactoe_engine.records.reader import MAX_TEXT_LENGTH

PAGE = (Path(__file__).parents[2] / "docs" / "reference" / "records.md").read_text(encoding="utf-8")


def list_blocks(language: str) -> list[str]:
    return re.findall(rf"(?ms)^```{language}\n(.*?)^```$", PAGE)


@pytest.mark.parametrize("example", list_blocks("text"))
def test_every_example_of_the_page_is_a_record(example: str) -> None:
    records = parse_records(example)
    assert records
    assert parse_records("".join(map(format_record, records))) == records


def test_the_first_example_is_written_exactly_so() -> None:
    first = list_blocks("text")[0]
    (record,) = parse_records(first)
    assert format_record(record) == f"{first}\n"


def test_the_python_of_the_page_runs() -> None:
    (program,) = list_blocks("python")
    exec(compile(program, "docs/reference/records.md", "exec"), {})


def test_the_page_names_every_tag_reason_preset_and_limit() -> None:
    tags = re.findall(r"^\| (.+?) \|", PAGE.partition("## Moves")[0], re.MULTILINE)
    named = [name for row in tags for name in re.findall(r"`([A-Z][a-z]+)`", row)]
    assert tuple(named) == KNOWN_TAGS
    assert tuple(re.findall(r"^\| `([a-z]+)` \|", PAGE.partition("## Files")[0], re.MULTILINE)) == REASONS
    (presets,) = re.findall(r"^\| `Rules` \| the name of a preset: (.+?) \|", PAGE, re.MULTILINE)
    assert presets == ", ".join(f"`{name}`" for name in PRESETS)
    for limit in (
        f"{MAX_VALUE_LENGTH}\ncharacters",
        f"{MAX_COMMENT_LENGTH} characters",
        f"{MAX_TEXT_LENGTH:,} characters",
    ):
        assert limit in PAGE
