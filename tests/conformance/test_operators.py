"""Each operation, function and quantifier means to every engine and export what it means by definition.

A wrong one fails by its name and that of the lowering: `starts_with-explicit`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest

from modelcheck.api import Unsupported
from modelcheck.contract.result import Holds, Unknown
from modelcheck.export.targets import target
from spec.load import loads
from spec.model.ir import Apply, Bind
from spec.model.op import Op, Quantifier
from spec.model.walk import walk
from tests.conformance.lowerings import LOWERINGS, Lowering, each_lowering
from tests.conformance.operators import TRUTHS, asked
from tests.oracles import needs_tlc, tlc

each_operator = pytest.mark.parametrize(
    ("of", "op"), [pytest.param(of, op, id=op) for of, truths in TRUTHS.items() for op in truths]
)


@cache
def at_once(of: str, lowering: Lowering) -> Mapping[str, object]:
    """What an engine says of every claim about arguments of a kind; nothing where one of them is an error."""
    whole = asked(of)
    return said(
        of, [n for op, claims in whole.claims.items() if op not in lowering.refused for n in claims], lowering
    )


def said(of: str, names: Sequence[str], lowering: Lowering) -> Mapping[str, object]:
    """What an engine says of some claims."""
    whole = asked(of)
    question = replace(whole.model.checks[0], only=tuple(names))
    found = lowering.findings(whole.model, question)
    return {each.property: type(each.verdict) for each in found.results} if found.error is None else {}


@pytest.mark.usefixtures("quickly_compiled")
@each_lowering
@each_operator
def test_an_operator_means_what_the_definition_says(of: str, op: str, lowering: Lowering) -> None:
    whole = asked(of)
    names = whole.claims[op]
    if op in lowering.refused:
        with pytest.raises(Unsupported):
            lowering.findings(whole.model, replace(whole.model.checks[0], only=tuple(names)))
        return
    told = at_once(of, lowering) or said(of, names, lowering)
    verdicts = [told.get(name) for name in names]
    if op in lowering.unknown:
        assert Unknown in verdicts
        assert set(verdicts) <= {Holds, Unknown}
    else:
        assert [
            text for text, verdict in zip(TRUTHS[of][op], verdicts, strict=True) if verdict is not Holds
        ] == []


ERRING = [pytest.param(of, op, n, id=f"{op}-{n}") for of in TRUTHS for n, op in enumerate(asked(of).error_of)]


@pytest.mark.usefixtures("quickly_compiled")
@pytest.mark.parametrize("lowering", [each for each in LOWERINGS if each.errors], ids=lambda each: each.name)
@pytest.mark.parametrize(("of", "op", "n"), ERRING)
def test_an_operator_without_a_value_is_an_error_of_the_model(
    of: str, op: str, n: int, lowering: Lowering
) -> None:
    (model,) = loads(asked(of).errors[n], "operators.rsm")
    if op in lowering.refused:
        with pytest.raises(Unsupported):
            lowering.findings(model, model.checks[0])
        return

    assert lowering.findings(model, model.checks[0]).error is not None


@pytest.mark.oracle
@needs_tlc
@pytest.mark.parametrize("of", TRUTHS)
def test_operators_mean_to_tlc_what_the_definition_says(of: str, tmp_path: Path) -> None:
    whole = asked(of)
    for name, text in target("tla")(whole.model, whole.model.checks[0]).files.items():
        (tmp_path / name).write_text(text, encoding="ascii")

    told = tlc(tmp_path, "operators", quick=True)
    assert (told.broken, told.states) == ("", whole.states)


def test_every_operation_and_quantifier_is_among_them() -> None:
    parts = [part for of in TRUTHS for claim in asked(of).model.properties for part in walk(claim.expr)]  # type: ignore[arg-type]

    assert {part.op for part in parts if isinstance(part, Apply)} == set(Op)
    assert {part.quantifier for part in parts if isinstance(part, Bind)} == set(Quantifier)
