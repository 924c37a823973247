"""`kafka review --bootstrap`, with a broker that answers as it is given."""

from __future__ import annotations

import json
import socket
import ssl
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("kafka", reason="needs the extra modelcheck[kafka]")

import modelcheck.kafka.live.connection as connection
from modelcheck.cli import main
from modelcheck.contract.exits import Exit
from modelcheck.kafka.live.cluster import describe
from modelcheck.kafka.live.description import (
    BrokerDescription,
    ClusterDescription,
    ShownRelease,
    ShownSetting,
    TopicDescription,
)
from modelcheck.kafka.live.readings import readings
from modelcheck.kafka.live.security import Credentials, Security, read_security
from modelcheck.kafka.settings.readings import About, Partition, SettingLayer
from modelcheck.kafka.settings.resolution.settings import resolve
from spec.diagnostics import SpecError
from tests.modelcheck.kafka.live.fake_broker import FakeBroker

JAAS = "sasl.jaas.config=org.apache.kafka.common.security.plain.PlainLoginModule required"
OPENSSL = "openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=localhost"
Ran = tuple[int, str, str]
Run = Callable[..., Ran]


@pytest.fixture
def review(capsys: pytest.CaptureFixture[str]) -> Run:
    """Run the command for a broker; the exit code, the output and the errors."""

    def run(broker: FakeBroker | str, *args: str | Path) -> Ran:
        address = broker if isinstance(broker, str) else str(broker.address)
        words = ["kafka", "review", "--bootstrap", address, "--faults", "0", "--timeout", "3"]
        code = main([*words, *map(str, args)])
        return code, *capsys.readouterr()

    return run


def data(ran: Ran) -> Any:  # noqa: ANN401
    code, out, err = ran
    assert code in (Exit.EXPECTED, Exit.VIOLATED), err
    return json.loads(out)


def used(found: Any) -> dict[str, Any]:  # noqa: ANN401
    return {one["key"]: (one["value"], one["origin"]["file"]) for one in found["settings"]["used"]}


# ------------------------------------------------------------------ what is read


def test_settings_have_their_broker_or_topic_as_origin(review: Run) -> None:
    with FakeBroker() as broker:
        found = data(review(broker, "--json"))

        where = broker.address
        assert used(found)["min.insync.replicas"] == (2, f"topic orders ({where})")
        assert used(found)["process.roles"] == ("broker", f"broker 1 ({where})")
        assert found["settings"]["kafka"]["value"] == "4.1"
        assert found["settings"]["brokers"]["value"] == 3
        assert found["settings"]["voters"]["value"] == 3
        assert found["settings"]["switches"]["eligible_leader_replicas"]["value"] is False


def test_only_requests_that_read_are_sent(review: Run) -> None:
    with FakeBroker() as broker, FakeBroker(without=frozenset({"DescribeTopicPartitions"})) as older:
        review(broker)
        review(older)

        assert {name for name, _ in broker.asked} == {
            "ApiVersions",
            "DescribeCluster",
            "DescribeConfigs",
            "DescribeQuorum",
            "DescribeTopicPartitions",
            "ListPartitionReassignments",
        }
        named = [request for name, request in older.asked if name == "Metadata"]
        assert [(one.topics, one.allow_auto_topic_creation) for one in named] == [(None, False)]


@pytest.mark.parametrize(
    "request_", ["CreateTopicsRequest", "IncrementalAlterConfigsRequest", "ProduceRequest"]
)
def test_a_request_that_writes_cannot_be_made(request_: str) -> None:
    with pytest.raises(AssertionError, match="none of the requests that read"):
        connection._message(request_)


def test_no_secret_setting_is_asked_for(review: Run) -> None:
    with FakeBroker() as broker:
        review(broker)

        asked = [
            key
            for name, request in broker.asked
            if name == "DescribeConfigs"
            for resource in request.resources
            for key in resource.configuration_keys
        ]
        assert "min.insync.replicas" in asked
        assert not [key for key in asked if "password" in key or "jaas" in key or "ssl" in key]


def test_a_partition_with_a_replica_out_of_sync_is_answered_from_its_state(review: Run) -> None:
    with FakeBroker(isr=(1, 2)) as broker:
        _, out, _ = review(broker)

    said = " ".join(out.split())
    assert "Today, partition 0 of orders: leader 1, in sync 1,2, eligible none, of replicas 1, 2, 3" in said


