"""Writes the directories that the tests read: a real cluster on loopback, broken in known ways.

    python -m tests.modelcheck.kafka.files.make_fixtures --kafka-home DIR [SCENARIO ...]

DIR holds a release of Kafka, or at least its `libs/`; a Java is on the path.  Each scenario
starts a controller and three brokers, does what its function says, and stops them; `zookeeper`
starts ZooKeeper and brokers of a Kafka before 4, and only logs are kept.  What is kept is cut
to what a reader needs (no indexes), with `cluster.json` beside it: the version, the steps, and
for some orders of starting the brokers again what the real cluster then did.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import signal
import tempfile
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from modelcheck.kafka.files.metadata.image import MetadataImage
from modelcheck.kafka.reproduce.installation import Home, find
from modelcheck.kafka.reproduce.observed_state import image, unfenced
from tests.modelcheck.kafka.files.real_cluster import (
    BROKERS,
    CONTROLLER,
    TOPIC,
    Cluster,
    ZooKeeperCluster,
    set_up_log_files,
    until,
)

HERE = Path(__file__).parent / "clusters"
OTHER = "quiet"
ZOOKEEPER = "zookeeper"
DROPPED = ("*.index", "*.timeindex", "*.txnindex", ".lock", "*.snapshot", "bootstrap.checkpoint", "*.tmp")
FIRST = 30  # lines of a log that are kept as they are
OF_USE = re.compile(
    r"\((state\.change\.logger|kafka\.cluster\.|kafka\.(log|server)\.(?!.*(Quota|Socket|Channel))"
    r"|kafka\.controller|org\.apache\.kafka\.(controller|storage|common\.utils)\.)[\w.$]*\)$"
)
LEFT_OUT = re.compile(
    r"__consumer_offsets|__cluster_metadata|Error in response for fetch|Waiting for|waiting for"
)
TOLD = re.compile(r"Truncating|UNCLEAN|unclean|starts at leader epoch|Recovering unflushed")


def begin(cluster: Cluster, *config: str) -> None:
    """A cluster that runs, with two topics, twenty records in one and five in the other."""
    cluster.format()
    cluster.start(CONTROLLER, *BROKERS)
    cluster.create(TOPIC, *config)
    cluster.create(OTHER, "min.insync.replicas=2")
    until(lambda: cluster.isr() == set(BROKERS))
    cluster.produce(5, "all", OTHER)
    cluster.produced = 0
    cluster.produce(10, "all")
    cluster.produce(10, "all")
    time.sleep(2)


# ---------------------------------------------------------------- scenarios


@dataclass(frozen=True)
class Again:
    """Brokers started again in an order, the first ones until one leads; by hand: an unclean election.

    Those in `lost` have an empty disk.  With `apart` each of the first ones runs before the next is started.
    """

    order: tuple[int, ...]
    by_hand: bool = False
    first: int = 1
    lost: tuple[int, ...] = ()
    apart: bool = False


def ends_differ(cluster: Cluster) -> Sequence[Again]:
    """All brokers are killed while one follower, still in the ISR, lags behind."""
    begin(cluster, "min.insync.replicas=2")
    cluster.signal(signal.SIGSTOP, 3)
    cluster.produce(10, "1")
    time.sleep(2)
    cluster.signal(signal.SIGKILL, CONTROLLER, *BROKERS)
    return [Again((3, 1, 2)), Again((1, 2, 3))]


def ends_differ_newer(cluster: Cluster) -> Sequence[Again]:
    """The same on a newer release, without ELR: the controller fences all brokers before one can register."""
    cluster.features = ("eligible.leader.replicas.version=0",)
    ends_differ(cluster)
    return [Again((1, 2, 3), first=3), Again((3, 2, 1), first=3)]


def leader_ahead(cluster: Cluster) -> Sequence[Again]:
    """A leader dies with records that nobody fetched; another one goes on."""
    begin(cluster, "min.insync.replicas=1")
    cluster.signal(signal.SIGSTOP, 2, 3)
    cluster.produce(10, "1")
    cluster.signal(signal.SIGKILL, 1)
    cluster.signal(signal.SIGCONT, 2, 3)
    until(lambda: cluster.leader() in {2, 3})
    cluster.produce(5, "all")
    time.sleep(2)
    cluster.signal(signal.SIGTERM, 3)
    cluster.signal(signal.SIGTERM, 2)
    cluster.signal(signal.SIGTERM, CONTROLLER)
    return [Again((2, 1, 3))]


def last_lost(cluster: Cluster) -> Sequence[Again]:
    """The ISR shrinks to one broker, and that broker's directory is lost."""
    begin(cluster, "min.insync.replicas=1")
    cluster.signal(signal.SIGTERM, 3)
    cluster.produce(5, "all")
    time.sleep(2)
    cluster.signal(signal.SIGTERM, 2)
    cluster.produce(5, "all")
    time.sleep(2)
    cluster.signal(signal.SIGKILL, 1, CONTROLLER)
    shutil.rmtree(cluster.folder(1))
    cluster.steps.append("lose the directory of broker 1")
    return [Again((2, 3), by_hand=True), Again((3, 2), by_hand=True)]


