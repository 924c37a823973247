"""The product of model and observations: pairs of a state and how far the observations are explained.

Steps that files do not show are free; what a step makes that files do show must be what comes next there.

NOTE(sound): what is left out of the search costs no run that explains the files:

* a record that no file shows is not sent: without it and all behind it in its epoch the same steps
  are possible, since followers are cut by epochs and only a record's own fetch and commit ask for it;
* a commit beyond every high watermark that was written down is not made: the same without it, since
  a follower is cut by epochs (from KIP-279 on) and a higher mark only makes joining the ISR harder;
* a broker that goes down for good keeps its log, so that must be what its directory has;
* a power loss that loses nothing is a crash, after which as much is possible;
* a broker whose registration and return are next to each other is registered and unfenced in one step, if
  both are of one process: what lies between can come after it;
* a broker without a session that it needs before its next return is left out: NOTE(sessions); so is one
  that is down before lines of its log are true that come before its next start;
* before the first observation of an older partition only starts are made that it needs: NOTE(earlier);
* a fault or a step that must still come is counted at once (see `due` and `ahead`), so a run that would
  need more of them than another one is looked at later.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

from modelcheck.kafka.incident.explain_log.earlier_starts import earlier_starts
from modelcheck.kafka.incident.explain_log.later_lines import last_up, later_falls, later_truncations
from modelcheck.kafka.incident.explain_log.needed_sessions import NeededSessions
from modelcheck.kafka.incident.explain_log.observations import (
    SETTING,
    Back,
    Changed,
    Control,
    Decided,
    Ended,
    Gone,
    Left,
    LineObservation,
    Observed,
    Registered,
)
from modelcheck.kafka.incident.explain_log.proven_faults import CUTS, LOST_SESSIONS, ProvenFaults
from modelcheck.kafka.incident.explain_log.timeline_steps import are_at_once, leads_on, steps_needed
from spec.frozen import frozen
from spec.meaning.semantics import Machine, State, Step, Taken
from spec.model.ir import Model, Scope

REGISTERS = frozenset({"register", "register_again"})
RETURNS = frozenset({"restart", "reconnect", "start_again", "unfence"})
BEGINS = frozenset({"restart", "start_again"}) | REGISTERS  # with a process that is registered
STARTS = BEGINS | {"unfence"}
LOSES_DISK = frozenset({"disk_loss", "stopped_disk_loss"})
FALLS = frozenset({"crash", "power_loss", "shut_down"}) | LOSES_DISK  # after which its directory stays so
CHANGES = frozenset(SETTING)
JUMPS = frozenset({"isolate"})  # one step takes several out of the ISR, and the leader may do it one by one
SENDS = frozenset({"produce", "produce_unheeding"})
NONE = -1


@frozen
class Point:
    """A point of the product: a state, the observations explained, and the brokers that reached their mark.

    `lines` has for each log how many of its lines are explained.
    """

    state: State
    position: int
    marked: int
    lines: tuple[int, ...] = ()


class ObservationProduct:
    """The product of a model and its observations: the points, their successors, and bounds.

    Unless it is to `look_ahead`, points that can explain no later observation are there too.
    """

    def __init__(self, model: Model, scope: Scope, observed: Observed, *, look_ahead: bool = True) -> None:
        self.machine = Machine(model, scope)
        self.observed = observed
        self.events = observed.events
        self._at = {variable.name: index for index, variable in enumerate(model.variables)}
        self._shown = observed.shown
        self._highest = observed.highest
        self._needed = steps_needed(observed.events)
        self._at_once = frozenset(
            number for number, (one, other) in enumerate(pairwise(self.events)) if are_at_once(one, other)
        )
        self._last_back = {
            each.broker: position
            for position, each in enumerate(self.events)
            if isinstance(each, Registered | Back)
        }
        self._lines = observed.logs
        self._last_up = [last_up(log) for log in observed.logs]
        self._truncations = [later_truncations(log) for log in observed.logs]
        self._falls = [later_falls(log) for log in observed.logs]
        self._starting = [_starting(log) for log in observed.logs]
        proves = observed.sessions and bool(scope.config["fenced_kept_out"])
        self._proven = ProvenFaults(self.events if proves else ())
        self._sessions = NeededSessions(self.events, len(observed.brokers)) if proves and look_ahead else None
        self._earlier = earlier_starts(observed, scope)
        self.free = frozenset(model.free)
        self.faults = frozenset(model.faults)

    def at(self, name: str) -> int:
        """The index of a variable in a state; one of a process is a tuple by broker."""
        return self._at[name]

    def logs(self, state: State) -> tuple[tuple[tuple[int, int], ...], ...]:
        """The log of each broker: the epoch and the name of each record."""
        found: tuple[tuple[tuple[int, int], ...], ...] = state[self._at["Broker.log"]]
        return found

    def control(self, state: State) -> Control:
        """The values that the controller has decided in a state."""
        at = self._at
        return (state[at["leader"]], state[at["epoch"]], state[at["isr"]], state[at["eligible"]])

    # ---------------------------------------------------------------- points

    def starts(self) -> Iterator[Point]:
        """The initial points."""
        for state in self.machine.initial():
            for position in self._begun(state):
                lines = self._lines_explained(state, position, (0,) * len(self._lines))
                yield Point(state, position, self._marks(state, 0), lines)

    def _begun(self, state: State) -> Iterator[int]:
        """The positions in the timeline that an initial state is consistent with."""
        first = next((each for each in self.events if isinstance(each, Decided)), None)
        if first is None or first.control == self.control(state):
            yield self._skip(0 if first is None else 1, state)
        elif leads_on(self.control(state), first.control, self.control(state)):
            yield 0

    def next(self, point: Point, actions: frozenset[str]) -> Iterator[tuple[Step, Point]]:
        """The steps of these actions from a point, and the points that observations allow."""
        if not self._is_set_next(point):
            actions -= CHANGES
        if not self.observed.sessions:
            actions -= REGISTERS
        for found in self.machine.steps(point.state, actions=actions):
            if not isinstance(found, Taken) or not self._is_needed(point.state, found.step, found.state):
                continue
            if found.step.action == "power_loss" and self._keeps_all(point.state, found):
                continue
            if found.step.action in STARTS and not self._is_start_logged(found.step.args[0], point):
                continue
            if found.step.action in BEGINS and not self._has_directory(found.step.args[0], point):
                continue
            for position in self._positions(point, found.step, found.state):
                lines = self._lines_explained(found.state, position, point.lines)
                after = Point(found.state, position, self._marks(found.state, point.marked), lines)
                if not self._is_final(point, found.step, after):
                    continue
                if not (self._lacks_session(after) or self._is_down_early(after)):
                    yield found.step, after

    def due(self, point: Point) -> int:
        """A lower bound on the faults still to come: unclean shutdowns, and what the timeline proves."""
        return (
            self._falls_due(point)
            + self._cuts_due(point)
            + self._losses_due(point)
            + self._strikes_due(point)[1]
        )

    def reducing(self, point: Point) -> frozenset[str]:
        """The faults by which fewer may be due."""
        return frozenset().union(
            FALLS & self.faults if self._falls_due(point) + self._strikes_due(point)[1] else (),
            CUTS if self._cuts_due(point) else (),
            LOST_SESSIONS if self._losses_due(point) else (),
        )

    def _cuts_due(self, point: Point) -> int:
        """A lower bound on the cuts still to come."""
        state, at = point.state, self._at
        return self._proven.cuts(point.position, state[at["Broker.linked"]], state[at["isr"]])

    def _losses_due(self, point: Point) -> int:
        """A lower bound on the lost sessions still to come."""
        up, session = (point.state[self._at[name]] for name in ("Broker.up", "Broker.session"))
        out = [runs and not has for runs, has in zip(up, session, strict=True)]
        return self._proven.lost_sessions(point.position, out)

    def _strikes_due(self, point: Point) -> tuple[int, int]:
        """Lower bounds on the starts still to come before the timeline, and on the falls for these."""
        if self._earlier is None or point.position > 0:
            return 0, 0
        logged = [falls[count] for falls, count in zip(self._falls, point.lines, strict=True)]
        falls = [
            runs and not any(broker in each for each in logged)  # else its fall is due already
            for broker, runs in enumerate(self._runs(point.state))
        ]
        return self._earlier.due(self.control(point.state), falls)

    def _falls_due(self, point: Point) -> int:
        """A lower bound on the unclean shutdowns still to come.

        So does a broker whose log shows that it found its directory unclean at a start.
        """
        stopped = point.state[self._at["stopped"]]
        up = self._runs(point.state)
        found = 0
        again: set[int] = set()  # brokers that come back after a fall that is in a log
        for falls, count in zip(self._falls, point.lines, strict=True):
            for broker, (first, rest, back) in falls[count].items():
                found += rest + (first and (up[broker] or broker in stopped))
                again |= {broker} if back else set()
        return found + sum(
            1
            for broker, end in self.observed.ends.items()
            if end.left is Left.UNCLEAN and (up[broker] or broker in stopped or broker in again)
        )

    def ahead(self, point: Point) -> int:
        """A lower bound on the steps still to come: NOTE(ahead).

        One for each record that a log still lacks, for each commit, for each broker that must go down, for
        each return, for the controller's decisions (see `steps_needed`), for each cut of the network that
        must be healed, and for each time that a line reports a cut log.  No step does two of these, so no
        step makes it smaller by more than one.
        """
        state, at = point.state, self._at
        logs, highs = state[at["Broker.log"]], state[at["Broker.hw"]]
        up, stopped = self._runs(state), state[at["stopped"]]
        steps: int = self._needed[point.position] + max(0, self._highest - max(highs))
        for broker, end in self.observed.ends.items():
            log, same = logs[broker], 0
            wanted = end.log or ()
            for entry, epoch in zip(log, wanted, strict=False):
                if epoch is not None and entry[0] != epoch:
                    break
                same += 1
            steps += len(wanted) - same
            if end.left is Left.CLEAN:
                steps += broker not in stopped
            elif end.left is Left.UNCLEAN:
                steps += up[broker] or broker in stopped
        steps += self._strikes_due(point)[0]
        steps += self._proven.heals(point.position, state[at["Broker.linked"]], state[at["isr"]])
        return steps + sum(later[count] for later, count in zip(self._truncations, point.lines, strict=True))

    def is_end(self, point: Point) -> bool:
        """Whether a point explains all observations."""
        return (
            point.position == len(self.events)
            and all(count == len(log) for count, log in zip(point.lines, self._lines, strict=True))
            and all(self.has_ended(point, end) for end in self.observed.ends.values())
        )

    def says(self, seen: LineObservation, state: State, position: int) -> bool:
        """Whether the content of a line is true in a state."""
        at, broker = self._at, seen.broker
        if position < seen.position or state[at["epoch"]] < seen.epoch:
            return False
        if seen.mark > state[at["Broker.hw"]][broker]:
            return False
        if seen.length is not None:
            least, most = seen.length
            if not least <= len(state[at["Broker.log"]][broker]) <= most:
                return False
        return (
            seen.up in {None, state[at["Broker.up"]][broker]}
            and seen.session in {None, state[at["Broker.session"]][broker]}
            and (seen.stopped is None or self._is_left(state, broker, clean=seen.stopped))
        )

    def _is_left(self, state: State, broker: int, *, clean: bool) -> bool:
        """Whether a broker that has not been registered since was shut down cleanly, or was not."""
        at = self._at
        return broker not in state[at["registered"]] and (broker in state[at["stopped"]]) == clean

    def has_ended(self, point: Point, end: Ended) -> bool:
        """Whether a broker's state matches its directory as it was left."""
        up = self._runs(point.state)[end.broker]
        clean = end.broker in point.state[self._at["stopped"]]
        fell = {
            Left.CLEAN: clean,
            Left.UNCLEAN: not up and not clean,
            Left.UNKNOWN: True,
        }
        return fell[end.left] and bool(point.marked >> end.broker & 1) and self._has_log(point.state, end)

    def _runs(self, state: State) -> tuple[bool, ...]:
        """For each broker whether its process runs, be it up or only registered."""
        registered = state[self._at["registered"]]
        return tuple(up or broker in registered for broker, up in enumerate(state[self._at["Broker.up"]]))

    # ---------------------------------------------------------------- what a step may be

    def _is_set_next(self, point: Point) -> bool:
        """Whether the next observed event, lost sessions aside, is a change of a setting."""
        following = (each for each in self.events[point.position :] if not isinstance(each, Gone))
        return isinstance(next(following, None), Changed)

    def _lacks_session(self, point: Point) -> bool:
        """Whether a broker lacks a session that it needs: NOTE(sessions)."""
        if self._sessions is None:
            return False
        state, at = point.state, self._at
        return self._sessions.is_lacking(
            point.position, state[at["Broker.session"]], state[at["epoch"]], state[at["isr"]]
        )

    def _is_down_early(self, point: Point) -> bool:
        """Whether a broker is down, and its log has a line before its next start that is not true of it.

        Its log and its high watermark stay as they are while it is down, so that it never starts again.
        """
        if not self.observed.starts:
            return False
        runs, logs, highs = (
            self._runs(point.state),
            self.logs(point.state),
            point.state[self._at["Broker.hw"]],
        )
        for broker, number in self.observed.starts.items():
            log, count = self._lines[number], point.lines[number]
            if runs[broker] or count == len(log) or self._starting[number][count]:
                continue
            seen = log[count]
            least, most = seen.length or (0, len(logs[broker]))
            if seen.broker == broker and not (
                least <= len(logs[broker]) <= most and seen.mark <= highs[broker]
            ):
                return True
        return False

    def _is_needed(self, before: State, step: Step, after: State) -> bool:
        """Whether the record that a step sends or commits is found in the files."""
        if step.action in SENDS:
            leader = step.args[0]
            log = after[self._at["Broker.log"]][leader]
            place, epoch = len(log), log[-1][0]
            return (place, epoch) in self._shown or (place, None) in self._shown
        if step.action == "commit":
            high: int = before[self._at["Broker.hw"]][step.args[0]]
            return high < self._highest
        return True

    def _keeps_all(self, before: State, found: Taken) -> bool:
        """Whether a step leaves its broker's log unchanged."""
        broker, logs = found.step.args[0], self._at["Broker.log"]
        kept: bool = before[logs][broker] == found.state[logs][broker]
        return kept

    def _positions(self, point: Point, step: Step, after: State) -> Iterator[int]:
        """The timeline positions that a step can lead to; none if it contradicts the timeline."""
        was, now = self.control(point.state), self.control(after)
        is_start = point.position == 0 and step.action in BEGINS
        if is_start and self._earlier is not None and self._earlier.strikes(step.args[0], was, now):
            yield from self._begun(after)
            return
        is_seen = step.action in CHANGES or (self.observed.sessions and step.action in RETURNS | REGISTERS)
        if was == now and not is_seen:
            yield self._skip(point.position, after)
            return
        yield from self._matched(point.position, was, now, step, after)
        if was != now and not is_seen:
            target = next((e for e in self.events[point.position :] if isinstance(e, Decided)), None)
            if target is not None and target.control != now and leads_on(was, target.control, now):
                yield self._skip(point.position, after)

    def _matched(self, position: int, was: Control, now: Control, step: Step, after: State) -> Iterator[int]:
        """The timeline positions after the events that a step explains."""
        jumps, sets = step.action in JUMPS, step.action in CHANGES
        sessions = self.observed.sessions
        returned = step.args[0] if step.action in RETURNS and sessions else None
        starts = step.args[0] if step.action in BEGINS and sessions else None
        decided, back, registered = was == now, returned is None, step.action not in REGISTERS
        session = after[self._at["Broker.session"]]
        for number in range(position, len(self.events)):
            match event := self.events[number]:
                case Gone(broker) if not session[broker] or broker == returned:
                    continue
                case Registered(broker) if broker == starts and not (back and number in self._at_once):
                    registered, starts = True, None
                case Back(broker) if broker == returned and not back and _is_by(step, event, starts):
                    back = True
                case Changed(action, args) if sets and (action, args) == (step.action, step.args):
                    sets = False
                case Decided() if not decided and event.control == now:
                    decided = True
                case Decided() if not decided and jumps and leads_on(was, now, event.control):
                    continue
                case _:
                    return
            if decided and registered and back and not sets:
                yield self._skip(number + 1, after)
                return

    def _skip(self, position: int, state: State) -> int:
        """The position after the events that a state explains without any step."""
        session = state[self._at["Broker.session"]]
        while position < len(self.events):
            event = self.events[position]
            if not isinstance(event, Gone) or session[event.broker]:
                break
            position += 1
        return position

    def _lines_explained(self, state: State, position: int, explained: tuple[int, ...]) -> tuple[int, ...]:
        """How many lines of each log are explained in a state: NOTE(lines).

        Each as soon as it can be: a line is true in some state behind that of the line before it, or
        in the same one, so a run that explains all lines can explain each at the first such state.
        """
        found = []
        for log, count in zip(self._lines, explained, strict=True):
            reached = count
            while reached < len(log) and self.says(log[reached], state, position):
                reached += 1
            found.append(reached)
        return tuple(found)

    def _is_start_logged(self, broker: int, point: Point) -> bool:
        """Whether a broker may start: with complete logs, only at a logged start."""
        number = self.observed.starts.get(broker)
        return number is None or self._starting[number][point.lines[number]]

    def _has_directory(self, broker: int, point: Point) -> bool:
        """Whether a broker may start as it registers next: with a new directory only if its disk is lost."""
        following = (
            each
            for each in self.events[point.position :]
            if isinstance(each, Registered | Back) and each.broker == broker
        )
        found = next(following, None)
        is_another = found is not None and found.new_directory is True
        return not is_another or broker in point.state[self._at["renewed"]]

    def _is_final(self, point: Point, step: Step, after: Point) -> bool:
        """Whether a broker that goes down for good does so as its directory was left."""
        if step.action not in FALLS or not self.observed.sessions:
            return True
        broker, position = step.args[0], after.position
        comes_back = self._last_back.get(broker, NONE) >= position or (
            position == 0 and self._earlier is not None and self._earlier.stays_up(broker)
        )
        if step.action in LOSES_DISK and not self._loses_disk(broker, position, comes_back=comes_back):
            return False
        end = self.observed.ends.get(broker)
        if comes_back:
            return True
        if any(
            last.get(broker, NONE) >= count for last, count in zip(self._last_up, after.lines, strict=True)
        ):
            return False
        if end is None:
            return True
        if step.action == "shut_down" and end.left is Left.UNCLEAN and not end.folder:
            return True  # its disk is lost later
        if end.left is not Left.UNKNOWN and (end.left is Left.CLEAN) != (step.action == "shut_down"):
            return False
        was_up = point.state[self._at["Broker.up"]][broker]  # else it had not created its folder again
        if was_up and not end.folder and end.left is Left.UNCLEAN and step.action not in LOSES_DISK:
            return False
        return bool(point.marked >> broker & 1) and self._has_log(after.state, end)

    def _loses_disk(self, broker: int, position: int, *, comes_back: bool) -> bool:
        """Whether a broker can lose its disk here: its later directory is another one."""
        if comes_back:
            following = (
                each
                for each in self.events[position:]
                if isinstance(each, Registered | Back) and each.broker == broker
            )
            found = next(following, None)
            return found is None or found.new_directory is not False
        end = self.observed.ends.get(broker)
        return end is None or not end.folder

    def _has_log(self, state: State, end: Ended) -> bool:
        """Whether a broker's log is as in its directory."""
        if end.log is None:
            return True
        log = state[self._at["Broker.log"]][end.broker]
        return len(log) == len(end.log) and all(
            epoch is None or entry[0] == epoch for entry, epoch in zip(log, end.log, strict=True)
        )

    def _marks(self, state: State, marked: int) -> int:
        """The brokers, as bits, that have reached the high watermark they wrote down."""
        high = state[self._at["Broker.hw"]]
        for broker, end in self.observed.ends.items():
            if high[broker] >= end.mark:
                marked |= 1 << broker
        return marked


def _is_by(step: Step, back: Back, starts: int | None) -> bool:
    """Whether a step may be a return; `starts` is the broker that starts, until its registration is found."""
    if step.action == "reconnect":
        return back.restarted is not True
    return back.restarted is None or (back.restarted and starts is None)


def _starting(log: Sequence[LineObservation]) -> tuple[bool, ...]:
    """For each position in a log whether a start logged before it is still in progress."""
    found = [False]
    for seen in log:
        begins = seen.up is False and seen.ahead and not STARTS.isdisjoint(seen.actions)
        found.append(begins or (found[-1] and not seen.up))
    return tuple(found)