def test_eligible_leader_replicas_are_part_of_the_state(review: Run) -> None:
    with FakeBroker(isr=(1,), elr=(2,), elr_level=1) as broker:
        found = data(review(broker, "--json"))

        (state,) = found["today"]["states"]
        assert (state["state"]["isr"], state["state"]["elr"]) == ([1], [2])
        assert found["settings"]["switches"]["eligible_leader_replicas"]["value"] is True


def test_a_broker_without_eligible_leader_replicas_is_asked_for_metadata(review: Run) -> None:
    older = frozenset({"DescribeTopicPartitions", "DescribeCluster"})
    with FakeBroker(without=older, isr=(1,), level=20) as broker:
        found = data(review(broker, "--json"))

        assert found["settings"]["kafka"]["value"] == "3.8"
        assert found["today"]["states"][0]["state"]["elr"] is None
        assert "hold replicas" in found["settings"]["brokers"]["reason"]


def test_topics_of_all_answers_are_put_together() -> None:
    with FakeBroker(topics=("a", "b", "c"), limit=1) as broker:
        connection.begin()
        found = describe([broker.address], Security(), 3)

    assert [topic.name for topic in found.topics] == ["a", "b", "c"]


def test_without_a_metadata_version_the_release_is_that_of_its_requests() -> None:
    with FakeBroker(level=0, without=frozenset({"DescribeQuorum"})) as broker:
        connection.begin()
        found = describe([broker.address], Security(), 3)

        facts = {fact.about: fact for reading in readings(found, "orders") for fact in reading.facts}
        assert facts[About.CONTROLLER].value == "zookeeper"
        assert facts[About.VERSION].words == "the versions of the APIs that the broker has"


def test_a_broker_that_is_down_is_named_with_what_is_not_known(review: Run) -> None:
    with FakeBroker() as broker:
        _, out, _ = review(broker)

    assert "broker 2 was not asked for its settings, which are not known: it is down" in " ".join(out.split())


def test_a_broker_that_is_too_old_is_a_mistake(review: Run) -> None:
    with FakeBroker(without=frozenset({"DescribeConfigs"})) as broker:
        code, _, err = review(broker)

    assert code == Exit.WRONG
    assert "has no version of the request DescribeConfigs that is known here" in err


def test_a_partition_that_is_being_moved_is_named() -> None:
    with FakeBroker(moving=True) as broker:
        connection.begin()
        notes = readings(describe([broker.address], Security(), 3), "orders")[0].notes

    assert "partition 0 of orders is being moved (adding replicas 4, removing replicas 1)" in " ".join(notes)


def test_a_cluster_of_another_product_is_refused(review: Run) -> None:
    with FakeBroker(cluster_id="redpanda.0b4b5a4e") as broker:
        code, _, err = review(broker)

    assert code == Exit.WRONG
    assert "error[R0735]: this cluster is of Redpanda, which replicates by a protocol of its own" in err


def test_brokers_that_differ_are_reviewed_as_the_worse_and_both_are_named() -> None:
    def broker(id_: int, unclean: str) -> BrokerDescription:
        own = (
            ShownSetting("unclean.leader.election.enable", unclean, SettingLayer.BROKER_STATIC),
            ShownSetting("unclean.leader.election.enable", "false", SettingLayer.DEFAULT),
        )
        return BrokerDescription(id_, connection.Address("k", 9090 + id_), None, settings=own)

    release = ShownRelease("4.1", "the test")
    topic = TopicDescription("orders", (Partition(0, 1, (1, 2), (1, 2)),), ())
    cluster = ClusterDescription(
        connection.Address("k", 9091),
        (broker(1, "false"), broker(2, "true")),
        (topic,),
        {},
        release,
        is_kraft=True,
        quorum=None,
        all_brokers=True,
        moves={},
    )

    found = resolve(readings(cluster, "orders"), topic="orders")

    assert found.value("unclean.leader.election.enable").why == "broker static at broker 2 (k:9092)"
    assert [(one.code, one.notes[0].source.name) for one in found.warnings] == [
        ("R0724", "broker 1 (k:9091)")
    ]


