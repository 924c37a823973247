"""The mode `proofs`: wrong changes of what is proved, each put to the prover.

A change takes a part out of a proved protocol, or puts another in its place.  The prover may
refuse the changed protocol or prove it all the same; but where the explicit engine finds a run
of it, in some small scope, that breaks a claim, the prover may not prove that claim.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from itertools import product
from multiprocessing.connection import Connection
from random import Random
from time import process_time

import spec.model.ir as ir
import spec.model.types as t
from counterexamples.lines import count, one_line
from modelcheck.api import Unsupported, check, task_of
from modelcheck.asking.models import pick_checks
from modelcheck.asking.necessity.parts import forgetful, parts_of
from modelcheck.asking.necessity.switched import without
from modelcheck.contract.engine import Limits
from modelcheck.contract.families import families, looked_at
from modelcheck.contract.proof import ObligationStatus
from modelcheck.contract.result import Violated
from modelcheck.engines.registry import engine
from modelcheck.symbolic.answers import claims_of
from modelcheck.symbolic.process import programs
from modelcheck.symbolic.unbounded.engine import ProofAttempt, asked_of
from spec.load import load
from spec.meaning.semantics import Machine
from spec.model.kinds import INVARIANTS, OF_STEPS
from spec.model.op import Op, Quantifier
from spec.model.values import ModelError
from spec.model.walk import children, with_expressions, with_parts
from tests.fuzz.findings import Answer, Finding
from tests.fuzz.pool import answer_each

PROVED = (  # a file and a check of it, of which the prover proves all, or these claims
    ("quorum", "any_n", ()),
    ("raft", "any_n_elections", ()),
    ("kafka_log", "any_n", ()),
    ("kafka_acks", "acknowledged", ()),
    ("kafka_checkpoint", "kafka7414_fixed", ()),
    ("kafka_registration", "kafka19047_waits", ()),
    ("kafka_transactions", "verified", ("none_hangs",)),
)
SECONDS = 1.0  # for each question to the solver, where a run is known that breaks a claim
LONGER = 5.0  # where none is known
STATES = 150_000  # of each search
PATIENCE = 900.0  # seconds for one change
REPLACED = 12  # places in which something else is put, of each check


@dataclass(frozen=True)
class Change:
    """A changed model: what kind of change it is, what was changed, and the claims that are asked about."""

    kind: str
    what: str
    model: ir.Model
    claims: tuple[str, ...]

    def __str__(self) -> str:
        return f"{self.kind} {self.what}".replace("|", "\\|")


@dataclass(frozen=True)
class BrokenClaim:
    """A claim that a run breaks: with how many faults and steps, in which scope."""

    name: str
    faults: int
    steps: int
    scope: str

    def __str__(self) -> str:
        return f"{self.name} ({count(self.faults, 'fault')}, {count(self.steps, 'step')}, {self.scope})"


# ----------------------------------------------------------------------- changes


@cache
def asked(file: str, name: str) -> tuple[ir.Model, ir.Model, ir.Check]:
    """A model that is proved, the same with a store for whatever could be forgotten, and its check."""
    models = load(f"spec/protocols/{file}.rsm")
    ((model, found),) = pick_checks(models, [name])
    forgets = dict(zip((m.name for m in models), forgetful(models), strict=True))
    return model, forgets[model.name], found


@cache
def changes(
    file: str, name: str, claims: tuple[str, ...] = (), replaced: int = REPLACED
) -> tuple[Change, ...]:
    """All changes of what is proved there: every part taken out, and in some places another put in."""
    model, forgets, found = asked(file, name)
    claims = claims or tuple(p.name for p in looked_at(model, found) if p.kind in INVARIANTS | OF_STEPS)
    lemmas = tuple(p.name for p in model.properties if p.kind is ir.PropertyKind.LEMMA)
    whole = tuple(dict.fromkeys((*claims, *lemmas)))
    able = {action.name for action in found.budget.actions(model)}
    parts = sorted(parts_of(model, forgets), key=lambda part: (part.span.start, part.kind.name))
    taken_out = [
        Change(part.kind.name.lower(), f"{part.name}: {part.kind.value}", changed, whole)
        for part in parts
        if (changed := without(model, forgets, part)).actions != model.actions
    ]
    taken_out += [
        Change("assumption", f"{each.name}: dropped", _with_assumption(model, each, None), whole)
        for each in model.assumes
    ]
    taken_out += [
        Change("lemma", f"{name}: dropped", _without(model, name), tuple(n for n in whole if n != name))
        for name in lemmas
    ]
    others = [*_of_assumptions(model, whole), *_of_actions(model, whole, able), *_of_claims(model, whole)]
    chance = Random(f"{file} {name}")  # noqa: S311 - no secret
    chosen = sorted(chance.sample(range(len(others)), min(replaced, len(others))))
    return (*taken_out, *(others[at] for at in chosen))


def _without(model: ir.Model, name: str) -> ir.Model:
    return replace(model, properties=tuple(p for p in model.properties if p.name != name))


def _with_assumption(model: ir.Model, old: ir.Assume, new: ir.Assume | None) -> ir.Model:
    assumes = (new if each is old else each for each in model.assumes)
    return replace(model, assumes=tuple(each for each in assumes if each is not None))


def _of_assumptions(model: ir.Model, claims: tuple[str, ...]) -> Iterator[Change]:
    for each in model.assumes:
        for place, new in replacements(each.test):
            changed = _with_assumption(model, each, replace(each, test=new))
            yield Change("assumption", f"{each.name}: {_shown(model, place)}", changed, claims)


def _of_actions(model: ir.Model, claims: tuple[str, ...], able: set[str]) -> Iterator[Change]:
    """One place of one action changed."""
    for action in model.actions:
        if action.name not in able:
            continue
        for place, new in _with_one_place(action):
            actions = tuple(new if each is action else each for each in model.actions)
            changed = replace(model, actions=actions)
            yield Change("action", f"{action.name}: {_shown(model, place)}", changed, claims)


def _with_one_place(action: ir.Action) -> Iterator[tuple[str | ir.Expr, ir.Action]]:
    for at, part in enumerate(action.head):
        if isinstance(part, ir.Guard):
            for place, test in replacements(part.test):
                head = (*action.head[:at], replace(part, test=test), *action.head[at + 1 :])
                yield place, replace(action, head=head)
    for at, statement in enumerate(action.body):
        if isinstance(statement, ir.Assign | ir.Branch | ir.Each):
            yield (
                f"statement {at + 1} left out",
                replace(action, body=(*action.body[:at], *action.body[at + 1 :])),
            )
        places: list[ir.Expr] = []

        def note(expr: ir.Expr, places: list[ir.Expr] = places) -> ir.Expr:
            places.append(expr)
            return expr

        with_expressions(statement, note)
        for number, old in enumerate(places):
            for place, new in replacements(old):
                numbers = iter(range(len(places)))

                def put(
                    expr: ir.Expr, numbers: Iterator[int] = numbers, number: int = number, new: ir.Expr = new
                ) -> ir.Expr:
                    return new if next(numbers) == number else expr

                changed = with_expressions(statement, put)
                yield place, replace(action, body=(*action.body[:at], changed, *action.body[at + 1 :]))


def _of_claims(model: ir.Model, claims: tuple[str, ...]) -> Iterator[Change]:
    """Another claim in the place of one."""
    for prop in model.properties:
        if prop.name not in claims or prop.expr is None:
            continue
        for place, new in replacements(prop.expr):
            properties = tuple(replace(p, expr=new) if p.name == prop.name else p for p in model.properties)
            changed = replace(model, properties=properties)
            yield Change("claim", f"{prop.name}: {_shown(model, place)}", changed, claims)


def _shown(model: ir.Model, place: str | ir.Expr) -> str:
    """A place as the text has it."""
    return place if isinstance(place, str) else f"another `{one_line(model.source.at(place.span))}`"


def replacements(expr: ir.Expr) -> Iterator[tuple[ir.Expr, ir.Expr]]:
    """An expression with another in one place of it, and that place."""
    yield from ((expr, new) for new in _instead(expr))
    parts = children(expr)
    for number, part in enumerate(parts):
        for place, new in replacements(part):
            fresh = iter((*parts[:number], new, *parts[number + 1 :]))
            yield place, with_parts(expr, lambda _, fresh=fresh: next(fresh))  # type: ignore[misc]


SWAPPED = {
    Op.LT: Op.LE,
    Op.LE: Op.LT,
    Op.UNION: Op.MINUS,
    Op.MINUS: Op.UNION,
    Op.ADD: Op.SUB,
    Op.SUB: Op.ADD,
    Op.TAKE: Op.DROP,
}
EACH = {Quantifier.FORALL: Quantifier.EXISTS, Quantifier.EXISTS: Quantifier.FORALL}


def _instead(expr: ir.Expr) -> Iterator[ir.Expr]:
    """What can stand in the place of an expression."""
    match expr:
        case ir.Apply(op=op) if op in SWAPPED:
            yield replace(expr, op=SWAPPED[op])
        case ir.Apply(op=Op.NOT, args=(of,)):
            yield of
        case ir.And(parts=parts) | ir.Or(parts=parts):
            for at in range(len(parts)):
                yield _joined(expr, (*parts[:at], *parts[at + 1 :]))
            other = ir.Or if isinstance(expr, ir.And) else ir.And
            yield other(parts, type=expr.type, span=expr.span)
        case ir.Implies(left=left, right=right):
            yield right
            yield replace(expr, left=right, right=left)
        case ir.Bind(quantifier=quantifier) if quantifier in EACH:
            yield replace(expr, quantifier=EACH[quantifier])
            if expr.where is not None:
                yield replace(expr, where=None)
        case ir.Const(value=int(value)) if isinstance(expr.type, t.Int):
            yield replace(expr, value=value + 1)
        case ir.If(then=then, other=other):
            yield replace(expr, then=other, other=then)
        case _:
            pass


def _joined(expr: ir.And | ir.Or, parts: tuple[ir.Expr, ...]) -> ir.Expr:
    return parts[0] if len(parts) == 1 else replace(expr, parts=parts)


# ------------------------------------------------------------------------ answers


def proved(change: Change, found: ir.Check, wanted: Collection[str], seconds: float) -> tuple[str, ...]:
    """The claims that the prover proves of a changed model.

    It goes on only as long as those that are `wanted` may be among them; without any, until one is refused.
    """
    task = replace(task_of(change.model, found), properties=tuple(map(change.model.property, change.claims)))
    attempt = ProofAttempt(asked_of(task), programs()[0], seconds, 1, explain=False)
    for each in attempt.rounds(claims_of(task), [], lambda: None):
        if not any(cell.kept is not ObligationStatus.PROVED for cell in each.cells):
            return each.claims
        if not any(name in each.claims for name in wanted):
            break
    return ()


def scopes(change: Change, found: ir.Check) -> tuple[ir.Check, ...]:
    """The check in small scopes: its own, with two members, with one more, with every bound one higher."""
    own = found.scope
    less = replace(own, sorts={name: _members(name, 2) for name in own.sorts})
    more = replace(own, sorts={name: _members(name, len(each) + 1) for name, each in own.sorts.items()})
    higher = replace(
        own,
        nats={name: most + 1 for name, most in own.nats.items()},
        networks={name: most + 1 for name, most in own.networks.items()},
    )
    return tuple(
        replace(found, scope=replace(scope, config=config), only=change.claims, expect=())
        for scope in (less, own, higher, more)
        for config in _configs(change.model, scope)
    )


def _members(sort: str, many: int) -> tuple[str, ...]:
    return tuple(f"{sort[0].lower()}{at + 1}" for at in range(many))


def _configs(model: ir.Model, scope: ir.Scope) -> Iterator[Mapping[str, ir.Value]]:
    """The switches of a scope, with all small numbers that the assumptions allow."""
    largest = max(map(len, scope.sorts.values()), default=2)
    numbers = {
        each.name: range(each.type.lo, min(each.type.hi, largest) + 1)
        for each in model.configs
        if isinstance(each.type, t.Range)
    }
    for values in product(*numbers.values()):
        config = {**scope.config, **dict(zip(numbers, values, strict=True))}
        if not Machine(model, replace(scope, config=config)).assumption_failures():
            yield config


@dataclass
class Searched:
    """What the explicit engine found in small scopes: runs that break claims, the first of each.

    A search that comes to an error of the model ends there, and one may end at the limit of states.
    """

    broken: dict[str, BrokenClaim] = field(default_factory=dict)
    scopes: int = 0
    erring: int = 0
    partial: int = 0

    def __str__(self) -> str:
        first = min(self.broken.values(), key=lambda each: (each.faults, each.steps), default=None)
        if first is not None:
            more = f" and {len(self.broken) - 1} more" if len(self.broken) > 1 else ""
            return f"breaks {first}{more}"
        erring = f", the model errs in {self.erring}" if self.erring else ""
        partial = f", {self.partial} seen in part" if self.partial else ""
        return f"no run in {count(self.scopes, 'scope')}{erring}{partial}"


def searched(change: Change, found: ir.Check, states: int = STATES) -> Searched:
    """What the explicit engine finds of a changed model in small scopes."""
    seen, questions = Searched(), scopes(change, found)
    searcher = engine("explicit", series=True)
    for question, family in zip(questions, families([(change.model, q) for q in questions]), strict=True):
        left = tuple(name for name in change.claims if name not in seen.broken)
        if not left:
            break
        try:
            findings = check(
                change.model,
                replace(question, only=left),
                engine=searcher,
                limits=Limits(states=states),
                threads=1,
                family=family,
            ).findings
        except (Unsupported, ModelError):
            continue
        seen.scopes += 1
        seen.erring += findings.error is not None
        seen.partial += findings.end.partial
        for each in findings.results:
            if isinstance(each.verdict, Violated) and each.verdict.trace is not None:
                run = each.verdict.trace
                words = _words(question.scope, change.model)
                seen.broken[each.property] = BrokenClaim(each.property, run.faults, len(run.steps), words)
    return seen


def _words(scope: ir.Scope, model: ir.Model) -> str:
    sizes = [f"{name} {len(each)}" for name, each in scope.sorts.items()]
    bounds = [f"{name} {most}" for name, most in (scope.nats | scope.networks).items()]  # type: ignore[operator]
    numbers = [f"{e.name} {scope.config[e.name]}" for e in model.configs if isinstance(e.type, t.Range)]
    return " ".join([*sizes, *bounds, *numbers])


# --------------------------------------------------------------------------- jobs


@cache
def every() -> tuple[tuple[str, str, Change], ...]:
    """All changes, each with its file and its check."""
    return tuple((file, name, each) for file, name, claims in PROVED for each in changes(file, name, claims))


@dataclass(frozen=True)
class Job:
    """A change to be put to the prover, by its number."""

    seed: int
    shrink: str = ""
    patience: float = field(default=PATIENCE, compare=False)

    @property
    def again(self) -> str:
        """The command that does it once more."""
        return f"python -m tests.fuzz --mode proofs --seed {self.seed} --models 1"

    def smaller(self, _: Finding) -> None:
        """Nothing: a change is as small as it gets."""


def run(job: Job) -> Answer:
    """What becomes of a change, as a row of a table; a finding where it is proved and broken."""
    (file, name, change), began = every()[job.seed], process_time()
    _, _, found = asked(file, name)
    seen = searched(change, found)
    kept = proved(change, found, seen.broken, SECONDS if seen.broken else LONGER)
    verdict = "proved" if kept else "refused"
    spent = process_time() - began
    cells = [job.seed, f"{file} {name}", change, seen, verdict, f"{spent:.0f} s"]
    answer = Answer(
        [f"{'broken' if seen.broken else 'not broken'}, {verdict}"],
        told=[f"| {' | '.join(map(str, cells))} |"],
    )
    if wrong := [each for each in seen.broken.values() if each.name in kept]:
        differences = {each.name: ("not proved", f"proved, and broken: {each}") for each in wrong}
        answer.found.append(Finding("proofs", job.seed, differences, str(change), job.again))
    return answer


def serve(pipe: Connection) -> None:
    """Answer jobs until there are none."""
    answer_each(pipe, run)
