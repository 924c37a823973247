"""What works while brokers are down, in a sentence, in a table, and in plain values."""

from __future__ import annotations

from collections.abc import Iterator

from counterexamples.lines import Line, Piece, Role, line, wrapped
from counterexamples.trace import Trace
from modelcheck.kafka.questions.outages.findings import SERVICES, Outage, Service, Stop
from modelcheck.kafka.report.run_text import sentences_json, story

TITLE = "While brokers are down"
_NUMBERS = ("none", "one", "two", "three", "four", "five", "six", "seven")
_WORKS = {True: ("yes", Role.GOOD), False: ("no", Role.BAD), None: ("?", Role.UNSURE)}
_RETURNS = {True: ("always", Role.GOOD), False: ("not always", Role.BAD), None: ("?", Role.UNSURE)}
_LOST = ("lost", Role.BAD)
COLUMN = "comes back"


def says(found: Outage) -> str:
    """The availability with each number of brokers down: "With one broker down: writable and readable. …"."""
    sentences = []
    for first, last in found.spans():
        if last == 0:
            sentences += [] if all(found.working(0)) else [f"With all up: {_what(found, 0)}."]
        else:
            up = "all up, and with " if first == 0 and not all(found.working(0)) else ""
            down = up + _down(len(found.names), max(first, 1), last)
            sentences.append(f"With {down} down: {_what(found, first)}{_then(found, first, last)}.")
    return " ".join([*sentences, _back(found)])


def _down(every: int, first: int, last: int) -> str:
    """A number of brokers out of all: "one broker", "one or two brokers", "all three brokers"."""
    if first == last == every and every > 1:
        return "both brokers" if every == 2 else f"all {_NUMBERS[every]} brokers"
    *others, most = (_NUMBERS[number] for number in range(first, last + 1))
    return f"{', '.join(others)}{' or ' if others else ''}{most} broker{'' if last == 1 else 's'}"


def _what(found: Outage, down: int) -> str:
    """The services that work with `down` brokers down, in words."""
    works = {each.name: each.works(down) for each in found.services}
    good = [name for name, sure in works.items() if sure]
    if unknown := [name for name, sure in works.items() if sure is None]:
        unsure = f"whether {' and '.join(unknown)}, is not known"
        return f"{' and '.join(good) or 'nothing for certain'} ({unsure})"
    if "readable" in good:
        return "writable and readable" if "writable" in good else "readable only"
    lost = "acknowledged records can be missing"
    if "electable" in good:
        return f"writable, but {lost}" if "writable" in good else f"a leader, but no writes, and {lost}"
    return "neither writable nor readable"


def _then(found: Outage, first: int, last: int) -> str:
    """The brokers that must return after the shortest run for service to resume, in words."""
    stops = [each.stop for each in found.services if each.stop is not None]
    stops = [stop for stop in stops if stop.down == first and stop.until]
    return f" (at best until {_until(stops[-1], last)})" if stops else ""


def _until(stop: Stop, last: int) -> str:
    """The brokers that must return after a run for service to resume, in words."""
    sets = stop.until or ()
    many = len(sets[0])
    if many == stop.down < last:
        return "they return"
    if many == stop.down:
        return ("it returns", "both return")[many - 1] if many <= 2 else "all of them return"
    if many == 1:
        return "one of them returns" if len(sets) == stop.down else "the right one of them returns"
    return f"{_NUMBERS[many]} of them return"


def _back(found: Outage) -> str:
    """Whether service resumes when all brokers return, in a sentence."""
    if gone := [each.name for each in found.services if each.whole and each.returns is False]:
        return f"When all return, it does not always become {' or '.join(gone)} again."
    if any(each.whole and each.returns is None for each in found.services):
        return "Whether all of it always comes back when they return is not known."
    lost = "" if all(each.whole for each in found.services) else ", but acknowledged records can be lost"
    return f"When all return, it resumes automatically{lost}."


# ------------------------------------------------------------------ a table


