"""The operator's socket in a folder with a guessable name: the folder is the user's alone, or there is no socket."""

import asyncio
import os
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
    ("mode", "mode_above"), [(0o755, 0o700), (0o770, 0o700), (0o777, 0o700), (0o700, 0o777)], ids=oct
)
def test_open_folders_get_no_socket(folder: Path, mode: int, mode_above: int, caplog: pytest.LogCaptureFixture) -> None:
    folder.mkdir(parents=True, mode=0o700)
    folder.chmod(mode)
    folder.parent.chmod(mode_above)
    assert not is_open(folder / "8765.sock")
    (record,) = caplog.records
    assert "control socket not opened: orders are not accepted" in record.getMessage()


def test_through_a_link_there_is_no_socket(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "private").mkdir(mode=0o700)
    folder.parent.mkdir(mode=0o700)
    folder.symlink_to(tmp_path / "private")
    assert not is_open(folder / "8765.sock")


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a folder away")
def test_no_socket_is_opened_in_another_users_folder(folder: Path) -> None:
    folder.mkdir(parents=True, mode=0o700)
    os.chown(folder.parent, 65534, 65534)
    assert not is_open(folder / "8765.sock")


def test_sockets_in_writable_folders_are_not_used(folder: Path) -> None:
    folder.mkdir(parents=True, mode=0o700)
    folder.chmod(0o777)
    with pytest.raises(NoServer, match="Cannot connect to the server"):
        ask(folder / "8765.sock", Status())
