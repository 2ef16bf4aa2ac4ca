"""Encodes and decodes messages. Decoding raises no error other than `BadMessage`."""

from __future__ import annotations

import difflib
import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import lru_cache
from typing import Any, Final, Union, get_args

import msgspec
from msgspec import UNSET
from msgspec.structs import replace

from tictactoe_engine.errors import shorten
from tictactoe_protocol.codes import MAX_CHAT_LENGTH, MAX_ERROR_BYTES, MAX_ID_LENGTH, ErrorCode
from tictactoe_protocol.pushes import Error, Push
from tictactoe_protocol.refusals import Refusal
from tictactoe_protocol.requests import Chat, Request
from tictactoe_protocol.terms import CLOCK_WORDS
from tictactoe_protocol.text import clean_text

_decode_push: Final = msgspec.json.Decoder(Push).decode
encode: Final = msgspec.json.Encoder().encode
"""Return a message as compact UTF-8 JSON."""

_AT_PATH: Final = re.compile(r"(?s)(.*?)(?: - at `(.*)`)?")
_FIELD: Final = re.compile(r"`([^`]*)`")
_STEP: Final = re.compile(r"\.([^.\[]+)|\[(\d+)\]")
_SECRET: Final = frozenset({"token", "link", "rescue", "ticket"})
"""Fields with secret values, which never appear in errors."""

_SHOWN_LENGTH: Final = 32
_PATH_LENGTH: Final = 64


class BadMessage(Refusal, ValueError):
    """Text that is not a valid message of this protocol.

    Attributes:
        code: ``bad_json``, ``bad_message``, ``unknown_type`` or ``too_long``.
        path: The invalid field (``rules.rows``), cut to 64 characters, or None if there is no single one.
        id: The id of the message, or None if it is unreadable or missing.
        room: The room of the message, or None if it is unreadable or missing.
    """

    def __init__(
        self,
        code: ErrorCode,
        why: str = "",
        *,
        path: str | None = None,
        id: str | None = None,
        room: str | None = None,
        **data: Any,
    ) -> None:
        super().__init__(code, why, **data)
        self.path = None if path is None else path[:_PATH_LENGTH]
        self.id = id
        self.room = room


def _optional_fields(kind: type[msgspec.Struct]) -> tuple[str, ...]:
    defaults = zip(reversed(kind.__struct_fields__), reversed(kind.__struct_defaults__), strict=False)
    return tuple(name for name, default in defaults if default is UNSET)


class RequestDecoder:
    """Decodes requests of the given kinds: structs with a `type`, an optional `id`, and possibly a `room`."""

    def __init__(self, kinds: Iterable[type[msgspec.Struct]]) -> None:
        of_kind = {str(kind.__struct_config__.tag): kind for kind in kinds}
        self._types = tuple(of_kind)
        self._decode: Callable[[str | bytes], Any] = msgspec.json.Decoder(Union[tuple(of_kind.values())]).decode  # noqa: UP007
        self._optional = {kind: _optional_fields(kind) for kind in of_kind.values()}
        self._required = {
            kind: 1 + len(kind.__struct_fields__) - len(kind.__struct_defaults__) for kind in of_kind.values()
        }

    def decode(self, data: bytes) -> Any:
        """Return the request in one text frame. Raises `BadMessage`.

        An object with a repeated key is refused, because JSON parsers disagree about which value counts.
        """
        try:
            request = self._decode(data)
        except (msgspec.MsgspecError, UnicodeError, RecursionError) as error:
            raise self._explain(data, error) from None
        # Each key has a colon, so a key can only be repeated if there are more colons than keys in this request.
        kind = type(request)
        more = data.count(b":") - self._required[kind]
        if more > (request.id is not UNSET):
            for name in self._optional[kind]:
                if getattr(request, name) is not UNSET:
                    more -= 1
            if more > 0 and (path := _repeated_path(data)):
                raise _repeated(path, _identity(request.id), _identity(getattr(request, "room", None)))
        if kind is Chat:
            self._check_chat(request, data)
        return request

    def _check_chat(self, request: Chat, data: bytes) -> None:
        """Raise `BadMessage` if a chat message has neither text nor sentence, or too much text."""
        if not request.text and request.sentence is UNSET:
            raise self._explain(data, msgspec.ValidationError("Object missing required field `text`"))
        if (length := len(request.text)) > MAX_CHAT_LENGTH:
            id, room = _identity(request.id), request.room
            raise BadMessage(ErrorCode.TOO_LONG, path="text", id=id, room=room, length=length, most=MAX_CHAT_LENGTH)

    def _explain(self, data: bytes, error: Exception) -> BadMessage:
        content = _read_object(data)
        if isinstance(content, BadMessage):
            return content
        id, room = _identity(content.get("id")), _identity(content.get("room"))
        if data.count(b":") != len(content) and (path := _repeated_path(data)):
            return _repeated(path, id, room)
        kind = content.get("type")
        if not isinstance(kind, str):
            return BadMessage(ErrorCode.BAD_MESSAGE, "type", path="type", id=id, room=room)
        if kind not in self._types:
            hint = _hint_of_type(kind, self._types)
            return BadMessage(ErrorCode.UNKNOWN_TYPE, path="type", id=id, room=room, **hint)
        found = _explain_finding(str(error), content, kind)
        return BadMessage(ErrorCode.BAD_MESSAGE, id=id, room=room, **found)


