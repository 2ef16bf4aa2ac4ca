import json
import logging
import subprocess
import sys
import textwrap

import pytest

from tests.environment import environment
from tests.fakes import FakeClock
from tests.limits import uncounted
from tests.peer import open_peer
from tests.server.test_limits import LOOPBACK, speaking_for
from tictactoe_server.core.rooms import LINES_A_MINUTE
from tictactoe_server.server import Server
from tictactoe_server.settings import Settings

SECRET = "Vt3kq0ZxJ8nYbR5s"
FAILURES = """
    import asyncio, gc, structlog, threading, warnings
    from tictactoe_server.operator.log import set_up_logging
    set_up_logging(LOG_FORMAT, "info")

    def fail(way, token=SECRET):
        local = [token]
        raise LookupError(way)

    async def in_a_task():
        async def afail():
            fail("in a task")
        task = asyncio.create_task(afail())
        await asyncio.sleep(0)
        del task
        gc.collect()

    class Thing:
        def __del__(self):
            fail("while it is thrown away")

    try:
        fail("and is logged")
    except LookupError:
        structlog.get_logger("x").exception("it failed")
    thread = threading.Thread(target=fail, args=("in a thread",))
    thread.start()
    thread.join()
    asyncio.run(in_a_task())
    Thing()
    warnings.warn("careful")
    fail("and nobody catches it")
"""


@pytest.mark.parametrize("log_format", ["text", "json"])
def test_logged_failures_contain_no_variable_values(log_format: str) -> None:
    program = f'SECRET, LOG_FORMAT = "".join({list(SECRET)!r}), {log_format!r}\n' + textwrap.dedent(FAILURES)
    errors = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, env=environment(PYTHONWARNINGS="default")
    ).stderr
    for way in ("and is logged", "in a thread", "in a task", "while it is thrown away", "and nobody catches it"):
        assert f"LookupError: {way}" in errors
    assert "careful" in errors
    assert SECRET not in errors
    if log_format == "json":
        assert {"event", "level", "timestamp"} <= set.intersection(
            *(set(json.loads(line)) for line in errors.splitlines())
        )


@pytest.mark.parametrize("log_format", ["text", "json"])
def test_a_line_that_the_disk_does_not_take_stops_nothing(log_format: str) -> None:
    program = (
        "import structlog; from tictactoe_server.operator.log import set_up_logging;"
        f"set_up_logging({log_format!r}, 'info');"
        "structlog.get_logger('x').info('game ended', data='\\udcff'); print('goes on')"
    )
    with open("/dev/full", "wb") as full:
        done = subprocess.run([sys.executable, "-c", program], stdout=subprocess.PIPE, stderr=full, env=environment())
    assert done.stdout == b"goes on\n"


def test_half_a_character_is_no_obstacle_to_json() -> None:
    program = (
        "import structlog; from tictactoe_server.operator.log import set_up_logging; set_up_logging('json', 'info');"
        "structlog.get_logger('x').info('server started', data='/srv/\\udcff')"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, env=environment())
    assert json.loads(done.stderr)["data"] == "/srv/\udcff"


def lines_of(caplog: pytest.LogCaptureFixture) -> list[str]:
    """Return the log's lines about rooms without players and codes."""
    return [record.message for record in caplog.records if record.name.endswith(".core.rooms")]


async def test_joins_and_leaves_of_a_busy_address_are_logged_up_to_a_limit(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)
    settings, clock = Settings("127.0.0.1", 0, trusted_proxies=LOOPBACK), FakeClock()
    async with (
        Server(settings, limits=uncounted(), monotonic_ns=clock) as server,
        open_peer(server.url) as host,
        speaking_for(server, "192.0.2.1") as loud,
        speaking_for(server, "192.0.2.2") as quiet,
    ):
        room = (await host.ask("create", rules="three-players"))["room"]
        for _ in range(100):
            await loud.ask("join", room=room)
            await loud.ask("leave", room=room)
        await quiet.ask("join", room=room)
        told = lines_of(caplog)
        assert told.count("player joined") + told.count("player left") == LINES_A_MINUTE + 1
        caplog.clear()
        clock.advance(60_000)
        await loud.ask("join", room=room)
        assert "player joined" in lines_of(caplog)
