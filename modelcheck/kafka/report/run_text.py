"""The first loss as a story: numbered sentences in the words of the protocol, for people and for programs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from counterexamples.lines import Line, Piece, Role, count, line, wrapped
from counterexamples.trace import Trace
from spec.frozen import frozen
from spec.meaning.semantics import Machine, State
from spec.model.ir import Kind, Value
from spec.model.types import Set, Sort
from spec.model.values import show

_MARKS = {
    Kind.ACTION: Piece("  "),
    Kind.FAULT: Piece("⚡", Role.FAULT),
    Kind.REPAIR: Piece("✚ ", Role.REPAIR),
}


@frozen
class Sentence:
    """One step of a run in words: its action, its kind, and the text."""

    action: str
    kind: Kind
    name: str
    says: str


def sentences(trace: Trace) -> tuple[Sentence, ...]:
    """The steps of a run in words, with acknowledgements and changes of the in-sync set."""
    machine = Machine(trace.model, trace.scope)
    actions = {action.name: action for action in trace.model.actions}
    found = []
    for number, step in enumerate(trace.steps):
        before, after = trace.states[number : number + 2]
        action = actions[step.action]
        says = (
            machine.says(action, step, before) + _acknowledged(trace, number) + _in_sync(trace, before, after)
        )
        found.append(Sentence(step.action, action.kind, machine.name(step), says))
    return tuple(found)


def sentences_json(trace: Trace | None) -> list[dict[str, str]]:
    """The sentences of a run as JSON data; empty without a run."""
    steps = () if trace is None else sentences(trace)
    return [{"action": e.action, "kind": e.kind.value, "name": e.name, "says": e.says} for e in steps]


_ENDS: Mapping[str | None, str] = {  # what is wrong, where no guarantee names it
    "no_divergence": "below the high watermarks of both, two logs differ",
    "on_some_disk": "no broker has all records on its disk that were committed",
    "is_led": "no replica may lead until somebody repairs something",
    "completes": "the move cannot end until somebody repairs something",
    "commits_were_asked_for": "a record is committed, and the producer has not asked for that",
    "commits_are_whole": "a record of a transaction that its producer knows as committed is not committed",
    "aborts_are_whole": "a record of a transaction that its producer knows as aborted is committed",
    "none_hangs": "a partition has an open transaction that the coordinator does not know of",
    "producer_goes_on": "the coordinator refuses the producer, which can begin no other transaction",
    "reads_on": "the consumer is stuck at a follower that is not in sync",
    "only_committed": "the consumer has read what is not committed",
}


def outcome(trace: Trace) -> str:
    """The violation at the end of a run, in words."""
    if (end := _ENDS.get(trace.property)) is not None:
        return end
    last = trace.states[-1]
    leader = _show(trace, "leader", last)
    match trace.property:
        case "acknowledged_survive":
            return f"{leader} leads, and its log lacks {_missing(trace, 'acked')}, which was acknowledged"
        case "committed_on_leader":
            return f"{leader} leads, and its log lacks {_missing(trace, 'committed')}, which was committed"
        case "acknowledged_kept" | "committed_kept" as name:
            ghost = "acked" if name == "acknowledged_kept" else "committed"
            logs = [entry[1] for log in _of(trace, "Broker.log", last) for entry in log]
            lost = sorted(_of(trace, ghost, last) - set(logs))
            was = "acknowledged" if ghost == "acked" else "committed"
            return f"no broker has {_records(lost)} any more, which was {was}"
        case "consumers_see_committed":
            lost = sorted(_of(trace, "dirty", last))
            return f"a consumer has read {_records(lost)}, which not every in-sync replica had"
        case "leader_complete":
            return f"{leader} leads, and its log lacks records that were committed"
        case _:
            return "the partition takes no writes until somebody repairs something"


def story(title: str, traces: Sequence[Trace], width: int, *, least: bool) -> Iterator[Line]:
    """The numbered sentences of a run, with faults marked and how it ends.

    `traces` are that run, once for each; `least` is whether none with fewer faults does it.
    """
    trace = traces[0]
    fewer = "no run has fewer faults" if least else "whether fewer are enough is not known"
    length = f"({count(trace.faults, 'fault')}, {count(len(trace.steps), 'step')}; {fewer})"
    yield line(Piece(title, Role.STRONG), Piece(f" {length}", Role.DIM))
    for number, sentence in enumerate(sentences(trace), 1):
        label = line(f"{number:>4}  ", _MARKS[sentence.kind], " ")
        yield from wrapped(
            label, sentence.says, width, Role.FAULT if sentence.kind is Kind.FAULT else Role.PLAIN
        )
    for end in dict.fromkeys(map(outcome, traces)):
        yield from wrapped(line("      ", Piece("✗  ", Role.BAD)), end, width, Role.BAD)


def _acknowledged(trace: Trace, number: int) -> str:
    """The answer to the producer in a step, in words."""
    before, after = trace.states[number : number + 2]
    if all(variable.name != "acked" for variable in trace.model.variables):
        return ""  # a model of what is committed, whoever waits for it
    if not _of(trace, "acked", after) - _of(trace, "acked", before):
        return ""
    waits = trace.steps[number].action != "lose_request" and _show(trace, "acks") != "zero"
    return "; the producer gets its acknowledgement" if waits else "; the producer assumes that it is stored"


def _in_sync(trace: Trace, before: State, after: State) -> str:
    """The in-sync set after a step that changed it, in words; else empty."""
    variable = next((each for each in trace.model.variables if each.name == "isr"), None)
    if variable is None or _of(trace, "isr", before) == _of(trace, "isr", after):
        return ""
    match variable.type:
        case Set(Sort(sort)):
            names = trace.scope.sorts[sort]
        case _:
            return ""
    members = [names[member] for member in sorted(_of(trace, "isr", after))]
    return f" (in sync: {', '.join(members) or 'none'})"


def _missing(trace: Trace, ghost: str) -> str:
    """The records of a ghost variable that the leader's log lacks, in words."""
    last = trace.states[-1]
    index = next(i for i, v in enumerate(trace.model.variables) if v.name == "Broker.log")
    has = {entry[1] for entry in last[index][_of(trace, "leader", last)]}
    return _records(sorted(_of(trace, ghost, last) - has))


def _records(numbers: list[int]) -> str:
    """Records in words."""
    return f"record{'s' if len(numbers) > 1 else ''} {' and '.join(map(str, numbers))}"


def _of(trace: Trace, name: str, state: State) -> Value:
    """The value of a global variable in a state."""
    return state[next(i for i, variable in enumerate(trace.model.variables) if variable.name == name)]


def _show(trace: Trace, name: str, state: State | None = None) -> str:
    """A variable's value in a state, or, without a state, a switch of the configuration, as text."""
    if state is None:
        entry = next(entry for entry in trace.model.configs if entry.name == name)
        return show(entry.type, trace.scope.config[name], trace.scope)
    variable = next(variable for variable in trace.model.variables if variable.name == name)
    return show(variable.type, _of(trace, name, state), trace.scope)
