"""What every check of the library comes to, as tables: `spec/protocols/README.md`.

`python -m tools.protocol_table` answers all checks, at their own scope and at the next one, in
half an hour, and writes the page anew; with names only those of these protocols, and what is written of the
others stays.  `--max-states` limits the searches at larger scopes.
"""

from __future__ import annotations

import argparse
import shutil
import sys
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple, assert_never

import modelcheck.commands.options.amounts as amounts
import spec.library as library
from counterexamples.lines import count
from counterexamples.trace import Trace
from modelcheck.answers.progress import ProgressLine
from modelcheck.api import check
from modelcheck.asking.models import pick_checks
from modelcheck.contract.families import families
from modelcheck.contract.report import Reporter
from modelcheck.contract.result import Holds, Outcome, Unknown, Violated
from modelcheck.contract.wording import fault_words
from modelcheck.storage.files import read_text, save_text
from modelcheck.teaching.textbook.asked import Bearing, PropertyQuestion
from modelcheck.teaching.textbook.claims import claims
from spec.load import loads
from spec.model.ir import PropertyKind
from tools.known_bugs import Bug, address, bugs
from tools.protocol_scopes import (
    STATES,
    AskedLarger,
    asked_larger,
    digest,
    larger_rows,
    larger_words,
)

FILE = Path(library.__file__).with_name("protocols") / "README.md"
CLASSES = (1, 10, 100, 1000)  # seconds; to be more exact would say more of the machine than of the check
ABOUT = """\
# The protocols

The answers of `modelcheck check NAME` to every check of the protocols that come with it; \
`modelcheck library show NAME` describes each check.
To read a protocol itself [one table of the manual](../language.md#enough-to-read-one) is enough.
`python -m tools.protocol_table` writes this page; \
tests hold it against the files and the engine.

A property that a run decides has a row of its own, with the fewest faults and then the fewest steps; \
the row below is of all others that the check asks about.
*States* are those found until everything was decided; *seconds* are what that took on the machine that \
wrote this page.

*One larger* says at which larger scopes the verdicts and the fewest numbers of faults are the same: \
with one bound larger, by its name, or *each* of them alone; and *all* together.
What is missing there was not finished within the number of states in the line above the table.
An *exact* bound is [part of the question](../language.md#exact-bounds) and stays as it is; \
with a larger one the answer is another.
`modelcheck check NAME --next-scope --max-states N` searches further, and prints what differs.
"""


KNOWN = """\
### What Kafka is known to have done wrong

Each is a check that is violated; the runs are those with the fewest faults.
*Since* and *fixed* are releases of Kafka, empty where the source does not say.
In its *control*, with the fix and at the same scope or a larger one, nothing is violated.
[known_bugs.toml](known_bugs.toml) describes each; the numbers are those of its check below.
"""
OTHERS = """\
### And others

Mistakes of other systems, or what their protocols would do without one of their rules.
Where a source has a run of another length, the protocol's file explains next to the check what it counts.
"""


SAID = """\
### Claims about majority votes and in-sync replicas

Each sentence is in our words; its name links to the source.
It is judged by the checks below: those in which it is true, and those in which it is not.
`modelcheck library claims C2` prints each case, how far it was searched, and the runs; \
[claims.toml](claims.toml) holds the sentences and their cases.
"""


class TableRow(NamedTuple):
    """A line of a table.  What is of a whole check is in the first of its rows alone."""

    check: str
    model: str
    claim: str
    verdict: str
    faults: str
    steps: str
    states: str
    seconds: str
    larger: str = ""

    @property
    def timeless(self) -> tuple[str, ...]:
        """The row without what depends on the machine, and what is asked at larger scopes."""
        return self[:-2]


HEADS = TableRow("check", "of", "property", "verdict", "faults", "steps", "states", "seconds", "one larger")
LINE = TableRow("---", "---", "---", "---", "---:", "---:", "---:", "---:", "---")
Tables = Mapping[str, Sequence[TableRow]]
"""The rows of each protocol, by its name."""

Cells = tuple[str, str, str, str]  # property, verdict, faults, steps


def rows(outcome: Outcome) -> tuple[TableRow, ...]:
    """The rows of a check: each property that a run decides, then the others by how far they hold."""
    first, *others = [*_shown(outcome), *_held(outcome)] or [("", "the model makes no error", "", "")]
    stats = outcome.findings.stats
    seconds = next((f"< {most:,}" for most in CLASSES if stats.seconds < most), "more")
    name, model = f"`{outcome.check.name}`", f"`{outcome.model.name}`"
    whole = TableRow(name, model, *first, f"{stats.states:,}", seconds)
    return (whole, *(TableRow("", "", *cells, "", "") for cells in others))