def power_loss(cluster: Cluster) -> Sequence[Again]:
    """The last broker in the ISR loses what it had not flushed; the others still have most of it."""
    begin(cluster, "min.insync.replicas=1")
    cluster.signal(signal.SIGTERM, 3)
    cluster.produce(5, "all")
    time.sleep(2)
    cluster.signal(signal.SIGTERM, 2)
    time.sleep(2)
    cluster.signal(signal.SIGKILL, 1, CONTROLLER)
    folder = cluster.folder(1)
    kept = recovery_point(folder)
    (folder / f"{TOPIC}-0" / f"{0:020}.log").write_bytes(b"")
    assert kept == 0, "the log was flushed, so cutting it to nothing is no power loss"
    cluster.steps.append("cut broker 1's log to its recovery point, 0")
    return [Again((1, 2, 3)), Again((2, 1, 3), by_hand=True)]


def power_loss_newer(cluster: Cluster) -> Sequence[Again]:
    """The same on a newer release: a controller begins with a snapshot, and other classes recover logs."""
    return power_loss(cluster)


def recovery_point(folder: Path) -> int:
    """The recovery point of the topic as the file has it; a partition that it leaves out has none, 0."""
    text = (folder / "recovery-point-offset-checkpoint").read_text()
    found = re.search(rf"^{TOPIC} 0 (\d+)$", text, re.MULTILINE)
    return int(found[1]) if found else 0


def eligible(cluster: Cluster) -> Sequence[Again]:
    """With eligible leader replicas: everybody left the ISR, the last leader with the most records."""
    begin(cluster, "min.insync.replicas=2")
    cluster.signal(signal.SIGTERM, 3)
    cluster.produce(5, "all")
    time.sleep(2)
    cluster.signal(signal.SIGTERM, 2)
    cluster.produce(5, "1")
    time.sleep(2)
    cluster.signal(signal.SIGTERM, 1)
    cluster.signal(signal.SIGTERM, CONTROLLER)
    return [
        Again((2, 1, 3)),
        Again((1, 2, 3)),
        Again((3, 1, 2), by_hand=True),
        Again((2, 3, 1), lost=(1,)),
        Again((1, 2, 3), first=2, lost=(1,), apart=True),
    ]


def eligible_killed(cluster: Cluster) -> Sequence[Again]:
    """The same, but all are killed: who was not shut down cleanly is not eligible any more."""
    begin(cluster, "min.insync.replicas=2")
    cluster.signal(signal.SIGTERM, 3)
    cluster.produce(5, "all")
    time.sleep(2)
    cluster.signal(signal.SIGKILL, 2)
    until(lambda: cluster.isr() == {1})
    cluster.produce(5, "1")
    time.sleep(2)
    cluster.signal(signal.SIGKILL, 1)
    time.sleep(15)
    cluster.signal(signal.SIGTERM, CONTROLLER)
    return [Again((2, 1, 3), first=2), Again((2, 1, 3), by_hand=True)]


