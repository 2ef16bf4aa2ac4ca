"""The version of this copy of the program, and the command that upgrades it.

How it was installed is read from the files that installers leave: pipx's and uv's in the environment, pip's in the
metadata.
"""

from __future__ import annotations

import json
import shlex
import sys
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from pathlib import Path
from typing import Any, Final
from urllib.parse import unquote, urlsplit
from urllib.request import url2pathname

from tictactoe_protocol import PROTOCOL_VERSION
from tictactoe_protocol.catalogue import say

DISTRIBUTION: Final = "tictactoe-rooms"


def client_version() -> str:
    """Return the version of the installed distribution, or ``0`` where it runs uninstalled."""
    found = _find()
    return found.version if found is not None else "0"


def upgrade_command() -> str | None:
    """Return the line that upgrades this copy, or None where it is not known how it was installed."""
    found = _find()
    if found is None:
        return None
    came_from = json.loads(found.read_text("direct_url.json") or "{}")
    installer = (found.read_text("INSTALLER") or "").strip()
    return describe_upgrade(Path(sys.prefix), sys.executable, installer, came_from)


def describe_upgrade(prefix: Path, python: str, installer: str, came_from: dict[str, Any]) -> str | None:
    """Return the line that upgrades a copy in the environment `prefix`, or None for one from a file.

    `came_from` is the ``direct_url.json`` of its metadata (PEP 610), empty for a copy from an index.
    """
    if (prefix / "pipx_metadata.json").is_file():
        return f"pipx upgrade {DISTRIBUTION}"
    if (prefix / "uv-receipt.toml").is_file():
        return f"uv tool upgrade {DISTRIBUTION}"
    python = shlex.quote(python)
    install = f"uv pip install --python {python}" if installer == "uv" else f"{python} -m pip install"
    url = str(came_from.get("url", ""))
    if not url:
        return f"{install} --upgrade {DISTRIBUTION}"
    if "dir_info" in came_from:
        clone = shlex.quote(url2pathname(unquote(urlsplit(url).path)))
        pull = f"git -C {clone} pull"
        return pull if came_from["dir_info"].get("editable") else f"{pull} && {install} {clone}"
    if "vcs_info" in came_from:
        return f"{install} --upgrade {shlex.quote(came_from['vcs_info']['vcs'] + '+' + url)}"
    return None


def _find() -> Distribution | None:
    try:
        return distribution(DISTRIBUTION)
    except PackageNotFoundError:
        return None


def describe_mismatch(server_version: int) -> str:
    """Return which side speaks the older protocol, and what to do about it."""
    places = {"version": client_version(), "own": PROTOCOL_VERSION, "needs": server_version}
    if server_version > PROTOCOL_VERSION:
        return say("client too old", **places, way=upgrade_command() or say("upgrade as installed"))
    return say("server too old", **places)
