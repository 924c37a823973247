"""What is lost already and what can still be lost, in the words and numbers of both commands."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from counterexamples.lines import count
from modelcheck.kafka.incident.at_rest.start_order import Judged
from modelcheck.kafka.incident.at_rest.untraced import Cause, Untraced

NAMED = 3  # partitions that a sentence names


def share(some: int, of: int) -> str:
    """A number of partitions out of all, in words."""
    return f"{some:,} of {count(of, 'partition')}"


def lost_already(records: int, of: str, why: str) -> str:
    """The sentence on records that are gone; `of` is empty or begins with a blank."""
    return f"{count(records, 'record')}{of} {'is' if records == 1 else 'are'} lost already: {why}."


def past(all_judged: Sequence[Judged]) -> Iterator[str]:
    """What is lost already by what the directories show, in sentences; none where they show nothing."""
    gone = [each for each in all_judged if each.gone]
    if gone:
        why = "a broker had noted that they are committed, and no copy here has them"
        yield lost_already(sum(each.gone for each in gone), _of(gone, all_judged), why)
    yield from untraced_loss(all_judged)


def untraced_loss(all_judged: Sequence[Judged]) -> Iterator[str]:
    """The sentence on records of which no file remains, if any may be lost."""
    found = [each for each in all_judged if each.untraced]
    if not found:
        return
    names = [f"{each.partition.place} from offset {_since(each):,} on" for each in found[:NAMED]]
    more = f" and {len(found) - NAMED:,} more" if len(found) > NAMED else ""
    yield (
        f"An unknown number of records{_of(found, all_judged)} may be lost already, without a trace in any"
        f" file here: {', '.join(names)}{more}."
    )


def to_come(all_judged: Sequence[Judged]) -> Iterator[str]:
    """What an election will or can still lose, in sentences."""
    sure = [each for each in all_judged if each.wanted is not None and each.wanted.lost]
    atstake = [each for each in all_judged if each.at_stake]
    if sure:
        least = sum(each.wanted.lost for each in sure if each.wanted)
        committed = sum(each.wanted.committed for each in sure if each.wanted)
        noted = f"{committed:,} of them" if committed else "none of them"
        yield (
            f"{count(least, 'record')}{_of(sure, all_judged)} will be lost whoever leads, {noted} known to be"
            " committed."
        )
    if atstake:
        most = sum(each.at_stake for each in atstake)
        more = " more" if sure else ""
        yield (
            f"Up to {most:,}{more} {'record' if most == 1 else 'records'}{_of(atstake, all_judged)} can still"
            " be lost: it depends on who leads first."
        )
    outsiders = [each for each in all_judged if each.partition.outsiders]
    if outsiders:
        yield _on_outsiders(outsiders, all_judged)
    if not sure and not atstake:
        rest = f", but {unsure}" if (unsure := _unsure(all_judged)) else ""
        nothing = "Nothing else" if outsiders else "Nothing"
        yield f"{nothing} that is here can still be lost, whoever starts first{rest}."


def _unsure(all_judged: Sequence[Judged]) -> str | None:
    """Why it is not sure that nothing can be lost, in a phrase."""
    partitions = [each.partition for each in all_judged]
    if any(each.state is None or each.missing for each in partitions):
        return "not all is here"
    if any(each.unsettled is not None for each in partitions):
        return "it is not settled who may lead"
    return "not all of it is whole" if any(each.not_whole for each in partitions) else None


def _on_outsiders(found: Sequence[Judged], all_judged: Sequence[Judged]) -> str:
    """The sentence on records that only brokers have which are no replicas any more."""
    pairs = [(each.partition.place, *pair) for each in found for pair in each.partition.outsiders]
    records = sum(many for _, _, many in pairs)
    names = [f"{place} (broker {node}: {many:,})" for place, node, many in pairs[:NAMED]]
    more = f" and {len(pairs) - NAMED:,} more" if len(pairs) > NAMED else ""
    are = "is" if records == 1 else "are"
    return (
        f"{count(records, 'record')}{_of(found, all_judged)} {are} only on brokers that are no replicas any"
        f" more: {', '.join(names)}{more}. Copy these folders first: a broker that starts deletes such a"
        " folder (up to Kafka 3.6) or sets it aside."
    )


def untraced_words(found: Untraced) -> str:
    """Why an unknown number of records may be gone, in a sentence."""
    if found.cause is Cause.UNCLEAN:
        return (
            f"Epoch {found.number} began with an unclean election: it dropped an unknown number of records,"
            f" perhaps none, from offset {found.since:,} on (`modelcheck kafka explain-log` finds them where"
            " logs show them)."
        )
    if found.cause is Cause.DEPOSED:
        return (
            f"With acks=1 broker {found.number}, before it was deposed, may have acknowledged records from"
            f" offset {found.since:,} on that no other one had fetched: it cut them off when it followed its"
            " successor, and no directory shows that."
        )
    acks = "with acks=1 or acks=all" if found.all_acks else "with acks=1"
    if found.epoch is not None:
        end = "its log" if found.cause is Cause.END else "another log of it, so perhaps this one too,"
        return (
            f"Broker {found.number} may have led last, in epoch {found.epoch}, which it began without records"
            f" that others have, and {end} has lost its end: an unknown number of records of that epoch, from"
            f" offset {found.since:,} on, may have been acknowledged {acks}, and no file has them."
        )
    if found.cause is Cause.BESIDE:
        return (
            f"Broker {found.number} may have led last, and another log of it has lost its end, as after a"
            " power failure: so may this one have, and records from offset"
            f" {found.since:,} on, which no file has, may have been acknowledged {acks}."
        )
    return (
        f"Broker {found.number} may have led last, and its log lacks its end: an unknown number of records"
        f" after all that is here, from offset {found.since:,} on, may have been acknowledged {acks}, and no"
        " file has them."
    )


def _of(some: Sequence[Judged], all_judged: Sequence[Judged]) -> str:
    """Of how many partitions something is, where there are several."""
    return f" of {share(len(some), len(all_judged))}" if len(all_judged) > 1 else ""


def _since(each: Judged) -> int:
    """The first offset of what may be lost of a partition without a trace."""
    return min(found.since for found in each.untraced)
