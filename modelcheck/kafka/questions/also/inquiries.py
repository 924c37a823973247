"""What `--also` asks of each subject: which model, which properties, which faults, and what is set.

NOTE(also): the switches of the configuration are those of `kafka.rsm`, which these models have too; what
they add is set here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace

from modelcheck.kafka.questions.also.clients import consumers, transactions
from modelcheck.kafka.questions.also.findings import (
    CONSUMERS,
    DIRECTORIES,
    LINKS,
    RACKS,
    REASSIGNMENT,
    ROLLING,
    SETTINGS,
    TRANSACTIONS,
    Subject,
)
from modelcheck.kafka.questions.also.inquiry import Inquiries, Inquiry, outside
from modelcheck.kafka.questions.outages.combined import combined
from modelcheck.kafka.questions.partition import PartitionModel
from modelcheck.kafka.questions.question import ANY, fault_kinds
from modelcheck.kafka.settings.keys.releases import Plain
from modelcheck.kafka.settings.keys.versions import of
from modelcheck.kafka.settings.resolution.settings import Settings
from modelcheck.kafka.settings.resolution.switches import Controller

SEVERAL_DIRECTORIES = of(3, 7)  # with KRaft (KIP-858)
REMEMBERS_IDS = of(3, 7, 1)  # KAFKA-16234
APPENDS_REFUSED = of(2, 8)  # KAFKA-10778
KEEPS_ELIGIBLE = of(4, 3)  # github.com/apache/kafka/pull/20716
WAITS_FOR_ALL = of(3, 8)  # the end of a move (KAFKA-15665)
_NUMBERS = ("no", "one", "two", "three")
_TAKEN = "whether writes continue where more are down: they take the majority of controllers with them"
_MAJORITY = "a majority of controllers is up, though they are on the nodes of brokers"
_KEPT = ("acknowledged_survive", "acknowledged_kept")


def inquiries(subject: Subject, partition: PartitionModel, settings: Settings) -> Inquiries:
    """The searches about a subject. Costs nothing: none is run."""
    made: Mapping[str, Callable[[PartitionModel, Settings], Inquiries]] = {
        RACKS.name: _racks,
        ROLLING.name: _rolling,
        DIRECTORIES.name: _directories,
        LINKS.name: _links,
        REASSIGNMENT.name: _reassignment,
        SETTINGS.name: _settings,
        TRANSACTIONS.name: transactions,
        CONSUMERS.name: consumers,
    }
    found = made[subject.name](partition, settings)
    if settings.voters is None or not settings.voters.are_brokers or subject.apart:
        return found
    return replace(found, assumed=(*found.assumed, _MAJORITY))


def _keeping_majority(
    partition: PartitionModel, settings: Settings, asked: Sequence[Inquiry], down: int
) -> list[Inquiry]:
    """The searches with faults limited so that a majority of controllers stays up.

    `down` brokers are down already: none are left where these alone take the majority.
    Without controllers on the nodes of brokers, the inquiries are unchanged.
    """
    nodes = combined(partition, settings.voters)
    if nodes is None:
        return list(asked)
    most = nodes.frozen_with - 1 - down
    return [replace(each, most=most) for each in asked] if most >= 0 else []


def _racks(partition: PartitionModel, settings: Settings) -> Inquiries:
    """Searches for the loss of a site, and of a rack with several but not all replicas."""
    every, together = partition.replicas, min(settings.together.value, partition.replicas)
    racks, alone = ("kafka_racks", "racks"), ("kafka_racks", "left_alone")
    site: dict[str, Plain] = {"sharing": every}
    kind = "wreck" if partition.ephemeral else "blackout"
    found = [Inquiry("durable", "power fails for the whole site at once", racks, _KEPT, {kind: None}, site)]
    where = f"{settings.together.reason}: "
    where += f"{_NUMBERS[together]} of the {_NUMBERS[every]} replicas are assumed to be in one rack"
    if every == 1 or together == 1:
        own = "one replica is in one rack" if every == 1 else f"{settings.together.reason}: no two share one"
        return Inquiries(tuple(found), (f"a rack takes one replica, as a fault of its broker does ({own})",))
    if together == every:
        return Inquiries(tuple(found), (), (f"{where}: the site",))
    given: dict[str, Plain] = {"sharing": together}
    says = {
        "blackout": "power fails for a rack",
        "wreck": "a rack is lost for good, with its disks",
        "cut_rack": "a rack is cut off from the others and the controller",
    }
    if partition.ephemeral:
        del says["blackout"]  # a pod that was down starts with an empty disk
    for fault, words in says.items():
        found.append(Inquiry("durable", words, racks, _KEPT, {fault: None}, given))
    stops = [
        Inquiry("writable", words, alone, ("writable",), {fault: None}, given)
        for fault, words in says.items()
        if fault != "wreck" or partition.ephemeral
    ]
    spared = _keeping_majority(partition, settings, stops, together)
    found += [replace(each, most=None) for each in spared]  # there is one such rack
    return Inquiries(tuple(found), () if spared else (_TAKEN,), (where,))


def _rolling(partition: PartitionModel, settings: Settings) -> Inquiries:
    """Searches for restarts with and without waiting, with other faults, and their availability."""
    if partition.ephemeral:
        why = "on ephemeral storage a broker that is started again has lost its disk"
        return Inquiries((), (f"{why}, as by a fault of the kind disk",))
    file, many = "kafka_rolling_restart", partition.replicas
    each: dict[str, Plain] = {"rolls": many}
    forgets: dict[str, Plain] = {"directory_keeps_eligible": settings.version.value >= KEEPS_ELIGIBLE}
    every: dict[str, int | None] = {kind.fault: None for kind in fault_kinds(partition)}
    waits = "the next broker is shut down when all replicas are in sync"
    hasty = "it is shut down as soon as the last one runs"
    asked = [
        Inquiry("durable", f"{says}; any faults", (file, model), _KEPT, every, each | forgets, 0, ANY)
        for says, model in ((waits, "careful"), (hasty, "forgets_eligible"))
    ]
    down, back = "a broker is down for it, and others crash", "the same, until it is started again"
    crash: dict[str, int | None] = {"crash": None}
    only = ("writable",)
    stops = [
        Inquiry("writable", down, (file, "held_down"), only, crash, {"rolls": 1}, 0, "crash"),
        Inquiry("writable", back, (file, "careful_alone"), only, crash, each, 0, "crash"),
    ]
    if many == 1:
        del asked[1]  # there is no broker to wait for
    spared = _keeping_majority(partition, settings, stops, 1)
    notes = (_TAKEN,) if spared != stops else ()
    is_kraft = settings.switches.controller.value is Controller.KRAFT
    key = "metadata.version" if is_kraft else "inter.broker.protocol.version"
    mixed = "brokers of two releases in one cluster, as in an upgrade (a switch is the same for all): "
    mixed += f"review each of the two with the older {key}, which both speak until it is raised"
    many_times = f"{_NUMBERS[many]} restart{'s' if many > 1 else ''}"
    assumed = f"{many_times}, of whichever brokers, never of two at once; each stops and starts cleanly"
    return Inquiries((*asked, *spared), (mixed, *notes), (assumed,))


def _directories(_: PartitionModel, settings: Settings) -> Inquiries:
    """Searches for the loss of one of several log directories, by the release's behaviour."""
    release, file = settings.version.value, "kafka_log_directories"
    is_kraft = settings.switches.controller.value is Controller.KRAFT
    given = outside(settings)
    dirs = given.get("log.dirs", given.get("log.dir"))
    if dirs is not None and "," not in dirs.value:
        one = f"{dirs.key} at {dirs.place} is one directory, and a broker without any halts"
        return Inquiries((), (f"{one}: the row disk",))
    if is_kraft and release < SEVERAL_DIRECTORIES:
        return Inquiries((), (f"a broker with KRaft has one directory before Kafka {SEVERAL_DIRECTORIES}",))
    same: dict[str, Plain] = {"made_again": False, "appends_refused": release >= APPENDS_REFUSED}
    kept = ("on_some_disk",)
    found = [
        Inquiry(
            "durable",
            "a write to a directory fails",
            (file, "failed_writes"),
            kept,
            {"write_fails": None},
            same,
        )
    ]
    notes = [
        "a directory that is lost for good, with all replicas in it: of one partition that is the row disk"
    ]
    if is_kraft:
        remembers = "the_id" if release >= REMEMBERS_IDS else "the_logs_id"
        lost: dict[str, Plain] = {"made_again": False, "remembers": remembers}
        says, fails = "a directory fails, and its broker runs on", {"fail_directory": None}
        found = [
            Inquiry("durable", says, (file, file), ("leader_complete",), fails, lost),
            Inquiry("led", f"{says}; another replica is in sync", (file, file), ("is_led",), fails, lost),
            *found,
        ]
    else:
        notes.append("with ZooKeeper, what a broker remembers of the partitions that were in it")
    of_release = "the release alone decides: what is committed counts as acknowledged, and no setting is read"
    where = "" if dirs is None else f" ({dirs.key} at {dirs.place})"
    several = f"a broker has several directories{where}, and one of them fails"
    return Inquiries(tuple(found), tuple(notes), (of_release, several))


