"""`kafka review --bootstrap` of a real cluster with users, of which one broker is down."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from modelcheck.cli import main
from modelcheck.contract.exits import Exit
from modelcheck.kafka.live.cluster import describe
from modelcheck.kafka.live.connection import Address, begin
from modelcheck.kafka.live.security import Security, read_security
from modelcheck.kafka.reproduce.cluster import CONTROLLER, Cluster, until
from modelcheck.kafka.reproduce.installation import Home
from spec.diagnostics import SpecError

USERS = {"admin": "s3cret-of-admin", "reader": "s3cret-of-reader", "stranger": "s3cret-of-stranger"}
LOGIN = "org.apache.kafka.common.security.plain.PlainLoginModule required"
AUTHORIZER = {
    "authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
    "super.users": "User:admin;User:ANONYMOUS",
}
BROKERS = {
    **AUTHORIZER,
    "listener.security.protocol.map": "CONTROLLER:PLAINTEXT,CLIENT:SASL_PLAINTEXT,PEER:PLAINTEXT",
    "sasl.enabled.mechanisms": "PLAIN",
    "listener.name.client.plain.sasl.jaas.config": f"{LOGIN} "
    + " ".join(f'user_{name}="{password}"' for name, password in USERS.items())
    + ";",
    "min.insync.replicas": "2",
    "unclean.leader.election.enable": "true",
}
DESCRIBE, DESCRIBE_CONFIGS = 8, 10  # AclOperation


@contextmanager
def running(home: Home, folder: Path) -> Iterator[Cluster]:
    """A cluster of three brokers."""
    elr = ["eligible.leader.replicas.version=1"]
    with Cluster(home, folder, 3, settings=BROKERS, controllers=AUTHORIZER, features=elr) as cluster:
        cluster.format()
        cluster.start(CONTROLLER, *cluster.brokers)
        yield cluster


def all_run(cluster: Cluster, first: Address, security: Security) -> bool:
    """Whether every broker is there."""
    cluster.check()
    try:
        brokers = describe([first], security, 5).brokers
    except SpecError:
        return False
    return len(brokers) == 3 and not any(broker.is_fenced for broker in brokers)


def administer(first: Address) -> Any:  # noqa: ANN401 - the library has no types
    """A client of the user `admin`."""
    import kafka  # noqa: PLC0415 - an extra

    return kafka.KafkaAdminClient(
        bootstrap_servers=[str(first)],
        security_protocol="SASL_PLAINTEXT",
        sasl_mechanism="PLAIN",
        sasl_plain_username="admin",
        sasl_plain_password=USERS["admin"],
    )


def may_describe(user: str, operation: int, kind: int, name: str) -> Any:  # noqa: ANN401 - no types
    """A permission of a user."""
    from kafka.admin import ACL, ACLOperation, ACLPermissionType, ResourcePattern, ResourceType  # noqa: PLC0415

    resource = ResourcePattern(ResourceType(kind), name)
    return ACL(f"User:{user}", "*", ACLOperation(operation), ACLPermissionType.ALLOW, resource)


def configured(folder: Path, user: str) -> Path:
    """The client properties of a user."""
    path = folder / f"{user}.properties"
    path.write_text(
        "security.protocol=SASL_PLAINTEXT\nsasl.mechanism=PLAIN\n"
        f'sasl.jaas.config={LOGIN} username="{user}" password="{USERS[user]}";\n'
    )
    return path


def test_a_cluster_with_one_broker_down_is_answered_from_its_state(
    real_home: Home, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def review(user: str, *args: str) -> tuple[int, str, str]:
        words = ["--bootstrap", servers, "--bootstrap-config", str(configured(tmp_path, user))]
        code = main(["kafka", "review", *words, "--faults", "0", *args])
        out, err = capsys.readouterr()
        assert not [password for password in USERS.values() if password in out + err]
        return code, out, err

    def data(*args: str) -> Any:  # noqa: ANN401
        code, out, err = review("admin", "--json", *args)
        assert code in (Exit.EXPECTED, Exit.VIOLATED), err
        return json.loads(out)

    (tmp_path / "cluster").mkdir()
    with running(real_home, tmp_path / "cluster") as cluster:
        servers = ",".join(map(cluster.client, cluster.brokers))
        host, port = cluster.client(1).split(":")
        first = Address(host, int(port))
        security = read_security("admin", configured(tmp_path, "admin").read_text())
        begin()
        assert until(lambda: all_run(cluster, first, security), 60)
        admin = administer(first)
        admin.create_topics(
            {
                "orders": {"assignments": {0: [1, 2, 3], 1: [2, 3, 1]}},
                "spare": {"assignments": {0: [3, 1, 2]}, "configs": {"min.insync.replicas": "3"}},
                "clicks": {
                    "assignments": {0: [1, 2]},
                    "configs": {"unclean.leader.election.enable": "false"},
                },
            }
        )
        admin.create_acls([may_describe("reader", DESCRIBE, 2, "orders")])
        admin.close()
        before = data("--topic", "orders")
        cluster.kill(3)

        def is_out() -> bool:
            topics = describe([first], security, 5).topics
            return all(3 not in part.isr for topic in topics for part in topic.partitions)

        assert until(is_out, 60)
        after, spare = data("--topic", "orders"), data("--topic", "spare")
        table = data("--all-topics")
        stranger, reader = review("stranger"), review("reader", "--topic", "orders")

    assert before["today"] is None
    kafka = before["settings"]["kafka"]
    assert kafka["value"] == ".".join(map(str, real_home.release))
    by_key: Mapping[str, Any] = {one["key"]: one for one in before["settings"]["used"]}
    assert by_key["process.roles"]["origin"]["file"] == f"broker 1 ({servers.split(',')[0]})"
    assert by_key["eligible.leader.replicas.version"]["value"] == 1
    states = after["today"]["states"]
    assert [(one["state"]["isr"], one["state"]["replicas"]) for one in states] == [([1, 2], [1, 2, 3])]
    assert states[0]["state"]["partitions"] == [0, 1]
    assert spare["today"]["states"][0]["state"]["elr"] == [3]
    assert spare["today"]["states"][0]["guarantees"]["writable"]["by_kind"]["any"]["lost_with"] == 0
    assert table["topics"][0]["name"] == "spare"
    assert "broker 3 was not asked for its settings" in " ".join(after["settings"]["notes"])
    assert stranger[0] == Exit.WRONG
    assert "the cluster shows this user no settings" in stranger[2]
    assert reader[0] == Exit.WRONG
    assert "this user may not see the settings of 1 topic (orders)" in reader[2]
