"""Where a search that a limit ended got stuck: the next observation, and what would narrow the search."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from modelcheck.kafka.incident.explain_log.metadata_timeline import Beginning
from modelcheck.kafka.incident.explain_log.observations import Evidence, Observed
from modelcheck.kafka.incident.explain_log.product import ObservationProduct, Point
from modelcheck.kafka.incident.explain_log.run_search import ExplanationResult
from spec.frozen import frozen

MOST_NAMED = 3  # epochs


@frozen
class Stuck:
    """How many observations of the metadata log some run explained, the next one, and what to try.

    With all of these explained, `evidence` is a line or a directory; None where the search saw nothing.
    """

    explained: int
    of: int
    evidence: Evidence | None
    narrower: tuple[str, ...]


def where_stuck(
    product: ObservationProduct, result: ExplanationResult, known: Sequence[Beginning], longer: str | None
) -> Stuck:
    """Where a search without an answer got stuck.

    `known` are the states from which on the files can be explained alone, and `longer` is an option that lets
    it look for longer.
    """
    furthest = max(result.furthest, key=lambda point: (point.position, sum(point.lines)), default=None)
    position = 0 if furthest is None else furthest.position
    evidence = None if furthest is None else _next(product, furthest)
    return Stuck(position, len(product.events), evidence, tuple(_narrower(product.observed, known, longer)))


def _next(product: ObservationProduct, point: Point) -> Evidence | None:
    """The first observation that a point does not explain."""
    if point.position < len(product.events):
        return product.events[point.position].evidence
    for log, count in zip(
        product.observed.logs, point.lines, strict=False
    ):  # none, of the metadata log alone
        for line in log[count:]:
            if line.evidence is not None:
                return line.evidence
    ends = product.observed.ends.values()
    return next((end.log_evidence for end in ends if not product.has_ended(point, end)), None)


def _narrower(observed: Observed, known: Sequence[Beginning], longer: str | None) -> Iterator[str]:
    """What to give the command so that it has less to look at, in sentences."""
    if known and not observed.promised:
        newest = f"`--from-epoch {known[-1].epoch}` explains only what came after a state of that epoch"
        others = ", ".join(str(each.epoch) for each in known[-MOST_NAMED - 1 : -1])
        yield f"{newest}{f'; {others} go further back' if others else ''}"
    if not observed.logs:
        yield "server.log and state-change.log of the brokers say when brokers started, and what they had"
    missing = [name for number, name in enumerate(observed.brokers) if number not in observed.ends]
    if missing:
        yield f"the directory of {' and '.join(missing)} is not here; `--lost NODE` says that one is gone"
    if longer is not None:
        yield f"`{longer}` looks for longer"
