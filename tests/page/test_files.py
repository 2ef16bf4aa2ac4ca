import json
import re
import subprocess
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

from tests.environment import environment
from tests.node import run_node
from tests.page.checkers import TIMEOUT_SECONDS, tsc
from tests.page.weight import weigh
from tests.rows import each
from tictactoe_server.http.assets import FOLDER, Assets
from tictactoe_words.catalogue import LANGUAGES, open_catalogue
from tools.protocol_types import PATH, render_declarations

HEAVIEST = 60 * 1024
MOST_LINES = 300
MOST_LINES_OF_A_FUNCTION = 60
FUNCTION = re.compile(r"(\t*)(?!if|for|while|switch|class|export class|return|\}|//|/\*).*(\)|=>) \{$")

FILES = sorted(path for path in FOLDER.rglob("*") if path.is_file())
IMPORT = re.compile(r'(?:from|import\(?)\s*"(\.[^"]+)"')


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_files_needed_for_a_first_board_are_small(language: str) -> None:
    weights = weigh(language)
    assert sum(weights.values()) <= HEAVIEST, weights


@pytest.mark.parametrize("language", LANGUAGES)
def test_event_sentences_are_loaded_separately(language: str) -> None:
    assets = Assets()
    common, more = (assets.named(f"{place}{language}.json") for place in ("", "more."))
    assert common is not None
    assert more is not None
    assert {"page event wall", "tournament kind double"} <= json.loads(more.body).keys()
    assert not json.loads(common.body).keys() & json.loads(more.body).keys()


@each("path", [path for path in FILES if path.suffix == ".js"])
def test_a_module_is_short(path: Path) -> None:
    assert len(path.read_text(encoding="utf-8").splitlines()) < MOST_LINES


@each("path", [path for path in FILES if path.suffix == ".js"])
def test_functions_are_short(path: Path) -> None:
    lines = path.read_text(encoding="utf-8").splitlines()
    for number, line in enumerate(lines):
        if opened := FUNCTION.match(line):
            closed = next(at for at, other in enumerate(lines[number:]) if other.startswith(f"{opened[1]}}}"))
            assert closed < MOST_LINES_OF_A_FUNCTION, line.strip()


@each("path", FILES)
def test_page_files_insert_no_markup_and_load_nothing_foreign(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert not re.search(r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|\bstyle=\"|\bon\w+=\"", text)
    assert set(re.findall(r"https?://[\w.]+", text)) <= {"http://www.w3.org"}


@each("path", [path for path in FILES if path.suffix == ".js"])
def test_a_module_has_no_sentence_of_its_own(path: Path) -> None:
    code = re.sub(r"/\*\*.*?\*/|^\s*//.*?$", "", path.read_text(encoding="utf-8"), flags=re.DOTALL | re.MULTILINE)
    if path.name == "catalogue.js":  # it names a missing sentence for developers
        code = re.sub(r"new RangeError\(.*\)", "", code)
    ids = "\n".join(open_catalogue("en").sentences)
    for quoted in re.findall(r'"((?:[^"\\\n]|\\.)*)"|`((?:[^`\\]|\\.)*)`', code):
        for part in re.split(r"\$\{[^}]*\}", "".join(quoted)):
            is_sentence = re.search(r"[A-Z][a-z]+ [a-z]{2}|[a-z]{2,} [a-z]{2,} [a-z]{2,}", part)
            assert not is_sentence or part in ids, part


def test_the_typescript_declarations_are_up_to_date() -> None:
    assert PATH.read_text(encoding="utf-8") == render_declarations()


@pytest.mark.timeout(TIMEOUT_SECONDS)
def test_the_modules_pass_type_checking() -> None:
    command = (tsc(), "--project", Path(__file__).parent / "tsconfig.json")
    assert subprocess.run(command, capture_output=True, text=True, check=False, env=environment()).stdout == ""


def test_no_modules_import_each_other_in_a_circle_not_even_at_run_time() -> None:
    modules = {path: path.read_text(encoding="utf-8") for path in FILES if path.suffix == ".js"}
    imports = {path: {(path.parent / name).resolve() for name in IMPORT.findall(modules[path])} for path in modules}
    assert any(imports.values())
    TopologicalSorter(imports).prepare()  # raises CycleError


def test_the_bundles_are_valid_modules(tmp_path: Path) -> None:
    """The modules of a bundle share one scope, so that two of the same name are a syntax error."""
    for name in ("main.js", "embed.js"):
        bundle = Assets().named(name)
        assert bundle is not None
        (tmp_path / f"{name[:-3]}.mjs").write_bytes(bundle.body)
        run_node("--check", str(tmp_path / f"{name[:-3]}.mjs"))
