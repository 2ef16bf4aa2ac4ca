import asyncio
import os
import re
import signal
import sys
from pathlib import Path

from tests.cluster.visitor import Visitor
from tests.environment import environment
from tests.peer import play_out

ROOT = Path(__file__).parents[2]


async def test_a_cluster_is_shown_played_in_and_ended() -> None:
    pipe = asyncio.subprocess.PIPE
    trial = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "tools.cluster", "--tls"), stdout=pipe, env=environment(), cwd=ROOT
    )
    assert trial.stdout
    said = ""
    try:
        while "Ctrl-C" not in said:
            line = await trial.stdout.readline()
            assert line, said
            said += line.decode()
        url = re.findall(r"tictactoe-client --server (ws://\S+)", said)[0]
        processes = [int(found) for found in re.findall(r"process (\d+)", said)]
        async with Visitor(url, "ana") as ana, Visitor(url, "bo") as bo:
            room = (await ana.ask("create"))["room"]
            await bo.ask("join", room=room)
            over = await play_out({"X": ana.peer, "O": bo.peer}, room, [0, 3, 1, 4, 2])
            assert over["result"]["winner"] == "X"
        trial.send_signal(signal.SIGINT)
    except BaseException:
        trial.kill()
        raise
    finally:
        code = await trial.wait()
    assert code == 0
    assert len(processes) == 3 + 2
    assert not [pid for pid in processes if is_there(pid)]


def is_there(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True
