"""A report as JUnit XML, in the form that Jenkins, GitLab, Azure and GitHub's actions read."""

from __future__ import annotations

import re
from collections.abc import Sequence
from xml.etree import ElementTree as ET

from modelcheck.answers.pipelines.report import CaseReport, CaseStatus, Report

_NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
COUNTED = {"failures": CaseStatus.FAILED, "errors": CaseStatus.ERROR, "skipped": CaseStatus.SKIPPED}


def junit(report: Report) -> str:
    """The report as JUnit XML: a suite for each model, a test case for each check."""
    suites: dict[str, list[CaseReport]] = {}
    for case in report.cases:
        suites.setdefault(case.suite, []).append(case)
    root = ET.Element("testsuites", _counts("modelcheck", report.cases, without_skipped=True))
    for name, cases in suites.items():
        suite = ET.SubElement(root, "testsuite", _counts(name, cases))
        for case in cases:
            _add(suite, case)
    ET.indent(root)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + ET.tostring(root, encoding="unicode") + "\n"


def _counts(name: str, cases: Sequence[CaseReport], *, without_skipped: bool = False) -> dict[str, str]:
    """The counters of a suite as XML attributes."""
    counted = {
        what: str(sum(case.came is came for case in cases))
        for what, came in COUNTED.items()
        if not (without_skipped and came is CaseStatus.SKIPPED)
    }
    seconds = sum(case.seconds for case in cases)
    return {"name": _text(name), "tests": str(len(cases)), **counted, "time": f"{seconds:.3f}"}


def _add(suite: ET.Element, case: CaseReport) -> None:
    """Add a test case to a suite."""
    attributes = {"classname": _text(case.suite), "name": _text(case.name), "time": f"{case.seconds:.3f}"}
    made = ET.SubElement(suite, "testcase", attributes)
    match case.came:
        case CaseStatus.PASSED:
            pass
        case CaseStatus.SKIPPED:
            ET.SubElement(made, "skipped", {"message": _text(case.message)})
        case CaseStatus.FAILED | CaseStatus.ERROR as came:
            kind = "violated" if came is CaseStatus.FAILED else "unknown"
            element = ET.SubElement(made, came.value, {"message": _text(case.message), "type": kind})
            element.text = _text(case.text)
    if case.scope:
        ET.SubElement(made, "system-out").text = _text(case.scope)


def _text(text: str) -> str:
    """The text without characters that XML does not allow."""
    return _NOT_XML.sub("\N{REPLACEMENT CHARACTER}", text)
