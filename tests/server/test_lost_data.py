"""A damaged room is left out alone, and a lost log or database is reported."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.server.stored import change, child, keep, room_of
from tictactoe_server.records.tables import ROOMS, open_folder
from tictactoe_server.storage.folder import FILE_NAME
from tictactoe_server.storage.store import MISSING

KILLED = """
    for number in range(100):
        await keep(store, room_of("K7M4PQ", number + 1), (await store.table(ROOMS).load("K7M4PQ") or (0, MISSING))[1])
    print("kept", flush=True)
    os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.fixture(scope="module")
def killed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder whose server was killed after many saves; each test takes a copy."""
    folder = tmp_path_factory.mktemp("killed")
    with child(folder, KILLED) as process:
        assert process.stdout.read() == "kept\n"
    return folder


async def test_after_a_kill_nothing_is_lacking_and_nothing_is_said(
    killed: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    shutil.copytree(killed, tmp_path, dirs_exist_ok=True)
    store = open_folder(tmp_path)
    assert (await store.table(ROOMS).load("K7M4PQ") or ("",))[0] == room_of("K7M4PQ", 100)
    await store.close()
    await open_folder(tmp_path).close()
    assert caplog.text == ""


@pytest.mark.parametrize("loss", ["emptied log", "lost log", "cut log", "damaged log", "emptied database"])
async def test_a_log_or_database_that_was_lost_is_told(
    killed: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture, loss: str
) -> None:
    shutil.copytree(killed, tmp_path, dirs_exist_ok=True)
    log, database = tmp_path / f"{FILE_NAME}-wal", tmp_path / FILE_NAME
    content = log.read_bytes()
    match loss:
        case "emptied log":
            log.write_bytes(b"")
        case "lost log":
            log.unlink()
        case "cut log":
            log.write_bytes(content[: len(content) * 2 // 3])
        case "damaged log":
            damaged = bytearray(content)
            damaged[len(content) * 2 // 3] ^= 0xFF
            log.write_bytes(damaged)
        case _:
            log.unlink()
            database.write_bytes(b"")
    store = open_folder(tmp_path)
    assert "lacks what was kept last" in caplog.text
    found = await store.table(ROOMS).load("K7M4PQ")
    assert found is None or found[0].seq < 100
    assert (tmp_path / f"{FILE_NAME}.damaged-1-wal").exists() is (loss in ("cut log", "damaged log"))
    await keep(store, room_of("NEWONE"), MISSING)
    await store.close()
    caplog.clear()
    await open_folder(tmp_path).close()
    assert caplog.text == ""


async def test_a_note_of_the_time_that_is_no_number_keeps_nobody_from_starting(tmp_path: Path) -> None:
    await open_folder(tmp_path).close()
    change(tmp_path / FILE_NAME, "INSERT OR REPLACE INTO server VALUES ('served-ms', 'soon')")
    store = open_folder(tmp_path)
    with pytest.raises(Exception, match="no number"):
        await store.noted_time()
    store.note_time(5)
    await store.close()
    again = open_folder(tmp_path)
    assert await again.noted_time() == 5
    await again.close()
