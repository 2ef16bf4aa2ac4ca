"""How the page and its texts are sent: in gzip to those who understand it, and not again to those who have them.

Source: RFC 9110, sections 8.8.3 (entity tags), 12.5.3 (Accept-Encoding) and 13.1.2 (If-None-Match).
"""

from __future__ import annotations

import gzip
from dataclasses import replace
from functools import lru_cache
from hashlib import blake2b
from http import HTTPStatus
from typing import Final

from tictactoe_server.http.assets import Asset
from tictactoe_server.transport.plain import Request, Response

_TAG_BYTES: Final = 8
_WORTH_PACKING_BYTES: Final = 512
_KEPT_PACKED: Final = 8
"""How many bodies are kept in gzip, as those that many ask for are the same."""

Field = tuple[str, str]


def send(request: Request, status: HTTPStatus, body: bytes, kind: str, *fields: Field) -> Response:
    """Return a response that no cache keeps without asking anew, and none at all where its status is not 200."""
    fields = (("Vary", "Accept, Accept-Encoding"), *fields)
    if status != HTTPStatus.OK:
        return _pack(request, Response(status, body, kind, (("Cache-Control", "no-store"), *fields)))
    # A weak tag: it is the same for what is packed and what is not.
    tag = f'"{blake2b(body, digest_size=_TAG_BYTES).hexdigest()}"'
    fields = (("Cache-Control", "no-cache"), ("ETag", f"W/{tag}"), *fields)
    if tag in request.field("if-none-match"):
        return Response(HTTPStatus.NOT_MODIFIED, b"", fields=fields)
    return _pack(request, Response(status, body, kind, fields))


def send_part(request: Request, asset: Asset, *fields: Field) -> Response:
    """Return a file that never changes under its name; nothing that one asker says but the packing changes it."""
    fields = (("Cache-Control", "public, max-age=31536000, immutable"), ("Vary", "Accept-Encoding"), *fields)
    if takes(request.field("accept-encoding"), "gzip"):
        return Response(HTTPStatus.OK, asset.packed, asset.kind, (("Content-Encoding", "gzip"), *fields))
    return Response(HTTPStatus.OK, asset.body, asset.kind, fields)


def takes(accepted: str, what: str) -> bool:
    """Tell whether a header names something among what is accepted, not as what is not."""
    for each in accepted.lower().split(","):
        name, *parameters = (part.strip() for part in each.split(";"))
        if name == what:
            return not any(part in ("q=0", "q=0.0", "q=0.00", "q=0.000") for part in parameters)
    return False


def _pack(request: Request, response: Response) -> Response:
    if len(response.body) < _WORTH_PACKING_BYTES or not takes(request.field("accept-encoding"), "gzip"):
        return response
    fields = (("Content-Encoding", "gzip"), *response.fields)
    return replace(response, body=_compress(response.body), fields=fields)


@lru_cache(maxsize=_KEPT_PACKED)
def _compress(body: bytes) -> bytes:
    return gzip.compress(body, mtime=0)
