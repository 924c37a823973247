"""A cluster is of the release that its metadata.version names."""

from __future__ import annotations

import pytest

from modelcheck.kafka.files.metadata.image import MetadataImage
from modelcheck.kafka.files.metadata.records import FeatureLevel
from modelcheck.kafka.incident.explain_log.configuration import Setting, setting
from modelcheck.kafka.incident.explain_log.metadata_timeline import TopicSettings
from modelcheck.kafka.incident.explain_log.observations import Back, Decided, Gone, Observed
from tests.modelcheck.kafka.explain_log.walks import SAID, searched, walk

MIN_ISR = TopicSettings(min_isr=1)
NOBODY: frozenset[int] = frozenset()
# As the metadata log of a controller of 4.2.2 has it: one of two is shut down, the other loses its disk and
# comes back, and its new directory is written with an empty ELR.
FORGOTTEN = (
    Decided(0, 1, frozenset({0, 1}), NOBODY, SAID),
    Decided(0, 1, frozenset({0}), frozenset({1}), SAID),
    Gone(1, SAID),
    Decided(None, 1, NOBODY, frozenset({0, 1}), SAID),
    Gone(0, SAID),
    Decided(None, 1, NOBODY, frozenset({1}), SAID),
    Back(0, new_directory=True, evidence=SAID),
    Decided(None, 1, NOBODY, NOBODY, SAID),
)


def of_level(level: int) -> Setting:
    image = MetadataImage()
    image.apply(FeatureLevel("metadata.version", level))
    return setting(walk(1).observed, image, MIN_ISR, "all")


@pytest.mark.parametrize(
    ("level", "release"),
    [
        (25, "4.0-IV0"),
        (26, "4.1-IV0"),
        (27, "4.1-IV0"),
        (28, "4.2-IV0"),
        (29, "4.2-IV0"),
        (30, "4.3-IV0"),
        (31, "4.4-IV0"),
        (32, "4.4-IV0"),
        (33, "4.4-IV2"),
    ],
)
def test_a_level_of_metadata_version_is_of_a_release(level: int, release: str) -> None:
    found = of_level(level)

    assert (found.release, found.assumed) == (release, ())


def test_a_level_that_is_newer_than_known_is_told() -> None:
    found = of_level(34)

    assert found.release == "4.4-IV2"
    assert found.assumed == ("metadata.version 34 is newer than any known here; assumed: 4.4.",)


@pytest.mark.parametrize(("level", "is_explained"), [(26, True), (29, True), (30, False), (33, False)])
def test_a_new_directory_empties_the_elr_up_to_4_2(level: int, *, is_explained: bool) -> None:
    features = {"metadata.version": level, "eligible.leader.replicas.version": 1}
    seen = Observed(("b1", "b2"), FORGOTTEN, {}, (), whole=True)
    _, found = searched(seen, TopicSettings(min_isr=2), features)

    assert (found.run is not None) is is_explained
    assert is_explained or found.complete
