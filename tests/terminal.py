"""Pipes and pseudo-terminals for tests."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator


@contextlib.contextmanager
def pipe() -> Iterator[tuple[int, int]]:
    """Open a pipe; return its reading and its writing end."""
    reader, writer = os.pipe()
    try:
        yield reader, writer
    finally:
        for descriptor in (reader, writer):
            with contextlib.suppress(OSError):
                os.close(descriptor)
