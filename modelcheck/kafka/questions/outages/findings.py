"""What works with each number of brokers down, as one value from which texts and JSON are made."""

from __future__ import annotations

from collections.abc import Sequence

from counterexamples.trace import Trace
from spec.frozen import frozen

SERVICES = {
    "writable": "writes are acknowledged",
    "electable": "some replica leads",
    "readable": "some replica leads, and has every record that was acknowledged",
}


@frozen
class Stop:
    """A run that stops a service with `down` brokers down; fewer cannot stop it.

    `run` is one of the fewest brokers and then steps; `until` are the least sets of these
    brokers, by their places in the scope, whose return brings the service back at the end of it: None
    where that was too much to look at, empty where no return does.
    """

    down: int
    run: Trace
    until: tuple[tuple[int, ...], ...] | None = None


@frozen
class Service:
    """The availability of one service, such as writes, while brokers are down.

    It certainly works with `sure` brokers down (-1: not even that is known); `stop` is how it
    stops with one more, None where that is not known or never.  `returns` is whether it always comes
    back when all that are down return; None where that is not known.  `whole` is whether nothing was lost
    on the way: for `readable`, False where records can be.
    """

    name: str
    sure: int
    stop: Stop | None
    returns: bool | None
    whole: bool = True

    def works(self, down: int) -> bool | None:
        """Whether the service works with any `down` brokers down; None if unknown."""
        if self.stop is not None and self.stop.down <= down:
            return False
        return True if down <= self.sure else None


@frozen
class Outage:
    """The services that work while 0, 1, … all of `names` are down by faults of kind `fault`.

    `controllers_too` is whether each takes a controller with it.
    """

    names: tuple[str, ...]
    fault: str
    services: tuple[Service, ...]
    controllers_too: bool = False

    @property
    def complete(self) -> bool:
        """Whether every question was answered."""
        everywhere = range(len(self.names) + 1)
        return all(
            each.works(down) is not None
            for each in self.services
            for down in everywhere
            if each.name != "readable"
        )

    def working(self, down: int) -> tuple[bool | None, ...]:
        """For each service whether it works with `down` brokers down."""
        return tuple(each.works(down) for each in self.services)

    def spans(self) -> Sequence[tuple[int, int]]:
        """The ranges of numbers of brokers down with the same services working.

        Each span is the first and last number of brokers down, both included.
        """
        found: list[tuple[int, int]] = []
        for down in range(len(self.names) + 1):
            if found and self.working(found[-1][0]) == self.working(down):
                found[-1] = (found[-1][0], down)
            else:
                found.append((down, down))
        return found
