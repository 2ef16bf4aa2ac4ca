import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.environment import environment

LATIN = b"J\xfcrgen"


@pytest.mark.parametrize(
    ("arguments", "variables"),
    [
        (["tictactoe_client", b"-n", LATIN, "bot", "--plain"], {}),
        (["tictactoe_client", "bot", "--plain"], {b"TICTACTOE_NAME": LATIN}),
        (["tictactoe_client", "event", "new", "--title", LATIN], {}),
        (["tictactoe_server", "announce", LATIN], {}),
        (["tictactoe_server", "status"], {b"TICTACTOE_DATA": LATIN}),
    ],
)
def test_invalid_utf_8_is_refused(arguments: list[str | bytes], variables: dict[bytes, bytes], tmp_path: Path) -> None:
    variables = {**{os.fsencode(key): os.fsencode(value) for key, value in environment().items()}, **variables}
    command = [sys.executable, "-m", *arguments]
    done = subprocess.run(command, env=variables, cwd=tmp_path, capture_output=True, check=False)
    assert done.returncode == 2
    assert b'J?rgen" has bytes that are not UTF-8' in done.stderr
    assert b"Traceback" not in done.stderr
