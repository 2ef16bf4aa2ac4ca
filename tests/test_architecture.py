"""Which module may import which, read from the source with grimp without running it.

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
from grimp import ImportGraph, build_graph

from tests.rows import each

ROOT = Path(__file__).parent.parent
ENGINE = ROOT / "protocol" / "tictactoe_engine"
PROTOCOL = ROOT / "protocol" / "tictactoe_protocol"
WORDS = ROOT / "protocol" / "tictactoe_words"
SERVER = ROOT / "server" / "tictactoe_server"
CLIENT = ROOT / "client" / "tictactoe_client"
LAB = ROOT / "lab" / "tictactoe_lab"
PACKAGES = (ENGINE, PROTOCOL, WORDS, SERVER, CLIENT, LAB)
RUN_BY_HAND = tuple(f"tools.{name}." for name in ("attacks", "bench", "cluster", "soak"))
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
CORE = (f"{SERVER.name}.core", f"{SERVER.name}.rooms")
"""The folders of the core: rooms as values, how they change, who sees them, and the sessions of players."""
MOST_LINES = {"core": 4_500, "without features": 15_800, "a feature": 3_000}
"""Most lines of the server's parts, with about 5 % of air."""
MOST_FLOORS = 6
"""The longest chain of imports within the core."""

IMPORTERS_BY_NAME = {"tictactoe_protocol/__init__.py", "tictactoe_client/__init__.py", "cli/commands.py"}
"""Modules that import their own package's modules when these are first used, which the graph does not show."""

SHAPELESS_NAMES = frozenset({"utils", "util", "helpers", "helper", "common", "base"})


@cache
def graph(*, with_typing: bool = True) -> ImportGraph:
    """Return which module imports which; without `with_typing`, leave out what is imported for annotations only."""
    packages = (*(package.name for package in PACKAGES), "tests", "tools")
    return build_graph(
        *packages, include_external_packages=True, exclude_type_checking_imports=not with_typing, cache_dir=None
    )


def list_imports(package: str) -> Iterator[tuple[str, str]]:
    """Yield each import of a package's modules as the full names of the importer and the imported module."""
    for importer in sorted(graph().find_matching_modules(f"{package}.**") | {package}):
        for imported in sorted(graph().find_modules_directly_imported_by(importer)):
            yield importer, imported


def describe(importer: str, imported: str) -> str:
    (found, *_) = graph().get_import_details(importer=importer, imported=imported)
    return f"{importer}:{found['line_number']} imports {imported}"


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

    def permits(self, importer: str, imported: str) -> bool:
        top = imported.partition(".")[0]
        if top in self.typing_only:
            return not graph(with_typing=False).direct_import_exists(importer=importer, imported=imported)
        return top not in self.forbidden and (self.allowed is None or top in self.allowed)


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


def list_modules(package: Path) -> list[Path]:
    return sorted(package.rglob("*.py"))


def find_breaches(contract: Contract, package: str) -> list[str]:
    """Return a line "module:line imports what" for each import that breaks the contract."""
    return [describe(*found) for found in list_imports(package) if not contract.permits(*found)]


def find_upward_imports(package: str, levels: Sequence[Set[str]]) -> Iterator[str]:
    """Yield a line for each import of a folder on the same or a higher level."""
    level_of = {name: level for level, names in enumerate(levels) for name in names}
    for importer, imported in list_imports(package):
        own, other = (f"{module}.__init__".split(".")[1] for module in (importer, imported))
        if imported.partition(".")[0] == package and own != other and level_of[other] >= level_of[own]:
            yield describe(importer, imported)


def find_circle(package: str) -> tuple[str, ...]:
    """Return the modules of a circle of imports, if there is any; imports for type checkers count."""
    chains = (graph().find_shortest_chain(imported, importer) for importer, imported in list_imports(package))
    return next(filter(None, chains), ())


def count_lines(paths: Iterable[Path]) -> int:
    return sum(len(path.read_text(encoding="utf-8").splitlines()) for path in paths)


def count_floors(modules: Set[str]) -> int:
    """Return the length of the longest chain of imports among these modules; there must be no circle."""

    def floor_of(name: str) -> int:
        return 1 + max(map(floor_of, graph().find_modules_directly_imported_by(name) & modules), default=0)

    return max(map(floor_of, modules), default=0)


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
    assert find_breaches(contract, package.name) == []


