"""A proof as a file that can be checked again: the claims, what they are claimed of, and every obligation.

NOTE(certificate): checking it trusts the solver and that the obligations are those
of the model.  So what has to be proved comes from the model and its check: every
property that the check asks about has to be among the claims, every obligation is
written anew and has to be the same text in the same order, and a fresh solver has to
find each unsatisfiable.  Then the claims have to hold in all states that the explicit
engine reaches in a small scope.
A certificate chooses two things alone: which lemmas of the model help, all of which
are proved as well, and in which of its two forms an obligation is written.  The digest
names the text that was proved, and `solver` what proved it; neither decides anything:
a text of which only a comment is another asks the same, and is proved as well.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import Any

import spec.model.ir as ir
from counterexamples.itf.write import digest
from counterexamples.lines import one_line
from modelcheck.contract.engine import Task
from modelcheck.contract.inexpressible import Inexpressible
from modelcheck.contract.proof import ObligationStatus, Proof
from modelcheck.symbolic.process import ProcessAnswer, Program, insist
from modelcheck.symbolic.unbounded.engine import PROVABLE, asked_of, provable_of
from modelcheck.symbolic.unbounded.obligations import Obligation
from spec.frozen import frozen
from spec.syntax.comments import without_comments

FORMAT = "modelcheck certificate 1"
OF = (
    "every number of members of each sort, every bound of each nat and every number among the settings, where"
    " the assumptions of the model are true; runs of every length, with any number of the faults that are"
    " among the actions; not whether the model makes an error"
)


class Unreadable(Exception):  # noqa: N818 - an answer to the user, not a bug
    """Raised for a text that is no certificate; the message gives the reason."""


@frozen
class CertifiedClaim:
    """A claim in a certificate: its name, its kind, and its text in the model."""

    name: str
    kind: str
    text: str


@frozen
class CertifiedObligation:
    """A proof obligation in a certificate, with its formula."""

    claim: str
    action: str | None
    named: bool
    smt: str

    @property
    def question(self) -> Obligation:
        """The obligation without its formula: the claim, and the action if it is a step."""
        return Obligation(self.claim, self.action)


@frozen
class Certificate:
    """A proof of claims about a model's text: the claims and every obligation."""

    file: str
    text: str  # the digest of the model's text
    model: str
    check: str
    of: str
    actions: tuple[str, ...]
    claims: tuple[CertifiedClaim, ...]
    solver: str
    obligations: tuple[CertifiedObligation, ...]

    def is_of(self, model: ir.Model) -> bool:
        """Whether the certificate was written for exactly this text of the model, comments included."""
        return self.text == digest(model.source)


def written(task: Task, proof: Proof) -> str:
    """The text of the certificate for a proof of all properties that a check asks for."""
    model = task.model
    proved = [cell for cell in proof.cells if cell.kept is ObligationStatus.PROVED]
    certificate = Certificate(
        file=model.source.name.rpartition("/")[2],
        text=digest(model.source),
        model=model.name,
        check=task.check or "",
        of=OF,
        actions=tuple(action.name for action in asked_of(task).actions),
        claims=tuple(_claim(model, prop) for prop in model.properties if prop.name in proof.claims),
        solver=proof.solver,
        obligations=tuple(CertifiedObligation(c.claim, c.action, c.named, c.smt) for c in proved),
    )
    return json.dumps({"format": FORMAT} | asdict(certificate), indent=1, ensure_ascii=False) + "\n"


def _claim(model: ir.Model, prop: ir.Property) -> CertifiedClaim:
    """The entry of a property in a certificate."""
    return CertifiedClaim(prop.name, prop.kind.value, one_line(without_comments(model.source.at(prop.span))))


# ----------------------------------------------------------------------- reading

Kinds = Mapping[str, tuple[type, ...]]
OBLIGATION: Kinds = {"claim": (str,), "action": (str, type(None)), "named": (bool,), "smt": (str,)}
CLAIM: Kinds = dict.fromkeys(("name", "kind", "text"), (str,))
WHOLE: Kinds = {
    **dict.fromkeys(("format", "file", "text", "model", "check", "of", "solver"), (str,)),
    **dict.fromkeys(("actions", "claims", "obligations"), (list,)),
}


