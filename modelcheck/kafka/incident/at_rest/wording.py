"""The words for what was found: one sentence each, for people; shared by the report and the JSON."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from counterexamples.lines import count
from modelcheck.kafka.files.fields import uuid_text
from modelcheck.kafka.files.metadata.image import MetadataImage
from modelcheck.kafka.incident.at_rest.directories import ClusterFiles
from modelcheck.kafka.incident.at_rest.election_outcome import Aftermath, Succession, way
from modelcheck.kafka.incident.at_rest.losses import NAMED, past, share, to_come, untraced_words
from modelcheck.kafka.incident.at_rest.partitions import PartitionFiles, ReplicaLog
from modelcheck.kafka.incident.at_rest.sessions import fences_first
from modelcheck.kafka.incident.at_rest.start_order import Judged, first_leader, given_up
from modelcheck.kafka.incident.at_rest.understood import unknown_levels

MOST_AWAITED = 3  # sentences on brokers that partitions wait for


def brokers(nodes: Iterable[int]) -> str:
    """Brokers in words: "broker 1", "brokers 1, 2 and 3"."""
    *most, last = [str(node) for node in nodes]
    return f"brokers {', '.join(most)} and {last}" if most else f"broker {last}"


def listed(nodes: Iterable[int]) -> str:
    """Numbers separated by commas, or "none"."""
    return ", ".join(map(str, nodes)) or "none"


def answer(all_judged: Sequence[Judged], order: Sequence[int]) -> Iterator[str]:
    """The report's first sentences: what is lost already, and what can still be lost."""
    if not all_judged:
        yield "There are no partitions in these directories."
        return
    of = len(all_judged)
    waiting = [each for each in all_judged if _waits(each)]
    if waiting:
        nodes = sorted({node for each in waiting for node in each.partition.missing_leaders})
        missing, was, is_ = brokers(nodes), *(("was", "is") if len(nodes) == 1 else ("were", "are"))
        yield (
            f"{share(len(waiting), of)}: only {missing} {was} in sync, and {is_} not here."
            f" Records that only {missing} had are lost for good, unless that log comes back and its broker"
            " leads first."
        )
    yield from past(all_judged)
    yield from to_come(all_judged)
    yield from _of_given_up(all_judged, order)
    if not any(each.order_matters for each in all_judged) and order:
        yield f"The order is all the same: start {brokers(order)}."
        yield from _awaiting(all_judged)


def _awaiting(all_judged: Sequence[Judged]) -> Iterator[str]:
    """The brokers that have to run before partitions have a leader, in sentences."""
    found: dict[tuple[tuple[int, ...], bool, bool], list[Judged]] = {}
    for each in all_judged:
        if each.partition.awaited[0]:
            found.setdefault((*each.partition.awaited, each.partition.dropping), []).append(each)
    for (nodes, all_, may), waiting in sorted(found.items(), key=lambda each: -len(each[1]))[:MOST_AWAITED]:
        runs = "runs" if len(nodes) == 1 or not all_ else "run"
        which = brokers(nodes) if all_ or len(nodes) == 1 else f"one of {brokers(nodes)}"
        has = "has" if len(waiting) == 1 else "have"
        has = "may have" if may else has
        yield f"{share(len(waiting), len(all_judged))} {has} no leader before {which} {runs}."
    if len(found) > MOST_AWAITED:
        yield "Others wait for other brokers."


def _waits(each: Judged) -> bool:
    """Whether no given replica is elected automatically, but a missing one would be."""
    return bool(each.partition.missing_leaders) and not each.by_themselves


