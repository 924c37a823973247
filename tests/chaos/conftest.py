"""What the tests of chaos share with those of Kafka."""

from __future__ import annotations

from tests.modelcheck.kafka.conftest import real_home

__all__ = ["real_home"]
