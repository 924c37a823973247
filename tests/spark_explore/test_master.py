from __future__ import annotations

import socket
from contextlib import nullcontext
from types import SimpleNamespace

import pytest

from modelcheck.contract.engine import CannotStart
from spark_explore.cluster.master import Master, master


@pytest.mark.parametrize(
    "url", ["local", "local[1]", "local[2]", "local[*]", "local[4,3]", "local-cluster[2,1,1024]"]
)
def test_on_this_machine_nobody_has_to_be_found(url: str) -> None:
    assert master(url) == Master(url, "127.0.0.1")
    assert master(url).is_local
    assert master(url).has_executors == url.startswith("local-cluster")


@pytest.mark.parametrize(
    "url",
    " locale local[0] local[x] local-cluster local-cluster[2] local-cluster[0,1,512] spark "
    "spark:// spark://host spark://host:port spark://:7 spark://a:1,b "
    "spark://host:70000 http://host:80 k8s:// yarn-client mesos://host:5050".split(" "),
)
def test_what_is_no_master_is_told_with_what_is_one(url: str) -> None:
    with pytest.raises(CannotStart) as told:
        master(url)

    assert told.value.diagnostics[0].message == (
        f"`{url}` is no master of Spark: give local[2], local-cluster[WORKERS,CORES,MB], "
        "spark://HOST:PORT, yarn or k8s://HOST:PORT"
    )


@pytest.fixture
def port() -> int:
    """A port that nobody listens on."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        return int(server.getsockname()[1])


@pytest.mark.parametrize("kind", ["spark://", "k8s://", "k8s://https://"])
def test_a_master_that_does_not_answer_is_told(kind: str, port: int) -> None:
    with pytest.raises(
        CannotStart, match=f": no master answers at 127.0.0.1:{port} \\(connection refused\\)$"
    ):
        master(f"{kind}127.0.0.1:{port}")


def test_a_host_that_nobody_knows_is_told() -> None:
    with pytest.raises(CannotStart, match=r": no master answers at no-such-host\.invalid:7077 \(.+\)$"):
        master("spark://no-such-host.invalid:7077")


def test_one_master_of_several_is_enough(port: int) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        url = f"spark://127.0.0.1:{port},127.0.0.1:{server.getsockname()[1]}"

        assert master(url) == Master(url, "127.0.0.1")
        assert not master(url).is_local


@pytest.mark.parametrize(("own", "near"), [("10.1.2.3", "10.1.2.3"), ("127.0.0.1", None), ("::1", None)])
def test_a_pod_is_reached_by_its_own_address(
    monkeypatch: pytest.MonkeyPatch, own: str, near: str | None
) -> None:
    """Where a proxy of Kubernetes runs here, Spark knows better."""
    connection = SimpleNamespace(getsockname=lambda: (own, 5))
    monkeypatch.setattr(socket, "create_connection", lambda *_, **__: nullcontext(connection))

    found = master("k8s://https://kubernetes.default.svc")

    assert found.near == near
    assert found.is_kubernetes
    assert found.has_queue


def test_yarn_is_found_by_its_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("HADOOP_CONF_DIR", raising=False)
    monkeypatch.delenv("YARN_CONF_DIR", raising=False)
    with pytest.raises(CannotStart, match="set HADOOP_CONF_DIR or YARN_CONF_DIR"):
        master("yarn")
    monkeypatch.setenv("YARN_CONF_DIR", "/etc/hadoop")

    assert master("yarn") == Master("yarn", None)
