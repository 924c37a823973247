"""What the protocols find without a bound for a nat: as within bounds, and on its page."""

from __future__ import annotations

import pytest

from modelcheck.contract.families import looked_at
from spec.model.kinds import OF_FAIR_RUNS
from tests.protocol_checks import NAMES, by_size, named_check
from tests.without_bounds import SMALL, agree_with_bounds, ordinals, unbounded
from tools.ordinal_table import PAGE, rows


@pytest.mark.grid
@pytest.mark.parametrize("name", NAMES)
def test_the_page_has_what_each_protocol_finds_without_a_bound(name: str) -> None:
    text = PAGE.read_text(encoding="utf-8")

    assert [str(row) for row in rows(name)] == [
        line for line in text.splitlines() if line.startswith(f"| `{name}` |")
    ]


@pytest.mark.parametrize("name", NAMES)
def test_protocols_have_without_a_bound_what_they_have_within_each(name: str) -> None:
    for sized in [each for each in by_size(name) if each.states <= SMALL][:2]:
        model, question = named_check(name, sized.name)
        kinds = {prop.kind for prop in looked_at(model, question)}
        for nat in ordinals(model) if kinds.isdisjoint(OF_FAIR_RUNS) else ():
            agree_with_bounds(model, unbounded(question, nat), nat, question.scope.nats[nat])
