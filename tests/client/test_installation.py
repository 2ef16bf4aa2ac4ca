"""The line that brings a newer copy, by the way in which this one was installed."""

from __future__ import annotations

from importlib.metadata import version
from pathlib import Path
from typing import Any

import pytest

from tictactoe_client.version import DISTRIBUTION, client_version, describe_upgrade

PYTHON = "/opt/games/bin/python"


@pytest.mark.parametrize(
    ("left", "installer", "came_from", "line"),
    [
        ("pipx_metadata.json", "pip", {}, "pipx upgrade tictactoe-rooms"),
        ("uv-receipt.toml", "uv", {}, "uv tool upgrade tictactoe-rooms"),
        (None, "pip", {}, f"{PYTHON} -m pip install --upgrade tictactoe-rooms"),
        (None, "uv", {}, f"uv pip install --python {PYTHON} --upgrade tictactoe-rooms"),
        (
            None,
            "pip",
            {"url": "file:///home/ana/my%20games", "dir_info": {}},
            f"git -C '/home/ana/my games' pull && {PYTHON} -m pip install '/home/ana/my games'",
        ),
        (
            None,
            "pip",
            {"url": "file:///home/ana/tictactoe", "dir_info": {"editable": True}},
            "git -C /home/ana/tictactoe pull",
        ),
        (
            None,
            "pip",
            {"url": "https://example.org/tictactoe", "vcs_info": {"vcs": "git", "commit_id": "abc"}},
            f"{PYTHON} -m pip install --upgrade git+https://example.org/tictactoe",
        ),
        (None, "pip", {"url": "file:///tmp/tictactoe_rooms.whl", "archive_info": {}}, None),
    ],
)
def test_the_line_names_the_way_that_this_copy_came(
    tmp_path: Path, left: str | None, installer: str, came_from: dict[str, Any], line: str | None
) -> None:
    if left is not None:
        (tmp_path / left).touch()
    assert describe_upgrade(tmp_path, PYTHON, installer, came_from) == line


def test_the_version_is_that_of_the_distribution() -> None:
    assert client_version() == version(DISTRIBUTION)
