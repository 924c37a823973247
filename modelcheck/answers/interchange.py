"""What symmetry would spare a large search, and what a reduction does not tell, in words."""

from __future__ import annotations

from collections.abc import Iterator
from math import factorial, prod

from counterexamples.lines import count
from modelcheck.contract.families import looked_at
from modelcheck.contract.result import Findings, Outcome
from modelcheck.search.symmetry import with_too_many
from spec.model.interchangeable import distinctions, symmetric_sorts
from spec.model.kinds import OF_FAIR_RUNS

LARGE = 1_000_000  # states, from which on it is worth the words


def symmetry_words(outcome: Outcome) -> Iterator[str]:
    """Sentences for a search that is large, has no end, or is up to symmetry; none for other engines.

    Costs a look at the text of the model.
    """
    findings, model = outcome.findings, outcome.model
    if not _is_search(findings) or not (findings.symmetry or _is_large(findings)):
        return
    sizes = {name: len(members) for name, members in outcome.check.scope.sorts.items() if len(members) > 1}
    found = [name for name in symmetric_sorts(model) if name in sizes]
    fewer = prod(factorial(sizes[name]) for name in found)
    is_asked = any(prop.kind in OF_FAIR_RUNS for prop in looked_at(model, outcome.check))
    can = fewer > 1 and not is_asked and not with_too_many(model, outcome.check.scope, tuple(found))
    if not findings.symmetry and can:
        yield (
            f"the members of {' and '.join(found)} are interchangeable: with `symmetry` in the check, or "
            f"--symmetry, states that differ by their names count as one, up to {count(fewer, 'time')} fewer"
        )
    apart = {each.sort: each for each in reversed([*distinctions(model)])}
    for name, each in sorted(apart.items()):
        if name in sizes:
            _, line, _ = model.source.place(each.span.start)
            yield f"symmetry leaves the members of {name} apart: {each.why} (line {line})"


def partial_order_words(outcome: Outcome) -> Iterator[str]:
    """A sentence for a search by partial order; else none."""
    if outcome.findings.partial_order:
        yield (
            "steps that others commute with are left for later, so a run may have more steps than the "
            "shortest"
        )


def _is_search(findings: Findings) -> bool:
    """Whether states were listed."""
    return findings.sample is None and findings.proof is None and findings.depth is None


def _is_large(findings: Findings) -> bool:
    """Whether fewer states would have mattered."""
    return findings.end.partial or findings.stats.states >= LARGE
