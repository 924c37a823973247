"""What `necessity` says of the parts of a model, and what is found where one is taken away."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields, replace
from unittest.mock import patch

import spec.syntax.tree as s
from modelcheck.asking.necessity.answers import OF_SAFETY
from modelcheck.asking.necessity.parts import PartKind, ProtocolPart, forgetful
from modelcheck.asking.necessity.search import NecessityRow, NecessitySearch
from modelcheck.asking.necessity.switched import without
from modelcheck.contract.engine import Limits
from modelcheck.contract.result import Findings, Holds, Unknown, Violated
from spec.diagnostics import SpecError
from spec.load import loads
from spec.model.ir import Model
from spec.source import Node
from tests.agreement import differences
from tests.fuzz.cases import Case
from tests.fuzz.findings import Differences
from tests.fuzz.of_sweeps import Here
from tests.fuzz.rewriting import protocol_of

LIMITS = Limits(states=4_000, seconds=10)  # of each search of a mutant
FEW = 6  # parts of a model that are looked at
SMALL = 150  # states of a model whose parts are looked at
NOTHING_TO_ASK = "R0914"


def parts_needed(case: Case) -> Differences | None:
    """Whether each part is needed by a check, as a search of the model without it says."""
    findings = case.findings
    if findings is None or findings.stats.states > SMALL:
        return None
    models = tuple(_with_check(each, case) for each in loads(case.text))
    with patch("modelcheck.asking.necessity.search.Workers", Here):
        try:
            asking = NecessitySearch(models)
            ((_, standing),) = asking.checks(LIMITS)
            rows = [row for _, row in asking.rows([standing], LIMITS)]
        except SpecError as error:
            if error.diagnostics[0].code == NOTHING_TO_ASK:
                return None
            raise
    safety = tuple(r.property for r in findings.results if r.kind in OF_SAFETY)
    known = case.by_reference(replace(case.asked, only=safety)).findings
    assert known is not None
    holding = {each.property for each in known.results if isinstance(each.verdict, Holds)}
    holding = holding if known.error is None else set()
    found = dict(differences({"holding": holding}, {"holding": set(standing.stands.properties)}))
    chance = case.random("parts")
    for row in chance.sample(rows, min(FEW, len(rows))):
        found |= _row(case, row, standing.stands.properties)
    return found


def _with_check(model: Model, case: Case) -> Model:
    """A model of the text with the one check, if that is of it."""
    return replace(model, checks=(case.asked,) if model.name == case.model.name else ())


def _row(case: Case, row: NecessityRow, holding: tuple[str, ...]) -> Differences:
    """Where a row is not what a search finds of the model without the part."""
    if row.unknown:
        return {}
    mutant = _by_hand(case, row.part)
    other = Case(case.seed, "", mutant, replace(case.asked, only=holding, expect=()))
    found = other.by_reference(other.asked).findings
    if found is None or any(
        isinstance(each.verdict, Unknown) for each in found.results if found.error is None
    ):
        return {}
    is_broken = found.error is not None or any(isinstance(each.verdict, Violated) for each in found.results)
    told = differences({f"{row.part.name} is needed": is_broken}, {f"{row.part.name} is needed": row.needed})
    if row.same:
        known = case.by_reference(replace(case.asked, only=holding, expect=())).findings
        assert known is not None
        told |= {
            f"{row.part.name} {name}": pair for name, pair in differences(_runs(known), _runs(found)).items()
        }
    return told


def _runs(found: Findings) -> dict[str, object]:
    """What is the same of two models with the same runs."""
    stats = found.stats
    return {"states": stats.states, "transitions": stats.transitions, "taken": stats.taken, "cut": stats.cut}


def _by_hand(case: Case, part: ProtocolPart) -> Model:
    """The model without a part: of the text without it, wherever the text can be changed so."""
    text = _text_without(case, part)
    if text is not None:
        return next(model for model in loads(text) if model.name == case.model.name)
    models = loads(case.text)
    forgets = next(each for each in forgetful(models) if each.name == case.model.name)
    return without(case.model, forgets, part)


def _text_without(case: Case, part: ProtocolPart) -> str | None:
    """The text without a part; None where what a part is cannot be seen in the text alone."""
    text = case.text
    if part.kind is PartKind.QUORUM:
        return None
    start, end = part.span.start, part.span.end
    for node in _nodes(protocol_of(text)):
        if (node.span.start, node.span.end) != (start, end):
            continue
        match node:
            case s.VarDecl(storage="durable") if part.kind is PartKind.DURABLE:
                return text[:start] + text[start:].replace("durable", "volatile", 1)
            case s.Require() | s.AssignStmt() | s.Do() | s.MemberStmt():
                return text[:start] + text[end:]
            case _:
                pass
    return None


def _nodes(node: Node) -> Iterator[Node]:
    yield node
    for field in fields(node):
        value = getattr(node, field.name)
        for each in value if isinstance(value, tuple) else (value,):
            if isinstance(each, Node):
                yield from _nodes(each)
