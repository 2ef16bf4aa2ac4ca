"""The longer tables of cases, by name, from `cases.json`."""

import json
from pathlib import Path
from typing import Any

_TABLES: dict[str, list[Any]] = json.loads(Path(__file__).with_name("cases.json").read_text(encoding="utf-8"))


def cases(name: str) -> list[Any]:
    return _TABLES[name]
