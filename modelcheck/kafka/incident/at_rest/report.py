"""The answer as people read it: what is lost and what to do, then a table for each partition, then why."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from counterexamples.lines import Line, Piece, Role, count, line, wrapped
from modelcheck.kafka.incident.at_rest.directories import ClusterFiles
from modelcheck.kafka.incident.at_rest.election_outcome import Aftermath
from modelcheck.kafka.incident.at_rest.partitions import PartitionFiles
from modelcheck.kafka.incident.at_rest.start_order import Judged
from modelcheck.kafka.incident.at_rest.understood import is_understood
from modelcheck.kafka.incident.at_rest.untraced import lacks_end
from modelcheck.kafka.incident.at_rest.wording import answer, basis, listed, reasons, what_to_do

UP_FIRST = "controllers up first"
SHOWN = 20  # partitions with a table of their own, where not all are asked for


def lines(
    gathered: ClusterFiles, found: Sequence[Judged], order: Sequence[int], width: int, *, every: bool
) -> Iterator[Line]:
    """The whole report, worst partition first; partitions without problems in one line at the end."""
    for text in answer(found, order):
        yield from wrapped((), text, width, Role.STRONG)
    for number, step in enumerate(what_to_do(found, order, gathered.at_once(order))):
        if number == 0:
            yield ()
        yield line(f"  {step}")
    problems = [each for each in found if not is_fine(each)]
    shown = problems if every else problems[:SHOWN]
    for each in shown:
        yield ()
        yield from _table(each, width)
    yield ()
    if len(shown) < len(problems):
        yield line(f"{count(len(problems) - len(shown), 'more partition')} like these (--all shows them).")
    fine = len(found) - len(problems)
    if fine:
        told = f"{count(fine, 'partition')} {'is' if fine == 1 else 'are'} fine"
        if not is_understood(gathered.metadata):
            told += ", as far as the metadata log can be read"
        yield line(Piece(f"{told}.", Role.GOOD))
    for text in (*gathered.problems, *basis(gathered)):
        yield from wrapped((Piece("• ", Role.DIM),), text, width)


def is_fine(each: Judged) -> bool:
    """Whether a partition has no problems: no election truncates anything, and the logs here are whole."""
    if (
        each.order_matters
        or each.is_open
        or each.gone
        or each.wanted is None
        or each.partition.struck
        or each.untraced
        or each.partition.outsiders
        or each.partition.not_whole
        or any(map(lacks_end, each.partition.replicas.values()))
    ):
        return False
    return not each.wanted.lost


def worst_first(found: Sequence[Judged]) -> tuple[Judged, ...]:
    """The partitions in order of severity: certain loss, possible loss, unknown, then by name."""

    def measure(each: Judged) -> tuple[object, ...]:
        least = each.wanted.badness if each.wanted is not None else (0, 0, 0)
        most = each.worst.badness if each.worst is not None else (0, 0, 0)
        lost = [-least[0] - each.gone, *(-part for part in least[1:]), *(-part for part in most)]
        return (*lost, not each.is_open, each.partition.place)

    return tuple(sorted(found, key=measure))


def _table(each: Judged, width: int) -> Iterator[Line]:
    """The table of a partition's outcomes."""
    partition = each.partition
    yield from wrapped((Piece(f"{partition.place}  ", Role.STRONG),), _state(partition), width, Role.DIM)
    heads = ("leads", "how", "log ends", "lost", "committed", "cut back")
    rows = [_cells(outcome, partition) for outcome in each.outcomes]
    sizes = [max(map(len, column)) for column in zip(heads, *rows, strict=True)] if rows else []
    if rows and partition.dropping:
        sizes[1] = max(sizes[1], len(UP_FIRST))
    if rows:
        yield line("    ", Piece(_row(heads, sizes), Role.DIM))
    for outcome, cells in zip(each.outcomes, rows, strict=True):
        mark = "★" if outcome == each.wanted else " "
        yield line(f"  {mark} ", Piece(_row(cells, sizes), _role(outcome)))
    if rows and partition.dropping:
        yield from _if_dropped(each, sizes)
    for text in reasons(each):
        yield from wrapped(line("    ", Piece("• ", Role.DIM)), text, width)


def _if_dropped(each: Judged, sizes: Sequence[int]) -> Iterator[Line]:
    """The rows of who is expected to lead where the controllers are up first."""
    for outcome in each.outcomes:
        if outcome.leader in (each.partition.staying or ()):
            _, _, *numbers = _cells(outcome, each.partition)
            cells = (f"broker {outcome.leader}", UP_FIRST, *numbers)
            yield line("    ", Piece(_row(cells, sizes), _role(outcome)))


def _state(partition: PartitionFiles) -> str:
    """A partition's state in the metadata, in words."""
    state = partition.state
    if state is None:
        return "not in the metadata"
    parts = [f"replicas {listed(state.replicas)}", f"in sync {listed(state.isr)}"]
    parts += [f"eligible {listed(state.elr)}"] if state.elr else []
    parts += [f"last known leader {listed(state.last_known_elr)}"] if state.last_known_elr else []
    leader = f"broker {state.leader}" if state.leader >= 0 else "no broker"
    return "; ".join([*parts, f"{leader} leads in epoch {state.leader_epoch}"])


def _cells(outcome: Aftermath, partition: PartitionFiles) -> tuple[str, ...]:
    """The cells of an outcome's row."""
    replica = partition.replicas[outcome.leader]
    ends = "no disk" if replica.lost else "no folder" if replica.absent else f"{outcome.end:,}"
    cuts = ", ".join(f"{node} to {to:,}" for node, to in sorted(outcome.cuts.items())) or "none"
    numbers = (f"{outcome.lost:,}", f"{outcome.committed:,}")
    return (f"broker {outcome.leader}", outcome.way.value, ends, *numbers, cuts)


def _row(cells: Sequence[str], sizes: Sequence[int]) -> str:
    """A row of the table, words aligned left and numbers right."""
    parts = [
        f"{cell:>{size}}" if n in {2, 3, 4} else f"{cell:<{size}}"
        for n, (cell, size) in enumerate(zip(cells, sizes, strict=True))
    ]
    return "  ".join(parts).rstrip()


def _role(outcome: Aftermath) -> Role:
    """The colour of an outcome's row."""
    if outcome.committed:
        return Role.BAD
    return Role.UNSURE if outcome.lost else Role.PLAIN
