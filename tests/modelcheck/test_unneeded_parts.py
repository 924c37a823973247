"""What no check of a protocol needs, or uses, is listed at the end of its file, each part with a reason.

That the list is exact is asked only where it takes some seconds at most. Of the other files
`modelcheck necessity FILE` tells; here each part that they list is one, and stands there once.
A file that goes on from another one lists parts of its own alone.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

import spec.library as library
from modelcheck.api import check
from modelcheck.asking.necessity.parts import ProtocolPart
from modelcheck.asking.necessity.search import NecessitySearch, necessity
from modelcheck.contract.coverage import never_used
from modelcheck.contract.families import families
from modelcheck.contract.result import UnusedKind
from spec.load import load as read
from spec.model.ir import Model
from tests.protocol_checks import by_size

load = cache(read)  # of each protocol several tests ask
PROTOCOLS = sorted((Path(__file__).parents[2] / "spec/protocols").glob("*.rsm"))
FEW, SMALL = 9, 180_000  # checks of a protocol, and their states together: about 5 s of CPU or less
HEADING = re.compile(r"^// -+ what no check needs\n\n", re.MULTILINE)
ITEM = re.compile(r"((?:`[^`]+`(?:, )?)+): \S")  # the parts, and why they are there

EXACT = [
    pytest.param(path, id=path.stem)
    for path in PROTOCOLS
    if len(checks := by_size(path.stem)) <= FEW and sum(each.states for each in checks) <= SMALL
]


@pytest.fixture(autouse=True, scope="module")
def one_process() -> Iterator[None]:
    """To start another takes longer than the quick ones."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("modelcheck.processes.workers.cores", lambda: 1)
        yield


def listed(path: Path) -> list[str]:
    """The names of the parts that a file says no check needs, in its order."""
    _, section = HEADING.split(path.read_text(encoding="utf-8"))
    lines = [line.removeprefix("//").strip() for line in section.splitlines()]
    names = []
    for item in " ".join(lines).split(" - ")[1:]:
        found = ITEM.match(item)
        assert found is not None, item
        names += re.findall(r"`([^`]+)`", found[1])
    return names


def is_own(part: ProtocolPart, model: Model) -> bool:
    """Whether it stands in the file that was read, and in none that this goes on from."""
    return model.source.place(part.span.start)[0] == model.source.name


@pytest.mark.parametrize("path", [pytest.param(path, id=path.stem) for path in PROTOCOLS])
def test_what_is_listed_is_a_part_and_stands_there_once(path: Path) -> None:
    names, models = listed(path), load(path)

    assert set(names) <= {part.name for part in NecessitySearch(models).parts if is_own(part, models[0])}
    assert len(set(names)) == len(names)


@pytest.mark.grid
@pytest.mark.parametrize("path", EXACT)
def test_just_the_parts_that_no_check_needs_are_listed(path: Path) -> None:
    models = load(path)
    rows = [row for row in necessity(models) if is_own(row.part, models[0])]

    assert {row.part.name for row in rows if not row.needed} == set(listed(path))


@pytest.mark.parametrize("path", EXACT)
def test_what_no_check_uses_is_listed(path: Path) -> None:
    """A guard that refuses nothing is one that no check needs; every action happens in some check."""
    asked = [(model, each) for model in load(path) for each in model.checks]
    outcomes = [
        check(model, each, family=family, threads=1)
        for (model, each), family in zip(asked, families(asked), strict=True)
    ]
    unused = [part for part in never_used(outcomes) if part.kind is not UnusedKind.CONFIG]

    assert {part.name for part in unused} <= set(listed(path))


@pytest.mark.parametrize("path", [pytest.param(path, id=path.stem) for path in PROTOCOLS])
def test_every_switch_is_varied_by_a_check(path: Path) -> None:
    """By one of the file, or of a file that goes on from it."""
    later = [each for each in PROTOCOLS if library.goes_on_from(each.stem) == path.stem]
    checks = [each for file in {path, *later} for model in load(file) for each in model.checks]
    (model, *_) = load(path)
    own = [entry for entry in model.configs if model.source.place(entry.span.start)[0] == model.source.name]

    assert [e.name for e in own if len({each.scope.config.get(e.name) for each in checks}) == 1] == []
