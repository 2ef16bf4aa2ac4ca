import re
import subprocess
from pathlib import Path

import pytest

from tests.environment import environment
from tests.page.checkers import TIMEOUT_SECONDS, tsc
from tests.page.weight import weigh
from tests.rows import each
from tictactoe_server.http.assets import FOLDER
from tictactoe_words.catalogue import LANGUAGES
from tools.protocol_types import PATH, render_declarations

HEAVIEST = 60 * 1024
FILES = sorted(path for path in FOLDER.rglob("*") if path.is_file())


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_files_needed_for_a_first_board_are_small(language: str) -> None:
    weights = weigh(language)
    assert sum(weights.values()) <= HEAVIEST, weights


@each("path", FILES)
def test_page_files_insert_no_markup_and_load_nothing_foreign(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert not re.search(r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|\bstyle=\"|\bon\w+=\"", text)
    assert set(re.findall(r"https?://[\w.]+", text)) <= {"http://www.w3.org"}


def test_the_typescript_declarations_are_up_to_date() -> None:
    assert PATH.read_text(encoding="utf-8") == render_declarations()


@pytest.mark.timeout(TIMEOUT_SECONDS)
def test_the_modules_pass_type_checking() -> None:
    command = (tsc(), "--project", Path(__file__).parent / "tsconfig.json")
    assert subprocess.run(command, capture_output=True, text=True, check=False, env=environment()).stdout == ""