def registered_killed(cluster: Cluster) -> Sequence[Again]:
    """A dead broker is elected while its session lasts; it starts, and is killed before it is unfenced."""
    begin(cluster, "min.insync.replicas=2")
    cluster.signal(signal.SIGKILL, 2)
    until(lambda: cluster.isr() == {1, 3})
    cluster.produce(5, "all")
    time.sleep(2)
    cluster.signal(signal.SIGKILL, 3)
    cluster.signal(signal.SIGTERM, 1)
    until(lambda: 3 not in unfenced(metadata(cluster)))
    before = metadata(cluster).brokers[3].epoch
    cluster.start(3)
    until(lambda: metadata(cluster).brokers[3].epoch != before, every=0.01)
    cluster.signal(signal.SIGKILL, 3)
    assert 3 not in unfenced(metadata(cluster)), "broker 3 was unfenced before it was killed; try again"
    cluster.signal(signal.SIGTERM, CONTROLLER)
    return [Again((1, 3, 2)), Again((3, 1, 2), first=2)]


def metadata(cluster: Cluster) -> MetadataImage:
    """What the controller has written."""
    found = image(cluster.folder(CONTROLLER))
    assert found is not None
    return found


def truncated(cluster: Cluster) -> Sequence[Again]:
    """A leader dies with records that nobody fetched, comes back and drops them: only its log file tells."""
    begin(cluster, "min.insync.replicas=1")
    cluster.signal(signal.SIGSTOP, 2, 3)
    cluster.produce(10, "1")
    cluster.signal(signal.SIGKILL, 1)
    cluster.signal(signal.SIGCONT, 2, 3)
    until(lambda: cluster.leader() in {2, 3})
    cluster.produce(5, "all")
    cluster.start(1)
    until(lambda: cluster.isr() == set(BROKERS))
    cluster.produce(5, "all")
    time.sleep(2)
    for node in (1, 3, 2, CONTROLLER):
        cluster.signal(signal.SIGTERM, node)
    return []


def truncated_newer(cluster: Cluster) -> Sequence[Again]:
    """The same on a newer release, which logs by another library and other classes."""
    return truncated(cluster)


def elected_unclean(cluster: Cluster) -> Sequence[Again]:
    """The last replica of the ISR dies, another one is elected uncleanly, and then that one comes back."""
    begin(cluster, "min.insync.replicas=1", "unclean.leader.election.enable=true")
    cluster.signal(signal.SIGTERM, 2)
    cluster.signal(signal.SIGTERM, 3)
    until(lambda: cluster.isr() == {1})
    cluster.produce(10, "all")
    time.sleep(2)
    cluster.signal(signal.SIGKILL, 1)
    cluster.start(2)
    until(lambda: cluster.leader() == 2)
    cluster.produce(5, "all")
    cluster.start(1)
    until(lambda: cluster.isr() == {1, 2})
    time.sleep(2)
    for node in (1, 2, CONTROLLER):
        cluster.signal(signal.SIGTERM, node)
    return []


def elected_unclean_newer(cluster: Cluster) -> Sequence[Again]:
    """The same on a newer release: brokers register with other records, and who left last is eligible."""
    return elected_unclean(cluster)


def replaced(cluster: Cluster) -> Sequence[Again]:
    """A follower loses its disk and gets all again on an empty one: only its directory's id tells."""
    begin(cluster, "min.insync.replicas=2")
    cluster.signal(signal.SIGKILL, 3)
    shutil.rmtree(cluster.folder(3))
    cluster.format(3)
    cluster.steps.append("replace the disk of broker 3")
    until(lambda: 3 not in unfenced(metadata(cluster)))
    cluster.start(3)
    until(lambda: cluster.isr() == set(BROKERS))
    cluster.produce(5, "all")
    time.sleep(2)
    for node in (3, 2, 1, CONTROLLER):
        cluster.signal(signal.SIGTERM, node)
    return []