@each(("package", "levels"), [(CLIENT, CLIENT_LEVELS), (LAB, LAB_LEVELS), (SERVER, SERVER_LEVELS)])
def test_a_folder_imports_only_folders_on_lower_levels(package: Path, levels: Sequence[Set[str]]) -> None:
    assert list(find_upward_imports(package.name, levels)) == []


READS_TIME = frozenset(
    {"time", "time_ns", "monotonic", "monotonic_ns", "perf_counter", "perf_counter_ns", "thread_time", "process_time"}
)
THREADS = {f"{SERVER.name}.{name}" for name in ("operator.log", "cli.process", "files", "storage.writer")}
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
    users = {importer for importer, used in list_imports(SERVER.name) if used in {"threading", "_thread", "queue"}}
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
FEATURES = f"{SERVER.name}.features."
FEATURE_IMPORTERS = {f"{SERVER.name}.cli.main", f"{SERVER.name}.server"}
"""The modules that import the list of features: the server is made of them, and they have commands."""


def list_features(server: Path) -> list[Path]:
    return [path.parent for path in sorted((server / "features").glob("*/__init__.py"))]


def list_needed(name: str) -> set[str]:
    """Return the other folders of `features` that a folder imports from."""
    found = (module for _, module in list_imports(f"{FEATURES}{name}") if module.startswith(FEATURES))
    return {module.split(".")[2] for module in found} - {name, "all", "feature"}


LIST_OF_FEATURES = SERVER / "features" / "all.py"
LISTED = [name.lower() for name in re.findall(r"^    ([A-Z]+),$", LIST_OF_FEATURES.read_text(encoding="utf-8"), re.M)]
"""The folders of the features that a server has, in the order of their services."""
NEEDED = {needed for name in LISTED for needed in list_needed(name)}


def test_only_the_list_of_features_is_imported_by_other_parts_of_the_server() -> None:
    found = {
        (importer, imported)
        for importer, imported in list_imports(SERVER.name)
        if f"{imported}.".startswith(FEATURES) and not f"{importer}.".startswith(FEATURES)
    }
    assert {module for _, module in found} == {f"{FEATURES}all", f"{FEATURES}feature"}
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
    core = [path for name in CORE for path in list_modules(SERVER / name.rpartition(".")[2])]
    rest = [path for path in list_modules(SERVER) if "features" not in path.relative_to(SERVER).parts]
    assert count_lines(core) <= MOST_LINES["core"]
    assert count_floors({module for module in graph().modules if module.startswith(CORE)}) <= MOST_FLOORS
    assert count_lines(rest) <= MOST_LINES["without features"]
    assert len(list_features(SERVER)) >= 8
    for feature in list_features(SERVER):
        assert count_lines(list_modules(feature)) <= MOST_LINES["a feature"], feature.name


@pytest.mark.parametrize("package", PACKAGES, ids=lambda package: package.name)
def test_no_modules_import_each_other_in_a_circle(package: Path) -> None:
    assert find_circle(package.name) == ()


def test_few_modules_import_others_by_name() -> None:
    paths = [path for package in PACKAGES for path in list_modules(package)]
    callers = [path for path in paths if re.search(r"\b(import_module|__import__)\(", path.read_text(encoding="utf-8"))]
    assert {"/".join(path.parts[-2:]) for path in callers} == IMPORTERS_BY_NAME


def test_only_tests_of_programs_that_are_run_by_hand_import_them() -> None:
    found = {
        importer.split(".")[1] for importer, imported in list_imports("tests") if f"{imported}.".startswith(RUN_BY_HAND)
    }
    assert found == {"tools"}


def test_room_logic_imports_no_socket_clock_chance_store_or_log() -> None:
    assert find_breaches(ROOM_CONTRACT, f"{SERVER.name}.rooms") == []


@pytest.mark.parametrize("package", PACKAGES, ids=lambda package: package.name)
def test_no_module_has_a_name_that_fits_anything(package: Path) -> None:
    assert find_shapeless_names(package) == []
