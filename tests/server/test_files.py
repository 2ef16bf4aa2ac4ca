import asyncio
import os
import threading
from pathlib import Path

import pytest

from tictactoe_server import OperatorError
from tictactoe_server.files import open_regular, run_in_daemon
from tictactoe_server.http.branding import _read
from tictactoe_server.storage.schema import check_file
from tictactoe_server.storage.store import CannotOpenStore
from tictactoe_server.transport.certificate import Certificate


def test_pipes_and_devices_are_refused_at_once_wherever_a_file_is_read(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    for path in (pipe, Path("/dev/zero")):
        with pytest.raises(OSError, match="regular"):
            open_regular(path)
    with pytest.raises(OperatorError, match="ot a regular file"):
        _read(pipe, "--greeting", 1)
    with pytest.raises(OperatorError, match="ot a regular file"):
        Certificate(pipe, pipe)
    with pytest.raises(CannotOpenStore, match="ot a regular file"):
        check_file(pipe)


def test_the_end_of_the_event_loop_does_not_wait_for_a_blocked_order() -> None:
    release = threading.Event()

    async def begin() -> None:
        waiting = asyncio.create_task(run_in_daemon(release.wait))
        await asyncio.sleep(0)
        assert not waiting.done()

    asyncio.run(begin())
    release.set()