def paused(cluster: Cluster) -> Sequence[Again]:
    """A follower is silent for longer than its session lasts, is fenced, and comes back by itself."""
    begin(cluster, "min.insync.replicas=2")
    cluster.signal(signal.SIGSTOP, 3)
    time.sleep(25)  # tools that ask the silent broker would wait for it
    cluster.steps.append("wait until broker 3 has lost its session")
    cluster.signal(signal.SIGCONT, 3)
    cluster.produce(10, "all")
    until(lambda: cluster.isr() == set(BROKERS))
    time.sleep(2)
    for node in (3, 2, 1, CONTROLLER):
        cluster.signal(signal.SIGTERM, node)
    return []


def lowered(cluster: Cluster) -> Sequence[Again]:
    """An operator lowers min.insync.replicas so that writes go on, and then allows an unclean election."""
    cluster.settings["unclean.leader.election.interval.ms"] = 2_000  # a controller looks so often, else 5 min
    begin(cluster, "min.insync.replicas=2")
    cluster.signal(signal.SIGTERM, 3)
    cluster.signal(signal.SIGTERM, 2)
    until(lambda: cluster.isr() == {1})
    cluster.change("min.insync.replicas=1")
    cluster.produce(5, "all")
    time.sleep(2)
    cluster.signal(signal.SIGKILL, 1)
    cluster.start(2)
    until(lambda: cluster.leader() is None and "Replicas" in cluster.describe())
    cluster.change("unclean.leader.election.enable=true")
    until(lambda: cluster.leader() == 2)
    time.sleep(2)
    for node in (2, CONTROLLER):
        cluster.signal(signal.SIGTERM, node)
    return []


ALL = (
    ends_differ,
    ends_differ_newer,
    leader_ahead,
    last_lost,
    power_loss,
    power_loss_newer,
    eligible,
    eligible_killed,
    registered_killed,
    truncated,
    truncated_newer,
    elected_unclean,
    elected_unclean_newer,
    replaced,
    paused,
    lowered,
)
ALONE = {"ends_differ_newer"}  # of which the controller is started alone too
SCENARIOS = {each.__name__: each for each in ALL}


# ---------------------------------------------------------------- what is kept


def keep(cluster: Cluster, to: Path) -> None:
    """Copy the directories without what no reader needs."""
    shutil.rmtree(to, ignore_errors=True)
    to.mkdir(parents=True)
    for node in (*BROKERS, CONTROLLER):
        if cluster.folder(node).exists():
            shutil.copytree(
                cluster.folder(node), to / cluster.folder(node).name, ignore=shutil.ignore_patterns(*DROPPED)
            )
    for log in sorted(cluster.root.glob("logs/*/*.log")):
        kept = to / log.relative_to(cluster.root)
        kept.parent.mkdir(parents=True, exist_ok=True)
        with log.open() as lines:
            kept.write_text("".join(cut_lines(lines, cluster.root)))


def cut_lines(lines: Iterable[str], root: Path) -> Iterator[str]:
    """The first lines of a log, and of the others those that may be of use, without this machine's paths."""
    for number, line in enumerate(lines):
        if "environment:" in line:  # paths and versions of the machine
            continue
        if number < FIRST or (OF_USE.search(line) and not LEFT_OUT.search(line)):
            yield line.replace(str(root), "DIR")


def restore(cluster: Cluster, saved: Path, lost: Sequence[int] = ()) -> None:
    """The directories as they were kept, those in `lost` empty."""
    for node in (*BROKERS, CONTROLLER):
        shutil.rmtree(cluster.folder(node), ignore_errors=True)
        (cluster.root / f"{node}.log").unlink(missing_ok=True)
        if node in lost:
            cluster.format(node)
        elif (saved / cluster.folder(node).name).exists():
            shutil.copytree(saved / cluster.folder(node).name, cluster.folder(node))


def alone(cluster: Cluster, saved: Path) -> list[int]:
    """Who is in the ISR when the controller has run alone for twice as long as a session lasts."""
    restore(cluster, saved)
    cluster.start(CONTROLLER)
    time.sleep(20)
    cluster.shut()
    (found,) = (each for place, each in metadata(cluster).by_place().items() if place.topic == TOPIC)
    return list(found.isr)


