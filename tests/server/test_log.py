"""What a server's log shows when something fails: the traceback, and no value of any variable."""

from __future__ import annotations

import json
import subprocess
import sys
import textwrap

import pytest

from tests.environment import environment

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
