"""What partitions that are not well can lose from their state: in text, and in plain values."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from counterexamples.lines import Line, Piece, Role, line, wrapped
from modelcheck.kafka.questions.answers import Answer, find_answer
from modelcheck.kafka.questions.partition import MOST_BROKERS
from modelcheck.kafka.questions.question import ANY
from modelcheck.kafka.questions.today.findings import StateFindings, Today, Way, WayOut
from modelcheck.kafka.report.fault_table import NAMES, table
from modelcheck.kafka.report.run_text import outcome, sentences_json, story
from modelcheck.kafka.report.wording import answer_json, cell, mark, sentence
from modelcheck.kafka.settings.resolution.partition_states import PartitionState

FURTHER = "further fault"
TITLE = "How many further faults of each kind are survived from this state"
FIRST = "What to do first"
IF_KEPT = "if no offline replica has lost what it had"
HEALTHY = "When all replicas are in sync"
_SHOWN = 8  # partitions in a list


def lines(found: Today, rows: dict[str, str], width: int) -> Iterator[Line]:
    """The report on each state: verdicts, table, first steps and the first run.

    `rows` are the kinds of faults with their descriptions.
    """
    for each in found.states:
        yield from wrapped((), heading(each.state), width, Role.STRONG)
        yield from _verdicts(each, width)
        yield ()
        yield from table(TITLE, rows, each.answer, width, indent="  ")
        yield from first_steps(each, width)
        yield from assumptions(each, width)
        yield ()
        yield from run(each, width)
    for state in found.unasked:
        yield from wrapped((), heading(state), width, Role.STRONG)
        yield from wrapped(line("  "), no_room(state), width, Role.UNSURE)
        yield ()


def no_room(state: PartitionState) -> str:
    """Why a state is not reviewed."""
    many = len(state.replicas)
    return f"The model has room for {MOST_BROKERS} replicas, not for {many}: this state is not reviewed."


def heading(state: PartitionState) -> str:
    """The state in words: "Today, partition 0 of a: no leader, in sync 1, of replicas 1, 2, 3 · file:2"."""
    leader = "no leader" if state.leader is None else f"leader {state.leader}"
    parts = [leader, f"in sync {_ids(state.isr)}"]
    if state.partition.elr is not None:
        parts.append(f"eligible {_ids(state.elr)}")
    if state.last_leader is not None:
        parts.append(f"led last by {state.last_leader}")
    numbers = [str(number) for number in state.numbers]
    shown = ", ".join(numbers[:_SHOWN])
    more = f" and {len(numbers) - _SHOWN} more" if len(numbers) > _SHOWN else ""
    several = "s" if len(numbers) > 1 else ""
    like = f" ({numbers[0]}, and the others alike)" if several else ""
    what = f"partition{several} {shown}{more} of {state.topic}"
    replicas = ", ".join(map(str, state.replicas))
    return f"Today, {what}: {', '.join(parts)}, of replicas {replicas}{like} · {state.place}"


def short(state: PartitionState) -> str:
    """The state in a few words: "orders-0: leader 1, ISR 1 of 1,2,3"."""
    name = state.topic if len(state.topic) <= 40 else f"{state.topic[:39]}…"
    return f"{name}-{shortest(state)}"


def shortest(state: PartitionState) -> str:
    """The state without its topic: "0 (+3): leader 1, ISR 1 of 1,2,3", of partition 0 and three more."""
    more = f" (+{len(state.numbers) - 1})" if len(state.numbers) > 1 else ""
    leader = "no leader" if state.leader is None else f"leader {state.leader}"
    replicas = ",".join(map(str, state.replicas))
    return f"{state.numbers[0]}{more}: {leader}, ISR {_ids(state.isr)} of {replicas}"


def says(answer: Answer) -> str:
    """The answer about a partition that is not well, in one sentence."""
    guarantee, loss = answer.guarantee, answer.loss
    if guarantee.unattended and loss is not None:
        if not loss.steps:
            return "writes are refused now, until somebody repairs something"
        if loss.faults > 0 and answer.is_exact:
            return f"writes are taken now; {sentence(answer, FURTHER)}"
        return sentence(answer, FURTHER)
    if loss is not None and not loss.steps:
        return f"{guarantee.fails} already, in the worst case: {outcome(loss)}"
    return sentence(answer, FURTHER)


def _verdicts(found: StateFindings, width: int) -> Iterator[Line]:
    """A sentence for each guarantee, and another where it matters what offline replicas kept."""
    first = max(map(len, NAMES))
    for name in NAMES:
        answer = found.answer(name)
        if answer is None:
            continue
        sign, role = mark(answer)
        label = line("  ", Piece(f"{sign} ", role), Piece(f"{name:<{first}}  ", Role.STRONG))
        yield from wrapped(label, says(answer), width, role if name == NAMES[0] else Role.PLAIN)
        if (other := better(found, name)) is not None:
            yield from wrapped(line(" " * (first + 6)), f"{IF_KEPT}: {says(other)}", width, Role.DIM)


def better(found: StateFindings, name: str) -> Answer | None:
    """The answer if offline replicas kept what they had, where it differs."""
    kept, worst = found.if_kept(name), found.answer(name)
    if kept is None or worst is None or (kept.survived, kept.lost_with) == (worst.survived, worst.lost_with):
        return None
    return kept


# ------------------------------------------------------------------ what to do, and what is assumed


def first_steps(found: StateFindings, width: int, *, titled: bool = True) -> Iterator[Line]:
    """What to do first, and what each way out brings."""
    if titled:
        yield line("  ", Piece(FIRST, Role.STRONG))
    yield from wrapped(line("    "), advice(found), width)
    for way in found.ways:
        brings = ", ".join(f"{name} {cell(_of(way, name))[0]}" for name in NAMES if _of(way, name))
        yield from wrapped(line("    • "), f"{way_words(way, found.state)}: {brings}", width, Role.DIM)


def advice(found: StateFindings) -> str:
    """What to do first, in sentences."""
    state = found.state
    back = (*state.elr, *state.outside)
    if state.leader is None:
        known = state.isr or state.elr or state.last_leader is not None
        warning = _unclean(found) if known else ""
        return " ".join(filter(None, (_who_starts(state), warning, _still_refused(found))))
    runs = [node for node in back if node in state.running]
    reason = f" ({_all(runs)} {_are(runs, 'runs', 'run')}: the reason is in the log there)" if runs else ""
    sentences = [f"Bring {_all(back, 'replica')} back into the ISR{reason}."]
    stops = found.answer("writable")
    if stops is not None and stops.lost_with == 1:
        sentences.append(f"Until then do not restart {_any(state.isr)}: that can stop writes.")
    risk = found.answer("durable")
    if risk is not None and risk.lost_with == 1:
        sentences.append("One further fault can lose acknowledged records, so do this before anything else.")
    return " ".join(sentences)


def _who_starts(state: PartitionState) -> str:
    """Which brokers to start where no replica leads."""
    if state.isr:
        return f"Start {_any(state.isr)} with its log: the controller elects it, since it is in the ISR."
    if state.elr:
        also = "if it was shut down cleanly, the controller elects it"
        return f"Start {_any(state.elr)} with its log: it is an eligible leader replica, and {also}."
    if state.last_leader is not None:
        return f"Start broker {state.last_leader}, which led last, with its log: the controller elects it."
    return (
        "No replica is known to have every record: compare the logs with `modelcheck kafka inspect` "
        "before one is elected by hand."
    )


def _unclean(found: StateFindings) -> str:
    """The warning of an unclean election, if it can lose records."""
    for way in found.ways:
        durable = _of(way, "durable")
        if way.way is WayOut.UNCLEAN and durable is not None and durable.lost_with == 0:
            return f"Do not elect {_any(way.brokers)} by hand before: that can lose acknowledged records."
    return ""


def _still_refused(found: StateFindings) -> str:
    """That writes are refused after the first way out, if they are."""
    state = found.state
    for way in found.ways:
        writable = _of(way, "writable")
        if way.way is not WayOut.UNCLEAN and writable is not None and writable.lost_with == 0:
            others = tuple(n for n in state.replicas if n not in state.isr)
            more = f"{_all(others, 'replica')}{', or enough of them,' if len(others) > 1 else ''}"
            return f"Writes are refused until {more} {_are(others)} in sync as well."
    return ""


def way_words(way: Way, state: PartitionState) -> str:
    """A way out in words, with its brokers."""
    match way.way:
        case WayOut.IN_SYNC_RETURN:
            return f"{_all(way.brokers)} {_are(way.brokers, 'starts', 'start')}, and no log is lost"
        case WayOut.ELIGIBLE_RETURN:
            return f"{_any(way.brokers)} starts and is elected, and no log is lost"
        case WayOut.ANOTHER_IN_SYNC:
            return f"in sync are {_ids(state.isr)} and one of {_ids(way.brokers)}"
        case WayOut.UNCLEAN:
            return f"{_any(way.brokers)} is elected uncleanly"


def _of(way: Way, name: str) -> Answer | None:
    """The answer about a guarantee after a way out."""
    return find_answer(way.answers, name)


def assumptions(found: StateFindings, width: int) -> Iterator[Line]:
    """What the answers take for granted where the file shows nothing, the worse case."""
    text = f"The state does not show everything, and the worse case is assumed: {'; '.join(assumed(found))}."
    yield from wrapped(line("    "), text, width, Role.DIM)


def assumed(found: StateFindings) -> list[str]:
    """What is assumed where the file does not show it."""
    state = found.state
    offline = [n for n in (*state.elr, *state.outside) if n not in state.running]
    texts = []
    shown = state.partition.leader
    if shown is not None and shown != state.leader:
        texts.append(f"no broker leads, since broker {shown} is none of the replicas")
    if state.leader is not None and state.leader not in state.partition.isr:
        texts.append(f"broker {state.leader} counts as in sync, since it leads")
    if state.leader is None and state.isr:
        texts.append(f"{_all(state.isr)} may have lost the disk, or what was not flushed")
    if state.outside:
        texts.append(f"{_all(state.outside, 'replica')} may lack records that were acknowledged")
    if lost := [node for node in state.elr if node not in state.running]:
        texts.append(f"{_all(lost)} may have lost the disk, or what was not flushed")
    if offline:
        start = f"{_are(offline)} down until somebody starts {_are(offline, 'it', 'them')}"
        texts.append(f"{_all(offline)}, in sync in no partition that is shown, {start}")
    if state.running:
        stuck = "" if state.leader is None else f", and {_are(state.running, 'does', 'do')} not catch up"
        runs = _are(state.running, "runs, since it is", "run, since they are")
        texts.append(f"{_all(state.running)} {runs} in sync in another partition{stuck}")
    if state.partition.elr is None and _has_room_for_eligible(found):
        texts.append("no replica is eligible, since the column Elr is not shown")
    return texts


def _has_room_for_eligible(found: StateFindings) -> bool:
    """Whether the cluster may have eligible leader replicas: the ISR is smaller than it has to be."""
    config = found.partition.config
    return bool(config["elr"]) and len(found.state.isr) < int(config["min_isr"])


def run(found: StateFindings, width: int) -> Iterator[Line]:
    """The first run that breaks a guarantee from this state, with what it begins with."""
    answer = first_loss_of(found)
    if answer is not None and answer.loss is not None and answer.loss.steps:
        title = f"The first loss from here, against `{answer.guarantee.name}`"
        if answer.guarantee.unattended:
            title = "How writes stop from here"
        yield from wrapped((), begins(answer), width, Role.DIM)
        yield from story(title, [answer.loss], width, least=answer.is_exact)
        yield ()


def first_loss_of(found: StateFindings) -> Answer | None:
    """The answer with the fewest further faults whose run has steps to show, the most important first."""
    shown = [found.answer(name) for name in NAMES]
    lost = [a for a in shown if a is not None and a.loss is not None and a.loss.steps]
    return min(lost, key=lambda each: (each.lost_with or 0, NAMES.index(each.guarantee.name)), default=None)


def begins(answer: Answer) -> str:
    """Which replicas have the record that was acknowledged, where a run from a state begins."""
    if answer.loss is None:
        return ""
    loss = answer.loss
    values = dict(zip((each.name for each in loss.model.variables), loss.states[0], strict=True))
    names = loss.scope.sorts["Broker"]
    if not values["sent"]:
        return "From the state that is shown:"
    have = [name for name, log in zip(names, values["Broker.log"], strict=True) if log]
    where = ", ".join(have) or "no replica"
    return f"From the state that is shown, with record 1 acknowledged and on {where}:"


# ------------------------------------------------------------------ plain values


def as_json(found: Today | None, rows: Sequence[str]) -> dict[str, object] | None:
    """The findings as JSON data; None where every partition that is shown is well."""
    if found is None:
        return None
    return {
        "states": [_state_json(each, rows) for each in found.states],
        "not_reviewed": [state.as_json() for state in found.unasked],
        "complete": found.complete,
    }


def _state_json(found: StateFindings, rows: Sequence[str]) -> dict[str, object]:
    """The findings about one state as JSON data."""
    loss = first_loss_of(found)
    return {
        "state": found.state.as_json(),
        "guarantees": {
            name: {
                "says": _says(found.answer(name)),
                "by_kind": {kind: answer_json(found.answer(name, kind)) for kind in rows},
                "if_nothing_offline_is_lost": answer_json(found.if_kept(name) or found.answer(name)),
            }
            for name in NAMES
        },
        "first_steps": advice(found),
        "ways_out": [
            {
                "does": way_words(way, found.state),
                "brokers": list(way.brokers),
                "survives": {a.guarantee.name: answer_json(a) for a in way.answers if a.kind == ANY},
            }
            for way in found.ways
        ],
        "assumed": assumed(found),
        "first_loss": None
        if loss is None
        else {"guarantee": loss.guarantee.name, "steps": sentences_json(loss.loss)},
    }


def _says(answer: Answer | None) -> str | None:
    """The answer in a sentence; None for what was not asked."""
    return None if answer is None else says(answer)


# ------------------------------------------------------------------ words


def _ids(nodes: Sequence[int]) -> str:
    """Broker ids as kafka-topics prints them, or `none`."""
    return ",".join(map(str, nodes)) or "none"


def _all(nodes: Sequence[int], what: str = "broker") -> str:
    """Brokers in a sentence about all of them: "broker 1", "brokers 2 and 3"."""
    return f"{what}{'s' if len(nodes) > 1 else ''} {_joined(nodes, 'and')}"


def _any(nodes: Sequence[int]) -> str:
    """Brokers in a sentence about one of them: "broker 1", "broker 2 or 3"."""
    return f"broker {_joined(nodes, 'or')}"


def _are(nodes: Sequence[int], one: str = "is", several: str = "are") -> str:
    """The word for one broker or for several."""
    return several if len(nodes) > 1 else one


def _joined(nodes: Sequence[int], word: str) -> str:
    """Numbers in a sentence: "1, 2 or 3"."""
    *others, last = map(str, nodes)
    return f"{', '.join(others)} {word} {last}" if others else last
