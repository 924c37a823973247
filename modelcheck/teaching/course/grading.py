"""How many points a student's parts are worth: each check of the exercise is one.

NOTE(points): the checks of the variant `solved` come first.  Where one of them is not met, the
student's parts do not fit the model, and no mutant or further question is looked at: `false` would
find every mutant.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import count
from time import monotonic

import spec.syntax.tree as s
from counterexamples.trace import Erred, Trace
from modelcheck.answers.pipelines.outcomes import run_text, scope_of
from modelcheck.api import Unmet, Unsupported
from modelcheck.api import check as run_check
from modelcheck.asking.models import pick_checks
from modelcheck.contract.assessment import assess, surprises
from modelcheck.contract.engine import Limits
from modelcheck.contract.exits import Exit
from modelcheck.contract.result import Outcome, Violated
from modelcheck.teaching.course.exercises import SOLVED, Exercise
from modelcheck.teaching.course.submission import Submission
from spec.frozen import frozen
from spec.model.ir import Check, Model, PropertyKind
from spec.model.values import ModelError


@frozen
class GradeItem:
    """One point: the question, whether it is met (None: not examined), and a hint if not.

    `note` is a remark on the submission.  `story` is the run that shows why,
    where the student's parts do not fit the model itself; of a mutant it would give the mutant away.
    """

    asked: str
    met: bool | None
    hint: str = ""
    note: str = ""
    scope: str = ""
    story: str = ""


@frozen
class Grade:
    """The grade of a submission: its points; `ended` is the limit that cut grading short."""

    exercise: str
    title: str
    items: tuple[GradeItem, ...]
    changed: tuple[str, ...] = ()
    ended: str = ""

    @property
    def points(self) -> int:
        """The number of points reached."""
        return sum(item.met is True for item in self.items)

    @property
    def of(self) -> int:
        """The number of possible points."""
        return len(self.items)

    @property
    def hints(self) -> tuple[str, ...]:
        """The hints of missed points."""
        missed = (item for item in self.items if item.met is False)
        return tuple(": ".join(filter(None, (item.asked, item.hint, item.note))) for item in missed)

    def __repr__(self) -> str:
        """The grade in one line."""
        return f"<Grade {self.exercise}: {self.points} of {self.of} points>"

    @property
    def exit(self) -> Exit:
        """The exit code: 0 with all points, 1 with fewer, 3 if a limit ended grading."""
        if self.points == self.of:
            return Exit.EXPECTED
        return Exit.UNKNOWN if self.ended else Exit.VIOLATED


def empty(exercise: Exercise) -> Grade:
    """The grade before anything is examined."""
    return Grade(exercise.name, exercise.title, tuple(GradeItem(name, None) for name in _names(exercise)))


def judged(exercise: Exercise, handed: Submission, seconds: float, memory: int | None) -> Iterator[GradeItem]:
    """The points as they are examined, in order, until a limit or NOTE(points).

    Takes as long as the searches, up to the limits.
    """
    began, fits = monotonic(), True
    base, of_mutants = handed.models[0], exercise.is_about_properties
    asked = [(model, check) for model, check in pick_checks(handed.models, []) if model is not base]
    for name, (model, check) in zip(_names(exercise), asked, strict=True):
        own = model.name == SOLVED
        if not (own or fits):
            return
        left = max(0.01, seconds - (monotonic() - began))
        item = _judged(name, model, check, Limits(None, left, memory), own=own, of_mutants=of_mutants)
        yield item
        if item.met is None:
            return
        fits = fits and (item.met or not own)


def _names(exercise: Exercise) -> Iterator[str]:
    """The names of the points, which do not reveal mutants."""
    other = "mutant" if exercise.is_about_properties else "question"
    checks = [item for item in exercise.tree.items if isinstance(item, s.CheckDecl) and item.of is not None]
    own = [check for check in checks if _is_own(check)]
    numbers = {True: count(1), False: count(1)}
    for check in checks:
        number = next(numbers[_is_own(check)])
        yield f"{other} {number}" if not _is_own(check) else f"the model{f', {number}' if own[1:] else ''}"


def _is_own(check: s.CheckDecl) -> bool:
    """Whether a check is of the student's own properties."""
    return check.of is not None and check.of.text == SOLVED


def _judged(
    name: str, model: Model, check: Check, limits: Limits, *, own: bool, of_mutants: bool
) -> GradeItem:
    """The grade of one check: met if it comes out as expected, undecided if a limit ended the search.

    A student's `own` check gets the story of its violation; for one of `of_mutants` nothing is revealed.
    """
    hint = check.says or ""
    try:
        outcome = run_check(model, check, limits=limits, threads=1)
    except (ModelError, Unmet, Unsupported) as error:
        return GradeItem(name, met=False, hint=hint, note=f"it cannot be asked: {error}")
    match assess(outcome).exit:
        case Exit.UNKNOWN:
            return GradeItem(name, None, note=outcome.findings.end.value, scope=_scope(outcome))
        case Exit.EXPECTED:
            return GradeItem(name, met=True, scope=_scope(outcome))
        case _:
            story = "\n".join(map(_story, _wrong(outcome))) if own else ""
            note = _error(outcome) or ("" if of_mutants else _broken(outcome))
            return GradeItem(name, met=False, hint=hint, note=note, scope=_scope(outcome), story=story)


def _scope(outcome: Outcome) -> str:
    """What a point covers, without names of variants and checks."""
    return scope_of(outcome).partition(": ")[2]


def _broken(outcome: Outcome) -> str:
    """The violated expectations, in the exercise's words."""
    found = [result for result in outcome.findings.results if isinstance(result.verdict, Violated)]
    says = {each.name: "".join(map(str, each.says or (each.name,))) for each in outcome.model.properties}
    never = {True: "never so", False: "not always so"}
    return "; ".join(f"{never[r.kind is PropertyKind.REACHABLE]}: {says[r.property]}" for r in found)


def _wrong(outcome: Outcome) -> Iterator[Trace]:
    """The runs to errors and violations."""
    runs = [outcome.findings.error, *(outcome.trace(result.property) for result in surprises(outcome))]
    yield from (run for run in runs if run is not None)


def _story(run: Trace) -> str:
    """The story of a run without places in the hidden text."""
    return re.sub(rf" *{re.escape(run.model.source.name)}:\d+:\d+", "", run_text(run))


def _error(outcome: Outcome) -> str:
    """An error of the model in words."""
    error = outcome.findings.error
    if error is None or not isinstance(error.ending, Erred):
        return ""
    return f"it makes an error: {error.ending.code}, {error.ending.message}"
