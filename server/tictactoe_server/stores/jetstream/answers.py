"""What an answer of JetStream means, in the store's words. The numbers are those of the server's own list of errors."""

from __future__ import annotations

from typing import Final

import msgspec

from tictactoe_server.stores.jetstream.link import Disconnected, LinkError, NoResponders
from tictactoe_server.stores.store import Conflict, NotStored, StoreUnavailable, Unsettled

NO_MESSAGE: Final = 10037
NO_STREAM: Final = 10059
WRONG_SEQUENCE: Final = 10071
WRITE_IN_PROCESS: Final = 10164
_REFUSALS: Final = {
    10002: "the account has no room left",
    10023: "a node has no room left",
    10047: "a node has no room left",
    10054: "the document is too large",
    10077: "the stream is full, or a disk is",
    10176: "the batch was given up",
}
"""After these nothing is written, and what was kept before is whole."""


class StreamError(msgspec.Struct, frozen=True):
    """What JetStream says is wrong."""

    err_code: int = 0
    description: str = ""


class _Acknowledgement(msgspec.Struct, frozen=True):
    seq: int = 0
    error: StreamError | None = None


_decode: Final = msgspec.json.Decoder(_Acknowledgement).decode


def outcome_of(key: str, answer: bytes | LinkError) -> int | Exception:
    """Return the revision of a write from its answer, or what came of it instead."""
    if isinstance(answer, LinkError):
        return refusal_of(answer) if isinstance(answer, (NoResponders, Disconnected)) else unknown_of(answer)
    try:
        acknowledgement = _decode(answer)
    except msgspec.MsgspecError as error:
        return StoreUnavailable(f"The store's answer is none: {error}.")
    fault = acknowledgement.error
    if fault is None and acknowledgement.seq > 0:
        return acknowledgement.seq
    code = 0 if fault is None else fault.err_code
    if code == WRONG_SEQUENCE:
        return Conflict(key)
    if code == WRITE_IN_PROCESS:
        return Unsettled("The store is still about an earlier write of the same.")
    if code in _REFUSALS:
        return NotStored(f"The store refuses: {_REFUSALS[code]}.")
    return StoreUnavailable(f"The store says: {'nothing' if fault is None else fault.description}.")


def refusal_of(error: LinkError) -> NotStored:
    """Return what a writer is told where certainly nothing was written."""
    return NotStored(str(error))


def unknown_of(error: LinkError) -> StoreUnavailable:
    """Return what a caller is told where nobody knows; of a reader it is all there is to say."""
    return StoreUnavailable(str(error))