def test_a_producer_of_a_file_counts_with_the_cluster(review: Run, tmp_path: Path) -> None:
    producer = tmp_path / "producer.properties"
    producer.write_text("acks=1\nbootstrap.servers=x:1\n")
    with FakeBroker() as broker:
        found = data(review(broker, producer, "--json"))

        assert used(found)["acks"] == ("1", str(producer))


def test_a_file_about_brokers_is_refused_at_its_line(review: Run, tmp_path: Path) -> None:
    server = tmp_path / "server.properties"
    server.write_text("process.roles=broker\nmin.insync.replicas=1\n")
    with FakeBroker() as broker:
        code, _, err = review(broker, server)

    assert code == Exit.WRONG
    assert f"{server}:1:1: error[R0763]" in err
    assert "--against-bootstrap" in err


def test_files_are_compared_with_what_runs(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    topics = tmp_path / "topics.txt"
    topics.write_text("Topic: orders PartitionCount: 1 ReplicationFactor: 1 Configs: min.insync.replicas=1\n")
    with FakeBroker(topics=("clicks", "orders")) as broker:
        words = ["kafka", "review", str(topics), "--kafka", "4.1", "--faults", "1", "--no-worse"]
        code = main([*words, "--against-bootstrap", str(broker.address)])
        out = capsys.readouterr().out
        where = broker.address

    assert code == Exit.VIOLATED
    assert f"min.insync.replicas: 2 (topic orders ({where}))" in " ".join(out.split())


def test_of_all_topics_one_at_risk_now_is_first(review: Run) -> None:
    class OneIll(FakeBroker):
        def _partition(self, number: int) -> dict[str, Any]:
            found = super()._partition(number)
            self.seen = getattr(self, "seen", 0) + 1
            return found | ({"isr_nodes": [1]} if self.seen == 2 else {})

    with OneIll(topics=("a", "b", "c")) as broker:
        found = data(review(broker, "--all-topics", "--json"))

        assert found["topics"][0]["name"] == "b"


# ------------------------------------------------------------------ what may not be seen


def test_settings_of_a_topic_that_may_not_be_seen_are_not_assumed(review: Run) -> None:
    with FakeBroker(codes={"topic": 29}) as broker:
        code, _, err = review(broker)

    assert code == Exit.WRONG
    assert "error[R0761]: this user may not see the settings of 1 topic (orders)" in err
    assert "--operation DescribeConfigs" in err


def test_settings_of_brokers_that_may_not_be_seen_are_those_that_topics_inherit(review: Run) -> None:
    own = {"min.insync.replicas": (4, "2"), "unclean.leader.election.enable": (4, "true")}
    with FakeBroker(codes={"broker": 31, "DescribeQuorum": 31, "moves": 31}, own=own) as broker:
        found = data(review(broker, "--json"))

        assert used(found)["unclean.leader.election.enable"] == (True, f"topic orders ({broker.address})")
        notes = " ".join(found["settings"]["notes"])
        assert "needs DescribeConfigs on the cluster" in notes
        assert "the controllers that vote are not known (it needs Describe on the cluster)" in notes
        assert "whether replicas are being moved is not known (it needs Describe on the cluster)" in notes


def test_a_user_who_sees_nothing_gets_no_answer(review: Run) -> None:
    with FakeBroker(codes={"broker": 31}, topics=()) as broker:
        code, _, err = review(broker)

    assert code == Exit.WRONG
    assert "error[R0761]: the cluster shows this user no settings" in err


def test_a_topic_that_is_not_shown_is_a_mistake(review: Run) -> None:
    with FakeBroker() as broker:
        code, _, err = review(broker, "--topic", "order")

    assert code == Exit.WRONG
    assert "the cluster shows this user no topic `order`" in err
    assert "did you mean `orders`?" in err


# ------------------------------------------------------------------ users and secrets


def secret_properties(folder: Path, password: str) -> Path:
    path = folder / "client.properties"
    path.write_text(
        "security.protocol=SASL_PLAINTEXT\nsasl.mechanism=PLAIN\n"
        f'{JAAS} username="reader" \\\n  password="{password}";\n'
    )
    return path


def test_a_user_is_let_in_and_no_password_is_kept(review: Run, tmp_path: Path) -> None:
    config = secret_properties(tmp_path, "s3cret")
    files = {option: tmp_path / f"r{option}" for option in ("--sarif", "--junit", "--html")}
    given = [word for pair in files.items() for word in pair]
    with FakeBroker(users={"reader": "s3cret"}) as broker:
        code, out, err = review(broker, "--bootstrap-config", config, "--timings", "-v", *given)

    assert code == Exit.EXPECTED, err
    texts = [out, err, *(path.read_text() for path in files.values())]
    assert not [text for text in texts if "s3cret" in text]
    assert str(config) in files["--html"].read_text()


def test_a_wrong_password_is_not_shown(review: Run, tmp_path: Path) -> None:
    config = secret_properties(tmp_path, "wr0ng")
    sarif = tmp_path / "r.sarif"
    with FakeBroker(users={"reader": "s3cret"}) as broker:
        code, out, err = review(broker, "--bootstrap-config", config, "--sarif", sarif, "--json")

    assert code == Exit.WRONG
    assert "does not let the user `reader` in: authentication failed" in out + err
    assert "wr0ng" not in out + err + sarif.read_text()


def test_a_mechanism_that_the_broker_lacks_is_named_with_those_it_has(review: Run, tmp_path: Path) -> None:
    with FakeBroker(codes={"SaslHandshake": 33}) as broker:
        code, _, err = review(broker, "--bootstrap-config", secret_properties(tmp_path, "x"))

    assert code == Exit.WRONG
    assert "does not take the SASL mechanism PLAIN; it has: PLAIN" in err


@pytest.mark.parametrize(
    ("text", "password"),
    [
        (f'{JAAS} username="u" password="p;\\"q=1";', 'p;"q=1'),
        (f"{JAAS} password='p' username=u ;", "p"),
        (f'{JAAS} \\\n  username="u" \\\n  password="a b";', "a b"),
    ],
)
def test_a_login_is_read_as_java_reads_it(text: str, password: str) -> None:
    text = text.replace('\\"', '\\\\"')  # as .properties escape it
    found = read_security("c", f"security.protocol=SASL_SSL\nsasl.mechanism=PLAIN\n{text}\n")

    assert found.user == Credentials("PLAIN", "u", password)
    assert found.tls
    assert password not in repr(found)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (
            "security.protocol=SASL_SSL\nsasl.jaas.config=x",
            "the SASL mechanism GSSAPI, which is not supported",
        ),
        ("security.protocol=SASL_SSL\nsasl.mechanism=PLAIN\nsasl.jaas.config=s3cret", "no user and password"),
        ("security.protocol=s3cret", "sets no known `security.protocol`"),
        (
            "security.protocol=SSL\nssl.truststore.location=t.jks\nssl.truststore.password=s3cret",
            "keytool -list",
        ),
        ("security.protocol=SSL\nssl.keystore.type=PKCS12\nssl.keystore.location=k", "openssl pkcs12"),
        ("security.protocol=SSL\nssl.keystore.key=s3cret", "has the client's key in `ssl.keystore.key`"),
        ("config.providers=file", "names `config.providers`"),
        ("security.protocol=\\u12 s3cret", "is no properties file"),
    ],
)
def test_what_only_java_has_is_refused_with_what_to_write(text: str, says: str) -> None:
    with pytest.raises(SpecError) as refused:
        read_security("client.properties", text)

    assert "error[R0762]" in str(refused.value)
    assert says in str(refused.value)
    assert "s3cret" not in str(refused.value)


