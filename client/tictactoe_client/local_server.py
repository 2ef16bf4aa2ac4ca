"""A server of one's own for one run: the command `tictactoe-server` as a child process, on the loopback alone.

Its standard input is a pipe from here: when this process ends, however it ends, that closes and the server goes too."""

from __future__ import annotations

import asyncio
import contextlib
import sys
from asyncio.subprocess import DEVNULL, PIPE
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Final

from tictactoe_client.online.address import Address, parse_address
from tictactoe_client.online.errors import Unreachable
from tictactoe_protocol.catalogue import say

START_SECONDS: Final = 15.0
_OPTIONS: Final = "--host 127.0.0.1 --port 0 --log-level error --data :memory: --with-parent"


@asynccontextmanager
async def run_local_server() -> AsyncIterator[Address]:
    """Start a server, yield where it is, and end it; raises `Unreachable` where it cannot be had."""
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "tictactoe_server", *_OPTIONS.split()),
        stdin=PIPE,
        stdout=PIPE,
        stderr=DEVNULL,
        start_new_session=True,
    )
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        line = b""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(START_SECONDS):
                line = await process.stdout.readline()
        if not line.startswith(b"Listening on "):
            raise Unreachable(say("own server"), say("own server did not start"))
        yield parse_address(line.decode("utf-8", "replace").split()[2])
    finally:
        process.stdin.close()  # which ends the server
        try:
            async with asyncio.timeout(3):
                await process.communicate()
        except TimeoutError:
            with contextlib.suppress(ProcessLookupError):
                process.kill()
            await process.wait()
