"""The keys that decide what a Kafka partition may lose, and those that matter beside the model.

Defaults and first releases are those of apache/kafka's sources: the classes
KafkaConfig, ProducerConfig, TopicConfig and their successors, tags 0.8.0 to 4.x; those of 4.1.0, 4.2.2,
4.3.1 and 4.4.0 were compared with what the ConfigDefs of their classes hold, and are the same in all four.
Where the model has them, they stand there (NOTE(releases)).
"""

from __future__ import annotations

from modelcheck.kafka.settings.keys.irrelevant import IRRELEVANT, IRRELEVANT_PREFIXES
from modelcheck.kafka.settings.keys.key import NEVER, CatalogueKey, Default, Reader, Standing, Type, is_near
from modelcheck.kafka.settings.keys.outside import OUTSIDE
from modelcheck.kafka.settings.keys.versions import OLDEST, of

BOTH = (Reader.TOPIC, Reader.BROKER)
BROKER = (Reader.BROKER,)

# How long a name was read, where that differs from the key's own time: the Scala
# producer's name went with that producer, and the Java producer came with 0.8.2.
NAME_LIFETIMES = {"request.required.acks": (OLDEST, of(1, 1)), "acks": (of(0, 8, 2), None)}

MODELLED: tuple[CatalogueKey, ...] = (
    CatalogueKey(
        "acks",
        Standing.MODELLED,
        Type.ACKS,
        (Reader.PRODUCER,),
        "how many replicas must have a record before the producer is told that it is safe",
        other_names=("request.required.acks",),
        of_model=True,
    ),
    CatalogueKey(
        "enable.idempotence",
        Standing.MODELLED,
        Type.BOOLEAN,
        (Reader.PRODUCER,),
        "makes retries write a record once; it needs acks=all, so it decides acks where that is not given",
        first=of(0, 11, 0),
        own_defaults=(  # 3.0.0 and 3.1.0 had it in writing only (KAFKA-13598)
            Default(of(0, 11, 0), "false"),
            Default(of(3, 0, 1), "true"),
            Default(of(3, 1, 0), "false"),
            Default(of(3, 1, 1), "true"),
        ),
    ),
    CatalogueKey(
        "transactional.id",
        Standing.MODELLED,
        Type.TEXT,
        (Reader.PRODUCER,),
        "makes the producer transactional, and with that idempotent; of transactions the model has none",
        first=of(0, 11, 0),
    ),
    CatalogueKey(
        "unclean.leader.election.enable",
        Standing.MODELLED,
        Type.BOOLEAN,
        BOTH,
        "whether a replica outside the in-sync set may become leader when no other is left",
        first=of(0, 8, 2),
        of_model=True,
        absent="any replica alive becomes leader when no in-sync one is left",
    ),
    CatalogueKey(
        "min.insync.replicas",
        Standing.MODELLED,
        Type.INT,
        BOTH,
        "how many in-sync replicas there must be for a write with acks=all to be accepted",
        first=of(0, 8, 2),
        of_model=True,
        low=1,
        absent="one in-sync replica, the leader, is enough for every write",
    ),
    CatalogueKey(
        "default.replication.factor",
        Standing.MODELLED,
        Type.INT,
        BROKER,
        "how many replicas a topic gets that is created without saying how many",
        own_defaults=(Default(OLDEST, "1"),),
        low=1,
    ),
    CatalogueKey(
        "log.flush.interval.messages",
        Standing.MODELLED,
        Type.LONG,
        BOTH,
        "after how many records the log is forced to the disk; later ones may be lost with the machine",
        topic_name="flush.messages",
        own_defaults=(Default(OLDEST, "10000"), Default(of(0, 8, 1), NEVER)),
        low=0,
    ),
    CatalogueKey(
        "auto.leader.rebalance.enable",
        Standing.MODELLED,
        Type.BOOLEAN,
        BROKER,
        "moves leadership back to the preferred replica",
        first=of(0, 8, 1),
        of_model=True,
        absent="leadership goes back to the preferred replica when somebody asks for it",
    ),
    CatalogueKey(
        "controlled.shutdown.enable",
        Standing.MODELLED,
        Type.BOOLEAN,
        BROKER,
        "hands leaderships over before a broker stops",
        own_defaults=(Default(OLDEST, "false"), Default(of(0, 8, 2), "true")),
    ),
    CatalogueKey(
        "process.roles",
        Standing.MODELLED,
        Type.ROLES,
        BROKER,
        "makes the process a KRaft broker, controller or both; without it the broker needs ZooKeeper",
        first=of(2, 8),
    ),
    CatalogueKey(
        "zookeeper.connect",
        Standing.MODELLED,
        Type.TEXT,
        BROKER,
        "the ZooKeeper ensemble that elects the controller and keeps in-sync sets",
        last=of(3, 9),
    ),
    CatalogueKey(
        "inter.broker.protocol.version",
        Standing.MODELLED,
        Type.PROTOCOL,
        BROKER,
        "what brokers speak among themselves; an old one keeps the old truncation rule alive",
        first=of(0, 9, 0),
        last=of(3, 9),
    ),
    CatalogueKey(
        "metadata.version",
        Standing.MODELLED,
        Type.PROTOCOL,
        BROKER,
        "the finalized feature level of a KRaft cluster: what its brokers and controllers may rely on",
        first=of(3, 3),
    ),
    CatalogueKey(
        "log.message.format.version",
        Standing.MODELLED,
        Type.PROTOCOL,
        BOTH,
        "the format on disk; before 0.11.0 it has no leader epochs, so truncation falls back to the old rule",
        topic_name="message.format.version",
        first=of(0, 10, 0),
        last=of(3, 9),
    ),
    CatalogueKey(
        "eligible.leader.replicas.version",
        Standing.MODELLED,
        Type.INT,
        BROKER,
        "the feature that remembers who left the in-sync set complete (KIP-966): 1 is on",
        first=of(4, 0),
        of_model=True,
        low=0,
    ),
    CatalogueKey(
        "eligible.leader.replicas.enable",
        Standing.MODELLED,
        Type.BOOLEAN,
        BROKER,
        "the preview of KIP-966 as a static switch of the controller",
        first=of(3, 8),
        last=of(3, 9),
        own_defaults=(Default(of(3, 8), "false"),),
    ),
)

