"""What a server's log shows when something fails: the traceback, and no value of any variable."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
import textwrap
from asyncio.subprocess import PIPE
from pathlib import Path

import pytest

from tests.authority import Authority
from tests.environment import environment
from tests.server.nats_node import node_in

SECRET = "Vt3kq0ZxJ8nYbR5s"
WORDS = "something failed that nobody expected"
WAYS_TO_FAIL = {
    "logged": "try:\n    fail(SECRET)\nexcept LookupError:\n    structlog.get_logger('x').exception('it failed')",
    "uncaught": "fail(SECRET)",
    "in a thread": "thread = threading.Thread(target=fail, args=(SECRET,))\nthread.start()\nthread.join()",
    "in a task": (
        "async def main():\n    task = asyncio.create_task(afail(SECRET))\n    await asyncio.sleep(0)\n"
        "    del task\n    gc.collect()\nasyncio.run(main())"
    ),
    "while it is thrown away": "class Thing:\n    def __del__(self):\n        fail(SECRET)\nThing()",
    "a warning": "import warnings\nwarnings.warn('careful')",
}


def log_of(log_format: str, way: str) -> str:
    """Return what a process writes to stderr in which something fails."""
    program = f"""
        import asyncio, gc, structlog, threading
        from tictactoe_server.log import set_up_logging
        SECRET = "".join({list(SECRET)!r})
        set_up_logging({log_format!r}, "info")
        def fail(token):
            local = [token]
            raise LookupError("no such thing")
        async def afail(token):
            fail(token)
    """
    source = textwrap.dedent(program) + WAYS_TO_FAIL[way]
    command = [sys.executable, "-c", source]
    return subprocess.run(
        command, stderr=subprocess.PIPE, text=True, check=False, env=environment(PYTHONWARNINGS="default")
    ).stderr


@pytest.mark.parametrize("way", WAYS_TO_FAIL)
@pytest.mark.parametrize("log_format", ["text", "json"])
def test_a_failure_is_told_without_the_value_of_any_variable(log_format: str, way: str) -> None:
    errors = log_of(log_format, way)
    assert ("careful" if way == "a warning" else "LookupError: no such thing") in errors
    assert SECRET not in errors
    if log_format == "json":
        assert {"event", "level", "timestamp"} <= set.intersection(
            *(set(json.loads(line)) for line in errors.splitlines())
        )


async def test_the_end_of_a_connection_to_the_store_with_tls_is_nothing_to_log(tmp_path: Path) -> None:
    authority = Authority(tmp_path)
    authority.issue()
    files = f'tls {{ cert_file: "{authority.cert}", key_file: "{authority.key}" }}'
    with node_in(tmp_path, files) as node:
        program = f"""
            import asyncio
            from pathlib import Path
            from tictactoe_server.log import set_up_logging
            from tictactoe_server.stores.jetstream import Link
            set_up_logging("text", "info")
            async def main():
                link = await Link.open({node.url!r}, ca=Path({str(authority.ca)!r}))
                print("open", flush=True)
                while link.is_connected:
                    await asyncio.sleep(0.01)
                await link.close()
            asyncio.run(main())
        """
        process = await asyncio.create_subprocess_exec(
            sys.executable, "-c", textwrap.dedent(program), stdout=PIPE, stderr=PIPE, env=environment()
        )
        assert process.stdout
        assert await process.stdout.readline() == b"open\n"
        node.stop()
        _, said = await asyncio.wait_for(process.communicate(), 30)
    lines = [line.partition(" ")[2] for line in said.decode().splitlines()]
    assert [line for line in lines if "the connection to the store is lost" not in line] == []
