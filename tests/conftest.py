"""Fixtures for every layer: real servers in this process, on a free port of the loopback interface."""

import contextlib
import functools
import gc
import importlib
import inspect
import itertools
import os
import signal
import sys
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import pytest
import structlog
import websockets
from hypothesis import settings

import tictactoe_client
from tests import hangs
from tests.authority import Authority
from tests.environment import SERVICE_TYPE
from tests.fakes import FakeClock
from tests.limits import uncounted
from tests.peer import PATIENCE_SECONDS
from tests.programs import start_program
from tests.proxy import Proxy
from tictactoe_server.features.bots.service import BotOptions
from tictactoe_server.http.assets import Assets
from tictactoe_server.server import Server
from tictactoe_server.settings import Settings
from tictactoe_words.catalogue import speak

# Examples have no deadline, because a slow machine is no failure. Twenty new examples a run find what hundreds do;
# `--hypothesis-profile many` searches longer.
settings.register_profile("few", deadline=None, max_examples=20)
settings.register_profile("many", deadline=None, max_examples=1_000)
settings.load_profile("few")


ROOT = Path(__file__).parents[1]
KEPT_VARIABLES = frozenset({"PATH", "TMPDIR", "UPDATE_PICTURES"})
"""Environment variables that a test may see. A process that a test starts sees fewer: `tests.environment`."""

# Counting is faster than searching thousands of temporary folders for a free number.
_homes = itertools.count()

# Background jobs of a shell ignore SIGINT, and programs under nohup ignore SIGHUP. Programs that tests start would
# inherit this.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)
if hasattr(signal, "SIGHUP") and signal.getsignal(signal.SIGHUP) is signal.SIG_IGN:
    signal.signal(signal.SIGHUP, signal.SIG_DFL)


# A server in this process logs through `logging`, so that pytest shows its lines with a failure and keeps them out of
# the output of programs under test.
structlog.configure(
    processors=[structlog.stdlib.filter_by_level, structlog.stdlib.render_to_log_kwargs],
    logger_factory=structlog.stdlib.LoggerFactory(),
    wrapper_class=structlog.stdlib.BoundLogger,
)


def pytest_configure(config: pytest.Config) -> None:
    """Register the plugin that reports where a hanging test waits."""
    config.pluginmanager.register(hangs)


@pytest.hookimpl(tryfirst=True)
def pytest_collection(session: pytest.Session) -> None:
    """Make each worker import a different share of the test files first, so that compiled files are shared.

    Compiled files are written even with PYTHONDONTWRITEBYTECODE, because otherwise each worker compiles all of them.
    Collection runs as usual afterwards and reports files that cannot be imported.
    """
    config = session.config
    worker = getattr(config, "workerinput", None)
    if worker is None or config.args != config.getini("testpaths"):
        return
    sys.dont_write_bytecode = False
    names = [".".join(path.relative_to(ROOT).with_suffix("").parts) for path in sorted(ROOT.glob("tests/**/test_*.py"))]
    for name in names[int(worker["workerid"].removeprefix("gw")) :: worker["workercount"]]:
        with contextlib.suppress(Exception, pytest.skip.Exception):
            importlib.import_module(name)


def pytest_collection_finish() -> None:
    """Freeze the objects that live to the end and collect less often; that saves a quarter of the run's time."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(20_000, 20, 50)


@pytest.fixture(autouse=True, scope="session")
def announced_apart() -> Iterator[None]:
    """Announce and search servers under a service type of this process only."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("tictactoe_client.nearby.SERVICE_TYPE", SERVICE_TYPE)
        patch.setattr("tictactoe_server.transport.listen.SERVICE_TYPE", SERVICE_TYPE)
        yield


@pytest.fixture(autouse=True, scope="session")
def patient() -> Iterator[None]:
    """Let clients in this process wait for a server as long as tests wait for an event.

    Clients in processes of their own do so by `tests.environment`.
    """
    opening: Any = inspect.unwrap(tictactoe_client.connect), websockets.connect.__init__
    with pytest.MonkeyPatch.context() as patch:
        for function, name in zip(opening, ("timeout_seconds", "open_timeout"), strict=True):
            patch.setitem(function.__kwdefaults__, name, PATIENCE_SECONDS)
        patch.setattr("tictactoe_client.nearby._START_SECONDS", PATIENCE_SECONDS)
        yield


@pytest.fixture(autouse=True, scope="session")
def page_read_once() -> Iterator[None]:
    """Pack the page's files once for all servers of this process, as packing is most of a server's start."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("tictactoe_server.server.Assets", functools.cache(Assets))
        yield


@pytest.fixture(autouse=True, scope="session")
def servers_forked() -> Iterator[None]:
    """Fork servers with data folders from a warm process, like our other programs."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("tests.faults.harness.create_subprocess_exec", start_program)
        yield


@pytest.fixture(autouse=True)
def home(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Give every test an empty home folder, the English language and a clean environment."""
    folder = tmp_path_factory.mktemp(f"home-{next(_homes)}", numbered=False)
    for name in os.environ.keys() - KEPT_VARIABLES:
        if not name.startswith("PYTEST_"):
            monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(folder))
    speak("en")
    return folder


@pytest.fixture
def in_german(home: Path) -> None:
    speak("de")


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return an empty folder that is the current folder."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
async def server(request: pytest.FixtureRequest) -> AsyncIterator[Server]:
    """A server without counts, and with the limits of the mark `limits`."""
    marker = request.node.get_closest_marker("limits")
    settings = Settings(host="127.0.0.1", port=0, features=(BotOptions(demo=False),))
    async with Server(settings, limits=uncounted(**marker.kwargs if marker else {})) as running:
        yield running


@pytest.fixture
async def proxy(server: Server) -> AsyncIterator[Proxy]:
    """A proxy in front of the server whose connections can be cut."""
    async with Proxy(server.port) as running:
        yield running


@pytest.fixture
async def bots() -> AsyncIterator[Server]:
    """A server whose bots move without a pause."""
    async with Server(
        Settings(host="127.0.0.1", port=0, features=(BotOptions(pause_seconds=0, workers=1, demo=False),))
    ) as running:
        yield running


@pytest.fixture
def authority(tmp_path: Path) -> Authority:
    """A certificate authority that has issued a certificate for this machine."""
    authority = Authority(tmp_path)
    authority.issue()
    return authority


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture
async def clocked(clock: FakeClock) -> AsyncIterator[Server]:
    """A server on the fake `clock`, with a hold of 60 s."""
    async with Server(Settings(host="127.0.0.1", port=0), limits=uncounted(), monotonic_ns=clock) as running:
        yield running
