import itertools
import json
import re
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import get_args

import msgspec
import pytest
from markdown_it import MarkdownIt

from tests.rows import each
from tictactoe_engine import PRESETS
from tictactoe_protocol import ROOM_CODE_ALPHABET, BadMessage, ErrorCode, decode_push, pushes, requests, terms
from tictactoe_protocol.codec import decode_request

DOCS = Path(__file__).parents[2] / "docs"
REFERENCE = DOCS / "reference"
CORE = REFERENCE / "protocol.md"
WIRE = [CORE, *sorted((REFERENCE / "protocol").glob("*.md")), REFERENCE / "records.md", REFERENCE / "http.md"]
PAGE = "".join(path.read_text(encoding="utf-8") for path in WIRE)
PAGES = [*sorted(DOCS.rglob("*.md")), *sorted(DOCS.parent.glob("*.md"))]
MARKDOWN = MarkdownIt("commonmark").enable("table")
TABLE_TERMS = {
    term for row in re.findall(r"^\|([^|]*)\|", PAGE, re.MULTILINE) for term in re.findall(r"`([^`]+)`", row)
}


def name_of(kind: type[msgspec.Struct]) -> str:
    return str(kind.__struct_config__.tag)


@each("code", ErrorCode)
def test_every_error_code_has_its_row(code: ErrorCode) -> None:
    assert code in TABLE_TERMS


@each("kind", get_args(requests.Request))
def test_every_request_and_each_of_its_fields_is_explained(kind: type[msgspec.Struct]) -> None:
    rows = re.findall(rf"^\| `{name_of(kind)}` \|(.*)$", PAGE, re.MULTILINE)
    section = PAGE.partition("## Saying hello")[2].partition("## Requests")[0]
    fields = {f"`{field}`" for field in kind.__struct_encode_fields__} - {"`id`"}
    assert any(all(field in text for field in fields) for text in ([section] if kind is requests.Hello else rows))


@pytest.mark.parametrize(
    "kind", [terms.RulesFields, pushes.RoomState, pushes.RoomSummary, pushes.PastGame], ids=lambda kind: kind.__name__
)
def test_every_field_of_rules_states_and_rows_has_its_row(kind: type[msgspec.Struct]) -> None:
    assert set(kind.__struct_encode_fields__) - {"room"} <= TABLE_TERMS


@pytest.mark.parametrize(
    "kind",
    [
        pushes.Replaced,
        pushes.Moved,
        pushes.Closed,
        pushes.Notice,
        pushes.Announcement,
        pushes.ChatLine,
        pushes.LobbyChange,
        pushes.LiveBoards,
    ],
    ids=name_of,
)
def test_every_other_push_and_each_of_its_fields_is_explained(kind: type[msgspec.Struct]) -> None:
    rows = re.findall(rf"^\| `{name_of(kind)}` \|(.*)$", PAGE, re.MULTILINE)
    for field in kind.__struct_encode_fields__:
        assert any(f"`{field}`" in row for row in rows), field


def test_every_field_of_ok_is_documented_with_its_request() -> None:
    answers = re.findall(r"^\| `[a-z_]+` \|.*\|([^|]*)\|$", PAGE, re.MULTILINE)
    named = {term for answer in answers for term in re.findall(r"`([^`]+)`", answer)}
    assert set(pushes.Ok.__struct_encode_fields__) - {"id"} <= named


def test_every_preset_and_every_letter_of_room_codes_is_named() -> None:
    assert set(PRESETS) <= TABLE_TERMS
    assert f"`{ROOM_CODE_ALPHABET}`" in PAGE


@pytest.mark.parametrize("example", re.findall(r"^```json\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL))
def test_every_example_is_a_message_with_all_its_fields_known(example: str) -> None:
    try:
        message: object = decode_request(example)
    except BadMessage as bad:
        if bad.code != "unknown_type":
            raise
        message = decode_push(example)
    assert json.loads(msgspec.json.encode(message)) == json.loads(example)


@cache
def anchors_of(path: Path) -> set[str]:
    """Return the anchors of a page: its headings in GitHub's spelling."""
    tokens = MARKDOWN.parse(path.read_text(encoding="utf-8"))
    headings = [title for tag, title in itertools.pairwise(tokens) if tag.type == "heading_open"]
    texts = ("".join(part.content for part in title.children or ()) for title in headings)
    return {re.sub(r"[^\w\- ]", "", text.lower()).replace(" ", "-") for text in texts}


@each("path", PAGES)
def test_every_row_of_a_table_is_rendered_as_one_and_every_link_leads_somewhere(path: Path) -> None:
    page = path.read_text(encoding="utf-8")
    html = MARKDOWN.render(page)
    written = re.findall(r"^\|(?! ?-)", re.sub(r"^```.*?^```$", "", page, flags=re.MULTILINE | re.DOTALL), re.MULTILINE)
    assert html.count("<tr>") == len(written)
    for place, anchor in re.findall(r'href="([^"#:]*)(?:#([^"]+))?"', html):
        target = path.parent / place if place else path
        assert target.exists(), place
        assert not anchor or anchor in anchors_of(target), (place, anchor)


def count_words(paths: Iterable[Path]) -> int:
    return sum(len(path.read_text(encoding="utf-8").split()) for path in paths)


def test_the_documentation_is_short() -> None:
    assert count_words(DOCS.rglob("*.md")) <= 32_000
    assert count_words([CORE]) <= 5_000
    assert len((DOCS.parent / "README.md").read_text(encoding="utf-8").splitlines()) <= 90


@each("path", [path for path in sorted(DOCS.rglob("*.md")) if path.parent != DOCS])
def test_every_page_says_for_whom_it_is_and_is_on_the_map(path: Path) -> None:
    title, _, rest = path.read_text(encoding="utf-8").partition("\n\n")
    assert title.startswith("# ")
    assert rest.startswith("For ")
    map_of_pages = (DOCS / "index.md").read_text(encoding="utf-8")
    assert f"({path.relative_to(DOCS)})" in map_of_pages or f"(protocol/{path.name})" in CORE.read_text("utf-8")
