"""Fixtures that every layer may use: a real server in this process, on a free port of the loopback."""

from __future__ import annotations

import contextlib
import functools
import gc
import importlib
import itertools
import os
import signal
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from pathlib import Path

import pytest
import structlog
from hypothesis import settings

from tests import hangs
from tests.authority import Authority
from tests.environment import SERVICE_TYPE
from tests.fakes import FakeClock
from tests.limits import uncounted
from tests.programs import start_program
from tests.proxy import Proxy
from tictactoe_protocol.catalogue import speak
from tictactoe_server.http.assets import Assets
from tictactoe_server.server import Server
from tictactoe_server.settings import Limits, Settings

# How long an example takes says nothing about whether it is right. A score, others each time, find what hundreds
# do; `--hypothesis-profile many` is for a long search.
settings.register_profile("few", deadline=None, max_examples=20)
settings.register_profile("many", deadline=None, max_examples=1_000)
settings.load_profile("few")


ROOT = Path(__file__).parents[1]
KEPT_VARIABLES = frozenset({"PATH", "TMPDIR", "UPDATE_PICTURES"})
"""What a test may learn from outside; a process that it starts learns less, see `tests.environment`."""

# The next number is known here; to find it anew among thousands of folders takes longer than most tests.
_homes = itertools.count()

# A shell lets what it starts in the background ignore Ctrl-C, and nohup a hang-up; so would every program that a test
# starts from there.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)
if hasattr(signal, "SIGHUP") and signal.getsignal(signal.SIGHUP) is signal.SIG_IGN:
    signal.signal(signal.SIGHUP, signal.SIG_DFL)


# A server in this process logs as a library does: pytest shows it with what failed, and no program's output has it.
structlog.configure(
    processors=[structlog.stdlib.filter_by_level, structlog.stdlib.render_to_log_kwargs],
    logger_factory=structlog.stdlib.LoggerFactory(),
    wrapper_class=structlog.stdlib.BoundLogger,
)


def pytest_configure(config: pytest.Config) -> None:
    """Let a test that hangs say where."""
    config.pluginmanager.register(hangs)


@pytest.hookimpl(tryfirst=True)
def pytest_collection(session: pytest.Session) -> None:
    """Let each worker begin with other test files where all are run: what one has compiled the others need not.

    What is imported here is collected afterwards as ever, and what cannot be imported is reported then.
    """
    config = session.config
    worker = getattr(config, "workerinput", None)
    if worker is None or config.args != config.getini("testpaths"):
        return
    names = [".".join(path.relative_to(ROOT).with_suffix("").parts) for path in sorted(ROOT.glob("tests/**/test_*.py"))]
    for name in names[int(worker["workerid"].removeprefix("gw")) :: worker["workercount"]]:
        with contextlib.suppress(Exception, pytest.skip.Exception):
            importlib.import_module(name)


def pytest_collection_finish() -> None:
    """Spare the collector what stays to the end, and let it look less often: that was a quarter of all tests' time."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(20_000, 20, 50)


@pytest.fixture(autouse=True, scope="session")
def announced_apart() -> Iterator[None]:
    """Let what is announced in this process be found in this process alone."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("tictactoe_client.nearby.SERVICE_TYPE", SERVICE_TYPE)
        patch.setattr("tictactoe_server.transport.listen.SERVICE_TYPE", SERVICE_TYPE)
        yield


@pytest.fixture(autouse=True, scope="session")
def page_read_once() -> Iterator[None]:
    """Let all servers of this process have the page as the first one read it: packing it is most of a start."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("tictactoe_server.server.Assets", functools.cache(Assets))
        yield


@pytest.fixture(autouse=True, scope="session")
def servers_forked() -> Iterator[None]:
    """Let servers on data folders be forked, as other programs of ours are; what is measured is started anew."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("tests.faults.harness.create_subprocess_exec", start_program)
        yield


@pytest.fixture(autouse=True)
def home(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Give every test a home without data, state or configuration, English, and no variables of where it runs."""
    folder = tmp_path_factory.mktemp(f"home-{next(_homes)}", numbered=False)
    for name in os.environ.keys() - KEPT_VARIABLES:
        if not name.startswith("PYTEST_"):
            monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(folder))
    speak("en")
    yield folder
    speak("en")  # examples in docstrings have no fixtures


@pytest.fixture
def in_german(home: Path) -> None:
    """Speak German in this test."""
    speak("de")


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder, which is the current one."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
async def server() -> AsyncIterator[Server]:
    async with Server(Settings(host="127.0.0.1", port=0, demo=False), limits=uncounted()) as running:
        yield running


@pytest.fixture
async def proxy(server: Server) -> AsyncIterator[Proxy]:
    """A way to the server that can be cut."""
    async with Proxy(server.port) as running:
        yield running


@pytest.fixture
async def bots() -> AsyncIterator[Server]:
    """A server whose bots do not wait."""
    async with Server(Settings(host="127.0.0.1", port=0, bot_pause_seconds=0, bot_workers=1, demo=False)) as running:
        yield running


@pytest.fixture
def authority(tmp_path: Path) -> Authority:
    """An authority that has issued a pair for this machine."""
    authority = Authority(tmp_path)
    authority.issue()
    return authority


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture
async def clocked(clock: FakeClock) -> AsyncIterator[Server]:
    """A server that goes by the fixture `clock`, which only the test moves on; a hold is 60 s."""
    async with Server(Settings(host="127.0.0.1", port=0), limits=uncounted(), monotonic_ns=clock) as running:
        yield running


@pytest.fixture
async def serve() -> AsyncIterator[Callable[[Limits], Awaitable[Server]]]:
    """Return a function that starts a server with limits of the test's own."""
    async with contextlib.AsyncExitStack() as stack:

        async def start(limits: Limits) -> Server:
            return await stack.enter_async_context(Server(Settings(host="127.0.0.1", port=0), limits=limits))

        yield start
