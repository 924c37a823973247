"""Code that was made beside an earlier search is used, and decides nothing."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from modelcheck.api import check, task_of
from modelcheck.contract.report import Reporter, Spent
from modelcheck.explicit.engine import ExplicitEngine
from modelcheck.explicit.native import ahead
from modelcheck.explicit.native.ahead import Ahead
from modelcheck.explicit.native.functions import Codes
from modelcheck.explicit.native.kernel import Kernel
from modelcheck.storage.cache import Cache
from spec.ir import Check, Model
from spec.load import load, loads

KISR = Path(__file__).parents[3] / "spec/protocols/kisr.rsm"


def small() -> tuple[Model, Check]:
    return next((m, c) for m in load(KISR) for c in m.checks if c.name == "xs")


class Phases(Reporter):
    """What the engine says that it spent time on."""

    def __init__(self) -> None:
        self.seen: list[str] = []

    def tell(self, event: object) -> None:
        if isinstance(event, Spent):
            self.seen.append(event.phase)


@pytest.fixture
def engine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[ExplicitEngine]:
    monkeypatch.setenv("MODELCHECK_CACHE", str(tmp_path))
    monkeypatch.setattr(ahead, "cores", lambda: 2)
    with closing(ExplicitEngine(series=True)) as made:
        yield made


def test_what_was_prepared_is_not_written_again(engine: ExplicitEngine, tmp_path: Path) -> None:
    model, asked = small()
    afresh, told = Phases(), Phases()
    check(model, replace(asked, only=()), engine=ExplicitEngine(), reporter=afresh)
    kept = len(list(tmp_path.rglob("*-quick")))
    engine.prepare(task_of(model, asked))
    until = time.monotonic() + 60
    while len(list(tmp_path.rglob("*-quick"))) == kept and time.monotonic() < until:
        time.sleep(0.01)
    check(model, asked, engine=engine, reporter=told)

    assert "write" in afresh.seen
    assert "write" not in told.seen


def test_findings_are_the_same_with_and_without(engine: ExplicitEngine) -> None:
    model, asked = small()
    engine.prepare(task_of(model, asked))
    with_it = check(model, asked, engine=engine).findings
    without = check(model, asked, engine="explicit").findings

    assert with_it.results == without.results
    assert with_it.stats.layers == without.stats.layers


def test_what_has_not_begun_is_not_waited_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ahead, "cores", lambda: 2)
    model, asked = small()
    other = loads("protocol other\nstate { on: bool = false }\naction turn { on := true }\ncheck it {}\n")[0]
    codes = Codes(Cache(tmp_path))
    with closing(Ahead(codes)) as made:
        made.begin(task_of(model, asked))
        made.begin(task_of(other, other.checks[0]))
        made.wait(task_of(other, other.checks[0]))
        made.wait(task_of(model, asked))

    assert Kernel(task_of(model, asked), codes).cached


def test_what_cannot_be_compiled_is_left_to_whoever_needs_it(engine: ExplicitEngine) -> None:
    text = "protocol wide\nstate { s: set[seq[0..9; 9]] = {} }\naction a { s := {[1]} }\ncheck it {}\n"
    model = loads(text)[0]
    engine.prepare(task_of(model, model.checks[0]))

    assert engine.refusals(task_of(model, model.checks[0]))
