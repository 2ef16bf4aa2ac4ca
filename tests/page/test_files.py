"""What the page is made of: its weight, that it is written as text alone, and that it agrees with the protocol."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.environment import environment
from tests.page.checkers import tsc
from tictactoe_engine import PRESETS
from tictactoe_protocol.pushes import FEATURES, RulesState
from tictactoe_server.http.assets import FOLDER, Assets
from tools.protocol_types import PATH, render_declarations

HEAVIEST = 60 * 1024
"""What may travel until a room's board is seen, in bytes."""

LATER = {"graph", "home", "lobby", "mini", "newroom", "review", "reviewing"}
"""The modules of other pages, and of what follows a game."""

MOST_LINES = 250

FILES = sorted(path for path in FOLDER.rglob("*") if path.is_file())
NODE = "import {PRESETS, rulesOf} from '%s'; console.log(JSON.stringify(PRESETS.map(rulesOf)))"


def test_what_leads_to_a_board_weighs_little_on_its_way() -> None:
    assets = Assets()
    names = [path.name for path in FILES if path.name != "index.html" and path.stem not in LATER]
    found = [asset for asset in map(assets.named, [*names, "en.json"]) if asset is not None]
    assert sum(len(asset.packed) for asset in found) <= HEAVIEST


@pytest.mark.parametrize("path", [path for path in FILES if path.suffix == ".js"], ids=lambda path: path.name)
def test_a_module_is_short(path: Path) -> None:
    assert len(path.read_text(encoding="utf-8").splitlines()) < MOST_LINES


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_a_file_puts_no_markup_in_and_names_nobody_else(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert not re.search(r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|\bstyle=\"|\bon\w+=\"", text)
    assert set(re.findall(r"https?://[\w.]+", text)) <= {"http://www.w3.org"}


def test_the_declarations_are_those_of_the_protocol() -> None:
    assert PATH.read_text(encoding="utf-8") == render_declarations()


def test_the_features_that_a_hello_names_are_those_of_the_protocol() -> None:
    named = re.search(r"const FEATURES = (\[.*\]);", (FOLDER / "connection.js").read_text(encoding="utf-8"))
    assert named
    assert json.loads(named[1]) == list(FEATURES)


def test_the_modules_have_the_types_that_they_say() -> None:
    command = (tsc(), "--project", Path(__file__).parent / "tsconfig.json")
    assert subprocess.run(command, capture_output=True, text=True, check=False, env=environment()).stdout == ""


@pytest.mark.skipif(shutil.which("node") is None, reason="no node on this machine")
def test_the_games_with_a_name_are_those_of_the_engine() -> None:
    command = ("node", "--input-type=module", "--eval", NODE % (FOLDER / "rules.js").as_uri())
    found = json.loads(subprocess.run(command, capture_output=True, text=True, check=True, env=environment()).stdout)
    expected = [RulesState.of(rules) for rules in PRESETS.values()]
    assert [RulesState(**{**rules, "blocked": tuple(rules["blocked"])}) for rules in found] == expected
