"""What was found of a property in words, how far it was looked, and how to ask again."""

from __future__ import annotations

import shlex

from counterexamples.lines import Piece, Role, count
from modelcheck.answers.outcome_json import as_json as outcome_json
from modelcheck.contract.wording import budget_words, engine_words, scope_words, verdict_words
from modelcheck.teaching.textbook.asked import Bearing, PropertyQuestion
from modelcheck.teaching.textbook.searched import SearchedCheck

SIGNS = {
    Bearing.FOR: Piece("✓ ", Role.GOOD),
    Bearing.AGAINST: Piece("✗ ", Role.BAD),
    Bearing.OPEN: Piece("? ", Role.UNSURE),
}


def check_words(asked: PropertyQuestion) -> str:
    """The check and protocol of a question, in words."""
    return f"{asked.model}, {asked.check}"


def found_words(found: SearchedCheck) -> str:
    """The result for the property, in words."""
    if found.outcome is None or found.result is None:
        return found.problem
    words = verdict_words(found.outcome.model, found.result)
    return f"{found.asked.property} {words}" + (", as it must" if _fails_rightly(found) else "")


def _fails_rightly(found: SearchedCheck) -> bool:
    """Whether the property is violated, as the question requires."""
    return found.asked.must == "fail" and found.bearing is Bearing.FOR


def extent(found: SearchedCheck) -> list[str]:
    """The extent of the search: scope, faults, engine and states, in words."""
    outcome = found.outcome
    if outcome is None:
        return []
    faults = f"faults: {budget_words(outcome.check.budget)}"
    states = count(outcome.findings.stats.states, "state")
    return [*scope_words(outcome.check.scope), faults, f"{engine_words(outcome.findings)}, {states}"]


def again(asked: PropertyQuestion) -> str:
    """The command line that repeats the search and shows the run."""
    words = ["modelcheck", "check", asked.model, "--check", asked.check, "--property", asked.property]
    for option, values in (("--scope", asked.settings.scope), ("--config", asked.settings.config)):
        words += [option, ",".join(values)] if values else []
    words += ["--faults", asked.settings.faults] if asked.settings.faults is not None else []
    return shlex.join([*words, "-v"])


def found_json(found: SearchedCheck) -> dict[str, object]:
    """A question and its result as JSON data."""
    asked = found.asked
    return {
        "protocol": asked.model,
        "check": asked.check,
        "property": asked.property,
        "must": asked.must,
        "found": found.bearing.value,
        "outcome": None if found.outcome is None else outcome_json(found.outcome),
        "problem": found.problem or None,
    }
