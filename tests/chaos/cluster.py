"""A real cluster that chaos befalls: the driver's, with signals, power losses, and many links cut at once."""

from __future__ import annotations

import re
import resource
import shutil
import signal
import subprocess
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from random import Random

from modelcheck.kafka.files.batches import Batch, read_batches
from modelcheck.kafka.files.checkpoints import TopicPartition, read_properties
from modelcheck.kafka.files.damage import UnreadableError
from modelcheck.kafka.files.metadata.image import MetadataImage
from modelcheck.kafka.files.metadata.log import FOLDER, read_metadata
from modelcheck.kafka.files.partition_log import segments
from modelcheck.kafka.files.records import LogRecord
from modelcheck.kafka.reproduce.cluster import CUT, HELD, Cluster, until
from modelcheck.kafka.reproduce.installation import Home
from modelcheck.kafka.reproduce.observed_state import all_records
from modelcheck.kafka.reproduce.settings import ELR, ELR_SINCE
from tests.chaos.plan import Shape

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
    "transaction.state.log.num.partitions": "1",
    "transaction.state.log.replication.factor": "3",
    "transaction.state.log.min.isr": "1",
    "log.dir.failure.timeout.ms": "20000",
    "initial.broker.registration.timeout.ms": "180000",
}
SELECTOR = "org.apache.kafka.common.replica.RackAwareReplicaSelector"  # consumers read in their own rack
FILLING = 30.0  # seconds until a broker without room on its disk gives up
RECOVERY_POINTS = "recovery-point-offset-checkpoint"
CLEAN = ".kafka_cleanshutdown"


class ChaosCluster(Cluster):
    """A cluster that runs for many rounds."""

    def __init__(self, home: Home, root: Path, shape: Shape) -> None:
        features = (f"{ELR}={int(shape.elr)}",) if home.release >= ELR_SINCE else ()
        self._shape = shape
        super().__init__(
            home,
            root,
            shape.brokers,
            settings=COMMON | BROKERS,
            controllers=COMMON | {"unclean.leader.election.interval.ms": "2000"},
            features=features,
            quorum=shape.quorum,
        )

    def _configure(self, node: int) -> None:
        """Write a node's configuration file, with its rack."""
        super()._configure(node)
        if node in self.brokers and self._shape.racks:
            with self._properties(node).open("a") as file:
                file.write(f"broker.rack={self._shape.rack(node)}\nreplica.selector.class={SELECTOR}\n")

    def directories(self, node: int) -> tuple[Path, ...]:
        """The log directories of a node: of a broker that has several, inside its folder."""
        folder, several = self.folder(node), self._shape.directories
        if several == 1 or node not in self.brokers:
            return (folder,)
        return tuple(folder / f"d{number}" for number in range(1, several + 1))

    def image(self) -> MetadataImage | None:
        """The metadata of the controller that has most of it; None if there is none yet."""
        found = []
        for node in self.quorum:
            with suppress(UnreadableError):
                found.append(read_metadata(self.directories(node)[0] / FOLDER))
        return max(found, key=lambda each: (each.epoch, each.end)).image if found else None

    def records(self, node: int, topic: str) -> Iterator[LogRecord]:
        """The records of a broker's copy of a topic, control records too."""
        for directory in self.directories(node):
            with suppress(UnreadableError):
                yield from all_records(directory, TopicPartition(topic, 0))

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
        for link in self.links():
            link.drop()

    def heal(self) -> None:
        """Mend all links."""
        for link in self.links():
            link.mend(CUT)
            link.mend(HELD)

    def lose_unflushed(self, node: int, rng: Random) -> Iterator[str]:
        """Cut logs of a killed broker anywhere from their recovery points on; what was cut, in words.

        Of a broker that was shut down cleanly, everything was flushed.
        """
        for folder in self.directories(node):
            yield from self._lose_unflushed(folder, rng)

    def _lose_unflushed(self, folder: Path, rng: Random) -> Iterator[str]:
        """The same, of one log directory."""
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

    def fail_directory(self, node: int) -> None:
        """Take the last log directory from a running broker, which finds that as soon as it writes there."""
        directory = self.directories(node)[-1]
        if directory.exists():
            directory.rename(_aside(directory))

    def return_directories(self, node: int) -> None:
        """Bring back what was taken; what a broker has put in its place goes."""
        for directory in self.directories(node):
            if _aside(directory).exists():
                shutil.rmtree(directory, ignore_errors=True)
                _aside(directory).rename(directory)

    def lose_directory(self, node: int) -> str | None:
        """Delete the last log directory of a broker that is down; its id, if it had one."""
        directory = self.directories(node)[-1]
        if not directory.exists():
            return None
        found = read_properties(directory / "meta.properties").get("directory.id")
        shutil.rmtree(directory)
        return found

    def fill(self, node: int) -> bool:
        """Leave a broker no room on its disk; whether it ended by itself, else it is killed."""
        process = self._running.pop(node)
        _, most = resource.prlimit(process.pid, resource.RLIMIT_FSIZE)
        resource.prlimit(process.pid, resource.RLIMIT_FSIZE, (0, most))
        ended = until(lambda: process.poll() is not None, FILLING)
        process.kill()
        process.wait()
        for link in self.links(node):
            link.drop()
        return ended

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


def _aside(directory: Path) -> Path:
    """Where a directory is while its broker cannot reach it."""
    return directory.with_name(f"{directory.name}-taken")
