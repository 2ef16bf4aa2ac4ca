"""Which module may import which, read from the source without running it.

- The engine and the rooms use no sockets, clocks, randomness or logging, and the protocol no transport.
- The protocol has no sentences: messages carry codes and data, which `tictactoe_words` puts into words.
- Server and client never import each other. The lab builds on the client, and nothing builds on the lab.
- Folders import only folders on lower levels, and modules never import each other in a circle.
- No other part of the server imports a feature, and features import only features before them in their list.
- Only the tests of programs run by hand import these programs.
"""

from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
from collections.abc import Iterable, Iterator, Sequence, Set
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest

from tests.rows import each

ROOT = Path(__file__).parent.parent
ENGINE = ROOT / "protocol" / "tictactoe_engine"
PROTOCOL = ROOT / "protocol" / "tictactoe_protocol"
WORDS = ROOT / "protocol" / "tictactoe_words"
SERVER = ROOT / "server" / "tictactoe_server"
CLIENT = ROOT / "client" / "tictactoe_client"
LAB = ROOT / "lab" / "tictactoe_lab"
PACKAGES = (ENGINE, PROTOCOL, WORDS, SERVER, CLIENT, LAB)
TESTS = ROOT / "tests"
RUN_BY_HAND = tuple(f"tools.{name}" for name in ("attacks", "bench", "cluster", "soak"))
STANDARD_LIBRARY = frozenset(sys.stdlib_module_names)

CLIENT_LEVELS = (
    {"version"},
    {"online", "themes"},
    {"__init__"},
    {"settings", "nearby"},
    {"board", "streams"},
    {"text"},
    {"files"},
    {"session", "exits", "input"},
    {"lobby", "visit"},
    {"plain", "json_mode", "tui"},
    {"cli"},
    {"__main__"},
)
"""Folders and single modules of the client, lowest first; each imports only lower levels."""
LAB_LEVELS = ({"__init__"}, {"brain"}, {"cup"}, {"commands"})
SERVER_LEVELS = (
    {"__init__", "clock", "files"},
    {"settings", "fair_queue"},
    {"scheduler"},
    {"storage", "transport"},
    {"rooms"},
    {"records"},
    {"people"},
    {"core"},
    {"operator"},
    {"http"},
    {"play"},
    {"features"},
    {"server"},
    {"cli"},
    {"__main__"},
)
CORE = ("core", "rooms")
"""The folders of the core: rooms as values, how they change, who sees them, and the sessions of players."""
MOST_LINES = {"core": 4_500, "without features": 15_800, "a feature": 3_000}
"""Most lines of the server's parts, with about 5 % of air."""
MOST_FLOORS = 6
"""The longest chain of imports within the core."""

SHAPELESS_NAMES = frozenset({"utils", "util", "helpers", "helper", "common", "base"})


@dataclass(frozen=True, slots=True)
class Import:
    """An imported module by its full dotted name, with the imported names."""

    module: str
    line: int
    typing_only: bool
    names: tuple[str, ...] = ()

    @property
    def top(self) -> str:
        """The first part of the dotted name."""
        return self.module.partition(".")[0]


@dataclass(frozen=True, slots=True)
class Contract:
    """The top-level packages that a module may import.

    Attributes:
        forbidden: Packages that must not be imported.
        allowed: The only packages that may be imported; None for any.
        typing_only: Forbidden packages that may be imported for annotations.
    """

    forbidden: frozenset[str]
    allowed: frozenset[str] | None = None
    typing_only: frozenset[str] = frozenset()

    def permits(self, imported: Import) -> bool:
        if imported.top in self.typing_only and imported.typing_only:
            return True
        return imported.top not in self.forbidden and (self.allowed is None or imported.top in self.allowed)


ENGINE_CONTRACT = Contract(
    allowed=STANDARD_LIBRARY | {"tictactoe_engine"},
    forbidden=frozenset(
        {"asyncio", "time", "datetime", "random", "os", "socket", "logging", "threading", "multiprocessing"}
    ),
    typing_only=frozenset({"random"}),
)
PROTOCOL_CONTRACT = Contract(
    allowed=STANDARD_LIBRARY | {"tictactoe_protocol", "tictactoe_engine", "msgspec"},
    forbidden=frozenset({"asyncio", "socket", "time", "random", "secrets"}),
)
WORDS_CONTRACT = Contract(
    allowed=STANDARD_LIBRARY | {"tictactoe_words", "tictactoe_protocol", "tictactoe_engine", "msgspec"},
    forbidden=PROTOCOL_CONTRACT.forbidden,
)
SERVER_CONTRACT = Contract(forbidden=frozenset({"tictactoe_client", "tictactoe_lab"}))
CLIENT_CONTRACT = Contract(forbidden=frozenset({"tictactoe_server", "tictactoe_lab"}))
LAB_CONTRACT = Contract(
    allowed=STANDARD_LIBRARY
    | {"tictactoe_lab", "tictactoe_client", "tictactoe_words", "tictactoe_protocol", "tictactoe_engine", "msgspec"},
    forbidden=frozenset(),
)
ROOM_CONTRACT = Contract(
    forbidden=frozenset(
        {"asyncio", "time", "random", "secrets", "logging", "structlog", "socket", "websockets", "sqlite3"}
    )
)


