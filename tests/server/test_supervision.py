import os
import socket
import sys

import pytest

from tests.peer import PATIENCE_SECONDS
from tictactoe_server.cli.process import Supervisor


def test_without_a_supervisor_nothing_is_sent() -> None:
    Supervisor({}).notify("READY=1")
    Supervisor({"NOTIFY_SOCKET": "/nowhere/at/all"}).notify("READY=1")


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux has sockets with abstract names")
def test_a_socket_may_have_an_abstract_name() -> None:
    name = f"tictactoe-test-{os.getpid()}"
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as hearing:
        hearing.bind(f"\0{name}")
        hearing.settimeout(PATIENCE_SECONDS)
        Supervisor({"NOTIFY_SOCKET": f"@{name}"}).notify("READY=1")
        assert hearing.recv(4096) == b"READY=1"


@pytest.mark.parametrize(
    "environment", [{}, {"WATCHDOG_USEC": "soon"}, {"WATCHDOG_USEC": "20000", "WATCHDOG_PID": "1"}]
)
async def test_another_processs_watchdog_is_not_notified(environment: dict[str, str]) -> None:
    await Supervisor(environment).keep_alive()
