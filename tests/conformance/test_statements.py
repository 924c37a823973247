"""Each statement does to every engine and export what it does by definition.

A wrong one fails by its name and that of the lowering: `for, over itself-explicit`.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import get_args

import pytest

from counterexamples.trace import Erred
from modelcheck.api import Unsupported
from modelcheck.contract.result import Findings, Holds
from modelcheck.engines.registry import engine
from modelcheck.export.targets import target
from spec.model.ir import Assert, Stmt
from spec.model.walk import walk_statements
from tests.conformance.lowerings import LOWERINGS, Lowering
from tests.conformance.statements import EFFECTS, ERRORS, asked, erring
from tests.oracles import needs_tlc, tlc

DEFINITION = Lowering("definition", lambda: engine("reference"))
each_statement = pytest.mark.parametrize(
    ("of", "name"), [pytest.param(of, name, id=name) for of, effects in EFFECTS.items() for name in effects]
)
each_error = pytest.mark.parametrize(
    ("of", "name"), [pytest.param(of, name, id=name) for of, wrong in ERRORS.items() for name in wrong]
)


@cache
def findings(of: str, names: tuple[str, ...], lowering: Lowering) -> Findings:
    """What a lowering's engine says of the statements of a kind, as far as it is asked about them."""
    whole = asked(of, names)
    claims = [*whole.becomes.values()]
    if lowering.runs:
        claims += [claim for each in whole.reaches.values() for claim in each]
    question = replace(whole.model.checks[0], only=tuple(claims))
    return lowering.findings(whole.model, question)


@pytest.mark.usefixtures("quickly_compiled")
@pytest.mark.parametrize("lowering", [DEFINITION, *LOWERINGS], ids=lambda each: each.name)
@each_statement
def test_a_statement_does_what_the_table_says(of: str, name: str, lowering: Lowering) -> None:
    if name in lowering.refused:
        with pytest.raises(Unsupported):
            findings(of, (name,), lowering)
        return
    names = tuple(each for each in EFFECTS[of] if each not in lowering.refused)
    whole, found = asked(of, names), findings(of, names, lowering)
    verdicts = {each.property: type(each.verdict) for each in found.results}
    claims = (whole.becomes[name], *(whole.reaches[name] if lowering.runs else ()))

    assert found.error is None
    assert {claim: verdicts[claim] for claim in claims} == dict.fromkeys(claims, Holds)


@pytest.mark.usefixtures("quickly_compiled")
@pytest.mark.parametrize(
    "lowering", [each for each in (DEFINITION, *LOWERINGS) if each.errors], ids=lambda each: each.name
)
@each_error
def test_a_statement_without_a_meaning_is_an_error_of_the_model(
    of: str, name: str, lowering: Lowering
) -> None:
    model = erring(of, name)
    error = lowering.findings(model, model.checks[0]).error

    assert error is not None
    assert isinstance(error.ending, Erred)
    assert error.ending.code == ERRORS[of][name].code


@pytest.mark.oracle
@needs_tlc
@pytest.mark.parametrize("of", EFFECTS)
def test_statements_do_to_tlc_what_the_table_says(of: str, tmp_path: Path) -> None:
    whole = asked(of, tuple(EFFECTS[of]))
    question = replace(whole.model.checks[0], only=tuple(whole.becomes.values()))
    for name, text in target("tla")(whole.model, question).files.items():
        (tmp_path / name).write_text(text, encoding="ascii")
    states = DEFINITION.findings(whole.model, question).stats.states

    told = tlc(tmp_path, "operators", quick=True)
    assert (told.broken, told.states) == ("", states)


def test_every_statement_is_among_them() -> None:
    models = [asked(of, tuple(EFFECTS[of])).model for of in EFFECTS]
    done = [each for model in models for action in model.actions for each in walk_statements(action.body)]

    assert {type(each) for each in done} == set(get_args(Stmt)) - {Assert}