class _ImportCollector(ast.NodeVisitor):
    """Collects all imports of a module, nested ones included."""

    def __init__(self, package: tuple[str, ...]) -> None:
        self.imports: list[Import] = []
        self._package = package
        self._typing_only = False

    def visit_If(self, node: ast.If) -> None:
        self.visit(node.test)
        outside = self._typing_only
        self._typing_only = outside or ast.unparse(node.test) in {"TYPE_CHECKING", "typing.TYPE_CHECKING"}
        for child in node.body:
            self.visit(child)
        self._typing_only = outside
        for child in node.orelse:
            self.visit(child)

    def visit_Import(self, node: ast.Import) -> None:
        for alias in node.names:
            self._add(alias.name, node.lineno)

    def visit_ImportFrom(self, node: ast.ImportFrom) -> None:
        origin = self._package[: len(self._package) - node.level + 1] if node.level else ()
        names = tuple(alias.name for alias in node.names)
        self._add(".".join((*origin, *filter(None, [node.module]))) or "<outside>", node.lineno, names)

    def visit_Call(self, node: ast.Call) -> None:
        called = ast.unparse(node.func)
        if called in {"__import__", "import_module", "importlib.import_module"}:
            match node.args:
                case [ast.Constant(value=str(module)), *_]:
                    self._add(module, node.lineno)
                case _:
                    self._add("<computed>", node.lineno)
        self.generic_visit(node)

    def _add(self, module: str, line: int, names: tuple[str, ...] = ()) -> None:
        self.imports.append(Import(module, line, self._typing_only, names))


@cache
def list_imports(path: Path, package: Path) -> Sequence[Import]:
    """Return every import of the module at `path` inside `package`, relative ones with their full name."""
    parents = path.relative_to(package.parent).parent.parts
    collector = _ImportCollector(parents)
    collector.visit(ast.parse(path.read_text(encoding="utf-8"), str(path)))
    return collector.imports


def list_modules(package: Path) -> list[Path]:
    return sorted(package.rglob("*.py"))


def find_breaches(contract: Contract, package: Path, modules: Sequence[Path]) -> Iterator[str]:
    """Yield a line "module:line imports what" for each import that breaks the contract."""
    assert modules, f"no modules found in {package}"
    for path in modules:
        for imported in list_imports(path, package):
            if not contract.permits(imported):
                yield f"{path.relative_to(package.parent)}:{imported.line} imports {imported.module}"


def list_room_modules(server: Path) -> list[Path]:
    """Return the modules of the server's folder ``rooms``, which decide what happens in a room."""
    return [path for path in list_modules(server) if path.parent.name == "rooms"]


def find_upward_imports(package: Path, levels: Sequence[Set[str]]) -> Iterator[str]:
    """Yield a line for each import of a folder on the same or a higher level."""
    level_of = {name: level for level, names in enumerate(levels) for name in names}
    for path in list_modules(package):
        inside = path.relative_to(package).with_suffix("").parts
        for imported in list_imports(path, package):
            parts = imported.module.split(".")[1:] or ["__init__"]
            if imported.top != package.name:
                continue
            if parts[0] != inside[0] and level_of[parts[0]] >= level_of[inside[0]]:
                yield f"{path.relative_to(package.parent)}:{imported.line} imports {imported.module}"


def map_imports(package: Path, modules: Iterable[Path]) -> dict[str, list[str]]:
    """Return, for each of these modules, which of the others it imports, by full names."""
    paths = {name_of(path, package): path for path in modules}
    return {name: list(list_own_imports(path, package, paths.keys())) for name, path in paths.items()}


