"""A report as SARIF 2.1.0, the form of code scanning at GitHub, GitLab and Azure, and of editors.

Source: Static Analysis Results Interchange Format Version 2.1.0, OASIS Standard, 27 March 2020.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from hashlib import sha256
from importlib import resources
from pathlib import Path, PurePath
from typing import Any
from urllib.parse import quote

from modelcheck.answers.pipelines.report import FilePlace, Finding, FindingRule, Report, RunStage
from modelcheck.contract.version import VERSION
from spec.library import SUFFIX, is_meant

SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
ROOT = "%SRCROOT%"  # the root of the sources, wherever the reader has them
MOST_STAGES = 200  # steps of a run that are written

Json = dict[str, Any]


def sarif(report: Report, command: str) -> str:
    """The report as SARIF: one run of the tool `modelcheck COMMAND`.

    Columns count characters.  Paths are relative to where the command ran, unless they were not
    given so; who reads it takes that for the root of the sources.
    """
    rules = report.used
    numbers = {rule.name: number for number, rule in enumerate(rules)}
    driver = {
        "name": "modelcheck",
        "semanticVersion": VERSION,
        "rules": [_rule(rule) for rule in rules],
    }
    run = {
        "tool": {"driver": driver},
        "automationDetails": {"id": f"modelcheck/{command}/"},
        "columnKind": "unicodeCodePoints",
        "invocations": [{"executionSuccessful": not report.is_wrong}],
        "results": [_result(finding, numbers[finding.rule.name]) for finding in report.findings],
    }
    return json.dumps({"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}, indent=2) + "\n"


def _rule(rule: FindingRule) -> Json:
    """A rule as JSON data."""
    found: Json = {"id": rule.name, "shortDescription": {"text": rule.title or rule.name}}
    return found | ({"fullDescription": {"text": rule.about}} if rule.about else {})


def _result(finding: Finding, number: int) -> Json:
    """A SARIF result for a finding; `number` is the index of its rule in the list of rules."""
    found: Json = {
        "ruleId": finding.rule.name,
        "ruleIndex": number,
        "level": finding.level.value,
        "message": {"text": finding.message},
        "locations": _locations(finding.place),
        "partialFingerprints": {"modelcheck/v1": _fingerprint(finding)},
    }
    if finding.related:
        found["relatedLocations"] = _stages(finding.related)
    if finding.run:
        stages = [{"location": stage} for stage in _stages(finding.run[:MOST_STAGES])]
        found["codeFlows"] = [{"threadFlows": [{"locations": stages}]}]
    return found


def _fingerprint(finding: Finding) -> str:
    """A hash of a finding that does not depend on its line."""
    text = "\0".join((finding.rule.name, finding.place.source.name, finding.identity or finding.message))
    return sha256(text.encode()).hexdigest()[:32]


def _stages(stages: Sequence[RunStage]) -> list[Json]:
    """The steps of a run as JSON data."""
    return [
        {"message": {"text": stage.says}} | next(iter(_locations(stage.place)), Json()) for stage in stages
    ]


def _locations(place: FilePlace) -> list[Json]:
    """A place as JSON data; none for standard input, typed text or what a server answered."""
    source, span = place.source, place.span
    name, region = source.name, Json()
    if span is not None:
        name, line, column = source.place(span.start)
        _, last, end = source.place(span.end)
        region = {"startLine": line, "startColumn": column, "endLine": last, "endColumn": end}
    if not (source.is_file and _is_file(name)):
        return []
    physical: Json = {"artifactLocation": artifact(name)}
    return [{"physicalLocation": physical | ({"region": region} if region else {})}]


def _is_file(name: str) -> bool:
    """Whether a name is that of a file."""
    return name != "-" and not name.startswith(("<", "--"))


def artifact(name: str) -> Json:
    """A file as a SARIF artifact location: relative, or absolute where it was given so.

    >>> artifact("my models/a.rsm")
    {'uri': 'my%20models/a.rsm', 'uriBaseId': '%SRCROOT%'}
    """
    if is_meant(name):
        return {"uri": Path(str(resources.files("spec") / "protocols" / f"{name}{SUFFIX}")).as_uri()}
    path = PurePath(name)
    if path.is_absolute():
        return {"uri": Path(name).as_uri()}
    return {"uri": quote(path.as_posix(), errors="replace"), "uriBaseId": ROOT}
