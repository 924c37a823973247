"""A proof as a file that can be checked again: the claims, what they are claimed of, and every obligation.

NOTE(certificate): checking it trusts the solver and that the obligations are those
of the model.  So each is written anew from the model and has to be the same text,
none may be missing, a fresh solver has to find each unsatisfiable, and the claims
have to hold in all states that the explicit engine reaches in a small scope.
The digest names the text that was proved and decides nothing: a text of which only
a comment is another asks the same, and is proved as well.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any

import spec.ir as ir
from counterexamples.itf.write import digest
from counterexamples.lines import one_line
from modelcheck.contract.proof import ObligationStatus, Proof
from modelcheck.symbolic.process import ProcessAnswer, Program, insist
from modelcheck.symbolic.unbounded.obligations import Obligation, ProofTask
from spec.frozen import frozen

FORMAT = "modelcheck certificate 1"
OF = (
    "every number of members of each sort, every bound of each nat, runs of every length, any number of the"
    " faults that are among the actions, and every number among the settings that the model allows;"
    " not whether the model makes an error"
)


class Unreadable(Exception):  # noqa: N818 - an answer to the user, not a bug
    """A text is no certificate; the message says what is wrong with it."""


@frozen
class CertifiedObligation:
    """One obligation as it stands in a certificate."""

    claim: str
    action: str | None
    named: bool
    smt: str

    @property
    def question(self) -> Obligation:
        """What it asks."""
        return Obligation(self.claim, self.action)


@frozen
class Certificate:
    """What is claimed of which text, and why it is so."""

    file: str
    text: str  # the digest of the model's text
    model: str
    check: str
    actions: tuple[str, ...]
    claims: tuple[str, ...]
    obligations: tuple[CertifiedObligation, ...]

    def is_of(self, model: ir.Model) -> bool:
        """Whether it was written for just this text, comments and all."""
        return self.text == digest(model.source)


def written(model: ir.Model, check: str, asked: ProofTask, proof: Proof) -> str:
    """The certificate of a proof."""
    claims = [
        {"name": p.name, "kind": p.kind.value, "text": one_line(model.source.at(p.span))}
        for p in model.properties
        if p.name in proof.claims
    ]
    obligations = [
        {"claim": cell.claim, "action": cell.action, "named": cell.named, "smt": cell.smt}
        for cell in proof.cells
        if cell.kept is ObligationStatus.PROVED
    ]
    data = {
        "format": FORMAT,
        "file": model.source.name.rpartition("/")[2],
        "text": digest(model.source),
        "model": model.name,
        "check": check,
        "of": OF,
        "actions": [action.name for action in asked.actions],
        "claims": claims,
        "solver": proof.solver,
        "obligations": obligations,
    }
    return json.dumps(data, indent=1, ensure_ascii=False) + "\n"


def read(text: str) -> Certificate:
    """The certificate in a text. Raises Unreadable."""
    try:
        data: Any = json.loads(text)
        if data["format"] != FORMAT:
            raise Unreadable(f"its format is `{data['format']}` and not `{FORMAT}`")
        obligations = tuple(
            CertifiedObligation(str(o["claim"]), o["action"], bool(o["named"]), str(o["smt"]))
            for o in data["obligations"]
        )
        claims = tuple(str(each["name"]) for each in data["claims"])
        return Certificate(
            file=str(data["file"]),
            text=str(data["text"]),
            model=str(data["model"]),
            check=str(data["check"]),
            actions=tuple(map(str, data["actions"])),
            claims=claims,
            obligations=obligations,
        )
    except json.JSONDecodeError as error:
        raise Unreadable(f"it is no JSON: {error.msg} in line {error.lineno}") from None
    except (RecursionError, ValueError):  # brackets within each other, a number of thousands of digits
        raise Unreadable("something in it is nested too deep, or far too long") from None
    except (KeyError, TypeError) as error:
        raise Unreadable(f"something is missing or not as it should be: {error}") from None


def differences(certificate: Certificate, model: ir.Model, asked: ProofTask) -> Iterator[str]:
    """Where a certificate is not what the model asks to be proved, if anywhere. Costs every formula."""
    if certificate.actions != tuple(action.name for action in asked.actions):
        yield "it is not about the steps that this check allows"
    known = {prop.name: prop for prop in model.properties}
    if unknown := [name for name in certificate.claims if name not in known]:
        yield f"the model has no claim {', '.join(unknown)}"
        return
    claims = [known[name] for name in certificate.claims]
    found = {each.question: each for each in certificate.obligations}
    for question in asked.questions(claims):
        obligation = found.pop(question, None)
        if obligation is None:
            yield f"missing: {question}"
        elif obligation.smt != asked.formula(question, claims, named=obligation.named).text():
            yield f"not what the model asks: {question}"
    for question in found:
        yield f"not asked by the model: {question}"


def answers(
    program: Program, obligations: Sequence[CertifiedObligation], seconds: float
) -> Iterator[tuple[CertifiedObligation, ProcessAnswer]]:
    """What a fresh process of a solver says of each obligation."""
    for each in obligations:
        yield each, insist(program, each.smt, seconds=seconds).answer
