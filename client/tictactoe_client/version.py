"""Which version this copy of the program is, which ones of the protocol it speaks, and what brings a newer one.

How it came here is read from what installers leave behind: pipx and uv beside the environment, pip in the metadata."""

from __future__ import annotations

import json
import shlex
import sys
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from pathlib import Path
from typing import Any, Final
from urllib.parse import unquote, urlsplit
from urllib.request import url2pathname

from tictactoe_protocol.catalogue import say

DISTRIBUTION: Final = "tictactoe-rooms"
PROTOCOL_VERSIONS: Final = (1,)
"""What this client speaks, ascending."""


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


def format_versions(versions: tuple[int, ...]) -> str:
    """Return versions as a range.

    >>> format_versions((1,)), format_versions((3, 4))
    ('1', '3-4')
    """
    return str(versions[0]) if len(versions) == 1 else f"{versions[0]}-{versions[-1]}"


def describe_mismatch(server_versions: tuple[int, ...], own: tuple[int, ...] = PROTOCOL_VERSIONS) -> str:
    """Return which side is too old, and what to do; `server_versions` is ascending and not empty."""
    places = {"version": client_version(), "own": format_versions(own), "needs": format_versions(server_versions)}
    if server_versions[0] > own[-1]:
        return say("client too old", **places, way=upgrade_command() or say("upgrade as installed"))
    return say("server too old", **places)
