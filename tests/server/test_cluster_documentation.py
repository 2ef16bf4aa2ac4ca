"""What docs/cluster.md says is what the program does: its rights, and the messages that it explains."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import nkeys
import pytest

from tests.authority import Authority
from tests.cluster.nodes import find_program
from tests.environment import environment
from tests.rows import each
from tests.server.commands import run_command
from tictactoe_server.cluster.jetstream.stream import RIGHTS

ROOT = Path(__file__).parents[2]
TEXT = (ROOT / "docs" / "cluster.md").read_text(encoding="utf-8")
SERVER = ROOT / "server" / "tictactoe_server"


def test_a_node_takes_the_configuration_that_is_printed_for_it(tmp_path: Path) -> None:
    authority = Authority(tmp_path)
    authority.issue()
    keys = []
    for _ in range(2):
        seed = nkeys.encode_seed(os.urandom(32), nkeys.PREFIX_BYTE_USER)
        keys.append(nkeys.from_seed(bytearray(seed)).public_key.decode())
    options = ("--store", "tls://a.example,b.example,c.example", "--admin-key", keys[0], "--game-key", keys[1])
    config = run_command("cluster", "init", *options, "--print-config", "b.example").output
    assert 'client_advertise: "b.example:4222"' in config
    assert "..." not in config
    for verb, subjects in RIGHTS.items():
        listed = ", ".join(f'"{subject}"' for subject in subjects)
        assert f"  {verb} {{ allow: [{listed}] }}\n" in config
    config = config.replace("/var/lib/nats", str(tmp_path / "data"))
    for name, file in (("ca.pem", authority.ca), ("cert.pem", authority.cert), ("key.pem", authority.key)):
        config = config.replace(f"/etc/nats/{name}", str(file))
    file = tmp_path / "nats.conf"
    file.write_text(config)
    command = [find_program(), "-t", "-c", str(file)]
    tried = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False, env=environment())
    assert tried.returncode == 0, tried.stderr


def test_no_configuration_is_printed_for_what_is_none_of_the_nodes() -> None:
    ran = run_command("cluster", "init", "--store", "tls://a.example", "--print-config", "d.example")
    assert (ran.exit_code, "d.example is none of the nodes" in ran.output) == (2, True)


def logged_words() -> list[str]:
    """Return what the log says that the document explains."""
    rows = [line.split(" | ")[0] for line in TEXT.splitlines() if line.startswith("| log: ")]
    return [words.removeprefix("... ") for row in rows for words in re.findall(r"`([^`]+)`", row)]


@each("words", logged_words())
def test_a_line_of_the_log_that_is_explained_is_one_that_there_is(words: str) -> None:
    assert any(words in path.read_text(encoding="utf-8") for path in SERVER.rglob("*.py")), words


@pytest.mark.parametrize("folder", ["cluster", "cluster/jetstream"])
def test_every_warning_of_the_cluster_and_its_store_is_explained(folder: str) -> None:
    for path in (SERVER / folder).glob("*.py"):
        for words in re.findall(r'log\.(?:warning|error|exception)\(\s*"([^"]+)"', path.read_text(encoding="utf-8")):
            assert words in TEXT, f"{path.name}: {words}"
