"""The examples in docstrings, of the modules that have any; pytest itself would import and search every module."""

import doctest
import importlib
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
FOLDERS = (*(ROOT / name for name in ("protocol", "server", "client", "lab")), ROOT)


def modules_with_examples() -> Iterator[str]:
    for folder in FOLDERS:
        for path in sorted(folder.glob("t*/**/*.py")):
            if path != Path(__file__) and ">>> " in path.read_text():
                yield ".".join(path.relative_to(folder).with_suffix("").parts).removesuffix(".__init__")


@pytest.mark.parametrize("module", [*modules_with_examples()])
def test_the_examples_of_a_module_are_correct(module: str) -> None:
    result = doctest.testmod(importlib.import_module(module))
    assert result.attempted
    assert not result.failed
