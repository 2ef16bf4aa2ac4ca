"""docs/how-to/run-a-cluster.md: nats-server accepts its configuration, and it quotes the program correctly."""

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
from tictactoe_server.features.jetstream.stream import RIGHTS

ROOT = Path(__file__).parents[2]
TEXT = (ROOT / "docs" / "how-to" / "run-a-cluster.md").read_text(encoding="utf-8")
SERVER = ROOT / "server" / "tictactoe_server"


def documented_config() -> str:
    return (ROOT / "deploy" / "cluster" / "nats.machines.conf").read_text(encoding="utf-8")


def test_nats_server_accepts_the_documented_configuration(tmp_path: Path) -> None:
    authority = Authority(tmp_path)
    authority.issue()
    config = documented_config().replace("/var/lib/nats", str(tmp_path / "data"))
    for name, path in (("ca.pem", authority.ca), ("cert.pem", authority.cert), ("key.pem", authority.key)):
        config = config.replace(f"/etc/nats/{name}", str(path))
    for placeholder in ("UADMIN", "UGAME", "USYSTEM"):
        seed = nkeys.encode_seed(os.urandom(32), nkeys.PREFIX_BYTE_USER)
        config = config.replace(placeholder, nkeys.from_seed(bytearray(seed)).public_key.decode())
    file = tmp_path / "nats.conf"
    file.write_text(config)
    command = [find_program(), "-t", "-c", str(file)]
    tried = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False, env=environment())
    assert tried.returncode == 0, tried.stderr


def test_the_documented_configuration_grants_the_permissions_that_servers_need() -> None:
    for verb, subjects in RIGHTS.items():
        listed = ", ".join(f'"{subject}"' for subject in subjects)
        assert f"  {verb} {{ allow: [{listed}] }}\n" in documented_config()


LOGGED = [line.partition("`: ")[0] + "`" for line in TEXT.splitlines() if line.startswith("- log: ")]


@each("message", [message.removeprefix("... ") for row in LOGGED for message in re.findall(r"`([^`]+)`", row)])
def test_a_documented_log_message_exists(message: str) -> None:
    assert any(message in path.read_text(encoding="utf-8") for path in SERVER.rglob("*.py")), message


@pytest.mark.parametrize("folder", ["features/cluster", "features/jetstream"])
def test_every_warning_of_the_cluster_and_its_store_is_documented(folder: str) -> None:
    for path in (SERVER / folder).glob("*.py"):
        for words in re.findall(r'log\.(?:warning|error|exception)\(\s*"([^"]+)"', path.read_text(encoding="utf-8")):
            assert words in TEXT, f"{path.name}: {words}"
