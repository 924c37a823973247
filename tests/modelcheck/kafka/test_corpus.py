"""Forms of configurations as people have them: each is read as an expert reads it, or refused with its line.

`corpus/expected.toml` has what an expert answers about each, written before the first run.  A review never
passes over a setting that decides without a word: a form that is not read is refused, and the refusal
shows each text in it that decides.
"""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from modelcheck.kafka.settings.readers.recognition import read_files
from modelcheck.kafka.settings.resolution.settings import Settings, resolve
from spec.diagnostics import Diagnostic, SpecError

CORPUS = Path(__file__).parent / "corpus"
INPUTS = CORPUS / "inputs"
FORMS: dict[str, dict[str, Any]] = tomllib.loads((CORPUS / "expected.toml").read_text(encoding="utf-8"))
FEWEST = 200  # forms
SEEN: dict[str, Callable[[Settings], object]] = {
    "kafka": lambda found: str(found.version.value),
    "brokers": lambda found: found.brokers.value,
    "replicas": lambda found: found.switches.replication_factor.value,
    "min_insync": lambda found: found.value("min.insync.replicas").value,
    "unclean": lambda found: found.value("unclean.leader.election.enable").value,
    "acks": lambda found: found.switches.acks.value,
    "topics": lambda found: [topic.name for topic in found.topics],
}


def files(name: str) -> list[str]:
    """The files of a form, in the order in which they are given."""
    return [str(INPUTS / file) for file in FORMS[name].get("files", [name])]


def review(name: str) -> Settings:
    """What a form comes to. Raises SpecError where it is refused."""
    return resolve(read_files(files(name)), topic=FORMS[name].get("topic"))


def places(name: str, text: str) -> Iterator[tuple[str, int]]:
    """The lines of a form that have a text."""
    for file in files(name):
        for number, line in enumerate(Path(file).read_text(encoding="utf-8").splitlines(), 1):
            if text in line:
                yield file, number


def shown(problem: Diagnostic) -> Iterator[tuple[str, int]]:
    """The lines that a diagnostic is about."""
    if problem.span is not None:
        name, first, _ = problem.source.place(problem.span.start)
        last = problem.source.place(problem.span.end)[1]
        yield from ((name, line) for line in range(first, last + 1))


def marked(forms: Iterator[str]) -> list[object]:
    """Forms as parameters; those that are misread as strict xfails."""
    marks = {
        name: [pytest.mark.xfail(reason=FORMS[name]["misread"], strict=True)]
        for name in FORMS
        if "misread" in FORMS[name]
    }
    return [pytest.param(name, marks=marks.get(name, [])) for name in forms]


def test_every_file_is_of_a_form_with_an_answer() -> None:
    named = {file for name in FORMS for file in files(name)}

    assert {str(path) for path in INPUTS.rglob("*") if path.is_file()} == named
    assert len(FORMS) >= FEWEST
    assert all(said["expected"] or said.get("aside") for said in FORMS.values() if "refused" not in said)


@pytest.mark.parametrize("name", marked(name for name in FORMS if "refused" not in FORMS[name]))
def test_a_form_is_read_as_an_expert_reads_it(name: str) -> None:
    found = review(name)
    expected: dict[str, object] = FORMS[name]["expected"]

    assert {key: SEEN[key](found) for key in expected} == expected
    assert [text for text in FORMS[name].get("aside", []) if text not in str(found.notes)] == []


@pytest.mark.parametrize("name", marked(name for name in FORMS if "refused" in FORMS[name]))
def test_a_form_that_is_not_read_is_refused_with_each_line_that_decides(name: str) -> None:
    with pytest.raises(SpecError) as caught:
        review(name)

    problems = caught.value.diagnostics
    lines = {line for problem in problems for line in shown(problem)}
    assert sorted({problem.code for problem in problems}) == FORMS[name]["refused"]
    assert all(problem.help or problem.label for problem in problems)
    assert [text for text in FORMS[name].get("decides", []) if lines.isdisjoint(places(name, text))] == []
