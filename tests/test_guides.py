"""The tutorials, and the guide for readers of TLA+: models are files, and commands show what pages say."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable
from pathlib import Path

import pytest

from modelcheck.cli import main
from modelcheck.contract.exits import Exit
from tests.consoles import marked, part_of
from tests.oracles import needs_tlc, tlc

ROOT = Path(__file__).parent.parent
TLA = ROOT / "docs" / "how-to" / "coming-from-tla.md"
PAGES = (ROOT / "README.md", *sorted((ROOT / "docs" / "tutorials").glob("*.md")), TLA)
InDocument = Callable[[Path, str, str], None]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_a_model_on_a_page_is_that_of_its_file(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    for name in re.findall(r"^<!-- model: (\w+) -->$", text, re.MULTILINE):
        (shown,) = marked(page, f"model: {name}", "rsm")

        assert shown == (ROOT / "examples" / f"{name}.rsm").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    "page", [page for page in PAGES if page.stem != "README"], ids=lambda page: page.stem
)
def test_the_commands_of_a_page_show_what_it_says(
    page: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    in_document: InDocument,
) -> None:
    monkeypatch.chdir(ROOT)
    monkeypatch.setenv("COLUMNS", "100")
    told = ""
    found = re.findall(
        r"^(?:```sh\nmodelcheck (.*)\n```|<!-- shown -->\n```text\n((?:.*\n)*?)```)$",
        page.read_text(encoding="utf-8"),
        re.MULTILINE,
    )
    for words, shown in found:
        if words:
            given = [str(tmp_path / word) if word.endswith(".html") else word for word in shlex.split(words)]
            assert main(given) in {Exit.EXPECTED, Exit.VIOLATED}
            told = capsys.readouterr().out
        else:
            in_document(page, shown, part_of(told, shown))

    assert found


def test_the_readme_shows_the_verdict_on_its_model(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, in_document: InDocument
) -> None:
    monkeypatch.chdir(ROOT)
    monkeypatch.setenv("COLUMNS", "100")
    (shown,) = marked(ROOT / "README.md", "from check: mirror")

    assert main(["check", "examples/mirror.rsm"]) == Exit.VIOLATED
    in_document(ROOT / "README.md", shown, part_of(capsys.readouterr().out, shown))


# ----------------------------------------------------------------------------- TLA+


@needs_tlc
@pytest.mark.oracle
@pytest.mark.parametrize(("faults", "states", "shown"), [(0, 5, 0), (1, None, 0), (2, None, 6)])
def test_tlc_finds_what_we_find(faults: int, states: int | None, shown: int, tmp_path: Path) -> None:
    (module,) = marked(TLA, "module: Mirror", "tla")
    (configuration,) = marked(TLA, "configuration: Mirror", "text")
    (tmp_path / "Mirror.tla").write_text(module)
    (tmp_path / "Mirror.cfg").write_text(configuration.replace("MaxFaults = 2", f"MaxFaults = {faults}"))
    told = tlc(tmp_path, "Mirror", quick=True)

    assert told.shown == shown
    assert told.broken == ("Survives" if shown else "")
    assert states in {None, told.states}
