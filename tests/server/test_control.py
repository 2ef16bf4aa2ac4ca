"""The operator's socket in a folder with a guessable name: the folder is the user's alone, or there is no socket."""

import asyncio
import os
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

from tictactoe_server.operator.control import ControlSocket, NoServer, ask
from tictactoe_server.operator.status import Status


async def nothing(order: bytes) -> bytes:
    return b""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "runtime" / "tictactoe"


def is_open(path: Path) -> bool:
    """Return whether a socket can be opened there, and close it."""

    async def open_and_close() -> bool:
        control = ControlSocket(path, nothing)
        await control.open()
        made = await asyncio.to_thread(path.is_socket)
        control.close()
        return made

    return asyncio.run(open_and_close())


def test_a_folder_that_is_missing_is_made_for_this_user_alone(folder: Path) -> None:
    assert is_open(folder / "8765.sock")
    assert folder.stat().st_mode & 0o777 == folder.parent.stat().st_mode & 0o777 == 0o700


@pytest.mark.parametrize(
    "spoil",
    [
        *(partial(Path.chmod, mode=mode) for mode in (0o755, 0o770, 0o777)),
        lambda folder: folder.parent.chmod(0o777),
        lambda folder: folder.symlink_to(folder.rename(folder.with_name("private"))),
        pytest.param(
            lambda folder: os.chown(folder.parent, 65534, 65534),
            marks=pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a folder away"),
        ),
    ],
    ids=["readable", "writable by the group", "writable", "in a writable one", "link", "in another user's"],
)
def test_a_folder_that_is_not_the_users_alone_gets_no_socket(
    folder: Path, spoil: Callable[[Path], object], caplog: pytest.LogCaptureFixture
) -> None:
    folder.mkdir(parents=True, mode=0o700)
    folder.parent.chmod(0o700)
    spoil(folder)
    assert not is_open(folder / "8765.sock")
    (record,) = caplog.records
    assert "control socket not opened: orders are not accepted" in record.getMessage()


def test_sockets_in_writable_folders_are_not_used(folder: Path) -> None:
    folder.mkdir(parents=True, mode=0o700)
    folder.chmod(0o777)
    with pytest.raises(NoServer, match="Cannot connect to the server"):
        ask(folder / "8765.sock", Status())