def _shown(outcome: Outcome) -> Iterator[Cells]:
    """What is violated, or reached, with the fewest faults and steps; and what is never reached."""
    for result in outcome.findings.results:
        name = f"`{result.property}`"
        match result.verdict:
            case Violated(trace=Trace() as trace):
                yield name, "violated", str(trace.faults), str(len(trace.steps))
            case Violated():
                yield name, "never reached" if result.kind is PropertyKind.REACHABLE else "violated", "", ""
            case Holds(example=Trace() as trace):
                yield name, "reached", str(trace.faults), str(len(trace.steps))
            case Unknown(reason):
                yield name, f"unknown: {reason}", "", ""
            case Holds():
                pass
            case _:
                assert_never(result.verdict)


def _held(outcome: Outcome) -> Iterator[Cells]:
    """What holds: all properties with the same result share a row."""
    found: dict[str, list[str]] = defaultdict(list)
    results = outcome.findings.results
    for result in results:
        if isinstance(result.verdict, Holds) and result.verdict.example is None:
            found[fault_words(outcome.model, result.verdict.extent)].append(result.property)
    for words, properties in found.items():
        if len(properties) == 1:
            yield f"`{properties[0]}`", f"holds {words}".rstrip(), "", ""
        else:
            which = f"all {len(results)}" if len(properties) == len(results) else f"{len(properties)} others"
            yield which, f"hold {words}".rstrip(), "", ""


# ------------------------------------------------------------------------ the page


def page(tables: Tables, asked: Mapping[str, AskedLarger]) -> str:
    """The page with the tables of all protocols, and one of the protocols above.

    `asked` is how far each protocol was searched at larger scopes.
    """
    heads = ["| protocol | what it is | checks | that find a violation |", "| --- | --- | ---: | ---: |"]
    protocols = [library.shipped(name) for name in tables]
    for each in protocols:
        wrong = sum(bool(question.violations) for question in each.questions)
        heads.append(f"| [{each.name}](#{each.name}) | {each.title} | {len(each.questions)} | {wrong} |")
    kafka = [bug for bug in bugs() if bug.system == "Kafka"]
    others = [bug for bug in bugs() if bug.system != "Kafka"]
    parts = [ABOUT, _lines(heads), KNOWN, _lines(_of_kafka(kafka, tables))]
    parts += [OTHERS, _lines(_of_others(others, tables)), SAID, _lines(_said(tables))]
    for each in protocols:
        of = library.goes_on_from(each.name)
        more = "" if of == each.name else f"; it extends [{of}](#{of})"
        parts.append(f"## {each.name}\n\n{each.title} ([{each.name}.rsm]({each.name}.rsm){more}).\n")
        parts += [f"{asked[each.name]}\n"] if each.name in asked else []
        parts.append(_lines(map(_line, (HEADS, LINE, *tables[each.name]))))
    return "\n".join(parts)


def _of_kafka(known: Iterable[Bug], tables: Tables) -> Iterator[str]:
    """The lines of the table of Kafka's bugs: the description of each, and the result of its check."""
    yield "| bug | what happens | since | fixed | check | faults | steps | states | seconds | control |"
    yield "| --- | --- | --- | --- | --- | ---: | ---: | ---: | ---: | --- |"
    for bug in known:
        yield f"| {' | '.join((_named(bug), bug.what, bug.since, bug.fixed, *_found(bug, tables)))} |"


def _of_others(known: Iterable[Bug], tables: Tables) -> Iterator[str]:
    """The lines of the table of all others."""
    yield "| system | bug | what happens | check | faults | steps | states | seconds | control |"
    yield "| --- | --- | --- | --- | ---: | ---: | ---: | ---: | --- |"
    for bug in known:
        yield f"| {' | '.join((bug.system, _named(bug), bug.what, *_found(bug, tables)))} |"


def _named(bug: Bug) -> str:
    return f"[{bug.name}]({address(bug.source)})" + (f" ({bug.also})" if bug.also else "")


def _found(bug: Bug, tables: Tables) -> tuple[str, ...]:
    """Its check, what that comes to, and its control."""
    found = of_check(tables.get(bug.model, ()), bug.check)
    shown = next((row for row in found if row.claim == f"`{bug.property}`"), None)
    numbers = ("", "") if shown is None else (shown.faults, shown.steps)
    whole = (found[0].states, found[0].seconds) if found else ("", "")
    return f"[{bug.model}](#{bug.model}) `{bug.check}`", *numbers, *whole, bug.control and f"`{bug.control}`"


