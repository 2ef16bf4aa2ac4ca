"""What a release said of itself is not rewritten afterwards."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Final

import pytest

from tests.environment import environment

TOP: Final = Path(__file__).parent.parent


def git(*arguments: str) -> str:
    finished = subprocess.run(
        ("git", *arguments), cwd=TOP, capture_output=True, text=True, check=False, env=environment()
    )
    return finished.stdout if finished.returncode == 0 else ""


def entries(changelog: str) -> dict[str, str]:
    """Return the text of each version's entry by its heading."""
    sections = (section.partition("\n") for section in changelog.split("\n## ")[1:])
    return {heading: text.strip() for heading, _, text in sections}


def test_the_entries_of_released_versions_read_as_they_were_released() -> None:
    if not (TOP / ".git").exists() or git("rev-parse", "--is-shallow-repository").strip() != "false":
        pytest.skip("this copy has no history")
    now = entries((TOP / "CHANGELOG.md").read_text(encoding="utf-8"))
    for commit in git("log", "--format=%h", "-G^version = ", "HEAD", "--", "pyproject.toml").split():
        released = entries(git("show", f"{commit}:CHANGELOG.md"))
        version = next(iter(released), "")
        assert now.get(version, released.get(version)) == released.get(version)
