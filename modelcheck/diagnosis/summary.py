"""A run that goes wrong in two sentences, in the words of its model: what happened, what is wrong then."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import takewhile

from counterexamples.ending import property_says
from counterexamples.explanation import Core, FalsePart, NoReturn, PartValue
from counterexamples.trace import (
    BadAssert,
    BadState,
    BadStep,
    Deadlocked,
    Erred,
    Example,
    Lasso,
    Stops,
    Trace,
    Trapped,
)
from spec.meaning.semantics import Machine

MOST_EVENTS = 6  # steps that the first sentence names
MOST_PARTS = 2  # false parts that the second one names
MOST_FACTS = 3  # values in them
LONG = 60  # characters of a value, and of a part, that are shown


def summary(
    trace: Trace, parts: Sequence[FalsePart], core: Core, no_return: NoReturn | None
) -> tuple[str, ...]:
    """The two sentences that summarize a violation, from the model's `says` texts.

    The first names, of the needed steps, the last one, the point of no return, those
    that made the values in the false parts what they are, and the faults: six at most.
    """
    first = _happened(trace, _events(trace, parts, core, no_return))
    return tuple(sentence for sentence in (first, what_is_wrong(trace, parts)) if sentence)


def claim(trace: Trace) -> str:
    """The `says` text of the property with values at the end; empty without one."""
    if trace.property is None:
        return ""
    machine = Machine(trace.model, trace.scope)
    return property_says(machine, trace.model.property(trace.property), trace.states[-1]).rstrip(".")


# ------------------------------------------------------------------- what happened


def _events(trace: Trace, parts: Sequence[FalsePart], core: Core, no_return: NoReturn | None) -> list[int]:
    """The indices of the steps to name, in order."""
    faults = set(trace.model.faults)
    wanted = [len(trace.steps)]
    if no_return is not None and no_return.state is not None:
        wanted.append(no_return.state)
    wanted += [fact.since for part in parts for fact in part.facts if fact.since]
    wanted += [number for number, step in enumerate(trace.steps, 1) if step.action in faults]
    wanted += [fact.since for part in parts for fact in part.given if fact.since]
    made = {number for part in parts for fact in part.facts for number in fact.made}
    wanted += sorted(made, reverse=True)
    needed = [number for number in dict.fromkeys(wanted) if number in core.numbers]
    return sorted(needed[:MOST_EVENTS])


def _happened(trace: Trace, events: Sequence[int]) -> str:
    """The sentence on what happened."""
    machine = Machine(trace.model, trace.scope)
    clauses = [f"in step {number}, {_did(machine, trace, number)}" for number in events]
    sentence = "; and ".join(["; ".join(clauses[:-1]), clauses[-1]] if len(clauses) > 1 else clauses)
    return f"{sentence[0].upper()}{sentence[1:]}." if clauses else ""


def _did(machine: Machine, trace: Trace, number: int) -> str:
    """A step in words."""
    step, before = trace.steps[number - 1], trace.states[number - 1]
    action = machine.model.action(step.action)
    said = machine.says(action, step, before).rstrip(".")
    return said if action.says else f"{said} happens"


# ------------------------------------------------------------------- what is wrong


def what_is_wrong(trace: Trace, parts: Sequence[FalsePart]) -> str:
    """The second sentence: the violation at the end, from its false parts."""
    says, why = claim(trace), _because(parts)
    promise = f"the promise that {says}" if says else f"`{trace.property}`"
    match trace.ending:
        case BadState() | BadStep() | BadAssert():
            return f"This breaks {promise}{why}."
        case Deadlocked():
            if why:
                return f"Then nothing can happen any more, and no run may end like this{why}."
            return f"Then nothing can happen any more{f', which breaks {promise}' if says else ''}."
        case Erred(code, message):
            return f"Then the model makes an error: {message} ({code})."
        case Trapped():
            goal = f"where {says}" if says else f"a state where {promise} is true"
            return f"Then no run of actions and repairs leads to {goal}{why}."
        case Lasso(loop):
            return f"Then the run may {_for_ever(trace, loop)}, which breaks {promise}{why}."
        case Example():
            return f"Then it is so that {says}." if says else f"This reaches {promise}."
        case Stops():
            return ""


def _for_ever(trace: Trace, loop: int) -> str:
    """What repeats forever, in words."""
    if loop == len(trace.steps):
        return "stay as it is for ever"
    return f"come back to {f'where it was after step {loop}' if loop else 'the start'} again and again"


def _because(parts: Sequence[FalsePart]) -> str:
    """The false parts for the same members, with values: ": ids(B.log) is {} …"."""
    alike = list(takewhile(lambda part: part.names == parts[0].names, parts))[:MOST_PARTS]
    phrases = [each for part in alike for each in _part_words(part)]
    return f": {' and '.join(phrases)}" if phrases else ""


def _part_words(part: FalsePart) -> list[str]:
    """A false part in words: its short text, and values not visible in it."""
    is_short = len(part.said) <= LONG
    facts = [f"{fact.said} is {_short(fact)}" for fact in part.facts if not is_short or _is_news(fact, part)]
    facts = facts[:MOST_FACTS]
    if not is_short:
        return facts
    values = f" ({', '.join(facts)})" if facts else ""
    return [f"{part.said} is {'false' if part.wanted else 'true'}{values}"]


def _is_news(fact: PartValue, part: FalsePart) -> bool:
    """Whether a value adds information to the part."""
    return fact.said != part.said and (part.wanted or f"== {fact.value}" not in part.said)


def _short(fact: PartValue) -> str:
    """A value in short."""
    return fact.value if len(fact.value) <= LONG else f"{fact.value[: LONG - 1]}…"