# ------------------------------------------------------------------ what does not answer


@pytest.fixture
def server() -> Any:  # noqa: ANN401
    with socket.create_server(("127.0.0.1", 0)) as made:
        yield made


def says(server: socket.socket, answer: bytes | None) -> str:
    """Have a server answer one connection, or keep silent for None; its address."""

    def talk() -> None:
        other, _ = server.accept()
        with other:
            if answer is None:
                other.recv(1)
                threading.Event().wait(2)
            else:
                other.recv(1000)
                other.sendall(answer)

    threading.Thread(target=talk, daemon=True).start()
    return f"127.0.0.1:{server.getsockname()[1]}"


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        (
            b"HTTP/1.1 400 Bad Request\r\n\r\n",
            "does not speak Kafka's protocol (its answer begins with `HTTP`)",
        ),
        (b"\x15\x03\x03\x00\x02\x02\x50", "this address speaks TLS"),
        (b"\x00\x00\x00\x08\xff\xff\xff\xff\xff\xff\xff\xff", "what is not Kafka's protocol"),
        (b"", "if this listener is one of TLS, write security.protocol=SSL"),
    ],
)
def test_what_is_no_broker_is_told_apart(
    review: Run, server: socket.socket, answer: bytes, expected: str
) -> None:
    code, _, err = review(says(server, answer))

    assert code == Exit.WRONG
    assert expected in err


