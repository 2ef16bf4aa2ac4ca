"""The tournament of `docs/tutorials/host-for-a-class.md`, with its commands and programs unchanged."""

import asyncio
import csv
import json
import re
import shlex
import sys
from asyncio.subprocess import PIPE
from pathlib import Path
from urllib.request import urlopen

from tests.end_to_end.test_bots import BOTS_PAGE, needs_node, write_program
from tests.environment import environment
from tests.peer import PATIENCE_SECONDS
from tests.programs import Process, start_program
from tictactoe_server.server import Server

TUTORIALS = Path(__file__).parents[2] / "docs" / "tutorials"
PAGE = (TUTORIALS / "host-for-a-class.md").read_text(encoding="utf-8")
PROGRAMS = dict(re.findall(r"<!-- program: ([\w.]+) -->\n```\w+\n(.*?)```", PAGE, re.DOTALL))
COMMANDS = {
    words: command.replace("\\\n", "")
    for command, words in re.findall(r"^(tictactoe-client (event \w+) (?:.*\\\n)*.*)$", PAGE, re.MULTILINE)
}
PROGRAM_OF = {
    "Ana": (sys.executable, "student.py"),
    "Bo": ("node", "bot.mjs", "event"),
    "Cem": (sys.executable, "student.py"),
}


async def start(folder: Path, *command: str, home: str = "teacher", server: str = "") -> Process:
    """Start a command in the folder, with a home of its own."""
    (folder / home).mkdir(exist_ok=True)
    variables = {"HOME": str(folder / home), "TICTACTOE_SERVER": server}
    return await start_program(*command, cwd=folder, stdout=PIPE, stderr=PIPE, env=environment(**variables))


async def output_of(process: Process) -> str:
    """Return the output of a process that ends without an error."""
    async with asyncio.timeout(PATIENCE_SECONDS):
        output, errors = await process.communicate()
    assert (process.returncode, errors.decode()) == (0, "")
    return output.decode()


def count_present(address: str, code: str) -> int:
    with urlopen(f"{address}/api/events/{code}") as answer:
        present: int = json.load(answer)["head"]["present"]
    return present


@needs_node
async def test_students_bots_play_the_tournament_and_are_graded(bots: Server, tmp_path: Path) -> None:
    for name, program in PROGRAMS.items():
        (tmp_path / name).write_text(program, encoding="utf-8")
    write_program(BOTS_PAGE, tmp_path)
    (tmp_path / "class.txt").write_text("\n".join(PROGRAM_OF), encoding="utf-8")
    address = bots.url.replace("ws", "http")
    opening = shlex.split(COMMANDS["event new"].replace("--break 5", "--break 1"))
    printed = await output_of(await start(tmp_path, *opening, server=bots.url))
    links = dict(re.findall(r"^(\w+): (http\S+)$", printed, re.MULTILINE))
    assert [*links] == ["Link", *PROGRAM_OF]
    code = links["Link"].rpartition("/")[2]
    students = [
        await start(tmp_path, *program, links[student], home=student) for student, program in PROGRAM_OF.items()
    ]
    async with asyncio.timeout(PATIENCE_SECONDS):
        while await asyncio.to_thread(count_present, address, code) < len(PROGRAM_OF) + 2:  # noqa: ASYNC110
            await asyncio.sleep(0.1)
    beginning = COMMANDS["event CODE"].replace("CODE", code).split()
    await output_of(await start(tmp_path, *beginning, server=bots.url))
    for student in students:
        await output_of(student)
    grades = await output_of(await start(tmp_path, sys.executable, "grade.py", address, code))
    rows = [*csv.DictReader(grades.splitlines())]
    assert sorted(row["name"] for row in rows) == sorted(PROGRAM_OF)
    assert {row["faults"] for row in rows} == {"0"}
    assert all(0 <= float(row["against_bots"]) <= float(row["points"]) for row in rows)