def rows(found: Outage) -> list[tuple[str, tuple[tuple[str, Role], ...]]]:
    """The table: a row for each number of brokers down, and one for recovery."""
    every = len(found.names)
    numbers = range(every + 1)
    down = [(f"{many} of {every} down", tuple(_WORKS[w] for w in found.working(many))) for many in numbers]
    return [*down, (COLUMN, tuple(map(_comes_back, found.services)))]


def _comes_back(service: Service) -> tuple[str, Role]:
    """The cell whether a service recovers."""
    return _RETURNS[service.returns] if service.whole else _LOST


def note(found: Outage) -> str:
    """The note that explains the table."""
    safe = "a broker crashes, its log is safe"
    safe += ", and the controller on its node with it" if found.controllers_too else ""
    how = safe if found.fault != "disk" else "a broker comes back with an empty disk"
    lost = "" if all(each.whole for each in found.services) else "; `lost` without records for good"
    why = "more --faults may decide it" if found.complete else "the search was cut short"
    unsure = f"; `?` is not known, {why}" if _has_unknown(found) else ""
    return (
        f"whichever brokers are down, one after the other or at once, without intervention ({how}); "
        f"`{COLUMN}`: automatically, when all return{lost}{unsure}"
    )


def _has_unknown(found: Outage) -> bool:
    """Whether some cell is unknown."""
    return any(cell == _WORKS[None] for _, cells in rows(found) for cell in cells)


def lines(found: Outage, width: int, shown: Trace | None = None) -> Iterator[Line]:
    """The report on outages: sentence, table, and the first run that stops a service."""
    yield line(Piece(TITLE, Role.STRONG))
    yield from wrapped(line("  "), says(found), width)
    table = rows(found)
    first = max(len(label) for label, _ in table)
    columns = zip(found.services, *(cells for _, cells in table), strict=True)
    sizes = [2 + max(len(each.name), *(len(text) for text, _ in cells)) for each, *cells in columns]
    heads = (f"{each.name:<{size}}" for each, size in zip(found.services, sizes, strict=True))
    yield line(" " * (first + 4), *(Piece(head, Role.STRONG) for head in heads))
    for label, cells in table:
        padded = (Piece(f"{text:<{size}}", role) for (text, role), size in zip(cells, sizes, strict=True))
        yield line(f"  {label:<{first}}  ", *padded)
    yield from wrapped(line("  "), note(found), width, Role.DIM)
    yield ()
    yield from run_to_stop(found, width, shown)


def run_to_stop(found: Outage, width: int, shown: Trace | None = None) -> Iterator[Line]:
    """The report on the first run that stops a service while a broker is up.

    `shown` is a run that is shown anyway: one with the same steps is not shown again.
    """
    stops = [(each.name, each.stop) for each in found.services if each.stop is not None and each.whole]
    some = [(name, stop) for name, stop in stops if stop.down < len(found.names)]
    if some:
        name, stop = min(some, key=lambda pair: (pair[1].down, len(pair[1].run.steps)))
        if sentences_json(stop.run) == sentences_json(shown):
            return
        yield from story(f"How it stops being {name}", [stop.run], width, least=True)
        yield ()


# ------------------------------------------------------------------ plain values


def as_json(found: Outage) -> dict[str, object]:
    """The outage as JSON data."""
    return {
        "says": says(found),
        "fault": found.fault,
        "controllers_too": found.controllers_too,
        "down": [
            {"brokers": many, **{each.name: each.works(many) for each in found.services}}
            for many in range(len(found.names) + 1)
        ],
        "services": {each.name: _service(found, each) for each in found.services},
        "complete": found.complete,
    }


def _service(found: Outage, service: Service) -> dict[str, object]:
    """One service as JSON data."""
    stop = service.stop
    sets = None if stop is None else stop.until
    until = None if sets is None else [[found.names[place] for place in who] for who in sets]
    return {
        "means": SERVICES[service.name],
        "stops_with": None if stop is None else stop.down,
        "comes_back": service.returns if service.whole else False,
        "records_lost": not service.whole,
        "until": until,
        "run": sentences_json(None if stop is None else stop.run),
    }
