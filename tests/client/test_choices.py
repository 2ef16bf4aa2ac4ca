"""Settings chosen inside the program are kept in a file of its own; `client.toml` is never written."""

import json
import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from tests.client.conftest import Program
from tests.environment import environment
from tests.kept import write_config
from tictactoe_client.files.config import choices_path, load_choices, load_config, save_choices
from tictactoe_client.files.writer import NotKept


@pytest.fixture
def path(home: Path) -> Path:
    found = choices_path()
    found.parent.mkdir(parents=True)
    return found


def failure() -> str:
    """Return why a choice cannot be saved."""
    with pytest.raises(NotKept) as refused:
        save_choices({"theme": "night"})
    return refused.value.message


def test_the_first_choice_makes_the_folder_and_a_file_for_its_owner(home: Path) -> None:
    save_choices({"theme": "night"})
    path = choices_path()
    assert json.loads(path.read_bytes()) == {"theme": "night"}
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    assert load_config().defaults == {"theme": "night"}


def test_choices_are_added_and_replaced(path: Path) -> None:
    save_choices({"theme": "night", "bell": "off"})
    save_choices({"no_color": True, "timeout": 2.5, "bell": "always"})
    assert load_choices() == {"theme": "night", "no_color": True, "timeout": 2.5, "bell": "always"}


def test_an_unchanged_choice_is_not_written_again(path: Path) -> None:
    save_choices({"theme": "night"})
    inode = path.stat().st_ino
    save_choices({"theme": "night"})
    assert path.stat().st_ino == inode


def test_client_toml_overrides_a_choice(path: Path) -> None:
    save_choices({"theme": "night", "bell": "off"})
    write_config('theme = "paper"\n')
    assert load_config().defaults == {"theme": "paper", "bell": "off"}


@pytest.mark.parametrize("content", [b"", b"{", b"[1]", b'{"theme": ["night"]}', b"\xff"])
def test_an_unreadable_file_counts_as_empty_and_is_replaced(path: Path, content: bytes) -> None:
    path.write_bytes(content)
    assert load_choices() == {}
    save_choices({"theme": "night"})
    assert load_choices() == {"theme": "night"}


def test_invalid_choices_do_not_count(path: Path) -> None:
    path.write_text('{"theme": "pink", "nonsense": 1, "ascii": "yes", "bell": "off", "server": "ws://host"}')
    assert load_choices() == {"bell": "off", "server": ["ws://host"]}


def test_a_folder_that_cannot_be_made_is_reported(home: Path) -> None:
    (home / ".local").write_text("a file in its place")
    assert failure().startswith("choices.json cannot be written: ")


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="the superuser may write anywhere")
def test_a_read_only_folder_is_reported_and_left_empty(path: Path) -> None:
    path.with_suffix(".lock").touch()
    path.parent.chmod(0o555)
    try:
        reason = failure()
    finally:
        path.parent.chmod(0o755)
    assert reason == "choices.json cannot be written: permission denied"
    assert list(path.parent.iterdir()) == [path.with_suffix(".lock")]


def test_a_full_disk_leaves_the_old_file_and_no_draft(path: Path) -> None:
    resource = pytest.importorskip("resource")
    save_choices({"bell": "off"})
    before = path.read_bytes()
    program = (
        "import resource, signal; signal.signal(signal.SIGXFSZ, signal.SIG_IGN);"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (4, 4));"
        "from tictactoe_client.files.config import save_choices; from tictactoe_client.files.writer import NotKept\n"
        "try: save_choices({'theme': 'night'})\n"
        "except NotKept as error: print(error.message)"
    )
    assert resource.RLIMIT_FSIZE
    command = [sys.executable, "-B", "-c", program]
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=environment())
    assert done.stdout == "choices.json cannot be written: file too large\n"
    assert path.read_bytes() == before
    assert sorted(path.parent.iterdir()) == [path, path.with_suffix(".lock")]


def test_programs_that_save_at_the_same_time_lose_nothing(path: Path) -> None:
    names = [f"key{number}" for number in range(6)]
    program = "import sys; from tictactoe_client.files.config import save_choices; save_choices({sys.argv[1]: 'x'})"
    runs = [subprocess.Popen([sys.executable, "-c", program, name], env=environment()) for name in names]
    assert [run.wait() for run in runs] == [0] * len(names)
    assert json.loads(path.read_bytes()) == dict.fromkeys(names, "x")


def test_the_origin_of_a_choice_is_shown(program: Program) -> None:
    save_choices({"theme": "night", "bell": "off"})
    config = write_config('bell = "always"\n')
    rows = {line.split()[0]: line.split(maxsplit=2)[1:] for line in program.output("config", "show").splitlines()}
    assert rows["theme"] == ["night", str(choices_path())]
    assert rows["bell"] == ["always", str(config)]
