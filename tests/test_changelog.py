import re
import subprocess
from pathlib import Path
from typing import Final

import pytest

from tests.environment import environment

TOP: Final = Path(__file__).parent.parent
CHANGELOG: Final = (TOP / "CHANGELOG.md").read_text(encoding="utf-8")
FIRST_PUBLISHED_MAJOR: Final = 2


def git(*arguments: str) -> str:
    finished = subprocess.run(
        ("git", *arguments), cwd=TOP, capture_output=True, text=True, check=False, env=environment()
    )
    return finished.stdout if finished.returncode == 0 else ""


def split_entries(changelog: str) -> dict[str, str]:
    """Return the text of each version's entry by its heading, newest first."""
    sections = (section.partition("\n") for section in changelog.split("\n## ")[1:])
    return {heading: text.strip() for heading, _, text in sections}


def was_published(heading: str) -> bool:
    major = re.match(r"\d+", heading)
    return major is not None and int(major[0]) >= FIRST_PUBLISHED_MAJOR and "not released yet" not in heading


def test_entries_of_published_versions_stay_as_they_were_published() -> None:
    if not (TOP / ".git").exists() or git("rev-parse", "--is-shallow-repository").strip() != "false":
        pytest.skip("this copy has no history")
    entries = split_entries(CHANGELOG)
    for commit in git("log", "--format=%h", "-G^version = ", "HEAD", "--", "pyproject.toml").split():
        published = split_entries(git("show", f"{commit}:CHANGELOG.md"))
        heading = next(iter(published), "")
        assert not was_published(heading) or entries.get(heading) == published[heading]


def test_versions_are_listed_newest_first() -> None:
    versions = [tuple(map(int, re.split(r"[.,]", heading)[:3])) for heading in split_entries(CHANGELOG)]
    assert versions == sorted(versions, reverse=True)
