"""Every import is of the standard library, our own packages or a declared dependency, and each dependency is used."""

import re
import tomllib
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest

from tests.test_architecture import PACKAGES, ROOT, STANDARD_LIBRARY, list_imports, list_modules

OWN = {*(package.name for package in PACKAGES), "tests", "tools"}
REQUIREMENT = re.compile(r"([\w.-]+)(?:\[([\w,-]+)\])?")
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
EXTRAS = PROJECT["optional-dependencies"]
INSTALLED_BY_HAND = {"confusable-homoglyphs"}
"""Needed once, to make the table of look-alike characters (`tools/confusables.py`)."""
DISTRIBUTIONS = packages_distributions()


def normalize(name: str) -> str:
    return name.lower().replace("_", "-")


def names_in(requirements: list[str]) -> set[str]:
    """Return the distributions that requirements name, with their extras, such as ``nkeys`` of ``nats-py[nkeys]``."""
    found = [match for requirement in requirements if (match := REQUIREMENT.match(requirement))]
    return {normalize(name) for match in found for name in (match[1], *(match[2] or "").split(",")) if name}


RUNTIME = names_in([*PROJECT["dependencies"], *EXTRAS["cluster"], *EXTRAS["previews"], *EXTRAS["push"]])


def find_distributions(folder: Path) -> dict[str, str]:
    """Return the distributions that a folder's modules import, each with one of the modules."""
    return {
        normalize(distribution): path.relative_to(ROOT).as_posix()
        for path in list_modules(folder)
        for imported in list_imports(path, folder)
        if imported.top not in STANDARD_LIBRARY | OWN and not imported.top.startswith("<")
        for distribution in DISTRIBUTIONS.get(imported.top, [imported.top])
    }


@pytest.mark.parametrize("package", PACKAGES, ids=lambda package: package.name)
def test_a_package_imports_only_declared_dependencies(package: Path) -> None:
    assert {name: path for name, path in find_distributions(package).items() if name not in RUNTIME} == {}


@pytest.mark.parametrize("folder", [ROOT / "tools", ROOT / "tests"], ids=lambda folder: folder.name)
def test_tools_and_tests_import_only_declared_dependencies(folder: Path) -> None:
    declared = RUNTIME | names_in(EXTRAS["dev"]) | INSTALLED_BY_HAND
    assert {name: path for name, path in find_distributions(folder).items() if name not in declared} == {}


def test_every_declared_dependency_is_imported() -> None:
    assert RUNTIME - {name for package in PACKAGES for name in find_distributions(package)} == set()
