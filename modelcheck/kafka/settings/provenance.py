"""A value with the reason for it, and what a resolution gathers on its way."""

from __future__ import annotations

from dataclasses import field
from typing import Generic, TypeVar

from modelcheck.kafka.settings.readings import Given
from spec.diagnostics import Diagnostic
from spec.frozen import frozen

T = TypeVar("T")

FILLED_IN = (
    "another tool fills this in: give what it prints, such as `docker compose config` or `helm template`, "
    "or for Compose the .env file too"
)
NEEDED = "a review needs brokers, topics or producers: see `modelcheck kafka review --help`"


@frozen
class Stated(Generic[T]):
    """A value and the reason for it in words; `assumed` if it is not from the input."""

    value: T
    reason: str
    assumed: bool = False

    def as_json(self) -> dict[str, object]:
        """The value and its reason as JSON data."""
        plain = self.value if isinstance(self.value, bool | int | str | None) else str(self.value)
        return {"value": plain, "reason": self.reason, "assumed": self.assumed}


@frozen
class Remark:
    """A setting that does not affect the answer, and why."""

    given: Given
    why: str

    def as_json(self) -> dict[str, object]:
        """The setting, its origin and the reason as JSON data."""
        return self.given.as_json() | {"why": self.why}


@frozen
class ResolutionDiagnostics:
    """Collects the errors and warnings of resolving settings."""

    errors: list[Diagnostic] = field(default_factory=list)
    warnings: list[Diagnostic] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    outside: list[Remark] = field(default_factory=list)
    ignored: list[Remark] = field(default_factory=list)
    unknown: list[Remark] = field(default_factory=list)

    def error(self, code: str, at: Given, message: str, *, label: str = "", advice: str = "") -> None:
        """Add an error at a setting's value."""
        self.errors.append(Diagnostic(code, at.source, at.span, message, label, advice))

    def warn(self, code: str, at: Given, message: str, *, label: str = "", advice: str = "") -> None:
        """Add a warning at a setting's value."""
        self.warnings.append(Diagnostic(code, at.source, at.span, message, label, advice))
