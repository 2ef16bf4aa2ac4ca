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
from tictactoe_server.transport.http_messages import HttpRequest, HttpResponse

_TAG_BYTES: Final = 8
_WORTH_PACKING_BYTES: Final = 512
_PACKED: Final = ("Content-Encoding", "gzip")


def send(request: HttpRequest, response: HttpResponse) -> HttpResponse:
    """Return a response that no cache keeps without asking anew, and none at all where its status is not 200."""
    body, fields = response.body, (("Vary", "Accept, Accept-Encoding"), *response.fields)
    if response.status != HTTPStatus.OK:
        fields = (("Cache-Control", "no-store"), *fields)
    else:  # a weak tag: it is the same for what is packed and what is not
        tag = f'"{blake2b(body, digest_size=_TAG_BYTES).hexdigest()}"'
        fields = (("Cache-Control", "no-cache"), ("ETag", f"W/{tag}"), *fields)
        if tag in request.field("if-none-match"):
            return HttpResponse(HTTPStatus.NOT_MODIFIED, b"", fields=fields)
    if len(body) >= _WORTH_PACKING_BYTES and takes(request.field("accept-encoding"), "gzip"):
        return replace(response, body=_compress(body), fields=(_PACKED, *fields))
    return replace(response, fields=fields)


def send_part(request: HttpRequest, asset: Asset, *fields: tuple[str, str]) -> HttpResponse:
    """Return a file that never changes under its name; nothing that one asker says but the packing changes it."""
    fields = (("Cache-Control", "public, max-age=31536000, immutable"), ("Vary", "Accept-Encoding"), *fields)
    if takes(request.field("accept-encoding"), "gzip"):
        return HttpResponse(HTTPStatus.OK, asset.packed, asset.kind, (_PACKED, *fields))
    return HttpResponse(HTTPStatus.OK, asset.body, asset.kind, fields)


def takes(accepted: str, what: str) -> bool:
    """Tell whether a header names something among what is accepted, not as what is not."""
    for each in accepted.lower().split(","):
        name, *parameters = (part.strip() for part in each.split(";"))
        if name == what:
            return not any(part in ("q=0", "q=0.0", "q=0.00", "q=0.000") for part in parameters)
    return False


@lru_cache(maxsize=8)
def _compress(body: bytes) -> bytes:
    """Return a body in gzip; those that many ask for are the same."""
    return gzip.compress(body, mtime=0)
