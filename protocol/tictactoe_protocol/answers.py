"""The answer to what was refused: always short, and safe to print whatever it quotes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from msgspec import UNSET
from msgspec.structs import replace

from tictactoe_protocol.codec import encode
from tictactoe_protocol.codes import MAX_ERROR_BYTES, ErrorCode
from tictactoe_protocol.pushes import Error
from tictactoe_protocol.text import clean_text


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
    """Return the error to send, shorter than `MAX_ERROR_BYTES` as JSON.

    The id goes back as it came; room and path are left out where they hold what cannot be printed. Where there is no
    place for all of it, the data give way, then the message, room and path.
    """
    always: dict[str, Any] = {"id": id, "retry_ms": retry_ms, "url": url}
    always = {name: value for name, value in always.items() if value is not None}
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
    """Return a value of `data` with each text in it safe to print."""
    if isinstance(value, str):
        return clean_text(value)
    if isinstance(value, Mapping):
        return {name: _clean(one) for name, one in value.items()}
    if not isinstance(value, list | tuple):
        return value
    return [clean_text(one) if isinstance(one, str) else _clean(one) for one in value]
