"""QR codes as SVG images."""

from __future__ import annotations

from functools import lru_cache
from io import BytesIO

import segno


@lru_cache(maxsize=256)
def draw_qr(link: str) -> bytes:
    """Return an SVG image of a link's QR code, black on white with a quiet zone.

    The mask is fixed, because choosing the best of the eight masks takes three times as long, and all are readable.
    """
    image = BytesIO()
    code = segno.make(link, error="l", micro=False, mask=3)
    code.save(image, kind="svg", border=4, light="#fff", omitsize=True, xmldecl=False)
    return image.getvalue()
