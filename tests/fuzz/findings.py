"""What became of a model or an input: what was looked at, and what should not be so."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

Differences = Mapping[str, tuple[object, object]]  # by name, what is expected and what is there


@dataclass(frozen=True)
class Finding:
    """Something that should not be: by which look at what, the facts that differ, and what shows it."""

    look: str
    seed: int
    differences: Differences
    text: str
    again: str

    def __str__(self) -> str:
        facts = [f"{name}: {a!r} expected, {b!r} found" for name, (a, b) in self.differences.items()]
        head = f"== {self.look} · seed {self.seed}"
        return "\n".join([head, *facts, "", self.text.rstrip(), "", self.again])


@dataclass
class Answer:
    """What was looked at, by name, what was found, and lines that are shown in any case."""

    looks: list[str] = field(default_factory=list)
    found: list[Finding] = field(default_factory=list)
    told: list[str] = field(default_factory=list)