def what_to_do(
    all_judged: Sequence[Judged], order: Sequence[int], at_once: Sequence[int] = ()
) -> Iterator[str]:
    """The recommended steps, in order; none if the order does not matter.

    None of `at_once`, the first of the order, runs before all of them are started.
    """
    if not any(each.order_matters for each in all_judged):
        return
    replicas = [replica for each in all_judged for replica in each.partition.replicas.values()]
    emptied = {each.node for each in replicas if each.lost} - {
        each.node for each in replicas if not each.absent
    }
    several = at_once if len(at_once) > 1 else ()
    if several:
        yield f"Start {brokers(several)} at once; wait until they run."
    for node in order:
        disk = ", with its empty disk" if node in emptied else ""
        if node not in several:
            yield f"Start {brokers([node])}{disk}{'; wait until it runs' if node != order[-1] else ''}."
        wanted = [each for each in all_judged if each.wanted and each.wanted.leader == node]
        it = brokers([node]) if node in several else "it"
        yield from _by_hand(f"Elect {it} by hand, uncleanly, for", [each for each in wanted if each.by_hand])
        dropped = [each for each in wanted if each.partition.dropping and each.at_stake and not each.by_hand]
        unless = f"If {it} does not lead within a minute, it was dropped from the ISR:"
        yield from _by_hand(f"{unless} elect it by hand, uncleanly, for", dropped)


def _of_given_up(all_judged: Sequence[Judged], order: Sequence[int]) -> Iterator[str]:
    """The sentence on partitions for which another order would be better."""
    found = given_up(all_judged, order)
    if not found:
        return
    more = sum(first.lost for each in found if (first := first_leader(each, order)))
    least = sum(each.wanted.lost for each in found if each.wanted)
    names = [f"{each.partition.place} (broker {each.wanted.leader})" for each in found[:NAMED] if each.wanted]
    rest = f" and {len(found) - NAMED:,} more" if len(found) > NAMED else ""
    yield (
        f"No order of starts is the best for all partitions: the one here loses {count(more, 'record')} of"
        f" {share(len(found), len(all_judged))}, where {f'{least:,}' if least else 'none'} would be lost if"
        f" another broker led first: {', '.join(names)}{rest}."
    )


def _by_hand(what: str, judged: Sequence[Judged]) -> Iterator[str]:
    """The step of electing a broker by hand for partitions, with the commands."""
    if judged:
        names = ", ".join(str(each.partition.place) for each in judged[:5])
        more = f" and {len(judged) - 5:,} more" if len(judged) > 5 else ""
        yield f"{what} {names}{more}:"
        yield from (f"  {command(each.partition)}" for each in judged[:5])


def command(partition: PartitionFiles) -> str:
    """The shell command that elects a replica that is not in sync."""
    topic, number = partition.place
    return (
        "kafka-leader-election.sh --bootstrap-server HOST:PORT --election-type unclean"
        f" --topic {topic} --partition {number}"
    )


def reasons(each: Judged) -> Iterator[str]:
    """The explanations of the rows of a partition's table."""
    partition, wanted = each.partition, each.wanted
    for replica in partition.replicas.values():
        yield from _about(replica, partition)
    if each.gone:
        noted = max(replica.high_watermark or 0 for replica in partition.replicas.values())
        yield (
            f"A broker had noted that all before offset {noted:,} is committed, and the longest copy ends at"
            f" {noted - each.gone:,}: {count(each.gone, 'record')} are in no copy here."
        )
    yield from map(untraced_words, each.untraced)
    for node in partition.not_whole:
        yield f"The log of broker {node} is not whole; what is wrong with it is at the end of this report."
    yield from about_unsettled(partition)
    yield from _about_leaving(partition)
    yield from _about_dropping(partition)
    yield from _about_struck(partition)
    yield from _about_missing(partition)
    if wanted is None:
        yield "No copy of this partition is here."
        return
    if wanted.lost:
        yield _with_leader(wanted, partition)
    if each.by_hand:
        yield from _about_rivals(each, wanted)
    yield from _later(wanted, partition)


def _about_rivals(each: Judged, wanted: Aftermath) -> Iterator[str]:
    """Who must not run before the wanted leader is elected by hand, in sentences."""
    leads = f"before {brokers([wanted.leader])} leads"
    told: set[int] = set()
    if each.by_themselves:
        rival = each.by_themselves[0].leader
        awaited = each.partition.awaited[0] if rival == each.last_leader else (rival,)
        told |= {rival} if awaited == (rival,) else set()
        when = "" if told else f" when {brokers(awaited)} run"
        who = "it must not start" if told else "these must not all run"
        name = brokers([rival]).capitalize()
        yield f"{name} would be elected automatically{when} and has fewer records: {who} {leads}."
    rivals = [node for node in each.rivals if node not in told]
    if rivals and each.partition.state is not None:
        line = ", ".join(map(str, each.partition.state.replicas))
        none = f"none of {brokers(rivals)} may run" if len(rivals) > 1 else f"{brokers(rivals)} must not run"
        yield f"An election by hand takes the first of {line} that runs: {none} {leads}."


