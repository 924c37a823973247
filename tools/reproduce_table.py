"""Predictions of the model next to what real clusters did: the table in `docs/explanation/predictions.md`.

`python -m tools.reproduce_table --kafka-home DIR` tries each of them on this release, about a
minute each, and writes the table anew; with names only these.  What was tried before on other releases,
or with other names, stays; what was never tried is empty.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

from modelcheck.answers.progress import ProgressLine
from modelcheck.kafka.reproduce.attempt import Attempt, attempt
from modelcheck.kafka.reproduce.installation import Home, find
from modelcheck.kafka.reproduce.observed_state import Ending
from modelcheck.kafka.reproduce.report import telling
from modelcheck.kafka.reproduce.selection import asked, counterexample, file_of
from modelcheck.storage.files import LARGEST, save_text
from spec.diagnostics import SpecError
from spec.frozen import frozen
from spec.reading import text_of

HERE = Path(__file__).parents[1] / "modelcheck" / "kafka" / "reproduce"
RESULTS = HERE / "predictions.json"
PAGE = Path(__file__).parents[1] / "docs" / "explanation" / "predictions.md"
BEGIN, END = "<!-- predictions -->", "<!-- end of predictions -->"
NOT_THERE = "R0931"
NOT_ON_IT = "not there"  # the release has not got the settings
Results = dict[str, dict[str, dict[str, str]]]


@frozen
class Prediction:
    """A counterexample to try on a real cluster, and how it is described in the table.

    It is that of `check`, on a cluster with the settings of that check, or of `under` where one is named;
    with `at_brokers` these are in the files of the brokers alone.
    """

    check: str
    about: str
    under: str | None = None
    at_brokers: bool = False

    @property
    def name(self) -> str:
        """By what it is asked for."""
        parts = [
            self.check,
            *([self.under] if self.under else []),
            *(["at_brokers"] if self.at_brokers else []),
        ]
        return "-".join(parts)


PREDICTIONS = (
    Prediction("acks_one", "acks=1: the leader crashes before a follower has the record"),
    Prediction("acks_one", "the same with acks=all", "acks_all"),
    Prediction("acks_one_moved", "acks=1: the leadership is moved, nothing fails"),
    Prediction("acks_one_moved", "the same with acks=all", "acks_all"),
    Prediction("last_replica_unclean", "unclean election: the only replica in sync crashes"),
    Prediction("last_replica_unclean", "the same without unclean election", "last_replica_crashes"),
    Prediction("last_replica", "min.insync.replicas=1: the only replica in sync loses power"),
    Prediction("last_replica", "the same with every record flushed", "last_replica_flushed"),
    Prediction("last_replica", "the same with min.insync.replicas=2", "two_in_sync"),
    Prediction(
        "last_replica",
        "min.insync.replicas=2 in the files of the brokers alone, with eligible leader replicas",
        "two_in_sync_eligible",
        at_brokers=True,
    ),
    Prediction(
        "last_replica",
        "the same without eligible leader replicas",
        "two_in_sync",
        at_brokers=True,
    ),
    Prediction("two_in_sync_earlier", "two replicas: the last in sync loses power, and leads again"),
    Prediction("two_in_sync_earlier", "the same with eligible leader replicas", "two_in_sync_eligible"),
    Prediction("last_replica_standing", "three replicas: the last in sync loses power, and leads again"),
    Prediction("last_replica_standing", "the same with eligible leader replicas", "eligible_replicas"),
    Prediction("eligible_all_lost", "eligible leader replicas: all are down, the last known leader leads"),
    Prediction("eligible_three", "the same of three replicas"),
    Prediction("empty_leads_later", "the last in sync loses its disk, and leads again"),
    Prediction("empty_leads_later", "the same, where no one asks for an election", "nobody_looks"),
    Prediction(
        "eligible_forgotten",
        "eligible leader replicas: one of two is shut down, the other loses its disk, and leads again",
    ),
    Prediction(
        "eligible_forgotten",
        "the same where a new directory leaves who is eligible alone",
        "eligible_remembered",
    ),
    Prediction(
        "deposed_acks_one", "acks=1: a leader loses its session, and cuts its record off when that is back"
    ),
    Prediction("deposed_acks_one", "the same with acks=all", "deposed_acks_all"),
    Prediction("deposed_cut_off", "acks=1: a leader that is cut off from all continues to take records"),
    Prediction("deposed_cut_off", "the same with acks=all", "deposed_acks_all"),
    Prediction(
        "deposed_unclean",
        "unclean election: the only one in sync is isolated, loses its session, and comes back",
    ),
    Prediction("deposed_unclean", "the same without unclean election", "deposed_clean"),
)


def main(arguments: Sequence[str]) -> int:
    """Try the predictions on each release given; save the results and the table after each of them."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kafka-home", type=Path, action="append", default=[], metavar="DIR")
    parser.add_argument(
        "names", nargs="*", metavar="NAME", choices=[*(each.name for each in PREDICTIONS), []]
    )
    args = parser.parse_args(arguments)
    progress = ProgressLine(sys.stderr, "predictions", columns=100)
    for home in map(find, args.kafka_home):
        for each in PREDICTIONS:
            if not args.names or each.name in args.names:
                found = tried(each, home, progress.begin)
                results = read()
                results.setdefault(each.name, {})[home.version] = dict(found)
                write(results)
    progress.clear()
    write(read())
    return 0