def find_circle(package: Path) -> list[str]:
    """Return the modules of a circle of imports, if there is any; imports for type checkers count."""
    known = map_imports(package, list_modules(package))
    done: set[str] = set()

    def walk(name: str, way: tuple[str, ...]) -> list[str]:
        if name in way:
            return [*way[way.index(name) :], name]
        if name in done:
            return []
        circle = next(filter(None, (walk(imported, (*way, name)) for imported in known[name])), [])
        done.add(name)
        return circle

    return next(filter(None, (walk(name, ()) for name in known)), [])


def name_of(path: Path, package: Path) -> str:
    return ".".join(path.relative_to(package.parent).with_suffix("").parts).removesuffix(".__init__")


def list_own_imports(path: Path, package: Path, modules: Set[str]) -> Iterator[str]:
    """Yield the package's modules that a module imports; an imported name may itself be a module."""
    for imported in list_imports(path, package):
        inside = {f"{imported.module}.{name}" for name in imported.names}
        yield from modules & inside
        if imported.module in modules and not (inside and inside <= modules):
            yield imported.module


def count_lines(paths: Iterable[Path]) -> int:
    return sum(len(path.read_text(encoding="utf-8").splitlines()) for path in paths)


def count_floors(package: Path, paths: Iterable[Path]) -> int:
    """Return the length of the longest chain of imports among these modules; there must be no circle."""
    known = map_imports(package, paths)

    def floor_of(name: str) -> int:
        return 1 + max(map(floor_of, known[name]), default=0)

    return max(map(floor_of, known), default=0)


def find_shapeless_names(package: Path) -> list[str]:
    """Return the files and folders with a name that says nothing about their content."""
    return sorted(path.name for path in package.rglob("*") if path.stem.strip("_") in SHAPELESS_NAMES)


@pytest.mark.parametrize(
    ("package", "contract"),
    [
        (ENGINE, ENGINE_CONTRACT),
        (PROTOCOL, PROTOCOL_CONTRACT),
        (WORDS, WORDS_CONTRACT),
        (SERVER, SERVER_CONTRACT),
        (CLIENT, CLIENT_CONTRACT),
        (LAB, LAB_CONTRACT),
    ],
    ids=lambda value: value.name if isinstance(value, Path) else "",
)
def test_packages_import_only_what_their_contract_allows(package: Path, contract: Contract) -> None:
    assert list(find_breaches(contract, package, list_modules(package))) == []


@each(("package", "levels"), [(CLIENT, CLIENT_LEVELS), (LAB, LAB_LEVELS), (SERVER, SERVER_LEVELS)])
def test_a_folder_imports_only_folders_on_lower_levels(package: Path, levels: Sequence[Set[str]]) -> None:
    assert list(find_upward_imports(package, levels)) == []


READS_TIME = frozenset(
    {"time", "time_ns", "monotonic", "monotonic_ns", "perf_counter", "perf_counter_ns", "thread_time", "process_time"}
)
THREADS = {"operator/log.py", "cli/process.py", "files.py", "storage/writer.py"}
"""Modules that start or name threads: the program around the server, and the seam of the store."""


def test_only_the_clock_module_of_the_server_reads_the_time() -> None:
    found = []
    for path in list_modules(SERVER):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            match node:
                case ast.Attribute(value=ast.Name("time"), attr=name) if name in READS_TIME:
                    found.append(f"{path.relative_to(SERVER)}:{node.lineno}: time.{name}")
                case ast.Attribute(value=ast.Name("datetime" | "date"), attr="now" | "utcnow" | "today" as name):
                    found.append(f"{path.relative_to(SERVER)}:{node.lineno}: {name}")
                case ast.ImportFrom(module="time"):
                    found.append(f"{path.relative_to(SERVER)}:{node.lineno}: from time")
    assert [line for line in found if not line.startswith("clock.py:")] == []
    assert len(found) == 4, "the module `clock` itself is no longer found"


def test_only_the_seams_of_the_server_use_threads() -> None:
    users = {
        str(path.relative_to(SERVER))
        for path in list_modules(SERVER)
        if any(found.top in {"threading", "_thread", "queue"} for found in list_imports(path, SERVER))
    }
    assert users == THREADS


RUN_A_SERVER = """
import asyncio, sys
from tictactoe_server import server
from tictactoe_server.cli.main import main
from tictactoe_server.settings import Settings

async def run():
    assert server.__file__.startswith(sys.argv[1])
    async with server.Server(Settings(host="127.0.0.1", port=0, page=False)):
        pass

asyncio.run(run())
"""
FEATURES = "tictactoe_server.features."
FEATURE_IMPORTERS = {"cli/main.py", "server.py"}
"""The modules that import the list of features: the server is made of them, and they have commands."""


