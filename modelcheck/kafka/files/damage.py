"""What is wrong with a file of a broker: as a value where the rest can still be read, raised where not."""

from __future__ import annotations

from pathlib import Path
from typing import Self

from spec.frozen import frozen
from spec.reading import reason_of


@frozen
class Damage:
    """The place and description of bytes in a file that Kafka cannot have written."""

    path: Path
    position: int
    what: str

    def __str__(self) -> str:
        """The file, the position and the description, in one line."""
        return f"{self.path} at byte {self.position:,}: {self.what}"


class UnreadableError(Exception):
    """Raised for a file or folder that has the wrong form, or that the system refuses to read."""

    def __init__(self, path: Path, what: str) -> None:
        self.path, self.what = path, what
        super().__init__(f"{path}: {what}")

    @classmethod
    def refused(cls, path: Path, error: OSError) -> Self:
        """The error with the operating system's message."""
        return cls(path, reason_of(error))