def again(cluster: Cluster, saved: Path, how: Again) -> dict[str, object]:
    """What the cluster does when its brokers start in this order."""
    restore(cluster, saved, how.lost)
    cluster.start(CONTROLLER)
    for node in how.order[: how.first]:
        cluster.start(node)
        if how.apart:
            until(lambda node=node: node in unfenced(metadata(cluster)))  # type: ignore[misc]
            time.sleep(5)  # until it has reported its directories
    if how.by_hand:
        time.sleep(15)
        given = ["--election-type", "unclean", "--topic", TOPIC, "--partition", "0"]
        until(lambda: "Successfully" in cluster.tool("election", *given))
    until(lambda: cluster.leader() in how.order[: how.first])
    first = cluster.leader()
    cluster.start(*how.order[how.first :])
    until(lambda: cluster.isr() >= set(how.order))
    values = cluster.values()
    cluster.shut()
    told = {
        str(node): [
            line.partition("] ")[2]
            for line in log.read_text().splitlines()
            if TOLD.search(line) and TOPIC in line
        ]
        for node in (*BROKERS, CONTROLLER)
        if (log := cluster.root / f"{node}.log").exists()
    }
    told = {
        node: [line.replace(str(cluster.root), "DIR") for line in lines]
        for node, lines in told.items()
        if lines
    }
    begun = {"order": list(how.order), "first": how.first, "unclean": how.by_hand, "lost": list(how.lost)}
    return {**begun, "leader": first, "values": values, "log": told}


def make_of_zookeeper(kafka: Home) -> None:
    """The logs of a cluster with ZooKeeper, which has no metadata log: what `truncated` does."""
    to = HERE.parent / "zookeeper"
    with tempfile.TemporaryDirectory() as folder:
        set_up_log_files(Path(folder))
        cluster = ZooKeeperCluster(kafka, Path(folder))
        try:
            truncated(cluster)
            keep(cluster, to)
        finally:
            cluster.shut()
            if os.environ.get("KEEP"):
                shutil.copytree(folder, os.environ["KEEP"], dirs_exist_ok=True)
    for each in [to / cluster.folder(node).name for node in (*BROKERS, CONTROLLER)]:
        shutil.rmtree(each, ignore_errors=True)
    found = {"kafka": kafka.version, "about": make_of_zookeeper.__doc__, "steps": cluster.steps}
    (to / "cluster.json").write_text(json.dumps(found, indent=1) + "\n")


def make(kafka: Home, name: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        set_up_log_files(Path(folder))
        cluster = Cluster(kafka, Path(folder))
        try:
            orders = SCENARIOS[name](cluster)
            steps = list(cluster.steps)
            cluster.shut()
            whole = Path(folder) / "saved"
            keep(cluster, HERE / name)
            shutil.copytree(cluster.root, whole, ignore=shutil.ignore_patterns("*.log4j*", "saved", ".lock"))
            told = [again(cluster, whole, each) for each in orders]
            stays = {"alone": alone(cluster, whole)} if name in ALONE else {}
        finally:
            cluster.shut()
            if os.environ.get("KEEP"):
                shutil.copytree(folder, os.environ["KEEP"], dirs_exist_ok=True)
    found = {"kafka": kafka.version, "about": SCENARIOS[name].__doc__, "steps": steps, "again": told, **stays}
    (HERE / name / "cluster.json").write_text(json.dumps(found, indent=1) + "\n")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kafka-home", type=Path, required=True)
    parser.add_argument("scenarios", nargs="*", choices=[*SCENARIOS, ZOOKEEPER, []], metavar="SCENARIO")
    args = parser.parse_args()
    kafka = find(args.kafka_home)
    for name in args.scenarios or (*SCENARIOS, ZOOKEEPER):
        if name == ZOOKEEPER:
            make_of_zookeeper(kafka)
        else:
            make(kafka, name)


if __name__ == "__main__":
    main()