def _links(partition: PartitionModel, _: Settings) -> Inquiries:
    """Searches for broken links: between brokers, from the controller, or to clients."""
    crash, kind = ("disk_loss", "disk") if partition.ephemeral else ("crash", "crash")
    kinds = {
        "part": "two brokers do not reach each other",
        "deafen": "a broker does not hear the controller",
        "hide": "clients do not reach a broker",
    }
    if partition.replicas == 1:
        del kinds["part"]
    alone = ("kafka_partial_partition", "left_alone")
    writes = ("acknowledges",)
    stops = [Inquiry("writable", says, alone, writes, {link: None}, {}) for link, says in kinds.items()]
    both = {link: None for link in kinds if link != "hide"} | {crash: 1}
    stops.append(
        Inquiry(
            "writable",
            "such links between servers break, and one broker fails",
            alone,
            writes,
            both,
            {},
            beside=kind,
        )
    )
    every = {**dict.fromkeys(kinds), crash: None}
    links = ("kafka_partial_partition", "partial")
    kept = Inquiry("durable", "any such links break, and brokers fail", links, _KEPT, every, {}, beside=kind)
    if partition.config["acks"] != "all":
        return Inquiries((kept,), ("whether writes continue is asked for acks=all only",))
    return Inquiries((*stops, kept))


