"""The protocol as an AsyncAPI 3.0 document, seen from the server: it receives requests and sends pushes."""

import inspect
from collections.abc import Mapping, Sequence
from typing import Any, Final, get_args

import msgspec

from tictactoe_protocol.codes import DEFAULT_PORT, MAX_MESSAGE_BYTES, PROTOCOL_VERSION, SUBPROTOCOL
from tictactoe_protocol.pushes import Error, Ok, Push, Welcome
from tictactoe_protocol.requests import Hello, Request
from tools.examples import PUSH_EXAMPLES, REQUEST_EXAMPLES

JsonObject = dict[str, Any]

ASYNCAPI_VERSION: Final = "3.0.0"
REPLIES: Final = (Welcome, Ok, Error)
"""The replies to requests; all other messages are pushes."""

_CHANNEL: Final = "root"
_DESCRIPTION: Final = (
    "Tic-tac-toe and its family over WebSocket: text frames with one JSON object each, "
    f"at most {MAX_MESSAGE_BYTES} bytes from a client. The first request is `hello`. A request with an `id` gets "
    "exactly one reply that carries it back: `ok` (`welcome` for `hello`) or `error`. Without an `id` there is no "
    "`ok`; errors still come. See `reference/protocol.md`."
)


def describe_protocol(schemas: Mapping[str, JsonObject]) -> JsonObject:
    """Return the document; `schemas` holds each payload by the name of its type."""
    kinds: tuple[type, ...] = (*get_args(Request), *get_args(Push))
    return {
        "asyncapi": ASYNCAPI_VERSION,
        "info": {
            "title": "tictactoe",
            "version": str(PROTOCOL_VERSION),
            "description": _DESCRIPTION,
            "license": {"name": "MIT"},
        },
        "defaultContentType": "application/json",
        "servers": {"own": _describe_server()},
        "channels": {_CHANNEL: _describe_channel(kinds)},
        "operations": {
            **{f"receive{kind.__name__}": _describe_request(kind) for kind in get_args(Request)},
            **{f"send{kind.__name__}": _describe_push(kind) for kind in get_args(Push) if kind not in REPLIES},
        },
        "components": {
            "messages": {kind.__name__: _describe_message(kind) for kind in kinds},
            "schemas": dict(schemas),
        },
    }


def _describe_server() -> JsonObject:
    return {
        "host": "{host}:{port}",
        "protocol": "ws",
        "description": "A server of one's own, as `tictactoe-server` starts it.",
        "variables": {"host": {"default": "localhost"}, "port": {"default": str(DEFAULT_PORT)}},
    }


def _describe_channel(kinds: Sequence[type]) -> JsonObject:
    protocols = {"type": "string", "const": SUBPROTOCOL}
    return {
        "address": "/",
        "title": "The one channel",
        "description": f"Everything goes over one connection. `/ws` is the same. The subprotocol is `{SUBPROTOCOL}`.",
        "servers": [{"$ref": "#/servers/own"}],
        "messages": {kind.__name__: {"$ref": f"#/components/messages/{kind.__name__}"} for kind in kinds},
        "bindings": {
            "ws": {
                "bindingVersion": "0.1.0",
                "method": "GET",
                "headers": {"type": "object", "properties": {"Sec-WebSocket-Protocol": protocols}},
            }
        },
    }


def _describe_request(kind: type) -> JsonObject:
    answer = Welcome if kind is Hello else Ok
    return {
        "action": "receive",
        "channel": {"$ref": f"#/channels/{_CHANNEL}"},
        "summary": _summarise(kind),
        "messages": [_refer_to(kind)],
        "reply": {"channel": {"$ref": f"#/channels/{_CHANNEL}"}, "messages": [_refer_to(answer), _refer_to(Error)]},
    }


def _describe_push(kind: type) -> JsonObject:
    return {
        "action": "send",
        "channel": {"$ref": f"#/channels/{_CHANNEL}"},
        "summary": _summarise(kind),
        "messages": [_refer_to(kind)],
    }


def _describe_message(kind: type) -> JsonObject:
    examples = {**REQUEST_EXAMPLES, **PUSH_EXAMPLES}[kind]
    config = getattr(kind, "__struct_config__", None)
    return {
        "name": getattr(config, "tag", None),
        "title": kind.__name__,
        "summary": _summarise(kind),
        "payload": {"$ref": f"#/components/schemas/{kind.__name__}"},
        "examples": [{"payload": msgspec.to_builtins(example)} for example in examples],
    }


def _refer_to(kind: type) -> JsonObject:
    return {"$ref": f"#/channels/{_CHANNEL}/messages/{kind.__name__}"}


def _summarise(kind: type) -> str:
    return (inspect.getdoc(kind) or "").partition("\n")[0].replace("``", "`")
