"""The answers in sentences, in the cells of a table, and as plain values."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from counterexamples.lines import Role, count
from counterexamples.trace import Trace
from modelcheck.kafka.questions.answers import Answer
from modelcheck.kafka.questions.question import MOVE, has_moves, kind_of

CELLS = {  # what the marks of the table mean, in addition to plain numbers
    "+": "`n+` n faults are survived, no more were tried",
    "all": "`all` any number of faults is survived",
    "<": "`<n` lost with n faults; with fewer is not known",
    "?": "`n+?` n faults are survived, more is not known",
    "no": "`no` broken without any fault",
    "ok": "`ok` it breaks nothing",
}

MET, UNMET, UNKNOWN = "met", "NOT met", "not known"
RESULTS: Mapping[bool | None, tuple[str, Role]] = {  # of requirements, the gravest first
    False: (UNMET, Role.BAD),
    None: (UNKNOWN, Role.UNSURE),
    True: (MET, Role.GOOD),
}


def cell(answer: Answer | None) -> tuple[str, Role]:
    """The number of faults survived as a table cell, with marks that `CELLS` explains."""
    if answer is None:
        return "-", Role.DIM
    if answer.kind == MOVE and answer.complete and answer.loss is None:
        return "ok", Role.GOOD
    if answer.survived is None:
        return "all", Role.GOOD
    if answer.loss is not None:
        if not answer.is_exact:
            return f"<{answer.lost_with}", Role.UNSURE
        return ("no" if answer.survived < 0 else str(answer.survived)), _worth(answer)
    if answer.broken is not None:
        return f"<{answer.broken}", Role.UNSURE
    if not answer.complete:
        return (f"{answer.survived}+?" if answer.survived >= 0 else "?"), Role.UNSURE
    return f"{answer.survived}+", Role.GOOD


def legend(cells: Iterable[str]) -> list[str]:
    """The explanations of the marks that occur in the cells."""
    used = set(cells)
    return [text for sign, text in CELLS.items() if any(_has(each, sign) for each in used)]


def page_legend(cells: Iterable[str]) -> list[str]:
    """The same for a page, which shows no backquotes: "n+: n faults are survived"."""
    return [text.removeprefix("`").replace("`", ":") for text in legend(cells)]


def _has(text: str, sign: str) -> bool:
    """Whether a cell has a mark."""
    return text.endswith("+") if sign == "+" else sign in text


def _worth(answer: Answer) -> Role:
    """The colour of an answer's cell."""
    return Role.BAD if answer.survived is not None and answer.survived < 1 else Role.UNSURE


def mark(answer: Answer) -> tuple[str, Role]:
    """The mark of an answer: ✓ nothing breaks it, ✗ something does, ? unknown."""
    if answer.lost_with is not None:
        return "✗", Role.BAD
    return ("✓", Role.GOOD) if answer.complete else ("?", Role.UNSURE)


def sentence(answer: Answer, fault: str = "fault") -> str:
    """The answer in one sentence: "acknowledged records survive any 1 fault; with 2 they can be lost: …".

    `fault` is what is counted: "further fault" where something has gone wrong already.
    """
    guarantee, survived, loss = answer.guarantee, answer.survived, answer.loss
    if survived is None:
        return f"{guarantee.holds} any number of {fault}s"
    if loss is None and answer.broken is not None:
        most = f"at most {count(answer.broken, fault)}" if answer.broken else f"no {fault}"
        return f"with {most} {guarantee.fails}; the search for such a run was cut short"
    if loss is None:
        if survived < 0:
            return f"whether {guarantee.fails} is not known: the search was cut short"
        short = "" if answer.complete else "; more is not known, the search was cut short"
        least = f"any {count(survived, fault)}" if survived else f"runs without {fault}s"
        return f"{guarantee.holds} {least}{short}"
    if not loss.steps and guarantee.unattended:
        return "writes are refused from the start, and nothing need go wrong"
    if loss.faults == 0:
        return f"{guarantee.fails} without any {fault}" + (
            ", when leadership is moved" if has_moves(loss) else ""
        )
    unsure = "" if answer.is_exact else " (whether with fewer, is not known)"
    if survived < 1:
        return f"with {count(loss.faults, fault)} {guarantee.fails}: {faults_of(loss)}{unsure}"
    return (
        f"{guarantee.holds} any {count(survived, fault)}; "
        f"with {loss.faults} {guarantee.they_fail}: {faults_of(loss)}{unsure}"
    )


def faults_of(trace: Trace, words: Mapping[str, str] | None = None) -> str:
    """The faults of a run in order: "isolation, then session loss"."""
    kinds = set(trace.model.faults)
    names: list[str] = []
    for step in trace.steps:
        if step.action in kinds:
            short = (words or {}).get(step.action, kind_of(step.action).short)
            names.append(f"another {short.removeprefix('a ')}" if short in names else short)
    moved = ", while leadership is moved" if has_moves(trace) else ""
    return ", then ".join(names) + moved


def answer_json(answer: Answer | None) -> dict[str, object] | None:
    """An answer as JSON data; None for what cannot happen."""
    if answer is None:
        return None
    certain = "any" if answer.survived is None else answer.survived if answer.survived >= 0 else None
    return {
        "survives": certain,
        "lost_with": answer.lost_with,
        "complete": answer.complete,
        "states": answer.states,
    }