def _about(replica: ReplicaLog, partition: PartitionFiles) -> Iterator[str]:
    """The anomalies of a replica, in sentences."""
    name = brokers([replica.node]).capitalize()
    in_line = replica.node in partition.electable
    if replica.lost:
        yield f"{name}'s disk is lost, and with it what no other broker had: it comes back with an empty log."
        if partition.may_forget_eligible and partition.electable:
            last = partition.last_known_leader
            leads = "" if last is None else f", and {brokers([last])}, the last known leader, leads"
            yield (
                f"Up to Kafka 4.2 no replica is eligible any more once {brokers([replica.node])} has reported"
                f" its new directory{leads}: let another one lead before it starts."
            )
    elif replica.absent:
        yield f"{name} is here, but has no folder of this partition: if it leads, it leads with an empty log."
    elif replica.lost_its_end:
        also = " The metadata has it in sync, and does not know of this." if in_line else ""
        yield (
            f"{name}'s log ends at {replica.log.end:,}, though it had noted that all before"
            f" {_noted(replica)}: it has lost its end, as after a power failure.{also}"
        )
    elif replica.is_short:
        yield (
            f"{name}'s log ends within a batch, as after a power failure: it drops all from offset"
            f" {replica.log.end:,} on when it starts."
        )
    if replica.log.old_end > replica.log.start:
        yield f"{name} has records of an old format, without leader epochs: it is cut by its high watermark."


def _noted(replica: ReplicaLog) -> str:
    """The offset up to which a broker had noted more than its log has, and what it had noted."""
    if replica.high_watermark is not None and replica.high_watermark > replica.log.end:
        return f"{replica.high_watermark:,} is committed"
    return f"{replica.log.noted_end:,} was in it"


def _about_struck(partition: PartitionFiles) -> Iterator[str]:
    """The replicas that lost eligibility, and who leads instead, in sentences."""
    if not partition.struck:
        return
    killed = [node for node in partition.struck if not partition.replicas[node].lost_proof]
    unproven = [node for node in partition.struck if node not in killed]
    for nodes, was in (
        (killed, ("was not", "were not")),
        (unproven, ("has no proof that it was", "have no proof that they were")),
    ):
        if nodes:
            is_, registers = (was[0], "it registers") if len(nodes) == 1 else (was[1], "they register")
            name = brokers(nodes).capitalize()
            yield f"{name} {is_} shut down cleanly: eligible no more when {registers}."
    struck = brokers(partition.struck)
    registered = "has registered" if len(partition.struck) == 1 else "have registered"
    if partition.last_known_leader is not None and not partition.electable:
        leader = brokers([partition.last_known_leader]).capitalize()
        leads = "leads" if partition.fenced_last is None else "is expected to lead"
        yield f"{leader} {leads}, uncleanly as the last known leader, when {struck} {registered}."
        if others := partition.may_be_last:
            names = brokers(others).capitalize() if len(others) == 1 else f"One of {brokers(others)}"
            yield (
                f"{names} may lead instead where brokers start at once with the controllers: who registers as"
                " soon as its old session is over leaves the ISR before its turn."
            )


def about_unsettled(partition: PartitionFiles) -> Iterator[str]:
    """What may not be committed of the metadata that decides who may lead, in a sentence."""
    if partition.unsettled is None:
        return
    before = "the partition did not exist"
    if partition.before is not None:
        isr, elr = listed(partition.before.isr), partition.before.elr
        before = f"{isr} {'was' if len(partition.before.isr) < 2 else 'were'} in sync"
        before += f", and {listed(elr)} eligible" if elr else ""
    yield (
        f"Who may lead is not settled: what the metadata has from offset {partition.unsettled:,} on is not on"
        f" a majority of the controllers, and counts only if one that has it leads them. Before it {before}."
    )