_decode_known: Final = RequestDecoder(get_args(Request))


def decode_request(data: str | bytes) -> Request:
    """Return the request in one text frame, which may have any type of the protocol; raises `BadMessage`."""
    request: Request = _decode_known.decode(data.encode(errors="surrogatepass") if isinstance(data, str) else data)
    return request


def decode_push(data: str | bytes) -> Push:
    """Return the push in one text frame.

    Raises `BadMessage`; the code is ``unknown_type`` for a type that only newer servers send.
    """
    try:
        push: Push = _decode_push(data)
    except (msgspec.MsgspecError, UnicodeError, RecursionError) as error:
        content = _read_object(data)
        if isinstance(content, BadMessage):
            raise content from None
        reason = str(error)
        is_unknown = reason.startswith("Invalid value") and reason.endswith("`$.type`")
        code = ErrorCode.UNKNOWN_TYPE if is_unknown else ErrorCode.BAD_MESSAGE
        raise BadMessage(code, "reason", reason=reason) from None
    return push


@lru_cache(maxsize=256)
def _hint_of_type(kind: str, types: tuple[str, ...]) -> dict[str, Any]:
    """Return error data about an unknown type: its name, and the most similar known type, if any."""
    alike = [each for each in types if abs(len(kind) - len(each)) < 2 and (kind[0] == each[0] or kind[-1] == each[-1])]
    close = difflib.get_close_matches(kind, alike, 1) if len(kind) <= MAX_ID_LENGTH else []
    return {"type": _shown(kind), **({"why": "close", "close": close[0]} if close else {})}


def _read_object(data: str | bytes) -> dict[str, Any] | BadMessage:
    try:
        content = msgspec.json.decode(data)
    except RecursionError:
        return BadMessage(ErrorCode.BAD_JSON, "depth")
    except UnicodeError:
        return BadMessage(ErrorCode.BAD_JSON, "encoding")
    except (msgspec.MsgspecError, ValueError) as error:
        if "out of range" in str(error):
            return _out_of_range(data)
        return BadMessage(ErrorCode.BAD_JSON, "json", reason=str(error))
    if not isinstance(content, dict):
        return BadMessage(ErrorCode.BAD_MESSAGE, "object", value=_shown(content))
    return content


def _out_of_range(data: str | bytes) -> BadMessage:
    """Return the error about a number that is too large, with the id and room of the message."""
    try:
        content = json.loads(data, parse_int=_drop_number, parse_float=_drop_number, parse_constant=_refuse_constant)
    except RecursionError:
        return BadMessage(ErrorCode.BAD_JSON, "depth")
    except ValueError as error:
        return BadMessage(ErrorCode.BAD_JSON, "json", reason=str(error))
    known = content if isinstance(content, dict) else {}
    id, room = _identity(known.get("id")), _identity(known.get("room"))
    return BadMessage(ErrorCode.BAD_MESSAGE, "number", id=id, room=room)


def _drop_number(_: str) -> None:
    return None


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is no JSON")


