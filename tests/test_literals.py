"""Text for people comes from the catalogue, so that every language has it."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from tests.literals import IDS, PLACE, Literal, find_in_python, find_in_script

ROOT: Final = Path(__file__).parents[1]
CLIENT: Final = ROOT / "client" / "tictactoe_client"
LAB: Final = ROOT / "lab" / "tictactoe_lab"
PAGE: Final = ROOT / "server" / "tictactoe_server" / "web"

ALLOWED: Final = (
    ("cli/main.py", r"(.* )?--[a-z].*|(join )?K7M4PQ( [a-z ]+)?|set .*|unset theme", "command lines, as examples"),
    ("cli/main.py", r"claim ana", "a command line, as an example"),
    ("tictactoe_lab/commands.py", r"(.* )?--[a-z].*", "command lines, as examples"),
    ("cli/commands.py", r"\0 (join|--server) \0", "command lines"),
    ("cli/commands.py", r"NO_COLOR, FORCE_COLOR", "names of variables"),
    ("cli/rooms.py", r"\0 ms", "a unit"),
    ("brain/gomocup.py", r"(START|RECTSTART|INFO|TURN) .*", "words of the protocol"),
    ("brain/engine.py", r"INFO .*|MESSAGE ", "words of the protocol"),
    ("brain/serve.py", r"(ERROR|UNKNOWN) .*|name=.*", "words of the protocol"),
    ("brain/serve.py", r"(invalid|unsupported) [a-z]+|not the engine's turn|the game is over", "read by a program"),
    ("nearby.py", r"(?s)HEAD .*|--host .*", "a request of HTTP, and options of a command"),
    ("online/messages.py", r"\0 failed", "said to whoever wrote the listener"),
    (".py", r"tictactoe [a-z]+", "the name of a task"),
    ("text/programs.py", r"\0 join \0", "a command line"),
    ("waiting.js", r"tictactoe-client join \0", "a command line"),
    ("catalogue.js", r".*sentence.*", "said to whoever writes the page"),
    ("later.js", r"language=.*", "a cookie"),
    (".js", r"taking back", "why an offer lapsed, as `happened` names it"),
    (".py", r"TLS: .*", "the name of a protocol, and what the library says"),
    ("tui/home.py", r" *\0 ms", "a unit"),
    ("themes.py", r"[a-z\0 -]+", "names of styles"),
    ("tui/canvas.py", r"default on default", "the name of a style"),
    ("signals.js", r"<circle .*", "a part of a picture"),
    ("share.js", r"<iframe .*", "a tag"),
    ("", r"(draw|undo|rematch) (accept|decline)", "names of actions"),
    ("dom.js", r"input, select|button, a", "selectors"),
)
"""Allowed text, internal or the same in every language: end of the path, pattern of the text, reason."""


def list_modules() -> Iterator[tuple[Path, list[Literal]]]:
    """Yield the modules of the client, the lab and the page, each with its forbidden text."""
    for path in sorted((*CLIENT.rglob("*.py"), *LAB.rglob("*.py"), *PAGE.rglob("*.js"))):
        source = path.read_text(encoding="utf-8")
        found = find_in_python(source) if path.suffix == ".py" else find_in_script(source)
        yield path, [literal for literal in found if not is_allowed(path, literal)]


def is_allowed(path: Path, literal: Literal) -> bool:
    """Return True if the text is not for people, such as CSS classes in the page's modules."""
    words = re.findall(rf"[^ {PLACE}]+{PLACE}?", literal.text)
    if path.suffix == ".js" and all(
        # A word that ends in a placeholder may be the beginning of a class.
        word in CLASSES or (word.endswith(PLACE) and any(name.startswith(word[:-1]) for name in CLASSES))
        for word in words
    ):
        return True
    return any(
        str(path).endswith(end) and re.fullmatch(pattern.replace(r"\0", PLACE), literal.text)
        for end, pattern, _ in ALLOWED
    )


CLASSES: Final = frozenset(
    name for sheet in PAGE.rglob("*.css") for name in re.findall(r"\.([a-z][\w-]*)", sheet.read_text(encoding="utf-8"))
)


def test_client_lab_and_page_contain_no_text_for_people() -> None:
    found = [
        f"{path.relative_to(ROOT)}:{literal.line}: {literal.text!r}"
        for path, literals in list_modules()
        for literal in literals
    ]
    assert found == []


def list_strings(path: Path) -> Iterator[str]:
    source = path.read_text(encoding="utf-8")
    if path.suffix != ".py":
        yield from re.findall(r'"([^"\n]*)"', source)
        yield from (re.sub(r"\$\{[^}]*\}", PLACE, text) for text in re.findall(r"`([^`\n]*)`", source))
        return
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.JoinedStr):
            yield "".join(str(part.value) if isinstance(part, ast.Constant) else PLACE for part in node.values)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.value


def find_dead(ids: tuple[str, ...], strings: set[str]) -> list[str]:
    """Return the ids that no string matches, even with filled placeholders or a suffix such as ``, you``."""
    places = [text for text in strings if PLACE in text and re.match("[a-z]{2,}.* ", text)]
    made = [re.compile(".+".join(map(re.escape, text.split(PLACE)))) for text in places]
    ends = tuple(text.removeprefix(PLACE) for text in strings if text.startswith(f"{PLACE}, "))
    return [
        id
        for id in ids
        if id not in strings
        and not any(id.endswith(end) and id.removesuffix(end) in ids for end in ends)
        and not any(pattern.fullmatch(id) for pattern in made)
    ]


def test_every_sentence_of_the_catalogue_is_used() -> None:
    folders = (CLIENT, LAB, ROOT / "server" / "tictactoe_server", ROOT / "protocol")
    modules = [path for folder in folders for path in folder.rglob("*") if path.suffix in (".py", ".js", ".html")]
    said = {text for path in modules for text in list_strings(path)}
    assert find_dead(tuple(id for id in IDS if id != "language"), said) == []
    assert find_dead(("goodbye", "deed fly", "hello there"), {"goodbye", f"deed {PLACE}"}) == ["hello there"]
