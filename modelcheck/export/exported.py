"""What a target makes of a model."""

from __future__ import annotations

from collections.abc import Mapping

from spec.frozen import frozen


@frozen
class Exported:
    """A model in another checker's language: files, commands to run it, and notes.

    `files` gives each file's text by its name, the main one first.  `command`
    are lines for a shell, to be run one after another in the folder of the
    files.  `notes` are sentences on what is left out or counted otherwise.
    """

    files: Mapping[str, str]
    command: tuple[str, ...]
    notes: tuple[str, ...] = ()
