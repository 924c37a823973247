"""Which questions an engine can answer with one kernel: those about one model of one size."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from modelcheck.contract.engine import Family
from modelcheck.contract.witnesses import witnesses
from spec.model.ir import Check, Model, Property


def families(
    questions: Sequence[tuple[Model, Check]], *, with_witnesses: bool = False
) -> list[Family | None]:
    """The family of each question; None for a question without others."""
    groups: dict[object, list[int]] = defaultdict(list)
    for number, (model, check) in enumerate(questions):
        groups[_size(model, check)].append(number)
    found: list[Family | None] = [None] * len(questions)
    for numbers in groups.values():
        if len(numbers) > 1:
            family = _family(
                questions[numbers[0]][0], [questions[number][1] for number in numbers], with_witnesses
            )
            for number in numbers:
                found[number] = family
    return found


def looked_at(model: Model, check: Check) -> tuple[Property, ...]:
    """The properties that a check checks, in the order of the model."""
    return tuple(p for p in model.properties if check.only is None or p.name in check.only)


def _size(model: Model, check: Check) -> object:
    """A key that is equal for questions that can share a family."""
    scope = check.scope
    sorts = tuple((name, len(members)) for name, members in scope.sorts.items())
    bounds = tuple(scope.nats.items()), tuple(scope.networks.items()), scope.unbounded
    return id(model), sorts, bounds


def _family(model: Model, checks: Sequence[Check], with_witnesses: bool) -> Family:  # noqa: FBT001 - as it was asked
    """What the checks of a model have between them, so that code compiled for one serves all.

    `with_witnesses` adds the conditions under which parts of their properties are put to the test.
    """
    asked = {prop.name for check in checks for prop in looked_at(model, check)}
    properties = tuple(prop for prop in model.properties if prop.name in asked)
    configs = [entry.name for entry in model.configs]
    counted = [item for check in checks for item in check.budget.counted.items()]
    return Family(
        properties,
        frozenset(name for name in model.faults if any(check.budget.allows(name) for check in checks)),
        frozenset(name for name in configs if len({check.scope.config[name] for check in checks}) > 1),
        dict(sorted(counted)),  # the last of a name, which is the most
        witnesses(properties) if with_witnesses else (),
    )
