"""What an engine refuses is what `engines.py` declares, with a reason, and nothing else."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from modelcheck.api import task_of
from modelcheck.contract.engine import Keep
from modelcheck.engines.registry import ENGINES, engine
from spec.load import loads
from spec.model.ir import PropertyKind
from tests.conformance.engines import CHECKPOINTS, GAPS, SYMMETRY, kind

EVERY_KIND = """
protocol probe
sort Node
process Node { durable on: bool = false }
action turn(n: Node) { n.on := not n.on  assert asserted: true }
fault stop(n: Node) { n.on := false }
invariant invariant_: true
lemma lemma_: true
step step_: true
reachable reachable_: forall n: Node. n.on
recoverable recoverable_: exists n: Node. n.on
leadsto leadsto_: true ~> exists n: Node. n.on
always eventually always_eventually_: true
eventually always eventually_always_: true
deadlock free
check it { scope Node = 2  faults <= 1 }
"""
(PROBE,) = loads(EVERY_KIND)
KINDS = {prop.kind: prop.name for prop in PROBE.properties}


def features() -> Iterator[str]:
    yield from (kind(of, renamed=renamed) for renamed in (False, True) for of in PropertyKind)
    yield from (SYMMETRY, CHECKPOINTS)


def test_the_probe_has_every_kind_of_property() -> None:
    assert set(KINDS) == set(PropertyKind)


@pytest.mark.parametrize("feature", list(features()))
@pytest.mark.parametrize("name", ENGINES)
def test_an_engine_refuses_what_is_a_gap_and_nothing_else(name: str, feature: str, tmp_path: Path) -> None:
    wanted = feature.removesuffix(" up to symmetry")
    only = tuple(KINDS[of] for of in PropertyKind if of.value == wanted) or (KINDS[PropertyKind.INVARIANT],)
    renamed = feature == SYMMETRY or wanted != feature
    task = task_of(PROBE, replace(PROBE.checks[0], only=only), symmetry=renamed)
    task = replace(task, keep=Keep(tmp_path) if feature == CHECKPOINTS else None)
    gaps = GAPS[name].keys()
    is_gap = feature in gaps or wanted in gaps or (renamed and SYMMETRY in gaps)

    assert bool(engine(name).refusals(task)) == is_gap


def test_every_gap_is_of_something_that_can_be_asked() -> None:
    known = set(features())

    assert {feature for gaps in GAPS.values() for feature in gaps} <= known
    assert all(gap.reason for gaps in GAPS.values() for gap in gaps.values())
