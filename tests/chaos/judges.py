"""Whether what was foretold of a round is what the cluster did, and what was reconstructed what befell it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from modelcheck.contract.result import End
from tests.chaos.plan import Producer

Json = Mapping[str, Any]
FOR_GOOD = "acknowledged_kept"  # explain-log's name for: acknowledged, and in nobody's log
SEARCHED = End.COMPLETE.value  # no run explains them; else nobody knows
NOT_BY_ITSELF = {"by-hand", "unknown"}


class Judge(StrEnum):
    """What is judged."""

    LEADER = "leader"  # `inspect`: who leads first, and whether by itself
    AFTERMATH = "aftermath"  # `inspect`, given who leads first: log end, records lost, who is cut back
    STEPS = "steps"  # `explain-log`: what the metadata log says of the partition is a trace of the model
    EXPLAINED = "explained"  # `explain-log`: some run of the model explains the directories
    LOSS = "loss"  # `explain-log`: the acknowledged records that are in no copy
    EXPLAINED_LOGS = "explained with logs"
    LOSS_LOGS = "loss with logs"
    REVIEW = "review"  # `review`: no loss with fewer faults than it says
    READ = (
        "read"  # `review`: what a consumer has read is committed, and not lost with fewer faults than it says
    )
    COMMITTED = "read committed"  # a consumer with read_committed: no record of an aborted transaction
    ONCE = "once"  # an idempotent producer: no record twice in a log


class Verdict(StrEnum):
    """What a judge finds; an answer that is not known is none, and is not wrong."""

    RIGHT = "right"
    WRONG = "wrong"
    UNKNOWN = "not known"


@dataclass(frozen=True)
class Judgement:
    """What a judge finds of an answer about a topic; `reason` says why it is not right."""

    topic: str
    judge: Judge
    verdict: Verdict
    reason: str = ""

    def told(self) -> dict[str, str]:
        """As JSON data."""
        return {
            "topic": self.topic,
            "judge": str(self.judge),
            "verdict": str(self.verdict),
            "reason": self.reason,
        }


def judged(topic: str, judge: Judge, wrong: Sequence[str]) -> Judgement:
    """The judgement that finds this wrong."""
    return Judgement(topic, judge, Verdict.WRONG if wrong else Verdict.RIGHT, "; ".join(wrong))


# ------------------------------------------------------------------ what is true


@dataclass(frozen=True)
class Truth:
    """What is true of a topic when no node runs: who was told what, and who has what."""

    acks: str
    acknowledged: Mapping[str, int | None]  # offset of each, where the broker named it
    copies: Mapping[int, Mapping[str, int]]  # values of each broker's copy, with their offsets
    read: frozenset[str] = frozenset()  # values that a consumer has read
    producer: Producer = Producer.PLAIN
    aborted: frozenset[str] = frozenset()  # values of transactions whose abort was answered
    read_committed: frozenset[str] = frozenset()  # values that a consumer with read_committed has read
    twice: tuple[str, ...] = ()  # values that are twice in some copy

    @property
    def kept(self) -> set[str]:
        """The values that some copy has."""
        return {value for copy in self.copies.values() for value in copy}

    @property
    def gone(self) -> dict[str, int | None]:
        """The acknowledged values that no copy has."""
        kept = self.kept
        return {value: at for value, at in self.acknowledged.items() if value not in kept}


def truth(found: Json, topic: str) -> Truth:
    """What `truth.json` has of a topic."""
    plan = next(each for each in found["plan"]["topics"] if each["name"] == topic)
    acks, of = plan["acks"], found["topics"][topic]
    acknowledged = {
        text: None if each["offset"] is None else each["offset"] + number
        for each in of["sent"]
        if each["acknowledged"] and acks != "0"  # with 0 nobody is told anything
        for number, text in enumerate(each["texts"])
    }
    copies = {int(node): {value: offset for offset, value in copy} for node, copy in of["copies"].items()}
    return Truth(
        acks,
        acknowledged,
        copies,
        frozenset(of.get("read", ())),
        Producer(plan["producer"]),
        frozenset(
            text for each in of["sent"] if each.get("transaction") == "abort" for text in each["texts"]
        ),
        frozenset(of.get("read_committed", ())),
        tuple(
            value
            for copy in of["copies"].values()
            for value, times in Counter(value for _, value in copy).items()
            if times > 1
        ),
    )


# ------------------------------------------------------------------ what producers and consumers are promised


def promised(topic: str, found: Truth) -> Iterator[Judgement]:
    """Whether idempotence and transactions kept their promises."""
    if found.producer is Producer.TRANSACTIONAL:
        seen = sorted(found.aborted & found.read_committed)
        wrong = [f"{each} was read, of a transaction that was aborted" for each in seen]
        yield judged(topic, Judge.COMMITTED, wrong)
    if found.producer is not Producer.PLAIN:
        yield judged(topic, Judge.ONCE, [f"{each} is twice in a log" for each in found.twice])


# ------------------------------------------------------------------ what `inspect` foretold


def inspected(topic: str, found: Truth, foretold: Json, seen: Json) -> Iterator[Judgement]:
    """Who leads first, and what comes of it."""
    said = next((each for each in foretold["partitions"] if each["topic"] == topic), None)
    if said is None:
        yield judged(topic, Judge.LEADER, ["inspect does not name the partition"])
        return
    rows = {each["leader"]: each for each in said["outcomes"]}
    first = next((leader for up, leader, *_ in seen["trail"][topic] if leader in up), None)
    wrong = list(_wrong_leader(topic, said, rows, seen, first))
    is_open = bool(wrong) and first in said["last_leader_may_be"] and topic not in seen["by_hand"]
    is_given_up = f"{topic}-0" in foretold.get("given_up", ())
    bad = list(() if is_given_up else _wrong_advice(said, rows, seen, first, foretold["start"]))
    if is_open and not bad:
        yield Judgement(topic, Judge.LEADER, Verdict.UNKNOWN, f"{first} leads, as was said to be possible")
    else:
        yield judged(topic, Judge.LEADER, [*wrong, *bad])
    if first not in rows:
        yield Judgement(topic, Judge.AFTERMATH, Verdict.UNKNOWN, f"nothing was foretold of a leader {first}")
    elif seen["values"][topic] is None:
        yield Judgement(topic, Judge.AFTERMATH, Verdict.UNKNOWN, "nobody could read the partition")
    else:
        yield judged(
            topic, Judge.AFTERMATH, list(_wrong_aftermath(topic, found, rows[first], seen, said["leaving"]))
        )


def _wrong_leader(
    topic: str, said: Json, rows: Mapping[int, Json], seen: Json, first: int | None
) -> Iterator[str]:
    """What is wrong about who leads first."""
    starters = [node for node in seen["first"] if node in rows] or [
        *[node for node in seen["order"] if node in rows][:1]
    ]
    starter = _expected(starters, rows)
    way = "unknown" if starter is None else rows[starter]["how"]
    by_hand = topic in seen["by_hand"]
    staying = said.get("controllers_first")  # the ISR, where controllers ran for long before the first broker
    may_wait = staying is not None and starter not in staying
    awaited = said["last_leader_awaits"] if way == "last-known" else None
    may_wait = may_wait or (by_hand and bool({*(awaited or ())} - {*starters}))
    if way not in NOT_BY_ITSELF and first not in starters and not may_wait:
        yield f"{starter}, started first, should lead by itself ({way}), but the first leader is {first}"
    elif first is None:
        yield "nobody ever led"
    elif first not in rows:
        yield f"{first} leads, of which nothing was foretold"
    elif first in starters and len(starters) > 1 and way not in NOT_BY_ITSELF:
        return  # which of several that were started at once leads is said not to be known
    elif rows[first]["how"] in NOT_BY_ITSELF and not by_hand:
        yield f"{first} leads by itself, foretold {rows[first]['how']}"
    elif rows[first]["how"] not in NOT_BY_ITSELF and by_hand and not may_wait:
        yield f"{first} leads only by hand, foretold {rows[first]['how']}"


def _expected(starters: Sequence[int], rows: Mapping[int, Json]) -> int | None:
    """Who of the brokers that were started at once should lead first: one that does so by itself, if any."""
    able = [node for node in starters if rows[node]["how"] not in NOT_BY_ITSELF]
    return next(iter([*able, *starters]), None)


def _wrong_advice(
    said: Json, rows: Mapping[int, Json], seen: Json, first: int | None, advised: Sequence[int]
) -> Iterator[str]:
    """What is wrong about the order that is advised, if it was followed.

    Who leads first of brokers that have to be started at once is said not to be known.
    """
    if len(seen["first"]) > 1 and first in seen["first"]:
        return
    is_followed = seen["by_advice"] and seen["order"][: len(advised)] == list(advised)
    if is_followed and first is not None and first in rows and said["wanted"] not in {first, None}:
        wanted, got = (_badness(rows[each]) for each in (int(said["wanted"]), first))
        if wanted < got:
            yield f"the advice was for {said['wanted']} to lead, and {first} leads with more lost"


def _badness(outcome: Json) -> tuple[int, int, int]:
    """How bad an outcome is."""
    return outcome["committed"], outcome["maybe_acknowledged"], outcome["lost"]


def _wrong_aftermath(
    topic: str, found: Truth, row: Json, seen: Json, leaving: Sequence[int]
) -> Iterator[str]:
    """What is wrong about what comes of a leader; a replica that is `leaving` may not be cut back."""
    values = set(seen["values"][topic])
    if len(seen["values"][topic]) != row["end"]:
        yield f"{len(seen['values'][topic])} records are read, foretold an end of {row['end']}"
    lost, is_retried = len(found.kept - values), found.producer is not Producer.PLAIN
    if lost > row["lost"] or (lost < row["lost"] and not is_retried):  # written again in another epoch
        yield f"{lost} records are lost, foretold {row['lost']}"
    cut = seen["cut_back"][topic]
    left = {str(node) for node in leaving if str(node) not in cut}
    if cut != {node: to for node, to in row["cut_back"].items() if node not in left}:
        yield f"cut back {cut}, foretold {row['cut_back']}"
    promised = sum(value in found.kept and value not in values for value in found.acknowledged)
    foretold = row["committed"] + row["maybe_acknowledged"]
    if found.acks == "all" and promised > foretold:
        yield f"{promised} acknowledged records are lost, foretold at most {foretold}"


# ------------------------------------------------------------------ what `explain-log` reconstructed


def validated(topic: str, answer: Json) -> Judgement:
    """Whether the metadata log alone is a trace of the model; else the first record that is no step of it.

    The reason names the steps that the model has there instead, and the guards that refuse them.
    """
    if "partitions" not in answer:
        return judged(topic, Judge.STEPS, [f"no answer: {answer.get('problem', '')}"])
    said = answer["partitions"][0]
    if said["explained"] is not None:
        return judged(topic, Judge.STEPS, [])
    place = said["unexplained"]
    if said["end"] != SEARCHED or place is None:
        return Judgement(topic, Judge.STEPS, Verdict.UNKNOWN, said["end"])
    nearest = place["nearest"] or ["no step of the model comes near"]
    return judged(topic, Judge.STEPS, ["; ".join([f"{place['place']}: {place['says']}", *nearest])])


def explained(topic: str, found: Truth, answer: Json, *, with_logs: bool) -> Iterator[Judgement]:
    """Whether a run explains the directories, and whether it loses what was lost."""
    is_explained = Judge.EXPLAINED_LOGS if with_logs else Judge.EXPLAINED
    is_right = Judge.LOSS_LOGS if with_logs else Judge.LOSS
    if "partitions" not in answer:
        yield judged(topic, is_explained, [f"no answer: {answer.get('problem', '')}"])
        return
    said = answer["partitions"][0]
    if said["explained"] is None:
        place = said["unexplained"] or {"place": "", "says": said["answer"]}
        verdict = Verdict.WRONG if said["end"] == SEARCHED else Verdict.UNKNOWN
        reason = f"{said['end']}: {place['place']} {place['says']}"
        yield Judgement(topic, is_explained, verdict, reason)
        return
    yield judged(topic, is_explained, [])
    if found.acks == "0":  # nobody is told anything
        return
    gone = set(found.gone.values())
    lost = {
        offset
        for loss in said["explained"]["lost"]
        if loss["property"] == FOR_GOOD
        for span in loss["offsets"]
        for offset in range(span["start"], span["end"])
    }
    if found.producer is Producer.TRANSACTIONAL:  # no offset of a record: there a transaction ended
        lost &= {at for at in found.acknowledged.values() if at is not None}
    verdict, reason = _loss(gone, lost, said.get("unknown_from"))
    yield Judgement(topic, is_right, verdict, reason)


def _loss(gone: set[int | None], lost: set[int], since: int | None) -> tuple[Verdict, str]:
    """Whether just the acknowledged records that are in no copy are told, and what is not right.

    Where the answer says that an unknown number is lost from an offset on, those from there on are not known.
    """
    untold = gone - lost
    if not untold and not lost - gone:
        return Verdict.RIGHT, ""
    what = f"{_offsets(gone)} in no copy, told {_offsets(lost)}"
    if lost <= gone and since is not None and all(at is not None and at >= since for at in untold):
        return Verdict.UNKNOWN, f"{what}, and an unknown number from {since} on"
    how = "missed" if not lost else "false alarm" if not gone else "partly"
    return Verdict.WRONG, f"{how}: {what}"


def _offsets(found: set[int | None] | set[int]) -> str:
    """Offsets in words, those in a row as the first and the last."""
    known = sorted(at for at in found if at is not None)
    rows: list[list[int]] = []
    for at in known:
        if rows and rows[-1][-1] == at - 1:
            rows[-1].append(at)
        else:
            rows.append([at])
    words = [str(row[0]) if len(row) == 1 else f"{row[0]} to {row[-1]}" for row in rows]
    return ", ".join([*words, *(["some"] if None in found else [])]) or "none"