def test_a_broker_that_keeps_silent_ends_the_wait(review: Run, server: socket.socket) -> None:
    code, _, err = review(says(server, None), "--timeout", "0.3")

    assert code == Exit.WRONG
    assert "gave no answer to ApiVersions within 0.3 s" in err


def test_servers_that_are_not_there_are_named_one_by_one(review: Run, server: socket.socket) -> None:
    port = server.getsockname()[1]
    server.close()
    code, _, err = review(f"127.0.0.1:{port},no-such-host.invalid:9092")

    assert code == Exit.WRONG
    assert f"127.0.0.1:{port}: error[R0760]: this address cannot be reached" in err
    assert "no-such-host.invalid:9092: error[R0760]: this address is a host that has no address here" in err


def test_a_certificate_that_is_not_trusted_is_a_mistake_until_it_is_given(
    review: Run, tmp_path: Path
) -> None:
    made = subprocess.run(
        [*OPENSSL.split(), "-addext", "subjectAltName=IP:127.0.0.1", "-keyout", "k.pem", "-out", "c.pem"],
        cwd=tmp_path,
        capture_output=True,
        check=False,
    )
    if made.returncode:
        pytest.skip("needs openssl")
    config = tmp_path / "client.properties"
    config.write_text("security.protocol=SSL\n")
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(tmp_path / "c.pem", tmp_path / "k.pem")
    with FakeBroker(tls=context) as broker:
        code, _, err = review(broker, "--bootstrap-config", config)
        assert (code, "certificate that is not trusted" in err) == (Exit.WRONG, True)

        trust = f"ssl.truststore.type=PEM\nssl.truststore.location={tmp_path / 'c.pem'}\n"
        config.write_text(f"security.protocol=SSL\n{trust}")
        code, _, err = review(broker, "--bootstrap-config", config)
        assert code == Exit.EXPECTED, err


def test_a_listener_without_tls_is_told_so(review: Run, tmp_path: Path, server: socket.socket) -> None:
    config = tmp_path / "client.properties"
    config.write_text("security.protocol=SSL\n")
    code, _, err = review(says(server, b"HTTP/1.1 400 Bad Request\r\n\r\n"), "--bootstrap-config", config)

    assert code == Exit.WRONG
    assert "has no TLS with us: it does not speak TLS" in err


# ------------------------------------------------------------------ the command line


@pytest.mark.parametrize(
    ("words", "says"),
    [
        ((), "give at least one FILE, or --bootstrap HOST:PORT"),
        (("--bootstrap", "localhost"), "'localhost' is no HOST:PORT"),
        (("--bootstrap", "localhost:99999"), "is no HOST:PORT"),
        (("--bootstrap-config", "c", "f"), "--bootstrap-config is of a running cluster"),
        (("--timeout", "3", "f"), "--timeout is of a running cluster"),
    ],
)
def test_half_an_option_is_refused(
    words: tuple[str, ...], says: str, capsys: pytest.CaptureFixture[str]
) -> None:
    code = main(["kafka", "review", *words])

    assert code == Exit.WRONG
    assert says in " ".join(capsys.readouterr().err.split())


def test_without_the_extra_the_message_has_how_to_install_it(
    review: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    connection._library.cache_clear()
    monkeypatch.setitem(sys.modules, "kafka", None)
    monkeypatch.setitem(sys.modules, "kafka.errors", None)
    code, _, err = review("127.0.0.1:1")

    assert code == Exit.WRONG
    assert "pip install 'modelcheck[kafka]'" in err
