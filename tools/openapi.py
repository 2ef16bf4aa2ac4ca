"""Generate the OpenAPI document of the API from the types of its answers.

Source: the OpenAPI Specification 3.1.1, with schemas in JSON Schema 2020-12.
"""

import json
from collections.abc import Sequence
from inspect import cleandoc
from typing import Any, Final, NamedTuple

import msgspec

from tictactoe_protocol.events import EventState
from tictactoe_protocol.pushes import Closed, Error, PlayedGame, PlayerProfile, RoomState
from tictactoe_protocol.rated import LadderState
from tictactoe_server.features.api.service import RoomList
from tictactoe_server.features.ratings.pages import LadderList
from tictactoe_server.features.tournaments.service import EventList
from tictactoe_server.transport.http_messages import CSV, JSON, JSON_LINES, PLAIN_TEXT

_SCHEMAS: Final = "#/components/schemas/{name}"
_DESCRIPTION: Final = (
    "Public rooms, their finished games, events and ladders of a server. Pages of every origin may read them. Private "
    "rooms are answered like missing ones. Answers may gain fields. See `reference/http.md`."
)
_PLACES: Final = {
    "room": "The code of a room, in any spelling",
    "game": "The `game_id` of a state, a row of `history` or a pairing",
    "ladder": "The name of the rules of a ladder",
    "player": "The id of a player",
    "event": "The code of an event, in any spelling",
}


class Path(NamedTuple):
    """Answers of a path.

    Attributes:
        answers: Types of the objects in an answer.
        kind: Media type.
        tagged: Whether answers have an `ETag`.
    """

    summary: str
    answers: tuple[type, ...]
    kind: str = JSON
    tagged: bool = True


PATHS: Final = {
    "/api/rooms": Path("The public rooms, newest first", (RoomList,)),
    "/api/lobby/stream": Path(
        "The public rooms after each change, at most once a second, one line each; empty lines between",
        *((RoomList,), JSON_LINES, False),
    ),
    "/api/rooms/{room}": Path("The newest state of a public room; its tag contains `seq`", (RoomState,)),
    "/api/rooms/{room}/stream": Path(
        "Its states from now on, one line each, and `closed` at the end; empty lines between",
        *((RoomState, Closed), JSON_LINES, False),
    ),
    "/api/events": Path("The unfinished events open to all, newest first", (EventList,)),
    "/api/events/{event}": Path("An event with its table and all its pairings", (EventState,)),
    "/api/events/{event}/stream": Path(
        "The same after each change, one line each, until the event is over; empty lines between",
        *((EventState,), JSON_LINES, False),
    ),
    "/api/events/{event}/games": Path(
        "Its kept games, one line each, in the order of its pairings", (PlayedGame,), JSON_LINES
    ),
    "/api/games/{game}": Path("A finished game of a public room", (PlayedGame,)),
    "/api/ladders": Path("The ladders of rated games by rules", (LadderList,)),
    "/api/ladders/{ladder}": Path("A ladder with its best 100 players", (LadderState,)),
    "/api/ladders/{ladder}.csv": Path("Its rows", (str,), CSV),
    "/api/players/{player}": Path("A player's ladders and newest rated games", (PlayerProfile,)),
    "/api/games/{game}.txt": Path("The same game as a record", (str,), PLAIN_TEXT),
}


def make_components(kinds: Sequence[type], ref_template: str) -> dict[str, Any]:
    """Return the schemas of structs and of all nested structs, by name; each version of msgspec gives the same ones."""
    _, components = msgspec.json.schema_components(kinds, ref_template=ref_template)
    for schema in components.values():
        if "description" in schema:
            schema["description"] = cleandoc(schema["description"])  # older versions keep the indentation
    return components


def render_api() -> bytes:
    """Return the document."""
    kinds = [kind for path in PATHS.values() for kind in path.answers if kind is not str]
    schemas = make_components((*kinds, Error), _SCHEMAS)
    document = {
        "openapi": "3.1.1",
        "info": {"title": "tictactoe", "version": "1", "description": _DESCRIPTION, "license": {"name": "MIT"}},
        "servers": [{"url": "/"}],
        "paths": {name: {"get": _describe(name, path)} for name, path in PATHS.items()},
        "components": {"schemas": {name: schemas[name] for name in sorted(schemas)}},
    }
    return json.dumps(document, indent=2, ensure_ascii=False).replace("``", "`").encode() + b"\n"


def _describe(name: str, path: Path) -> dict[str, Any]:
    """Return the operation of a path."""
    known = "304", {"description": "Unchanged since the tag in `If-None-Match`"}
    moved = "307", {"description": "On another server of the cluster, see `Location`"}
    return {
        "operationId": "".join(part.strip("{}").title() for part in name.replace(".", "/").split("/")[2:]),
        "summary": path.summary,
        "security": [],
        "parameters": [
            {"name": place, "in": "path", "required": True, "description": words, "schema": {"type": "string"}}
            for place, words in _PLACES.items()
            if f"{{{place}}}" in name
        ],
        "responses": dict(
            (
                ("200", {"description": path.summary, "content": {path.kind: {"schema": _schema_of(path.answers)}}}),
                known if path.tagged else moved,
                ("default", {"description": "A refusal", "content": {JSON: {"schema": _schema_of([Error])}}}),
            )
        ),
    }


def _schema_of(kinds: Sequence[type]) -> dict[str, Any]:
    if str in kinds:
        return {"type": "string"}
    found = [{"$ref": _SCHEMAS.format(name=kind.__name__)} for kind in kinds]
    return found[0] if len(found) == 1 else {"oneOf": found}
