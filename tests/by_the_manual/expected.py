"""Whether a check finds what it expects."""

from __future__ import annotations

from tests.by_the_manual.expression_parser import Node
from tests.by_the_manual.parser import Check
from tests.by_the_manual.search import Answer


def unmet(check: Check, found: Answer) -> list[str]:
    """What a check expects and does not find, what it finds and does not expect, and an error."""
    named = {each[1] for each in check.expected if each[0] in {"holds", "violated"}}
    wrong = [] if found.error is None else [f"error {found.error[0]} at {found.error[1]}"]
    asked = [each for each in check.expected if not (check.symmetry and each[0] in {"count", "taken"})]
    wrong += [f"{each}" for each in asked if not _is_met(each, found)]
    others = [
        name for name, verdict in found.verdicts.items() if name not in named and verdict.word != "holds"
    ]
    return wrong + [f"{name} is {found.verdicts[name].word}" for name in others]


def _is_met(expected: Node, found: Answer) -> bool:
    match expected:
        case ("holds", name, for_any):
            verdict = found.verdicts[name]
            return verdict.word == "holds" and (verdict.for_any or not for_any)
        case ("violated", name, faults, steps):
            verdict = found.verdicts[name]
            cost = verdict.cost or (None, None)
            asked = (faults, None if verdict.endless else steps)
            same = all(n is None or n == known for n, known in zip(asked, cost, strict=True))
            return verdict.word == "violated" and same
        case ("count", what, number, within):
            last = len(found.layers) - 1
            return bool(getattr(found.layers[last if within is None else min(within, last)], what) == number)
        case ("taken", name, number):
            return bool(found.taken[name] == number)
        case _:
            return False
