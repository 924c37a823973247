"""The starts before a timeline: who was struck from the eligible replicas before it begins.

NOTE(earlier): the model begins with all replicas in sync.  Whoever leaves an ISR that is, or becomes, smaller
than min.insync.replicas is eligible then, until a start without a clean shutdown strikes it.  So where a
timeline does not begin with the partition, and fewer are in sync or eligible at first than that setting asks
for, some have started before it: no file has these starts.  Which brokers, and how often, is free.
"""

from __future__ import annotations

from collections.abc import Sequence

from modelcheck.kafka.incident.explain_log.observations import Control, Decided, Gone, Observed
from spec.frozen import frozen
from spec.model.ir import Scope


@frozen
class EarlierStarts:
    """The starts before the first decision of a timeline.

    `out` are the brokers without a session there, and `least` is the effective min.insync.replicas.
    `at_once` is whether all may be struck in another way, by a new directory that another broker reports.
    """

    first: Decided
    out: frozenset[int]
    least: int
    at_once: bool

    @property
    def _stay(self) -> frozenset[int]:
        return self.first.isr | self.first.eligible

    def strikes(self, broker: int, was: Control, now: Control) -> bool:
        """Whether a start of a broker is one of these: it strikes the broker, which is not eligible later."""
        return was[3] - now[3] == {broker} and broker not in self._stay

    def stays_up(self, broker: int) -> bool:
        """Whether a broker may be struck and runs on: who does not needs no record more behind its start."""
        return broker not in self._stay | self.out

    def due(self, control: Control, falls: Sequence[bool]) -> tuple[int, int]:
        """Lower bounds on the strikes still to come, and on those for which a broker `falls` first."""
        _, _, isr, eligible = control
        if self.at_once:
            return 0, 0
        if len(isr) < self.least:
            brokers = (isr | eligible) - self._stay
            return len(brokers), sum(falls[broker] for broker in brokers)
        strikes = max(0, self.least - len(self._stay))
        others = sum(not fall for broker, fall in enumerate(falls) if broker not in self._stay)
        return strikes, max(0, strikes - others)


def earlier_starts(observed: Observed, scope: Scope) -> EarlierStarts | None:
    """The starts before a timeline, where there can be some: of an older partition, and with an ELR."""
    config, first = scope.config, next(iter(observed.events), None)
    if observed.whole or not observed.sessions or not isinstance(first, Decided):
        return None
    if not (config["elr"] and config["clean_restart_known"]):
        return None
    least = int(config["min_isr_first" if "min_isr_first" in config else "min_isr"])
    if len(first.isr) >= least:
        return None  # and so none is eligible beyond those in sync
    forgets = bool(config["directories"]) and not config["directory_keeps_eligible"]
    out = set[int]()
    for event in observed.events[1:]:
        if not isinstance(event, Gone):
            break
        out.add(event.broker)
    return EarlierStarts(first, frozenset(out), least, forgets and not first.eligible)
