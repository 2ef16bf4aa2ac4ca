"""The page about records is true: its examples are records, and its grammar fits all records."""

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.engine.random_records import game_records
from tests.engine.test_record_properties import WORDS, read
from tictactoe_engine import PRESETS
from tictactoe_engine.records import GameRecord, RecordError, format_record, parse_records
from tictactoe_engine.records.game_record import KNOWN_TAGS, MAX_COMMENT_LENGTH, MAX_VALUE_LENGTH, REASONS
from tictactoe_engine.records.reader import MAX_TEXT_LENGTH

PAGE = (Path(__file__).parents[2] / "docs" / "reference" / "records.md").read_text(encoding="utf-8")

_RULE = re.compile(r"(\w+)\s*::=\s*(.+)")
_PIECE = re.compile(r"""\s*(?:"(?P<double>[^"]+)"|'(?P<single>[^']+)'|(?P<set>\[(?:[^\]]+)\])"""
                    r"""|\#x(?P<code>[0-9A-F]+)|(?P<name>\w+)|(?P<sign>[()|*+?]))""")  # fmt: skip


def list_blocks(language: str) -> list[str]:
    return re.findall(rf"(?ms)^```{language}\n(.*?)^```$", PAGE)


def read_grammar(text: str) -> dict[str, str]:
    return {match[1]: match[2] for match in map(_RULE.fullmatch, text.splitlines()) if match is not None}


def to_pattern(rules: dict[str, str], name: str) -> str:
    """Return the regular expression of a grammar rule; no rule may contain itself."""
    parts, offset, rule = [], 0, rules[name].rstrip()
    while offset < len(rule):
        piece = _PIECE.match(rule, offset)
        assert piece is not None, f"{name}: {rule[offset:]}"
        parts.append(_piece_to_pattern(rules, piece))
        offset = piece.end()
    return f"(?:{''.join(parts)})"


def _piece_to_pattern(rules: dict[str, str], piece: re.Match[str]) -> str:
    if literal := piece["double"] or piece["single"]:
        return f"(?:{re.escape(literal)})"
    if piece["set"]:
        return re.sub(r"#x([0-9A-F]+)", lambda code: f"\\x{int(code[1], 16):02x}", piece["set"].replace("\\", "\\\\"))
    if piece["code"]:
        return re.escape(chr(int(piece["code"], 16)))
    if piece["name"]:
        return to_pattern(rules, piece["name"])
    return "(?:" if piece["sign"] == "(" else str(piece["sign"])


(GRAMMAR,) = list_blocks("ebnf")
RULES = read_grammar(GRAMMAR)
TEXT = re.compile(to_pattern(RULES, "text"))


@pytest.mark.parametrize("example", list_blocks("text"))
def test_every_example_of_the_page_is_a_record_that_fits_the_grammar(example: str) -> None:
    records = parse_records(example)
    assert records
    assert TEXT.fullmatch(example)
    assert parse_records("".join(map(format_record, records))) == records


def test_the_first_example_is_written_exactly_so() -> None:
    first = list_blocks("text")[0]
    (record,) = parse_records(first)
    assert format_record(record) == f"{first}\n"


def test_the_python_of_the_page_runs() -> None:
    (program,) = list_blocks("python")
    exec(compile(program, "docs/reference/records.md", "exec"), {})


def test_every_rule_of_the_grammar_is_used_and_none_is_missing() -> None:
    assert len(RULES) == len(GRAMMAR.splitlines())
    unquoted = re.sub(r"""\[[^\]]+\]|"[^"]+"|'[^']+'|#x\w+""", "", " ".join(RULES.values()))
    assert {"text", *re.findall(r"\w+", unquoted)} == set(RULES)


@given(game_records())
def test_whatever_is_written_fits_the_grammar(record: GameRecord) -> None:
    assert TEXT.fullmatch(format_record(record))


@given(st.lists(WORDS, max_size=20).map("".join) | st.lists(WORDS, max_size=20).map(" ".join), st.data())
def test_whatever_is_read_fits_the_grammar(text: str, data: st.DataObject) -> None:
    example = data.draw(st.sampled_from(list_blocks("text")))
    start = data.draw(st.integers(0, len(example)))
    for candidate in (text, example[:start] + text[:3] + example[start:], example[:start] + example[start + 1 :]):
        assert isinstance(read(candidate), RecordError) or TEXT.fullmatch(candidate)


@pytest.mark.parametrize(
    "text", ["a1", "[X] *", '[X "a\nb"] *', "1. a1 {hm *", "1.. a1 *", "b02 *", "1-0", "*]", "b٢ *"]
)
def test_invalid_records_do_not_match_the_grammar(text: str) -> None:
    assert not TEXT.fullmatch(text)


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
