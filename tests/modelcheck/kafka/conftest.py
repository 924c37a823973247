"""A real release of Kafka, where there is one."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from modelcheck.kafka.reproduce.installation import Home, find


@pytest.fixture
def real_home() -> Home:
    """A real release, as `.ci/run` unpacks it."""
    pytest.importorskip("kafka", reason="needs the extra modelcheck[kafka]")
    named = os.environ.get("KAFKA_HOME")
    if named is None:
        pytest.skip("needs a release of Kafka: KAFKA_HOME names its folder")
    return find(Path(named))
