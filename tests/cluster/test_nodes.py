"""The nodes of the tests are found, and end with whoever started them."""

from __future__ import annotations

import asyncio
import signal
import sys
from pathlib import Path

import pytest

from tests.cluster.nodes import NoNodes, find_program
from tests.environment import environment
from tests.peer import until


async def test_without_a_program_it_says_what_is_missing(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(sys, "executable", str(tmp_path / "python"))
    with pytest.raises(NoNodes, match="no nats-server"):
        find_program()


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells processes that their parent is gone")
async def test_a_tied_process_ends_when_the_one_that_started_it_is_killed() -> None:
    program = (
        "import subprocess, sys; from tests.cluster.tied import tied\n"
        "print(subprocess.Popen(tied('sleep', '60')).pid, flush=True); sys.stdin.read()"
    )
    pipe = asyncio.subprocess.PIPE
    parent = await asyncio.create_subprocess_exec(
        *(sys.executable, "-c", program), stdin=pipe, stdout=pipe, env=environment(), cwd=Path(__file__).parents[2]
    )
    assert parent.stdout
    child = int(await parent.stdout.readline())
    parent.send_signal(signal.SIGKILL)
    await parent.wait()
    await until(lambda: not is_alive(child))


def is_alive(pid: int) -> bool:
    try:
        return "\nState:\tZ" not in Path(f"/proc/{pid}/status").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return False