def _said(tables: Tables) -> Iterator[str]:
    """The lines of the table of claims: whether each is true, by what its checks come to."""
    yield "| claim | it says | verdict | true in | not in |"
    yield "| --- | --- | --- | --- | --- |"
    for claim in claims():
        bearings = [bearing(tables, case.asked) for case in claim.cases]
        verdict = claim.words(claim.judged(bearings))
        cells = [f"[{claim.name}]({claim.source})", claim.sentence, verdict]
        for side in (Bearing.FOR, Bearing.AGAINST):
            found = [case.asked for case, says in zip(claim.cases, bearings, strict=True) if says is side]
            cells.append(
                ", ".join(dict.fromkeys(f"[{each.model}](#{each.model}) `{each.check}`" for each in found))
            )
        yield f"| {' | '.join(cells)} |"


def bearing(tables: Tables, asked: PropertyQuestion) -> Bearing:
    """What the rows of a check say of a claim; a property without a row is among those that hold."""
    found = of_check(tables.get(asked.model, ()), asked.check)
    own = next((row for row in found if row.claim == f"`{asked.property}`"), None)
    shown = own or next((row for row in found if row.verdict.startswith("hold")), None)
    words = "" if shown is None else shown.verdict
    if words.startswith(("hold", "reached")):
        return asked.borne_out(holds=True)
    return asked.borne_out(holds=False) if words in {"violated", "never reached"} else Bearing.OPEN


def _line(row: TableRow) -> str:
    return f"| {' | '.join(row)} |"


def _lines(lines: Iterable[str]) -> str:
    return "".join(f"{line}\n" for line in lines)


def read(text: str) -> Tables:
    """The tables of such a page."""
    found = {}
    for part in text.split("\n## ")[1:]:
        lines = [line for line in part.splitlines() if line.startswith("|")]
        found[part.split("\n")[0]] = [TableRow(*line[2:-2].split(" | ")) for line in lines[2:]]
    return found


def of_check(table: Iterable[TableRow], name: str) -> list[TableRow]:
    """The rows of one check; none where it is not there."""
    found: list[TableRow] = []
    for row in table:
        if row.check == f"`{name}`" or (found and not row.check):
            found.append(row)
        elif found:
            break
    return found


# ----------------------------------------------------------------- writing it anew


def answered(name: str, states: int, reporter: Reporter) -> list[TableRow]:
    """The rows of a protocol, from the engine; with searches of that number of states at larger scopes."""
    asked = pick_checks(loads(library.text(name), name), [])
    found: list[TableRow] = []
    own = [
        rows(check(model, question, family=family, reporter=reporter))
        for (model, question), family in zip(asked, families(asked), strict=True)
    ]
    for (first, *others), larger in zip(own, larger_rows(name, states, reporter), strict=True):
        found += [first._replace(larger=larger_words(larger)), *others]
    return found


def main(words: Sequence[str]) -> None:
    """Write the page; what is not named, and there already, stays as it is."""
    known = library.names()
    parser = argparse.ArgumentParser(
        prog="python -m tools.protocol_table",
        description="Answer the checks of the library, and write their page: spec/protocols/README.md.",
    )
    parser.add_argument(
        "names", nargs="*", metavar="NAME", help="only of this protocol; what is written of others stays"
    )
    parser.add_argument(
        "--max-states",
        type=amounts.count,
        default=STATES,
        metavar="N",
        help=f"give up each search at a larger scope after N states ({STATES:,})",
    )
    args = parser.parse_args(words)
    given = args.names
    if unknown := sorted({*given} - {*known}):
        parser.error(f"no protocol is called {unknown[0]}")
    kept = read(read_text(str(FILE))) if given else {}
    asked = {**asked_larger(read_text(str(FILE)))} if given else {}
    progress = ProgressLine(sys.stderr, "", columns=shutil.get_terminal_size().columns)
    tables = {}
    for name in known:
        progress.begin(name)
        if name in kept and name not in given:
            tables[name] = kept[name]
        else:
            tables[name] = answered(name, args.max_states, progress)
            asked[name] = AskedLarger(args.max_states, digest(name))
        progress.clear()
    save_text(FILE, page(tables, asked))
    sys.stderr.write(f"wrote {FILE}: {count(sum(map(len, tables.values())), 'row')}\n")


if __name__ == "__main__":
    main(sys.argv[1:])