def is_feature(path: Path) -> bool:
    return "features" in path.relative_to(SERVER).parts


def list_features(server: Path) -> list[Path]:
    return [path.parent for path in sorted((server / "features").glob("*/__init__.py"))]


def list_needed(name: str) -> set[str]:
    """Return the other folders of `features` that a folder imports from."""
    modules = list_modules(SERVER / "features" / name)
    found = {one.module for path in modules for one in list_imports(path, SERVER) if one.module.startswith(FEATURES)}
    return {module.split(".")[2] for module in found} - {name, "all", "feature"}


LIST_OF_FEATURES = SERVER / "features" / "all.py"
LISTED = [name.lower() for name in re.findall(r"^    ([A-Z]+),$", LIST_OF_FEATURES.read_text(encoding="utf-8"), re.M)]
"""The folders of the features that a server has, in the order of their services."""
NEEDED = {needed for name in LISTED for needed in list_needed(name)}


def test_only_the_list_of_features_is_imported_by_other_parts_of_the_server() -> None:
    found = {
        (path.relative_to(SERVER).as_posix(), one.module.removeprefix(FEATURES))
        for path in list_modules(SERVER)
        if not is_feature(path)
        for one in list_imports(path, SERVER)
        if one.module.startswith(FEATURES.rstrip("."))
    }
    assert {module for _, module in found} == {"all", "feature"}
    assert {importer for importer, _ in found} == FEATURE_IMPORTERS


def test_a_feature_imports_only_features_that_come_before_it() -> None:
    assert len(LISTED) > 10
    known = {path.name for path in list_features(SERVER)} - {*LISTED}  # parts that features share
    for name in (*known, *LISTED):
        assert list_needed(name) <= known, name
        known.add(name)


@pytest.mark.parametrize("name", [name for name in LISTED if name not in NEEDED])
def test_a_server_runs_without_a_feature_that_no_other_feature_needs(name: str, tmp_path: Path) -> None:
    """Run a server from links to the files of the package, without one folder and its lines in the list."""
    folder = tmp_path / SERVER.name
    (folder / "features").mkdir(parents=True)
    for path in (*SERVER.iterdir(), *(SERVER / "features").iterdir()):
        copy = folder / path.relative_to(SERVER)
        if path.name not in ("features", "all.py", "__pycache__", name):
            copy.symlink_to(path)
    lines = LIST_OF_FEATURES.read_text(encoding="utf-8").splitlines(keepends=True)
    kept = [line for line in lines if f".features.{name}." not in line and line != f"    {name.upper()},\n"]
    assert len(kept) == len(lines) - 2
    (folder / "features" / "all.py").write_text("".join(kept), encoding="utf-8")
    environment = os.environ | {"PYTHONPATH": str(tmp_path)}
    done = subprocess.run(
        [sys.executable, "-B", "-c", RUN_A_SERVER, str(folder)], env=environment, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr


def test_the_parts_of_the_server_stay_small() -> None:
    core = [path for folder in CORE for path in list_modules(SERVER / folder)]
    rest = [path for path in list_modules(SERVER) if not is_feature(path)]
    assert count_lines(core) <= MOST_LINES["core"]
    assert count_floors(SERVER, core) <= MOST_FLOORS
    assert count_lines(rest) <= MOST_LINES["without features"]
    assert len(list_features(SERVER)) >= 8
    for feature in list_features(SERVER):
        assert count_lines(list_modules(feature)) <= MOST_LINES["a feature"], feature.name


@pytest.mark.parametrize("package", PACKAGES, ids=lambda package: package.name)
def test_no_modules_import_each_other_in_a_circle(package: Path) -> None:
    assert find_circle(package) == []


def test_only_tests_of_programs_that_are_run_by_hand_import_them() -> None:
    found = {
        path.relative_to(TESTS).parts[0]
        for path in list_modules(TESTS)
        for imported in list_imports(path, TESTS)
        if f"{imported.module}.".startswith(tuple(f"{name}." for name in RUN_BY_HAND))
        or (imported.module == "tools" and {f"tools.{name}" for name in imported.names} & {*RUN_BY_HAND})
    }
    assert found == {"tools"}


def test_room_logic_imports_no_socket_clock_chance_store_or_log() -> None:
    assert list(find_breaches(ROOM_CONTRACT, SERVER, list_room_modules(SERVER))) == []


@pytest.mark.parametrize("package", PACKAGES, ids=lambda package: package.name)
def test_no_module_has_a_name_that_fits_anything(package: Path) -> None:
    assert find_shapeless_names(package) == []
