"""What is wrong with a file of a broker: as a value where the rest can still be read, raised where not."""

from __future__ import annotations

from pathlib import Path
from typing import Self

from spec.frozen import frozen


@frozen
class Damage:
    """Something in a file that does not read as Kafka wrote it, from a byte of it on."""

    path: Path
    position: int
    what: str

    def __str__(self) -> str:
        """Where and what, in one line."""
        return f"{self.path} at byte {self.position:,}: {self.what}"


class UnreadableError(Exception):
    """A file or folder that cannot be what it should be, or that the system refuses."""

    def __init__(self, path: Path, what: str) -> None:
        self.path, self.what = path, what
        super().__init__(f"{path}: {what}")

    @classmethod
    def refused(cls, path: Path, error: OSError) -> Self:
        """Damage with the operating system's message about a file that it refuses."""
        return cls(path, (error.strerror or str(error)).lower())