def read(text: str) -> Certificate:
    """The certificate in a text, checked to have every required entry and no other. Raises Unreadable."""
    try:
        data = json.loads(text, object_pairs_hook=_with_keys_once)
    except json.JSONDecodeError as error:
        raise Unreadable(f"it is no JSON: {error.msg} in line {error.lineno}") from None
    except (RecursionError, ValueError):  # brackets within each other, a number of thousands of digits
        raise Unreadable("something in it is nested too deep, or far too long") from None
    format_ = data.get("format") if isinstance(data, dict) else None
    if format_ != FORMAT:
        raise Unreadable(f"its format is not `{FORMAT}`")
    whole = _entries(data, WHOLE, "it")
    if (file := whole["file"]) != file.rpartition("/")[2] or file in {"", ".", "..", "-"}:
        raise Unreadable("`file` is not the name of a file in the same folder")
    if not all(isinstance(each, str) for each in whole["actions"]):
        raise Unreadable("an action is no text")
    del whole["format"]
    return Certificate(
        **whole
        | {
            "actions": tuple(whole["actions"]),
            "claims": tuple(CertifiedClaim(**_entries(c, CLAIM, "a claim")) for c in whole["claims"]),
            "obligations": tuple(
                CertifiedObligation(**_entries(o, OBLIGATION, "an obligation")) for o in whole["obligations"]
            ),
        }
    )


def _with_keys_once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """A JSON object as a dictionary. Raises Unreadable for a repeated key."""
    for key in _repeated(key for key, _ in pairs):
        raise Unreadable(f"`{key}` is twice in one object")
    return dict(pairs)


def _repeated(names: Iterable[str]) -> list[str]:
    """The names that occur more than once."""
    return [name for name, times in Counter(names).items() if times > 1]


def _entries(data: object, kinds: Kinds, what: str) -> dict[str, Any]:
    """The entries of a JSON object, checked to be those of `kinds`, each of its type. Raises Unreadable."""
    if not isinstance(data, dict):
        raise Unreadable(f"{what} is no object")
    for name, allowed in kinds.items():
        if name not in data:
            raise Unreadable(f"{what} has no `{name}`")
        if type(data[name]) not in allowed:
            raise Unreadable(f"`{name}` of {what} is not of its kind")
    for name in data.keys() - kinds.keys():
        raise Unreadable(f"{what} has an entry `{name}`, which means nothing")
    return data


# --------------------------------------------------------------------- comparing


def differences(certificate: Certificate, task: Task) -> Iterator[str]:
    """Where a certificate differs from what the check asks to be proved. Costs every formula.

    Without any, its obligations are all those of its claims, and these are all that the check
    asks about, and lemmas of the model.
    """
    if certificate.of != OF:
        yield "its entry `of` is not what is proved"
    if certificate.actions != tuple(action.name for action in asked_of(task).actions):
        yield "it is not about the steps that this check allows"
    if wrong := [*_of_claims(certificate, task)]:
        yield from wrong
        return
    claims = [task.model.property(each.name) for each in certificate.claims]
    try:
        yield from _of_obligations(certificate, task, claims)
    except Inexpressible as reason:
        yield f"the model has what no certificate can be about: {reason}"


def _of_claims(certificate: Certificate, task: Task) -> Iterator[str]:
    """The differences in the claims."""
    names = [each.name for each in certificate.claims]
    asked = [prop for prop in task.properties if prop.kind in PROVABLE]
    for prop in asked:
        if prop.name not in names:
            yield f"missing: the claim {prop.name}, which the check asks about"
    if not names and not asked:
        yield "the check asks about nothing"
    able = {prop.name: prop for prop in provable_of(task)}
    for each in certificate.claims:
        if each.name not in able:
            yield f"not asked by the check, nor a lemma of the model: the claim {each.name}"
        elif _without_spaces(each) != _without_spaces(_claim(task.model, able[each.name])):
            yield f"not what the model claims: {each.name}"
    for name in _repeated(names):
        yield f"twice: the claim {name}"
    ordered = [name for name in able if name in names]
    if names != ordered and sorted(names) == sorted(ordered):
        yield "the claims are not in the order of the model"


def _without_spaces(claim: CertifiedClaim) -> tuple[str, str]:
    """The kind and text of a claim, with the layout normalized."""
    return claim.kind, "".join(claim.text.split())


def _of_obligations(certificate: Certificate, task: Task, claims: Sequence[ir.Property]) -> Iterator[str]:
    """The differences in the obligations of these claims."""
    asked = asked_of(task)
    questions = asked.questions(claims)
    found = {each.question: each for each in certificate.obligations}
    for question in questions:
        obligation = found.get(question)
        if obligation is None:
            yield f"missing: {question}"
        elif obligation.smt != asked.formula(question, claims, named=obligation.named).text():
            yield f"not what the model asks: {question}"
    for question in found.keys() - {*questions}:
        yield f"not asked by the model: {question}"
    there = [each.question for each in certificate.obligations]
    for name in _repeated(map(str, there)):
        yield f"twice: {name}"
    if there != [*questions] and sorted(map(str, there)) == sorted(map(str, questions)):
        yield "the obligations are not in the order of the claims and the actions"


def answers(
    program: Program, obligations: Sequence[CertifiedObligation], seconds: float
) -> Iterator[tuple[CertifiedObligation, ProcessAnswer]]:
    """Each obligation with the answer of a new solver process to it."""
    for each in obligations:
        yield each, insist(program, each.smt, seconds=seconds).answer
