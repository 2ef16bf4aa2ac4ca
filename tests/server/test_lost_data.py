import shutil
from pathlib import Path
from random import Random

import pytest

from tests.server.stored import change, child, room_of
from tictactoe_server import OperatorError
from tictactoe_server.features.backups.copying import check_database, folder_source
from tictactoe_server.features.backups.files import back_up, database_in, restore_backup
from tictactoe_server.features.backups.recovery import recover, repair_log
from tictactoe_server.records.tables import KEPT, ROOMS
from tictactoe_server.storage.folder import FILE_NAME
from tictactoe_server.storage.schema import SavesMissing
from tictactoe_server.storage.sqlite import SqliteStore

FRAME = 24 + 4096
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


async def test_a_kill_loses_and_reports_nothing(killed: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    shutil.copytree(killed, tmp_path, dirs_exist_ok=True)
    store = SqliteStore.open(tmp_path, KEPT)
    assert (await store.table(ROOMS).load("K7M4PQ") or ("",))[0] == room_of("K7M4PQ", 100)
    await store.close()
    await SqliteStore.open(tmp_path, KEPT).close()
    assert caplog.text == ""


@pytest.mark.parametrize(
    "loss", ["emptied log", "lost log", "cut log", "damaged log", "emptied database", "lost database"]
)
async def test_a_server_with_missing_saves_does_not_start_and_is_not_copied(
    killed: Path, tmp_path: Path, loss: str
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
            flip(log, len(content) * 2 // 3)
        case "emptied database":
            log.unlink()
            database.write_bytes(b"")
        case _:
            log.unlink()
            database.unlink()
    before = log.read_bytes() if log.exists() else b""
    for _ in range(2):
        with pytest.raises(SavesMissing, match=r"The last \d+ batches of saves are missing") as refused:
            SqliteStore.open(tmp_path, KEPT)
        assert (" recover " in str(refused.value)) is database.exists()
        assert (log.read_bytes() if log.exists() else b"") == before
    if database.exists():
        with pytest.raises(SavesMissing):
            await check_database(database, KEPT)
    refused_copy = r"saves are missing" if database.exists() and database.stat().st_size else r"is empty|no database"
    with pytest.raises(OperatorError, match=refused_copy):
        back_up(database_in(tmp_path), tmp_path / "copy")
    with pytest.raises(OperatorError, match=refused_copy):
        async with folder_source(tmp_path, KEPT):
            pass
    assert not (tmp_path / "copy").exists()


@pytest.mark.parametrize("rounds", [5, pytest.param(20, marks=pytest.mark.long)])
def test_a_recovery_corrects_most_flipped_bits_of_the_log_and_flips_no_others(killed: Path, rounds: int) -> None:
    log, head = (killed / f"{FILE_NAME}-wal").read_bytes(), (killed / FILE_NAME).read_bytes()[:100]
    chance, corrected = Random(1), 0
    for _ in range(rounds):
        places = [
            FRAME * frame + chance.randrange(FRAME) for frame in chance.sample(range((len(log) - 32) // FRAME), 3)
        ]
        damaged = bytearray(log)
        for place in places:
            damaged[32 + place] ^= 1 << chance.randrange(8)
        damaged[chance.randrange(32)] ^= 1
        repaired = repair_log(bytes(damaged), head)
        wrong = {place - 32 for place, (one, other) in enumerate(zip(repaired, log, strict=True)) if one != other}
        contents = {place for place in wrong if place % FRAME >= 24 or 0 <= place % FRAME < 8}
        assert contents <= {*places}
        corrected += not wrong
    assert corrected > rounds // 4


async def test_recovery_restores_saves_after_a_flipped_bit(killed: Path, tmp_path: Path) -> None:
    folder, target = tmp_path / "data", tmp_path / "recovered"
    shutil.copytree(killed, folder)
    log = folder / f"{FILE_NAME}-wal"
    flip(log, log.stat().st_size // 2)
    before = {path.name: path.read_bytes() for path in folder.glob(f"{FILE_NAME}*")}
    missing, still_missing = recover(folder, target)
    assert (missing > 0, still_missing) == (True, 0)
    assert {name for name, content in before.items() if (folder / name).read_bytes() != content} == set()
    restore_backup(folder, target)
    store = SqliteStore.open(folder, KEPT)
    assert (await store.table(ROOMS).load("K7M4PQ") or ("",))[0] == room_of("K7M4PQ", 100)
    await store.close()


def test_stale_log_frames_are_ignored(killed: Path) -> None:
    log, head = (killed / f"{FILE_NAME}-wal").read_bytes(), (killed / FILE_NAME).read_bytes()[:100]
    assert repair_log(log, head) == log
    older = bytearray(log[32:])
    older[8:16] = bytes(8)
    assert repair_log(log + bytes(older), head) == log


def flip(path: Path, place: int) -> None:
    content = bytearray(path.read_bytes())
    content[place] ^= 1 << place % 8
    path.write_bytes(content)


async def test_an_invalid_stored_time_does_not_prevent_a_start(tmp_path: Path) -> None:
    await SqliteStore.open(tmp_path, KEPT).close()
    change(tmp_path / FILE_NAME, "INSERT OR REPLACE INTO server VALUES ('served-ms', 'soon')")
    store = SqliteStore.open(tmp_path, KEPT)
    with pytest.raises(Exception, match="not a number"):
        await store.noted_time()
    store.note_time(5)
    await store.close()
    again = SqliteStore.open(tmp_path, KEPT)
    assert await again.noted_time() == 5
    await again.close()
