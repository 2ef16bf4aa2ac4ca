from __future__ import annotations

import json
import os
import stat
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.environment import environment
from tictactoe_client.files.config import config_path, keep_setting, load_config
from tictactoe_client.files.writer import NotKept

FILES: dict[str, tuple[str, str | None]] = json.loads(Path(__file__).with_suffix(".json").read_bytes())
"""Files as they were and as they are with another theme; None where that alone is another."""


@pytest.fixture
def path(home: Path) -> Path:
    found = config_path()
    found.parent.mkdir(parents=True)
    return found


def kept(path: Path, before: str, name: str = "theme", value: str | bool = "night") -> str:
    path.write_bytes(before.encode())
    keep_setting(name, value)
    return path.read_bytes().decode()


def why_not() -> str:
    """Return why a setting is not kept."""
    with pytest.raises(NotKept) as refused:
        keep_setting("theme", "night")
    return refused.value.message


def test_the_first_setting_makes_the_folder_and_a_file_for_its_owner(home: Path) -> None:
    keep_setting("theme", "night")
    path = config_path()
    assert path.read_text() == 'theme = "night"\n'
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    assert load_config().values == {"theme": "night"}


@pytest.mark.parametrize(("before", "after"), FILES.values(), ids=FILES)
def test_only_the_one_setting_changes(path: Path, before: str, after: str | None) -> None:
    assert kept(path, before) == (before.replace("paper", "night") if after is None else after)


def test_a_value_that_stands_there_already_is_not_written_again(path: Path) -> None:
    path.write_text('theme = "night"\n')
    inode = path.stat().st_ino
    keep_setting("theme", "night")
    assert path.stat().st_ino == inode


@pytest.mark.parametrize("value", [True, False])
def test_a_choice_of_yes_and_no_is_written_as_such(path: Path, *, value: bool) -> None:
    assert kept(path, "", "no_color", value) == f"no_color = {str(value).lower()}\n"


KEYS = st.text("abcdefgh_", min_size=1, max_size=8)
VALUES = st.one_of(st.booleans(), st.integers(0, 99), st.text("ab\"'\\#[] é", max_size=6))


@given(st.dictionaries(KEYS, VALUES, max_size=4), st.dictionaries(KEYS, st.text("k[]\"'#", max_size=3), max_size=3))
def test_whatever_the_file_says_it_says_it_still(
    tmp_path_factory: pytest.TempPathFactory, values: dict[str, object], bindings: dict[str, str]
) -> None:
    import tomlkit

    path = tmp_path_factory.mktemp("any") / "client.toml"
    content = {**values, "bindings": bindings}
    path.write_text(tomlkit.dumps(content), encoding="utf-8")
    keep_setting("theme", "night", path)
    assert tomllib.loads(path.read_text(encoding="utf-8")) == {**content, "theme": "night"}


def test_permissions_stay(path: Path) -> None:
    path.write_text("")
    path.chmod(0o640)
    keep_setting("theme", "night")
    assert stat.S_IMODE(path.stat().st_mode) == 0o640


@pytest.mark.parametrize("is_relative", [False, True])
def test_a_link_stays_a_link_and_its_file_is_written(path: Path, tmp_path: Path, *, is_relative: bool) -> None:
    real = tmp_path / "dotfiles" / "tictactoe.toml"
    real.parent.mkdir()
    real.write_text("# versioned\n")
    path.symlink_to(os.path.relpath(real, path.parent) if is_relative else real)
    keep_setting("theme", "night")
    assert path.is_symlink()
    assert real.read_text() == '# versioned\ntheme = "night"\n'
    assert [entry.name for entry in real.parent.iterdir()] == [real.name]


@pytest.mark.parametrize(
    ("before", "reason"),
    [
        (b"theme =\n", "client.toml has a mistake in it: Invalid value (at line 1, column 8)"),
        (b"a = 1\na = 2\n", "client.toml has a mistake in it: Cannot overwrite a value"),
        (b'name = "\xff"\n', "client.toml is no UTF-8 text"),
    ],
)
def test_a_file_that_cannot_be_understood_is_left_alone(path: Path, before: bytes, reason: str) -> None:
    path.write_bytes(before)
    assert why_not().startswith(reason)
    assert path.read_bytes() == before


def test_a_read_only_file_is_left_alone(path: Path) -> None:
    path.write_text("")
    path.chmod(0o444)
    assert why_not() == "client.toml is read-only"
    assert path.read_text() == ""


def test_what_is_no_file_is_left_alone(path: Path) -> None:
    path.symlink_to(os.devnull)
    assert why_not() == f"{os.devnull} is no regular file"
    assert stat.S_ISCHR(os.stat(os.devnull).st_mode)


def test_a_folder_that_cannot_be_made_is_told(home: Path) -> None:
    (home / ".config").write_text("a file in its place")
    assert why_not().startswith("client.toml cannot be written: ")


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="the superuser may write anywhere")
def test_a_read_only_folder_is_told_and_nothing_is_left_in_it(path: Path) -> None:
    path.write_text("")
    path.parent.chmod(0o555)
    try:
        told = why_not()
    finally:
        path.parent.chmod(0o755)
    assert told == "client.toml cannot be written: permission denied"
    assert list(path.parent.iterdir()) == [path]


def test_a_full_disk_leaves_the_file_and_no_draft(path: Path) -> None:
    resource = pytest.importorskip("resource")
    path.write_text("# mine\n")
    program = (
        "import resource, signal; signal.signal(signal.SIGXFSZ, signal.SIG_IGN);"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (4, 4));"
        "from tictactoe_client.files.config import keep_setting; from tictactoe_client.files.writer import NotKept\n"
        "try: keep_setting('theme', 'night')\n"
        "except NotKept as error: print(error.message)"
    )
    assert resource.RLIMIT_FSIZE
    command = [sys.executable, "-B", "-c", program]
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=environment())
    assert done.stdout == "client.toml cannot be written: file too large\n"
    assert path.read_text() == "# mine\n"
    assert list(path.parent.iterdir()) == [path]


def test_runs_that_write_at_the_same_time_lose_nothing(path: Path) -> None:
    path.write_text("# mine\n")
    names = [f"key{number}" for number in range(6)]
    program = "import sys; from tictactoe_client.files.config import keep_setting; keep_setting(sys.argv[1], 'x')"
    runs = [subprocess.Popen([sys.executable, "-c", program, name], env=environment()) for name in names]
    assert [run.wait() for run in runs] == [0] * len(names)
    assert tomllib.loads(path.read_text()) == dict.fromkeys(names, "x")
    assert path.read_text().startswith("# mine\n")


def test_two_threads_that_write_lose_nothing(path: Path) -> None:
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(4) as threads:
        list(threads.map(lambda number: keep_setting(f"key{number}", "x"), range(8)))
    assert len(load_config().warnings) == 8


@pytest.mark.skipif(sys.platform == "win32", reason="no locks of folders")
def test_who_holds_the_folder_for_too_long_is_told_of(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import fcntl

    monkeypatch.setattr("tictactoe_client.files.writer.LOCK_SECONDS", 0.0)
    folder = os.open(path.parent, os.O_RDONLY)
    try:
        fcntl.flock(folder, fcntl.LOCK_EX)
        told = why_not()
    finally:
        os.close(folder)
    assert told == "another program writes there"
    assert not path.exists()
