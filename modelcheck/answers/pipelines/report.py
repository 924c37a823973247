"""A report for pipelines, before it has a format: cases that pass or fail, findings with their places."""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum

from spec.diagnostics import Diagnostic, SpecError, render
from spec.frozen import frozen
from spec.source import Source, Span


class Severity(StrEnum):
    """The severity of a finding, in SARIF's terms."""

    ERROR = "error"
    WARNING = "warning"
    NOTE = "note"


class CaseStatus(StrEnum):
    """The status of a case; `error` is undecided, `skipped` was not run."""

    PASSED = "passed"
    FAILED = "failure"
    ERROR = "error"
    SKIPPED = "skipped"


@frozen
class FilePlace:
    """A span in a file; the whole file without a span."""

    source: Source
    span: Span | None = None


@frozen
class FindingRule:
    """The rule of findings: a property, guarantee or code, described by `about`."""

    name: str
    title: str
    about: str = ""


@frozen
class RunStage:
    """A step of a run, with its place in the model."""

    says: str
    place: FilePlace


@frozen
class Finding:
    """A problem to report: rule, severity, place, and the run that shows it.

    `identity` distinguishes it from others of its rule, in this and in later runs.
    """

    rule: FindingRule
    level: Severity
    message: str
    place: FilePlace
    identity: str = ""
    related: tuple[RunStage, ...] = ()
    run: tuple[RunStage, ...] = ()


@frozen
class CaseReport:
    """A question with its result: `text` is why it failed, `scope` what it covers."""

    suite: str
    name: str
    came: CaseStatus
    seconds: float = 0.0
    message: str = ""
    text: str = ""
    scope: str = ""


@frozen
class Report:
    """The cases, findings and rules of a command."""

    cases: tuple[CaseReport, ...] = ()
    findings: tuple[Finding, ...] = ()
    rules: tuple[FindingRule, ...] = ()
    is_wrong: bool = False

    @property
    def used(self) -> tuple[FindingRule, ...]:
        """Every rule once, including those only in findings."""
        every = (*self.rules, *(finding.rule for finding in self.findings))
        return tuple({rule.name: rule for rule in every}.values())


def joined(reports: Iterable[Report]) -> Report:
    """The reports as one."""
    parts = tuple(reports)
    return Report(
        tuple(case for part in parts for case in part.cases),
        tuple(finding for part in parts for finding in part.findings),
        tuple(rule for part in parts for rule in part.rules),
        any(part.is_wrong for part in parts),
    )


def of_mistakes(error: SpecError) -> Report:
    """The report about wrong input: a case for each file, a finding for each mistake."""
    by_file: dict[str, list[Diagnostic]] = {}
    for each in error.diagnostics:
        by_file.setdefault(each.source.name, []).append(each)
    cases = tuple(
        CaseReport(
            "input", name, CaseStatus.ERROR, message=found[0].message, text="\n".join(map(render, found))
        )
        for name, found in by_file.items()
    )
    return Report(
        cases, tuple(of_diagnostic(each, Severity.ERROR) for each in error.diagnostics), is_wrong=True
    )


def of_diagnostic(diagnostic: Diagnostic, level: Severity) -> Finding:
    """The finding of a diagnostic."""
    entry = diagnostic.entry
    more = (diagnostic.label, f"help: {diagnostic.help}" if diagnostic.help else "")
    message = "; ".join(filter(None, (diagnostic.message, *more)))
    related = tuple(RunStage(note.message, FilePlace(note.source, note.span)) for note in diagnostic.notes)
    return Finding(
        FindingRule(entry.code, entry.title, entry.text),
        level,
        message,
        FilePlace(diagnostic.source, diagnostic.span),
        related=related,
    )
