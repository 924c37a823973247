"""What is asked of every configuration: which guarantees, against which faults, and how many."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NoReturn

from modelcheck.kafka.questions.question import MOST_FAULTS
from spec.diagnostics import Diagnostic, SpecError, suggest
from spec.frozen import frozen
from spec.source import Source, Span


@frozen
class FaultLimits:
    """The faults asked about: at most `faults`, of these kinds (None: all), with limits for some kinds."""

    faults: int
    kinds: Mapping[str, int | None] | None = None

    def allows(self, kind: str) -> bool:
        """Whether faults of a kind are asked about."""
        return self.kinds is None or kind in self.kinds

    def most(self, kind: str) -> int | None:
        """The limit for a kind, if that is below the limit for all together."""
        most = None if self.kinds is None else self.kinds.get(kind)
        return None if most is None or most >= self.faults else most


def kinds_of(text: str, names: Mapping[str, str]) -> dict[str, int | None]:
    """The limits in `crash,power,isolation:2` by kind of fault; `names` are the known kinds.

    A name may be an alias, such as the model's name for that of a review.
    Raises SpecError for a name that is none, one that is given twice, and a number that does not fit.
    """
    found: dict[str, int | None] = {}
    for part in text.split(","):
        name, colon, most = (side.strip() for side in part.partition(":"))
        if name not in names:
            wrong("--kinds", text, name, f"there is no kind of fault `{name}`", near(name, names.values()))
        if names[name] in found:
            wrong("--kinds", text, name, f"`{name}` is given twice", "give each kind once")
        if colon and most not in map(str, range(1, MOST_FAULTS + 1)):
            help_ = f"write `{name}:1`, or `{name}` for as many as --faults allows"
            wrong("--kinds", text, part.strip(), f"`{most}` is not from 1 to {MOST_FAULTS}", help_)
        found[names[name]] = int(most) if colon else None
    return found


def named(option: str, texts: Iterable[str], names: Sequence[str], what: str) -> tuple[str, ...]:
    """The names in comma-separated texts, each once, in the order of the known ones. Raises SpecError."""
    given = [(text, name.strip()) for text in texts for name in text.split(",")]
    for text, name in given:
        if name not in names:
            wrong(option, text, name, f"there is no {what} `{name}`", near(name, names))
    wanted = {name for _, name in given}
    return tuple(name for name in names if name in wanted)


def near(name: str, names: Iterable[str]) -> str:
    """Advice for an unknown name: the nearest known one, else all of them."""
    known = tuple(dict.fromkeys(names))
    return suggest(name, known) or f"there are {', '.join(known)}"


def wrong(option: str, text: str, part: str, message: str, help_: str = "", code: str = "R0903") -> NoReturn:
    """Raise SpecError for a part of an option's value."""
    at = max(0, text.find(part)) if part else 0
    span = Span(at, at + len(part)) if part else Span(0, len(text))
    raise SpecError([Diagnostic(code, Source(option, text), span, message, help=help_)])