def _explain_finding(reason: str, content: dict[str, Any], kind: str) -> dict[str, Any]:
    """Return the data and path of an error, taken from the message of msgspec (`reason`)."""
    match = _AT_PATH.fullmatch(reason)
    finding, where = (match[1], match[2] or "$") if match else (reason, "$")
    path = where.removeprefix("$").removeprefix(".")
    field = _FIELD.search(finding)
    if finding.startswith("Object contains unknown field") and field:
        return {"why": "unknown", "type": kind, "field": _shown(field[1]), "path": _joined(path, field[1])}
    if finding.startswith("Object missing required field") and field:
        return {"why": "missing", "type": kind, "field": _shown(field[1]), "path": _joined(path, field[1])}
    expected = finding.split(", got ")[0].replace("`", "").removeprefix("Expected ")
    found = {"type": kind, "field": path or "message", "path": path or None}
    if path in _SECRET:
        return {"why": "secret", "expected": expected, **found}
    found["value"] = _shown(_value_at(content, where))
    if finding.startswith("Expected "):
        return {"why": "wrong", "expected": expected, **found}
    return {"why": "clock" if expected == CLOCK_WORDS else "choice", **found}


def _value_at(content: Any, where: str) -> Any:
    for step in _STEP.finditer(where):
        try:
            content = content[step[1]] if step[1] is not None else content[int(step[2])]
        except (KeyError, IndexError, TypeError):
            return None
    return content


def _repeated(path: str, id: str | None, room: str | None) -> BadMessage:
    return BadMessage(ErrorCode.BAD_MESSAGE, "twice", field=_shown(path), path=path, id=id, room=room)


def _repeated_path(data: str | bytes) -> str | None:
    """Parse the message again and return the path of a key that appears twice in one object, or None."""
    found: list[tuple[dict[str, Any], str]] = []

    def note_repeated(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        content = dict(pairs)
        if len(content) < len(pairs):
            found.append((content, Counter(key for key, _ in pairs).most_common(1)[0][0]))
        return content

    try:
        content = json.loads(data, object_pairs_hook=note_repeated)
        return next(_walk_repeated(content, {id(place): key for place, key in found}, ""), None) if found else None
    except (ValueError, RecursionError):
        return None


def _walk_repeated(content: Any, repeated: dict[int, str], path: str) -> Iterator[str]:
    """Yield the paths of the repeated keys, in outer objects first."""
    if isinstance(content, dict):
        if id(content) in repeated:
            yield _joined(path, repeated[id(content)])
        for key, value in content.items():
            yield from _walk_repeated(value, repeated, _joined(path, key))
    elif isinstance(content, list):
        for index, value in enumerate(content):
            yield from _walk_repeated(value, repeated, f"{path}[{index}]")


def _joined(path: str, field: str) -> str:
    return f"{path}.{field}" if path else field


def _identity(value: object) -> str | None:
    return value if isinstance(value, str) and 1 <= len(value) <= MAX_ID_LENGTH else None


def _shown(value: object) -> str:
    return clean_text(shorten(json.dumps(value, ensure_ascii=False), _SHOWN_LENGTH))


def error_answer(
    code: ErrorCode,
    message: str,
    *,
    id: str | None = None,
    room: str | None = None,
    path: str | None = None,
    retry_ms: int | None = None,
    url: str | None = None,
    data: Mapping[str, Any] | None = None,
) -> Error:
    """Return the reply to a refused request. It is safe to print, and shorter than `MAX_ERROR_BYTES` as JSON.

    `id` is sent unchanged. `room` and `path` are left out if they are not safe to print. If the error is too long, it
    is sent without `data`, then also without `message`, `room` and `path`.
    """
    known: dict[str, Any] = {"id": id, "retry_ms": retry_ms, "url": url}
    always = {name: value for name, value in known.items() if value is not None}
    error = Error(
        code=code,
        message=clean_text(message),
        room=room if room and clean_text(room) == room else UNSET,
        path=path if path and clean_text(path) == path else UNSET,
        data=UNSET if data is None else _clean(data),
        **always,
    )
    if len(encode(error)) < MAX_ERROR_BYTES:
        return error
    error = replace(error, data=UNSET)
    if len(encode(error)) < MAX_ERROR_BYTES:
        return error
    return Error(code=code, message=f"Refused: {code}.", **always)


def _clean(value: Any) -> Any:
    if isinstance(value, str):
        return clean_text(value)
    if isinstance(value, Mapping):
        return {name: _clean(one) for name, one in value.items()}
    return [_clean(one) for one in value] if isinstance(value, list | tuple) else value
