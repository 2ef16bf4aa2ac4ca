"""Update the generated parts of the reference: errors from the catalogue, limits from the settings, all options.

The text around errors and limits is written by hand. `tools.schemas` writes the pages with the other documents.
"""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from tictactoe_server.settings import COUNTS, Limits, count_of
from tictactoe_words.catalogue import open_catalogue
from tools.options import render_options

OF_CLIENTS: Final = {"refused off_board word", "refused bad_message reason", "refused bad_input"}
"""Refusals that the server never sends."""
_DOCS: Final = Path(__file__).parent.parent / "docs"


def render_pages() -> Mapping[str, str]:
    """Return the text of each page by its path within the folder of documents."""
    pages = {"reference/protocol/sentences.md": _put_cases, "reference/protocol/limits.md": _put_defaults}
    updated = {path: put((_DOCS / path).read_text(encoding="utf-8")) for path, put in pages.items()}
    return {"reference/options.md": render_options(), **updated}


def _put_cases(page: str) -> str:
    """Return the page with the cases of all codes in its two lists, of errors and of closed rooms."""
    for event in ("refused ", "closed "):
        begin, end = f"<!-- {event}-->\n", f"<!-- end of {event}-->\n"
        before, _, rest = page.partition(begin)
        page = f"{before}{begin}\n{_list_cases(event)}\n{end}{rest.partition(end)[2]}"
    return page


def _list_cases(event: str) -> str:
    """Return a line for each code that has data: each `why`, with the names of the other values of its sentence."""
    cases: dict[str, list[str]] = {}
    for id, sentence in open_catalogue("en").sentences.items():
        if id.startswith(event) and id not in OF_CLIENTS:
            _, code, *why = id.split(" ", 2)
            values = ", ".join(f"`{name}`" for name in dict.fromkeys(re.findall(r"{(\w+)}", sentence)))
            case = f"`{why[0]}`" if why else "no `why`"
            cases.setdefault(code, []).append(f"{case} ({values})" if values else case)
    lines = {code: "; ".join(found) for code, found in cases.items()}
    return "".join(f"- **`{code}`**: {line}\n" for code, line in lines.items() if line != "no `why`")


def _put_defaults(page: str) -> str:
    """Return the page with each limit's default; raises ValueError if a limit is missing or appears twice."""
    named: list[str] = []

    def put(row: re.Match[str]) -> str:
        names = re.findall(r"[a-z-]+", row[2])
        named.extend(names)
        return f"{row[1]}{row[2]} | {', '.join(f'{count_of(Limits(), name):,}' for name in names)} |"

    filled = re.sub(r"^(\|[^|]*\|[^|]*\| )(`[a-z][a-z-]+`(?:, `[a-z-]+`)*) \|[^|]*\|", put, page, flags=re.MULTILINE)
    if sorted(named) != sorted(COUNTS):
        raise ValueError(f"limits.md does not name these once: {sorted({*COUNTS} ^ {*named}) or sorted(named)}")
    return filled