def _reassignment(partition: PartitionModel, settings: Settings) -> Inquiries:
    """Searches for faults during a reassignment of replicas."""
    given: dict[str, Plain] = {
        "factor": partition.replicas,
        "waits_for": "added" if settings.version.value < WAITS_FOR_ALL else "all",
    }
    moved = ("kafka_reassignment", "reassigned")
    says = "the replicas are moved to other brokers, as many, or the move is cancelled"
    kept = _kept(partition, says, moved, given, spare=1)
    alone = ("kafka_reassignment", "left_alone")
    says = "brokers crash meanwhile, and not those that are added"
    ends = Inquiry("ends", says, alone, ("completes",), {"crash": None}, given, 1)
    return Inquiries((*kept, ends))


def _settings(partition: PartitionModel, _: Settings) -> Inquiries:
    """Searches for faults around changes of the topic's settings."""
    before, is_unclean = int(partition.config["min_isr"]), bool(partition.config["unclean"])
    changed = ("kafka_changed_settings", "changed")
    found: list[Inquiry] = []
    notes = []
    same: dict[str, Plain] = {
        "min_isr_before": before,
        "min_isr_after": before,
        "allows_unclean": is_unclean,
    }
    if before > 1 and partition.config["acks"] == "all":
        lowered = {**same, "min_isr_after": 1}
        says = f"min.insync.replicas is lowered from {before} to 1"
        found += _kept(partition, says, changed, lowered)
    else:
        notes.append("min.insync.replicas cannot be lowered to any effect")
    if not is_unclean and partition.replicas > 1:
        allowed = {**same, "allows_unclean": True}
        says = "unclean election is allowed, or done by hand"
        found += _kept(partition, says, changed, allowed)
    else:
        notes.append(
            "unclean election is allowed already" if is_unclean else "there is no other replica to elect"
        )
    return Inquiries(tuple(found), tuple(notes))


def _kept(
    partition: PartitionModel, says: str, model: tuple[str, str], given: Mapping[str, Plain], spare: int = 0
) -> Iterator[Inquiry]:
    """Searches whether records survive all faults, and crashes alone."""
    kinds = fault_kinds(partition)
    every: dict[str, int | None] = {kind.fault: None for kind in kinds}
    if "crash" in every:
        crashes = f"{says}; brokers crash"
        yield Inquiry("durable", crashes, model, _KEPT, {"crash": None}, given, spare, "crash")
    yield Inquiry("durable", f"{says}; any faults", model, _KEPT, every, given, spare, ANY)
