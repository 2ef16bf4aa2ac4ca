"""What the API answers as an OpenAPI document, made from the types of its answers.

Source: the OpenAPI Specification 3.1.1, whose schemas are those of JSON Schema 2020-12.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple

import msgspec

from tictactoe_protocol.pushes import Closed, Error, PlayedGame, PlayerProfile, RoomState
from tictactoe_protocol.rated import LadderState
from tictactoe_server.api.service import EventList, RoomList
from tictactoe_server.events.table import WholeEvent
from tictactoe_server.http.sheets import CSV
from tictactoe_server.ratings.pages import LadderList
from tictactoe_server.transport.http_messages import JSON, JSON_LINES, PLAIN_TEXT

_SCHEMAS: Final = "#/components/schemas/{name}"
_DESCRIPTION: Final = (
    "What everybody may read of a server: public rooms, their finished games, and events. Pages of every origin may "
    "read it. Of what is private is said what is said of what is not there. Answers may get more fields. See `api.md`."
)
_PLACES: Final = {
    "room": "The code of a room, in any spelling",
    "game": "The `game_id` of a state, or of a row of a history",
    "ladder": "The name of the rules of a ladder",
    "player": "The id of a player",
    "event": "The code of an event, in any spelling",
}


class Path(NamedTuple):
    """What can be had under a path: objects of these types, as `kind`; with `tagged` it has an `ETag`.

    `query` says what each of its parameters means.
    """

    summary: str
    answers: tuple[type, ...]
    kind: str = JSON
    tagged: bool = True
    query: Mapping[str, str] = {}


PATHS: Final = {
    "/api/rooms": Path("The public rooms, newest first", (RoomList,)),
    "/api/lobby/stream": Path(
        "The public rooms once a second where these have changed, a line each; empty lines between",
        *((RoomList,), JSON_LINES, False),
    ),
    "/api/rooms/{room}": Path("The newest state of a public room, whose `seq` is in its tag", (RoomState,)),
    "/api/rooms/{room}/stream": Path(
        "Its states from now on, a line each, and `closed` as the last; empty lines between",
        *((RoomState, Closed), JSON_LINES, False),
    ),
    "/api/events": Path("The events that are not over and that all may enter, newest first", (EventList,)),
    "/api/events/{event}": Path("An event with its table and all its pairings", (WholeEvent,)),
    "/api/events/{event}/stream": Path(
        "The same whenever it has changed, a line each, until the event is over; empty lines between",
        *((WholeEvent,), JSON_LINES, False),
    ),
    "/api/events/{event}/games": Path(
        "Its games that were kept, a line each, in the order of its pairings", (PlayedGame,), JSON_LINES
    ),
    "/api/games/{game}": Path("A finished game of a public room", (PlayedGame,)),
    "/api/ladders": Path("The ladders of rated games, by the names of their rules", (LadderList,)),
    "/api/ladders/{ladder}": Path("A ladder with its best 100 players", (LadderState,)),
    "/api/ladders/{ladder}.csv": Path("Its rows alone", (str,), CSV),
    "/api/players/{player}": Path("A player's ladders and newest rated games", (PlayerProfile,)),
    "/api/games/{game}.txt": Path("The same as a record", (str,), PLAIN_TEXT),
}


def render_api() -> bytes:
    """Return the document; the same types always make the same."""
    kinds = [kind for path in PATHS.values() for kind in path.answers if kind is not str]
    _, schemas = msgspec.json.schema_components((*kinds, Error), ref_template=_SCHEMAS)
    document = {
        "openapi": "3.1.1",
        "info": {"title": "tictactoe", "version": "1", "description": _DESCRIPTION, "license": {"name": "MIT"}},
        "servers": [{"url": "/"}],
        "paths": {name: {"get": _describe(name, path)} for name, path in PATHS.items()},
        "components": {"schemas": {name: schemas[name] for name in sorted(schemas)}},
    }
    return json.dumps(document, indent=2, ensure_ascii=False).replace("``", "`").encode() + b"\n"


def _describe(name: str, path: Path) -> dict[str, Any]:
    """Return the operation of one path."""
    known = "304", {"description": "Nothing has changed since the tag in `If-None-Match`"}
    moved = "307", {"description": "Another server of the cluster has it: see `Location`"}
    return {
        "operationId": "".join(part.strip("{}").title() for part in name.replace(".", "/").split("/")[2:]),
        "summary": path.summary,
        "security": [],
        "parameters": [
            {"name": place, "in": "path", "required": True, "description": words, "schema": {"type": "string"}}
            for place, words in _PLACES.items()
            if f"{{{place}}}" in name
        ]
        + [
            {"name": name, "in": "query", "required": False, "description": words, "schema": {"type": "string"}}
            for name, words in path.query.items()
        ],
        "responses": dict(
            (
                ("200", {"description": path.summary, "content": {path.kind: {"schema": _schema_of(path.answers)}}}),
                known if path.tagged else moved,
                ("default", {"description": "Why not", "content": {JSON: {"schema": _schema_of([Error])}}}),
            )
        ),
    }


def _schema_of(kinds: Sequence[type]) -> dict[str, Any]:
    if str in kinds:
        return {"type": "string"}
    found = [{"$ref": _SCHEMAS.format(name=kind.__name__)} for kind in kinds]
    return found[0] if len(found) == 1 else {"oneOf": found}