_KNOWN = {name: key for key in MODELLED + OUTSIDE for name in key.names}


def find(name: str) -> CatalogueKey | None:
    """The modelled or outside key of this name, by any of its names."""
    return _KNOWN.get(name)


def is_modelled(name: str) -> bool:
    """Whether this is a name of a key that decides the answer."""
    key = find(name)
    return key is not None and key.standing is Standing.MODELLED


def known(name: str) -> CatalogueKey:
    """The modelled or outside key of this name; asking for another is a mistake of ours."""
    return _KNOWN[name]


def is_irrelevant(name: str) -> bool:
    """Whether it is a key of Kafka that has no part in durability or availability here."""
    return name in IRRELEVANT or name.startswith(IRRELEVANT_PREFIXES)


def meant(name: str) -> str:
    """The name of a modelled or outside key that `name` looks like a slip for, or nothing.

    Costs one comparison with each key of the catalogue.
    """
    if name in IRRELEVANT or len(name) > _LONGEST:
        return ""
    if name in _SLIPS:
        return _SLIPS[name]
    return next((candidate for candidate in _KNOWN if is_near(name, candidate)), "")


_LONGEST = 2 * max(map(len, _KNOWN))  # no slip is that far off
# What people write from memory and no spelling rule finds.
_SLIPS = {
    "min.isr": "min.insync.replicas",
    "min.replicas": "min.insync.replicas",
    "required.acks": "request.required.acks",
    "producer.required.acks": "request.required.acks",
    "unclean.election.enable": "unclean.leader.election.enable",
    "allow.unclean.leader.election": "unclean.leader.election.enable",
    "idempotence": "enable.idempotence",
    # Kafka 0.7 had these, and configurations of old carry them on.
    "zk.connect": "zookeeper.connect",
    "zk.sessiontimeout.ms": "zookeeper.session.timeout.ms",
    "zk.connectiontimeout.ms": "zookeeper.connection.timeout.ms",
    "log.flush.interval": "log.flush.interval.messages",
    "log.default.flush.interval.ms": "log.flush.interval.ms",
    "log.default.flush.scheduler.interval.ms": "log.flush.scheduler.interval.ms",
}
