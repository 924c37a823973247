"""What every test may ask for, and how random tests behave."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import settings

from tests.slow_tests import SlowTests

if TYPE_CHECKING:
    from playwright.sync_api import Browser

GOLDEN = Path(__file__).parent / "golden"

settings.register_profile("default", deadline=None)  # a busy machine is no failure
settings.register_profile("ci", deadline=None, derandomize=True, print_blob=True)
settings.load_profile("ci" if os.environ.get("CI") else "default")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--update-golden",
        action="store_true",
        help="write what the tests got into tests/golden, to be reviewed like code",
    )
    parser.addoption("--all", dest="run_all", action="store_true", help="run the slow tests too")
    parser.addoption("--slow", dest="slow_alone", action="store_true", help="run the slow tests alone")
    parser.addoption(
        "--nightly", dest="nightly_alone", action="store_true", help="run alone what is left to the night"
    )
    parser.addoption(
        "--record-durations", action="store_true", help="run all, and write tests/slow_tests.txt"
    )


class _Teller:
    """Tells each failure when it happens: a run that is cut off has no list of them at its end."""

    def __init__(self, terminal: pytest.TerminalReporter) -> None:
        self._terminal = terminal

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.failed:
            self._terminal.ensure_newline()
            self._terminal.write_line(f"FAILED {report.nodeid} ({report.when})")
            for line in report.longreprtext.splitlines()[-12:]:
                self._terminal.write_line(f"    {line}")


@pytest.hookimpl(trylast=True)
def pytest_configure(config: pytest.Config) -> None:
    """Slow tests are left out; where nobody looks on, failures are told at once."""
    config.pluginmanager.register(SlowTests(config))
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        # What a script starts in the background ignores Ctrl-C, and so would all that tests interrupt.
        signal.signal(signal.SIGINT, signal.default_int_handler)
    terminal = config.pluginmanager.get_plugin("terminalreporter")
    if os.environ.get("CI") and terminal is not None and not hasattr(config, "workerinput"):
        config.pluginmanager.register(_Teller(terminal))


@pytest.fixture(autouse=True)
def _no_test_ends_its_worker(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A command that passes its limit by far ends its process, which here would be that of all tests."""
    ends: list[object] = []
    monkeypatch.setattr("modelcheck.storage.output.Output.give_up", lambda _, end: ends.append(end))
    yield
    assert not ends, "a limit was passed by so much that the program would have ended without a verdict"


@pytest.fixture
def quickly_compiled(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Code for some thousand states is not worth being made fast; nor is it for others."""
    from modelcheck.explicit.native.compiling import Tier, compiled  # noqa: PLC0415 - heavy, for few tests

    monkeypatch.setattr(
        "modelcheck.explicit.native.writing.compiled", lambda text, _: compiled(text, Tier.QUICK)
    )
    monkeypatch.setenv("MODELCHECK_CACHE", str(tmp_path / "cache"))


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """One browser for all tests of a file."""
    from tests.browsers import installed  # noqa: PLC0415 - for few tests

    with installed() as started:
        yield started


@pytest.fixture
def golden(request: pytest.FixtureRequest) -> Callable[[str, str], None]:
    """`golden("traces/jepsen.txt", text)`: a text is what tests/golden says it is, to the letter."""
    update = bool(request.config.getoption("--update-golden"))

    def compare(name: str, text: str) -> None:
        mismatch = golden_mismatch(GOLDEN / name, text, update=update)
        if mismatch:
            pytest.fail(mismatch, pytrace=False)

    return compare


@pytest.fixture
def in_document(request: pytest.FixtureRequest) -> Callable[[Path, str, str], None]:
    """`in_document(path, shown, text)`: a text is what a document shows, or is shown from now on."""
    update = bool(request.config.getoption("--update-golden"))

    def compare(path: Path, shown: str, text: str) -> None:
        if update and text != shown:
            whole = path.read_text(encoding="utf-8")
            assert whole.count(shown) == 1, "what is shown stands there more than once"
            path.write_text(whole.replace(shown, text), encoding="utf-8")
        elif text != shown:
            what = f"{path.name} shows something else; `python -m pytest --update-golden` writes what is so"
            pytest.fail(f"{what}\n--- shown\n{shown}\n--- got\n{text}\n---", pytrace=False)

    return compare


def golden_mismatch(path: Path, text: str, *, update: bool) -> str:
    """What to tell when a text is not what its golden file says; nothing when it is, or was made so."""
    if update:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode())
        return ""
    expected = path.read_bytes().decode() if path.exists() else None
    if text == expected:
        return ""
    shown = "(no such file)" if expected is None else expected
    return (
        f"{path.parent.name}/{path.name} differs; `python -m pytest --update-golden` accepts what is new\n"
        f"--- expected\n{shown}\n--- got\n{text}\n---"
    )
