"""A broker on loopback that answers as it is given, and remembers what it was asked."""

from __future__ import annotations

import socket
import ssl
import struct
import threading
import uuid
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, Self

from modelcheck.kafka.live.connection import READ_ONLY, Address, _message

SIZE = struct.Struct(">i")
HEAD = struct.Struct(">hhi")
ORDERS = {
    "min.insync.replicas": (1, "2"),
    "unclean.leader.election.enable": (5, "false"),
}


@dataclass
class FakeBroker:
    """A broker of a cluster of three; a context.

    `codes` are errors in place of answers, by what is asked; `without` are requests that it has not got;
    `settings` are a broker's and `own` a topic's, each with Kafka's number of their source.
    """

    codes: Mapping[str, int] = field(default_factory=dict)
    without: frozenset[str] = frozenset()
    isr: tuple[int, ...] = (1, 2, 3)
    leader: int = 1
    elr: tuple[int, ...] = ()
    level: int = 27
    elr_level: int = 0
    fenced: tuple[int, ...] = (2, 3)
    topics: tuple[str, ...] = ("orders",)
    settings: Mapping[str, tuple[int, str]] = field(default_factory=lambda: {"process.roles": (4, "broker")})
    own: Mapping[str, tuple[int, str]] = field(default_factory=lambda: ORDERS)
    users: Mapping[str, str] = field(default_factory=dict)
    limit: int = 2000
    cluster_id: str = "c"
    moving: bool = False
    tls: ssl.SSLContext | None = None
    asked: list[tuple[str, Any]] = field(default_factory=list)

    def __enter__(self) -> Self:
        self._server = socket.create_server(("127.0.0.1", 0))
        self._open: list[socket.socket] = []
        threading.Thread(target=self._accept, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.close()
        for each in self._open:
            each.close()

    @property
    def address(self) -> Address:
        return Address("127.0.0.1", self._server.getsockname()[1])

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                connection, _ = self._server.accept()
                self._open.append(connection)
                threading.Thread(target=self._talk, args=(connection,), daemon=True).start()

    def _talk(self, connection: socket.socket) -> None:
        names = {_message(f"{name}Request").API_KEY: name for name in READ_ONLY}
        with suppress(OSError), self._wrapped(connection) as talk, talk.makefile("rb") as stream:
            while len(head := stream.read(SIZE.size)) == SIZE.size:
                (size,) = SIZE.unpack(head)
                data = stream.read(size)
                key, version, number = HEAD.unpack(data[: HEAD.size])
                name = names[key]  # any other request is a failure of the test
                request = _message(f"{name}Request").decode(data, version=version, header=True)
                self.asked.append((name, request))
                fields = getattr(self, f"_{name}")(request)
                if fields is None:
                    return
                response = _message(f"{name}Response")(version=version, **fields)
                response.with_header(correlation_id=number)
                talk.sendall(response.encode(header=True, framed=True))

    def _wrapped(self, connection: socket.socket) -> socket.socket:
        return connection if self.tls is None else self.tls.wrap_socket(connection, server_side=True)

    def _ApiVersions(self, _: Any) -> dict[str, Any]:  # noqa: ANN401, N802
        part = _message("ApiVersionsResponse")
        return {
            "error_code": 0,
            "api_keys": [
                part.ApiVersion(api_key=_message(f"{name}Request").API_KEY, min_version=low, max_version=high)
                for name, (low, high) in READ_ONLY.items()
                if name not in self.without
            ],
            "throttle_time_ms": 0,
            "supported_features": [
                part.SupportedFeatureKey(name="metadata.version", min_version=1, max_version=self.level)
            ],
            "finalized_features_epoch": 1,
            "finalized_features": [
                part.FinalizedFeatureKey(name=name, min_version_level=level, max_version_level=level)
                for name, level in (
                    ("metadata.version", self.level),
                    ("eligible.leader.replicas.version", self.elr_level),
                )
            ],
        }

    def _SaslHandshake(self, _: Any) -> dict[str, Any]:  # noqa: ANN401, N802
        return {"error_code": self.codes.get("SaslHandshake", 0), "mechanisms": ["PLAIN"]}

    def _SaslAuthenticate(self, request: Any) -> dict[str, Any]:  # noqa: ANN401, N802
        _, user, password = bytes(request.auth_bytes).decode().split("\0")
        code = 0 if self.users.get(user) == password else 58
        return {"error_code": code, "error_message": f"no {password}", "auth_bytes": b""}

    def _DescribeCluster(self, _: Any) -> dict[str, Any]:  # noqa: ANN401, N802
        part = _message("DescribeClusterResponse").DescribeClusterBroker
        return {
            "error_code": 0,
            "cluster_id": self.cluster_id,
            "controller_id": 1,
            "brokers": [
                part(
                    broker_id=node,
                    host=self.address.host,
                    port=self.address.port if node == 1 else 1,
                    rack=f"rack{node}",
                    is_fenced=node in self.fenced,
                )
                for node in (1, 2, 3)
            ],
        }

    def _Metadata(self, request: Any) -> dict[str, Any]:  # noqa: ANN401, N802
        part = _message("MetadataResponse")
        topic, partition = part.MetadataResponseTopic, part.MetadataResponseTopic.MetadataResponsePartition
        names = self.topics if request.topics is None else ()
        return {
            "brokers": [
                part.MetadataResponseBroker(
                    node_id=1, host=self.address.host, port=self.address.port, rack=None
                )
            ],
            "topics": [
                topic(error_code=0, name=name, partitions=[partition(**self._partition(0))]) for name in names
            ],
        }

    def _partition(self, number: int) -> dict[str, Any]:
        return {
            "error_code": 0,
            "partition_index": number,
            "leader_id": self.leader,
            "replica_nodes": [1, 2, 3],
            "isr_nodes": list(self.isr),
            "offline_replicas": [],
        }

    def _DescribeTopicPartitions(self, request: Any) -> dict[str, Any]:  # noqa: ANN401, N802
        part = _message("DescribeTopicPartitionsResponse")
        topic = part.DescribeTopicPartitionsResponseTopic
        partition = topic.DescribeTopicPartitionsResponsePartition
        start = 0 if request.cursor is None else self.topics.index(request.cursor.topic_name)
        shown = self.topics[start : start + self.limit]
        rest = self.topics[start + self.limit :]
        return {
            "topics": [
                topic(
                    error_code=0,
                    name=name,
                    partitions=[
                        partition(
                            **self._partition(0),
                            eligible_leader_replicas=list(self.elr),
                            last_known_elr=[],
                        )
                    ],
                )
                for name in shown
            ],
            "next_cursor": part.Cursor(topic_name=rest[0], partition_index=0) if rest else None,
        }

    def _DescribeConfigs(self, request: Any) -> dict[str, Any]:  # noqa: ANN401, N802
        return {"results": [self._configs(each) for each in request.resources]}

    def _configs(self, asked: Any) -> object:  # noqa: ANN401
        result = _message("DescribeConfigsResponse").DescribeConfigsResult
        one = result.DescribeConfigsResourceResult
        kind = "topic" if asked.resource_type == 2 else "broker"
        code = self.codes.get(f"{kind} {asked.resource_name}", self.codes.get(kind, 0))
        if kind == "broker" and asked.resource_name != "1":
            code = 42
        given = self.own if kind == "topic" else self.settings
        secret = one(name="ssl.key.password", value=None, is_sensitive=True, synonyms=[], read_only=True)
        configs = [
            one(
                name=name,
                value=value,
                read_only=False,
                is_sensitive=False,
                synonyms=[one.DescribeConfigsSynonym(name=name, value=value, source=source)],
            )
            for name, (source, value) in given.items()
        ]
        return result(
            error_code=code,
            error_message=None,
            resource_type=asked.resource_type,
            resource_name=asked.resource_name,
            configs=[] if code else [*configs, secret],
        )

    def _ListPartitionReassignments(self, _: Any) -> dict[str, Any]:  # noqa: ANN401, N802
        topic = _message("ListPartitionReassignmentsResponse").OngoingTopicReassignment
        part = topic.OngoingPartitionReassignment
        move = part(partition_index=0, replicas=[1, 2, 3, 4], adding_replicas=[4], removing_replicas=[1])
        moves = [topic(name="orders", partitions=[move])] if self.moving else []
        return {"error_code": self.codes.get("moves", 0), "error_message": None, "topics": moves}

    def _DescribeQuorum(self, _: Any) -> dict[str, Any]:  # noqa: ANN401, N802
        topic = _message("DescribeQuorumResponse").TopicData
        part = topic.PartitionData
        code = self.codes.get("DescribeQuorum", 0)
        voters = (
            []
            if code
            else [
                part.ReplicaState(
                    replica_id=node,
                    replica_directory_id=uuid.UUID(int=0),
                    log_end_offset=1,
                    last_fetch_timestamp=1,
                    last_caught_up_timestamp=1,
                )
                for node in (100, 101, 102)
            ]
        )
        return {
            "error_code": 0,
            "topics": [
                topic(
                    topic_name="__cluster_metadata",
                    partitions=[
                        part(
                            partition_index=0,
                            error_code=code,
                            error_message=None,
                            leader_id=100,
                            leader_epoch=1,
                            high_watermark=1,
                            current_voters=voters,
                            observers=[],
                        )
                    ],
                )
            ],
            "nodes": [],
        }
