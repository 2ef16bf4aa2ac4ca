from pathlib import Path

import pytest

GAMES = """\
[X "ana"]
[O "bo"]

1. b2 a1 2. c1 {A threat.} a3 3. a2 c3 4. c2 X

[Rules "four"]
1. a1 *
"""


@pytest.fixture
def games(tmp_path: Path) -> str:
    file = tmp_path / "games.txt"
    file.write_text(GAMES)
    return str(file)
