"""Whether all of the metadata was understood: its records, and the levels of its features."""

from __future__ import annotations

from collections.abc import Iterator

from modelcheck.kafka.files.metadata.image import MetadataImage
from modelcheck.kafka.files.metadata.log import MetadataLog
from modelcheck.kafka.settings.keys.levels import RELEASES

ELIGIBLE = "eligible.leader.replicas.version"
KNOWN_LEVELS = {"metadata.version": RELEASES[-1][0], ELIGIBLE: 1}


def is_understood(metadata: MetadataLog | None) -> bool:
    """Whether nothing of the metadata was left out, and all of it means what it did in known releases."""
    if metadata is None:
        return True
    image = metadata.image
    return not metadata.damaged and not image.unknown and not any(unknown_levels(image))


def unknown_levels(image: MetadataImage) -> Iterator[tuple[str, int, int]]:
    """The features with a level above all that are known: their names, levels, and the highest known one."""
    for name, known in KNOWN_LEVELS.items():
        if image.features.get(name, 0) > known:
            yield name, image.features[name], known