def tried(prediction: Prediction, home: Home, tell: Callable[[str], None]) -> Mapping[str, str]:
    """What came of one on one release."""
    trace = counterexample(file_of(prediction.check), prediction.check)
    try:
        wish, problem = asked(trace, home, under=prediction.under, at_brokers_only=prediction.at_brokers)
    except SpecError as error:
        if [each.code for each in error.diagnostics] != [NOT_THERE]:
            raise
        return {"model": "", "cluster": NOT_ON_IT}
    runs = () if problem else tuple(attempt(wish, home, times=1, keep=None, tell=tell))
    return table_row(Attempt(wish, home.version, wish.predicted, runs, problem))


def table_row(found: Attempt) -> Mapping[str, str]:
    """What the model says, what the cluster did, and where it first went otherwise."""
    run = telling(found)
    cell = {
        "model": " or ".join(sorted(each.value for each in found.predicted)),
        "cluster": "could not" if run is None else run.ending.value,
    }
    first = None if run is None else run.first_otherwise
    if first is not None and not found.is_as_predicted:
        cell["otherwise"] = "; ".join(
            f"{each.part}: {each.model} in the model, {each.cluster} in the cluster"
            for each in first.differences
        )
    return cell


def read() -> Results:
    """What was tried so far."""
    found: Results = json.loads(text_of(RESULTS, LARGEST)) if RESULTS.exists() else {}
    return found


def write(results: Results) -> None:
    """Keep what was tried, and write the table."""
    save_text(RESULTS, json.dumps(results, indent=1, sort_keys=True) + "\n")
    text = text_of(PAGE, LARGEST)
    head, _, rest = text.partition(BEGIN)
    _, _, tail = rest.partition(END)
    save_text(PAGE, f"{head}{BEGIN}\n\n{table(results)}\n{END}{tail}")


def table(results: Results) -> str:
    """The table in Markdown: a row for each of `PREDICTIONS`, a column for each release that was tried."""
    versions = sorted({version for row in results.values() for version in row}, key=_order)
    rows = "".join(f"| {' | '.join(row)} |\n" for row in _rows(results, versions))
    return rows.replace(Ending.NOBODY_LEADS.value, "no leader")  # the value is the key in reports


def _rows(results: Results, versions: Sequence[str]) -> Iterator[list[str]]:
    yield ["the run of", "what is tried", "the model says", *(f"Kafka {version}" for version in versions)]
    yield ["---"] * (3 + len(versions))
    for each in PREDICTIONS:
        row = results.get(each.name, {})
        yield [f"`{each.check}`", each.about, _says(row), *(_cell(row.get(one)) for one in versions)]


def _says(row: Mapping[str, Mapping[str, str]]) -> str:
    """What the model says, with the releases where it is not the same for all."""
    found: dict[str, list[str]] = {}
    for version in sorted(row, key=_order):
        if row[version]["model"]:
            found.setdefault(row[version]["model"], []).append(version)
    if len(found) < 2:
        return "".join(found)
    return "; ".join(f"{says} ({', '.join(versions)})" for says, versions in found.items())


def _cell(cell: Mapping[str, str] | None) -> str:
    if cell is None:
        return ""
    did = cell["cluster"]
    differs = did not in {*cell["model"].split(" or "), "could not", NOT_ON_IT}
    return f"**{did}**" if differs else did


def _order(version: str) -> list[int]:
    return [int(part) for part in version.split(".") if part.isdecimal()]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
