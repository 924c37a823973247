"""A real cluster that chaos befalls: the driver's, with signals, power losses, and many links cut at once."""

from __future__ import annotations

import re
import signal
import subprocess
from collections.abc import Iterable, Iterator
from pathlib import Path
from random import Random

from modelcheck.kafka.files.batches import Batch, read_batches
from modelcheck.kafka.files.partition_log import segments
from modelcheck.kafka.reproduce.cluster import CONTROLLER, CUT, HELD, Cluster
from modelcheck.kafka.reproduce.installation import Home
from modelcheck.kafka.reproduce.settings import ELR, ELR_SINCE

IDLE = 5000  # milliseconds between two records of a controller without work
STOPPING = 90.0
COMMON = {"metadata.max.idle.interval.ms": str(IDLE), "log.index.size.max.bytes": "65536"}
BROKERS = {
    "num.network.threads": "1",
    "num.io.threads": "2",
    "num.replica.fetchers": "1",
    "controlled.shutdown.max.retries": "2",
    "offsets.topic.replication.factor": "1",
    "replica.lag.time.max.ms": "6000",
}
RECOVERY_POINTS = "recovery-point-offset-checkpoint"
CLEAN = ".kafka_cleanshutdown"


class ChaosCluster(Cluster):
    """A cluster that runs for many rounds."""

    def __init__(self, home: Home, root: Path, brokers: int, *, elr: bool) -> None:
        features = (f"{ELR}={int(elr)}",) if home.release >= ELR_SINCE else ()
        super().__init__(
            home,
            root,
            brokers,
            settings=COMMON | BROKERS,
            controllers=COMMON | {"unclean.leader.election.interval.ms": "2000"},
            features=features,
        )

    def signal(self, node: int, what: signal.Signals) -> None:
        """Send a signal to a node that runs."""
        self._running[node].send_signal(what)

    def shut_down(self, node: int) -> bool:
        """Shut a node down; whether it came to its end, else it was killed."""
        process = self._running.pop(node)
        process.send_signal(signal.SIGTERM)
        try:
            process.wait(timeout=STOPPING)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
            return False
        return True

    def kill_all(self, nodes: Iterable[int]) -> None:
        """Kill nodes at once."""
        gone = [self._running.pop(node) for node in nodes if node in self._running]
        for each in gone:
            each.kill()
        for each in gone:
            each.wait()
        for link in self._links.values():
            link.drop()

    def heal(self) -> None:
        """Mend all links."""
        for link in self._links.values():
            link.mend(CUT)
            link.mend(HELD)

    def lose_unflushed(self, node: int, rng: Random) -> Iterator[str]:
        """Cut logs of a killed broker anywhere from their recovery points on; what was cut, in words.

        Of a broker that was shut down cleanly, everything was flushed.
        """
        folder = self.folder(node)
        if (folder / CLEAN).exists():
            return
        points = folder / RECOVERY_POINTS
        text = points.read_text() if points.exists() else ""
        for place in sorted(folder.glob("r*-0")):
            found = re.search(rf"^{re.escape(place.name[:-2])} 0 (\d+)$", text, re.MULTILINE)
            point = int(found[1]) if found else 0
            for _, path in segments(place):
                batches = [each for each in read_batches(path, checksums=False) if isinstance(each, Batch)]
                places = [each.position for each in batches if each.base >= point]
                if not places:
                    continue
                at = rng.choice([places[0], rng.choice(places), rng.choice(places) + 20])
                size = path.stat().st_size
                with path.open("rb+") as file:
                    file.truncate(at)
                yield f"{place.name} cut at byte {at} of {size}, recovery point {point}"

    def length(self, node: int) -> int:
        """How long a node's output is."""
        path = self.output(node)
        return path.stat().st_size if path.exists() else 0

    def output_from(self, node: int, start: int) -> str:
        """A node's output from a byte on."""
        path = self.output(node)
        if not path.exists():
            return ""
        with path.open("rb") as file:
            file.seek(start)
            return file.read().decode(errors="replace")

    @property
    def nodes(self) -> tuple[int, ...]:
        """All of them."""
        return (*self.brokers, CONTROLLER)