def _about_leaving(partition: PartitionFiles) -> Iterator[str]:
    """The replicas that a reassignment takes away, in a sentence."""
    if not partition.leaving or partition.state is None:
        return
    nodes = partition.leaving
    leaves, it, deletes = ("leaves", "it", "deletes") if len(nodes) == 1 else ("leave", "they", "delete")
    stay = [node for node in partition.state.replicas if node not in nodes]
    are = "is" if len(stay) == 1 else "are"
    yield (
        f"A reassignment is under way: {brokers(nodes)} {leaves} the partition as soon as {brokers(stay)}"
        f" {are} in sync, and {deletes} the log, with what no other broker has; {it} may leave without being"
        " cut back."
    )


def _about_dropping(partition: PartitionFiles) -> Iterator[str]:
    """Who stays in the ISR where controllers start anew, in sentences."""
    if partition.dropping and partition.staying is not None:
        dropped = "members of the ISR" if partition.eligible_count else "all members of the ISR but one"
        are = "is" if len(partition.staying) == 1 else "are"
        stays = (
            f"{brokers(partition.staying)} {are} expected to stay where they run alone until then, and any"
            " may where brokers start with them"
            if partition.staying
            else "who stays is in no file"
        )
        yield (f"Controllers that start anew drop {dropped} before any broker can register: {stays}.")


def _about_missing(partition: PartitionFiles) -> Iterator[str]:
    """What the missing replicas alone may have, in sentences."""
    leaders = partition.missing_leaders
    others = [node for node in partition.missing if node not in leaders]
    if leaders:
        here = max((replica.log.end for replica in partition.replicas.values()), default=0)
        in_sync = [node for node in leaders if partition.state and node in partition.state.isr]
        how = "in sync" if len(in_sync) == len(leaders) else "in sync or eligible" if in_sync else "eligible"
        first = (
            "Started first, it leads if it was shut down cleanly; else it is struck when it registers."
            if partition.eligible_count
            else f"Started first, it {'may lead' if partition.dropping else 'leads'}, with more or with less"
            " than these."
        )
        yield (
            f"{brokers(leaders).capitalize()}, {how}, not here: what it may have from offset {here:,} on"
            f" comes back only with its log. {first}"
        )
    if others:
        name = brokers(others).capitalize()
        yield f"{name}, not in sync, not here: it may have records that no other broker has."


def _with_leader(wanted: Aftermath, partition: PartitionFiles) -> str:
    """The records lost with the best leader, and whether they may have been acknowledged."""
    ends = {node: replica.log.end for node, replica in partition.replicas.items()}
    cuts = ", ".join(f"{node} from {ends[node]:,} to {to:,}" for node, to in sorted(wanted.cuts.items()))
    leader = partition.replicas[wanted.leader]
    if wanted.committed:
        promised = f"{wanted.committed:,} of these records were committed"
    elif wanted.doubtful:
        promised = "they may have been acknowledged with acks=all"
    else:
        name = brokers([wanted.leader])
        unless = "" if leader.clean else f" (unless {name} has lost power, and its log's end with it)"
        promised = f"with acks=all none of them was acknowledged{unless}, with acks=1 they may have been"
    return f"With {brokers([wanted.leader])} as leader, brokers are cut back ({cuts or 'none'}); {promised}."


def _later(wanted: Aftermath, partition: PartitionFiles) -> Iterator[str]:
    """The records that only one broker has until others replicate them."""
    if partition.state is None or len(partition.state.replicas) < 2:
        return
    others = [
        wanted.cuts.get(node, replica.log.end)
        for node, replica in partition.replicas.items()
        if node != wanted.leader
    ]
    reached = max((*others, partition.replicas[wanted.leader].log.start))
    if reached < wanted.end:
        yield (
            f"Until others have fetched them, the records from {reached:,} to {wanted.end - 1:,} are on"
            f" {brokers([wanted.leader])} alone: losing its disk then loses them."
        )


