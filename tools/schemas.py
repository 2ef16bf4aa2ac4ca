"""Generate the machine-readable documents: JSON Schema and AsyncAPI of the protocol, OpenAPI of the API.

``python -m tools.schemas --out docs/`` writes them and the pages of `tools.reference`. The same types always give the
same files.
"""

import argparse
import json
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, Final, get_args

from tictactoe_protocol.pushes import Push
from tictactoe_protocol.requests import Request
from tictactoe_protocol.terms import ClockFields, ClockTerms
from tools.asyncapi import describe_protocol
from tools.openapi import make_components, render_api
from tools.reference import render_pages

JsonObject = dict[str, Any]

DIALECT: Final = "https://json-schema.org/draft/2020-12/schema"

_CLOCK_FORMS: Final = (
    {"required": ["initial_ms", "increment_ms"], "properties": {"move_ms": False, "days": False, "bank_days": False}},
    {
        "required": ["move_ms"],
        "properties": {"initial_ms": False, "increment_ms": False, "days": False, "bank_days": False},
    },
    {"required": ["days"], "properties": {"initial_ms": False, "increment_ms": False, "move_ms": False}},
)


def make_definitions(kinds: Sequence[type], ref_template: str) -> dict[str, JsonObject]:
    """Return the schemas of structs and of all nested structs, sorted by name.

    Requests refuse unknown fields; pushes allow them.
    """
    components = make_components(kinds, ref_template)
    forms = [dict(form) for form in _CLOCK_FORMS]
    for name in (ClockFields.__name__, ClockTerms.__name__):
        if name in components:
            components[name]["oneOf"] = forms
    return {name: _refine(components[name]) for name in sorted(components)}


def make_schema(kinds: Sequence[type], title: str, description: str) -> JsonObject:
    """Return the JSON Schema of a message that is one of `kinds`."""
    return {
        "$schema": DIALECT,
        "title": title,
        "description": description,
        "oneOf": [{"$ref": f"#/$defs/{kind.__name__}"} for kind in kinds],
        "$defs": make_definitions(kinds, "#/$defs/{name}"),
    }


@cache
def render_files() -> Mapping[str, str]:
    """Return the text of each file by its path within the folder of documents."""
    asked, said = get_args(Request), get_args(Push)
    documents = {
        "schema/requests.schema.json": make_schema(
            asked,
            "Requests of the tictactoe protocol",
            "What a client may send: one of these objects in a text frame. Unknown fields are refused.",
        ),
        "schema/pushes.schema.json": make_schema(
            said,
            "Pushes of the tictactoe protocol",
            "What a server may send: one of these objects in a text frame. Clients ignore fields they do not know.",
        ),
        "asyncapi.json": describe_protocol(make_definitions((*asked, *said), "#/components/schemas/{name}")),
    }
    texts = {path: json.dumps(document, indent=2, ensure_ascii=False) + "\n" for path, document in documents.items()}
    return {**texts, "openapi.json": render_api().decode(), **render_pages()}


def write_files(folder: Path) -> list[Path]:
    """Write the documents below `folder` and return where they are."""
    written = []
    for path, text in render_files().items():
        target = folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text, encoding="utf-8", newline="\n")
        written.append(target)
    return written


def main(arguments: Sequence[str] | None = None) -> None:
    """Write the documents to the folder that the command line names."""
    parser = argparse.ArgumentParser(
        prog="python -m tools.schemas",
        description="Write the JSON Schema, AsyncAPI and OpenAPI documents, and the tables of sentences and limits.",
    )
    parser.add_argument("--out", type=Path, required=True, metavar="FOLDER", help="the folder of documents: docs/")
    for path in write_files(parser.parse_args(arguments).out):
        print(path)


def _refine(schema: Any) -> Any:
    """Return the schema with explicit openness, and with descriptions and tags in the usual form."""
    if isinstance(schema, list):
        return [_refine(part) for part in schema]
    if not isinstance(schema, dict):
        return schema
    refined = {key: _refine(value) for key, value in schema.items()}
    if refined.get("type") == "object":
        refined.setdefault("additionalProperties", True)
    if isinstance(refined.get("description"), str):
        refined["description"] = refined["description"].replace("``", "`")
    match refined.get("enum"):
        case [only]:
            del refined["enum"]
            refined["const"] = only
    if refined.get("required") == []:
        del refined["required"]
    return refined


if __name__ == "__main__":
    main()
