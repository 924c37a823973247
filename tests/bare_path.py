"""A PATH with a few programs and nothing else."""

from __future__ import annotations

import shutil
from collections.abc import Iterable
from pathlib import Path


def only(programs: Iterable[str], folder: Path) -> str:
    """A PATH of one folder, made here, with those of the programs that there are."""
    folder.mkdir()
    for program in programs:
        if (found := shutil.which(program)) is not None:
            (folder / program).symlink_to(found)
    return str(folder)