def basis(gathered: ClusterFiles) -> Iterator[str]:
    """What the answer is based on, and what is unknown."""
    metadata = gathered.metadata
    if metadata is None:
        yield (
            "No metadata log is here (a cluster with ZooKeeper has none): the logs are compared, and who may"
            " lead is not known. ZooKeeper has the ISR: get /brokers/topics/TOPIC/partitions/N/state."
        )
        return
    yield (
        f"Who may lead is from node {gathered.metadata_of}'s metadata log, up to offset {metadata.end:,},"
        f" epoch {metadata.epoch}."
    )
    if not gathered.has_controller:
        which = f" ({listed(sorted(gathered.controllers))})" if gathered.controllers else ""
        yield f"No controller's directory is here{which}, and it may know of a later ISR: give it too."
    yield from doubts(gathered)
    yield from _without_marks(gathered)
    if gathered.controllers & {*gathered.brokers} and len(gathered.controllers) > 1:
        yield (
            "Brokers are controllers as well: none runs before a majority of the controllers does, and which"
            " of those that start at once leads first is not known."
        )
    given = {each.node for each in gathered.directories}
    away = {node for each in gathered.partitions for node in each.missing}
    for node in sorted(away & given):
        for directory in gathered.directories_missing(node):
            yield (
                f"Not here: log directory {uuid_text(directory)} of broker {node} (--lost"
                f" {node}:{uuid_text(directory)} where the disk is gone for good)."
            )
    missing = sorted(away - given)
    if missing:
        said = " ".join(f"--lost {node}" for node in missing)
        yield f"Not here: {brokers(missing)} ({said} where the disk is gone for good)."
    if any(way(each, node) is Succession.BY_HAND for each in gathered.partitions for node in each.replicas):
        yield (
            "`by hand` means that the metadata does not enable unclean elections; if the controllers' own"
            " configuration has unclean.leader.election.enable=true, the election is automatic."
        )
    fences = fences_first(metadata.image)
    if any(each.dropping if fences else len(each.in_line) > 1 for each in gathered.partitions):
        yield _about_sessions(metadata.image)


def _without_marks(gathered: ClusterFiles) -> Iterator[str]:
    """The brokers of which no high watermark is here, in a sentence."""
    having = {each.node for each in gathered.directories if each.read.partitions}
    nodes = sorted(having - {each.node for each in gathered.directories if each.read.high_watermarks})
    if nodes:
        yield (
            f"No high watermark of {brokers(nodes)} is here (replication-offset-checkpoint): that a log lacks"
            " records which its broker had noted as committed would not be seen."
        )


def doubts(gathered: ClusterFiles) -> Iterator[str]:
    """What may be otherwise than the metadata here has it, in sentences."""
    if gathered.metadata is None:
        return
    if gathered.has_controller and not gathered.has_majority:
        voters, here = sorted(gathered.voters), {each.node for each in gathered.directories}
        others = [node for node in voters if node not in here]
        yield (
            f"Of the controllers {listed(voters)} no majority is here: {listed(others)} may know of a later"
            " ISR, and may drop the end of this metadata, so that an earlier one counts: give these too."
        )
    image = gathered.metadata.image
    yield from _about_levels(image)
    if image.unknown:
        kinds = ", ".join(
            f"{number} of kind {kind} version {version}"
            for (kind, version), number in sorted(image.unknown.items())
        )
        yield f"Records of the metadata that are not known, and were left out: {kinds}."


def _about_levels(image: MetadataImage) -> Iterator[str]:
    """The features with a level that is not known here, in sentences."""
    for name, level, known in unknown_levels(image):
        yield (
            f"{name} is {level}, and only levels up to {known} are known here: newer brokers and controllers"
            " may behave in other ways than these sentences have it."
        )


def _about_sessions(image: MetadataImage) -> str:
    """What controllers do to the ISR before and when the first broker is up, and how soon."""
    if fences_first(image):
        return (
            "Controllers that start anew fence every broker when its session ends, after"
            " broker.session.timeout.ms (9 s by default), and no broker can register before: no start is soon"
            " enough to keep all of the ISR."
        )
    return (
        "Up to Kafka 3.9 controllers that start anew keep the broker in the ISR that registers first, however"
        " late; from 4.0 on, and where they kept running, they drop all but one when the sessions end, after"
        " broker.session.timeout.ms (9 s by default)."
    )
