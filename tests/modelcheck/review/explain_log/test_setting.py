"""A cluster is of the release that its metadata.version names."""

from __future__ import annotations

import pytest

from broker_files.metadata_image import MetadataImage
from broker_files.metadata_records import FeatureLevel
from modelcheck.review.explain_log.setting import Setting, setting
from modelcheck.review.explain_log.spine import TopicSettings
from tests.modelcheck.review.explain_log.walks import walk

MIN_ISR = TopicSettings(min_isr=1)


def of_level(level: int) -> Setting:
    image = MetadataImage()
    image.apply(FeatureLevel("metadata.version", level))
    return setting(walk(1).observed, image, MIN_ISR, "all")


@pytest.mark.parametrize(
    ("level", "release"),
    [(25, "4.0-IV0"), (26, "4.1-IV0"), (27, "4.1-IV0"), (28, "4.2-IV0"), (29, "4.2-IV0"), (30, "4.3-IV0")],
)
def test_a_level_of_metadata_version_is_of_a_release(level: int, release: str) -> None:
    found = of_level(level)

    assert (found.release, found.assumed) == (release, ())


def test_a_level_that_is_newer_than_known_is_told() -> None:
    found = of_level(31)

    assert found.release == "4.3-IV0"
    assert found.assumed == ("metadata.version 31 is newer than any known here; taken as 4.3.",)
