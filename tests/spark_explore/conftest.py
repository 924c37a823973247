"""One Spark at a time: sessions and the cluster that tests share, started when the first test asks."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from contextlib import ExitStack

import pytest
from pyspark.sql import SparkSession

from spark_explore.cluster.session import SparkSettings, session
from tests.spark_cluster import LOCAL, Cluster, cluster


class Desk:
    """The session that tests share: of one master, until a test asks for another.

    A test that starts a session of its own asks for `desk` and calls `clear` first.
    """

    def __init__(self) -> None:
        self._open = ExitStack()
        self._settings: SparkSettings | None = None
        self._spark: SparkSession | None = None

    def get(self, settings: SparkSettings) -> SparkSession:
        if self._spark is None or settings != self._settings:
            self.clear()
            self._spark = self._open.enter_context(session(settings))
            self._settings = settings
        return self._spark

    def clear(self) -> None:
        self._spark = None
        self._open.close()


@pytest.fixture(scope="session")
def desk() -> Iterator[Desk]:
    desk = Desk()
    with contextlib.closing(desk._open):
        yield desk


@pytest.fixture(scope="session")
def spark_cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """A master and two workers, shared by all tests of this process."""
    with cluster(tmp_path_factory.mktemp("cluster")) as made:
        yield made


@pytest.fixture
def local_spark(desk: Desk) -> SparkSession:
    """A session on this machine, with two cores, shared."""
    return desk.get(LOCAL)


@pytest.fixture
def cluster_spark(desk: Desk, spark_cluster: Cluster) -> SparkSession:
    """A session on the cluster, with an executor on each of its two workers, shared."""
    return desk.get(spark_cluster.settings())
