r"""What the lines of `server.log`, `state-change.log` and `controller.log` look like, by release: one table.

A template is a message as Kafka's source has it, with the numbers and names in it as named groups.
`tp` is a partition, as `orders-0` or as `[orders,0]`; `node` the broker that says it; `about` another one.
Messages are not localised, whatever the locale of a broker: only dates are, which are not read here.
"""

from __future__ import annotations

import re
from enum import Enum, auto

from spec.frozen import frozen

TP = r"(?P<tp>\[[\w.-]+,\d+\]|[\w.-]+-\d+)"
SAME = r"(?:\[[\w.-]+,\d+\]|[\w.-]+-\d+)"  # the partition again
OTHER = TP.replace("tp", "tp_")  # where the partition may stand in another place
AT = rf"(?:\[Partition {TP} broker=(?P<node>\d+)\] |Partition {OTHER} on broker (?P<node_>\d+): )"
STATE = r"\[Broker id=(?P<node>\d+)\] "
LOG = rf"\[(?:Unified|Merged)?Log(?:Loader)? partition={TP}, dir=[^\]]*\] "
NUMBERS = r"[\d, ]*"


class Says(Enum):
    """What a line is about."""

    LEADS = auto()
    FOLLOWS = auto()
    TOLD = auto()  # a broker received a state of the partition, and need not change
    SHRINKS = auto()
    EXPANDS = auto()
    ISR = auto()
    STALE = auto()
    LOADED = auto()
    RECOVERED = auto()
    MARK = auto()
    TRUNCATED = auto()
    BELOW_MARK = auto()
    UNFLUSHED = auto()
    CREATED = auto()
    CHANGED = auto()
    ELECTED = auto()
    FENCED = auto()
    UNFENCED = auto()
    LIVE = auto()
    LEAVES = auto()
    STARTS = auto()
    STARTED = auto()
    STOPS = auto()
    STOPPED = auto()
    WAS_CLEAN = auto()
    WAS_UNCLEAN = auto()
    OFFLINE = auto()
    EXPIRED = auto()
    VERSION = auto()


@frozen
class Template:
    """A message: since and until which release, by which loggers, at which level, in which source file.

    `literal` stands in every such line, so that a line without it need not be matched.  `until` is empty
    where the newest release that was looked at, 4.4, still says it.  A `source` is a file of Kafka's.
    """

    says: Says
    literal: str
    message: str
    since: str
    until: str
    loggers: tuple[str, ...]
    level: str
    source: str

    @property
    def pattern(self) -> re.Pattern[str]:
        """The message as an expression, which `re` keeps compiled."""
        return re.compile(self.message)


PARTITION = "core/src/main/scala/kafka/cluster/Partition.scala"
STATE_CHANGE = ("state.change.logger",)
CLUSTER = ("kafka.cluster.Partition",)
LOGS = ("kafka.log.Log", "kafka.log.UnifiedLog", "org.apache.kafka.storage.internals.log.UnifiedLog")
REPLICATION = ("org.apache.kafka.controller.ReplicationControlManager",)
HEARTBEATS = ("org.apache.kafka.controller.BrokerHeartbeatManager",)
MANAGER = ("kafka.log.LogManager", "org.apache.kafka.storage.internals.log.LogManager")
FETCHERS = ("kafka.server.ReplicaFetcherThread", "kafka.server.ReplicaFetcherManager")
SERVERS = ("kafka.server.KafkaServer", "kafka.server.KafkaRaftServer", "kafka.server.BrokerServer")

TEMPLATES: tuple[Template, ...] = (
    # ------------------------------------------------------------ state-change.log
    Template(
        Says.LEADS,
        " starts at leader epoch ",
        rf"{STATE}Leader {TP} with topic id (?:Some\()?(?P<id>[\w-]+)\)? starts at leader epoch"
        r" (?P<epoch>\d+) from offset (?P<offset>\d+)"
        r" with partition epoch (?P<version>\d+), high watermark (?P<mark>\d+), ISR \[(?P<isr>[\d,]*)\]",
        "3.3",
        "",
        STATE_CHANGE,
        "INFO",
        PARTITION,
    ),
    Template(
        Says.LEADS,
        " starts at leader epoch ",
        rf"{STATE}Leader {TP} starts at leader epoch (?P<epoch>\d+) from offset (?P<offset>\d+)"
        r" with high watermark (?P<mark>\d+) ISR \[?(?P<isr>[\d,]*)",
        "2.6",
        "3.2",
        STATE_CHANGE,
        "INFO",
        PARTITION,
    ),
    Template(
        Says.LEADS,
        " starts at leader epoch ",
        rf"{AT}{SAME} starts at leader epoch (?P<epoch>\d+) from offset (?P<offset>\d+)"
        r" with high watermark (?P<mark>\d+)\.",
        "2.4",
        "2.5",
        CLUSTER,
        "INFO",
        PARTITION,
    ),
    Template(
        Says.LEADS,
        " starts at Leader Epoch ",
        rf"{AT}{SAME} starts at Leader Epoch (?P<epoch>\d+) from offset (?P<offset>\d+)\.",
        "0.11",
        "2.3",
        CLUSTER,
        "INFO",
        PARTITION,
    ),
    Template(
        Says.FOLLOWS,
        " starts at leader epoch ",
        rf"{STATE}Follower {TP} starts at leader epoch (?P<epoch>\d+) from offset (?P<offset>\d+)"
        r"(?: with partition epoch (?P<version>\d+) and high watermark (?P<mark>\d+)"
        r"| with high watermark (?P<mark_>\d+))\.(?: Current leader is (?P<leader>-?\d+))?",
        "2.6",
        "",
        STATE_CHANGE,
        "INFO",
        PARTITION,
    ),
    Template(
        Says.TOLD,
        "LeaderAndIsrPartitionState(topicName='",
        r"\[Broker id=(?P<node>\d+)\] .*LeaderAndIsrPartitionState\(topicName='(?P<topic>[\w.-]+)',"
        r" partitionIndex=(?P<partition>\d+), controllerEpoch=-?\d+, leader=(?P<leader>-?\d+),"
        rf" leaderEpoch=(?P<epoch>\d+), isr=\[(?P<isr>{NUMBERS})\],"
        rf" (?:zkVersion|partitionEpoch)=(?P<version>\d+), replicas=\[(?P<replicas>{NUMBERS})\]"
        r"(?:.*Current high watermark (?P<mark>\d+))?",
        "2.4",
        "4.1",
        STATE_CHANGE,
        "TRACE up to 3.2, then INFO",
        "core/src/main/scala/kafka/server/ReplicaManager.scala",
    ),
    Template(
        Says.TOLD,
        ", partition registration PartitionRegistration(",
        rf"{STATE}Skipped the become-\w+ state change for {TP} .*\(replicas=\[(?P<replicas>{NUMBERS})\],.*?"
        rf" isr=\[(?P<isr>{NUMBERS})\],.* leader=(?P<leader>-?\d+),.* leaderEpoch=(?P<epoch>\d+),"
        r" partitionEpoch=(?P<version>\d+)\)(?:.*Current high watermark (?P<mark>\d+))?",
        "4.2",
        "",
        STATE_CHANGE,
        "INFO",
        PARTITION,
    ),
    Template(
        Says.CHANGED,
        "Changed partition ",
        rf"Changed partition {TP} (?:state )?from \w+ to OnlinePartition with (?:state|leader)"
        r" LeaderAndIsr\(leader=(?P<leader>-?\d+), leaderEpoch=(?P<epoch>\d+),"
        rf" (?:isr=List\((?P<isr>{NUMBERS})\)"
        r"|isrWithBrokerEpoch=List\((?P<states>.*?)\), leaderRecoveryState)"
        r".*?(?:zkVersion|partitionEpoch)=(?P<version>\d+)\)",
        "1.1",
        "3.9",
        STATE_CHANGE,
        "TRACE up to 2.5, then INFO",
        "core/src/main/scala/kafka/controller/PartitionStateMachine.scala",
    ),
    Template(
        Says.CHANGED,
        " state changed to (Leader:",
        rf"Partition {TP} state changed to \(Leader:(?P<leader>-?\d+),ISR:(?P<isr>{NUMBERS}),"
        r"(?:LeaderRecoveryState:\w+,)?LeaderEpoch:(?P<epoch>\d+),ZkVersion:(?P<version>\d+),",
        "2.6",
        "3.9",
        STATE_CHANGE,
        "INFO",
        "core/src/main/scala/kafka/controller/ReplicaStateMachine.scala",
    ),
    Template(
        Says.CREATED,
        " to NewPartition with assigned replicas ",
        rf"Changed partition {TP} state from NonExistentPartition to NewPartition with assigned replicas"
        rf" (?P<replicas>{NUMBERS})",
        "0.11",
        "3.9",
        STATE_CHANGE,
        "TRACE up to 2.5, then INFO",
        "core/src/main/scala/kafka/controller/PartitionStateMachine.scala",
    ),
    # ------------------------------------------------------------ server.log, of a partition
    Template(
        Says.SHRINKS,
        "Shrinking ISR from ",
        rf"{AT}Shrinking ISR from (?P<before>{NUMBERS}) to (?P<isr>{NUMBERS})(?: \(under-min-isr\))?\."
        r" Leader: \(highWatermark: (?P<mark>\d+), endOffset: (?P<offset>\d+)\)",
        "2.4",
        "",
        CLUSTER,
        "INFO",
        PARTITION,
    ),
    Template(
        Says.SHRINKS,
        "Shrinking ISR from ",
        rf"{AT}Shrinking ISR from (?P<before>{NUMBERS}) to (?P<isr>{NUMBERS})$",
        "0.11",
        "2.3",
        CLUSTER,
        "INFO",
        PARTITION,
    ),
    Template(
        Says.SHRINKS,
        "Shrinking ISR for partition ",
        rf"Partition {SAME} on broker (?P<node>\d+): Shrinking ISR for partition {TP}"
        rf" from (?P<before>{NUMBERS}) to (?P<isr>{NUMBERS})$",
        "0.8",
        "0.10",
        CLUSTER,
        "INFO",
        PARTITION,
    ),
    Template(
        Says.EXPANDS,
        "Expanding ISR ",
        rf"(?:{AT}|Partition {SAME} on broker (?P<node__>\d+): )Expanding ISR (?:for partition {SAME} )?"
        rf"from (?P<before>{NUMBERS}) to (?P<isr>{NUMBERS})$",
        "0.8",
        "2.7",
        CLUSTER,
        "INFO",
        PARTITION,
    ),
    Template(
        Says.ISR,
        "ISR updated to ",
        rf"{AT}ISR updated to \[?(?P<isr>{NUMBERS}?)\]? *(?:\(under-min-isr\) )? *and"
        r" (?:zkVersion|version) updated to \[?(?P<version>\d+)\]?",
        "0.8",
        "",
        CLUSTER,
        "TRACE up to 2.3, then INFO",
        PARTITION,
    ),
    Template(
        Says.STALE,
        "Cached zkVersion ",
        rf"{AT}Cached zkVersion \[?(?P<version>\d+)\]? not equal to that in zookeeper",
        "0.8",
        "2.7",
        CLUSTER,
        "INFO",
        PARTITION,
    ),
    Template(
        Says.LOADED,
        "Log loaded for partition ",
        rf"{AT}Log loaded for partition {SAME} with initial high watermark (?P<mark>\d+)",
        "2.4",
        "",
        CLUSTER,
        "INFO",
        PARTITION,
    ),
    Template(
        Says.RECOVERED,
        "Completed load of ",
        r"Completed load of Log\(dir=.*?, topic=(?P<topic>[\w.-]+), partition=(?P<partition>\d+),"
        r" highWatermark=\d+,.*? logEndOffset=(?P<offset>\d+)\)",
        "2.8",
        "",
        MANAGER,
        "INFO",
        "core/src/main/scala/kafka/log/LogManager.scala",
    ),
    Template(
        Says.RECOVERED,
        "Completed load of log ",
        rf"{LOG}Completed load of log with \d+ segments, log start offset (?:\d+|\(.*?\)) and log end offset"
        r" (?P<offset>\d+)",
        "1.0",
        "2.7",
        LOGS,
        "INFO",
        "core/src/main/scala/kafka/log/Log.scala",
    ),
    Template(
        Says.RECOVERED,
        "Completed load of log ",
        rf"Completed load of log {TP} with log end offset (?P<offset>\d+)",
        "0.8",
        "0.10",
        LOGS,
        "INFO",
        "core/src/main/scala/kafka/log/Log.scala",
    ),
    Template(
        Says.UNFLUSHED,
        "Recovering unflushed segment ",
        r"Recovering unflushed segment (?P<offset>\d+)"
        rf"(?: in log {TP}|\. [\d./]+ recovered for {OTHER})",
        "0.8",
        "",
        ("kafka.log.Log", "kafka.log.LogLoader", "org.apache.kafka.storage.internals.log.LogLoader"),
        "INFO",
        "core/src/main/scala/kafka/log/LogLoader.scala",
    ),
    Template(
        Says.UNFLUSHED,
        "Recovering unflushed segment ",
        rf"{LOG}Recovering unflushed segment (?P<offset>\d+)$",
        "1.0",
        "3.2",
        ("kafka.log.Log", "kafka.log.LogLoader"),
        "INFO",
        "core/src/main/scala/kafka/log/Log.scala",
    ),
    Template(
        Says.TRUNCATED,
        "Truncating to offset ",
        rf"{LOG}Truncating to offset (?P<offset>\d+)$",
        "1.0",
        "",
        LOGS,
        "INFO",
        "core/src/main/scala/kafka/log/UnifiedLog.scala",
    ),
    Template(
        Says.TRUNCATED,
        "Truncating log ",
        rf"Truncating log {TP} to offset (?P<offset>\d+)\.",
        "0.8.1",
        "0.11",
        LOGS,
        "INFO",
        "core/src/main/scala/kafka/log/Log.scala",
    ),
    Template(
        Says.BELOW_MARK,
        " below high watermark ",
        rf"Truncating {TP} to offset (?P<offset>\d+) below high watermark (?P<mark>\d+)",
        "2.1",
        "",
        (*FETCHERS, *LOGS),  # since 4.2 the log itself
        "WARN",
        "core/src/main/scala/kafka/server/ReplicaFetcherThread.scala",
    ),
    Template(
        Says.MARK,
        "High watermark updated from ",
        rf"{AT}High watermark updated from \(offset=\d+.*? to \(offset=(?P<mark>\d+)",
        "2.4",
        "",
        CLUSTER,
        "DEBUG",
        PARTITION,
    ),
    # ------------------------------------------------------------ controller.log
    Template(
        Says.CREATED,
        "Replayed PartitionRecord for new partition ",
        rf"\[\w+Controller (?:id=|nodeId=)\d+\] Replayed PartitionRecord for new partition {TP} with topic ID"
        r" (?P<id>[\w-]+) .*"
        rf"\(replicas=\[(?P<replicas>{NUMBERS})\],.*? isr=\[(?P<isr>{NUMBERS})\],.* leader=(?P<leader>-?\d+),"
        r".* leaderEpoch=(?P<epoch>\d+), partitionEpoch=(?P<version>\d+)\)",
        "3.3",
        "",
        REPLICATION,
        "INFO",
        "metadata/src/main/java/org/apache/kafka/controller/ReplicationControlManager.java",
    ),
    Template(
        Says.ELECTED,
        "UNCLEAN partition change for ",
        rf"UNCLEAN partition change for {TP} with topic ID [^:]*:"
        rf" (?:.*?isr: \[{NUMBERS}\] -> \[(?P<isr>{NUMBERS})\])?"
        r"(?:.*?leader: -?\d+ -> (?P<leader>-?\d+))?.*?leaderEpoch: \d+ -> (?P<epoch>\d+),"
        rf"(?: (?:elr|lastKnownElr): \[{NUMBERS}\] -> \[{NUMBERS}\],)*"
        r" partitionEpoch: \d+ -> (?P<version>\d+)",
        "3.3",
        "",
        REPLICATION,
        "INFO",
        "metadata/src/main/java/org/apache/kafka/controller/ReplicationControlManager.java",
    ),
    Template(
        Says.ELECTED,
        "There's potential data loss",
        rf"No broker in ISR is alive for {TP}\. Elect leader (?P<leader>\d+) from live brokers",
        "0.8",
        "0.11",
        ("kafka.controller.OfflinePartitionLeaderSelector",),
        "WARN",
        "core/src/main/scala/kafka/controller/PartitionLeaderSelector.scala",
    ),
    Template(
        Says.FENCED,
        "Fencing broker ",
        r"Fencing broker (?P<about>\d+) (?:at epoch \d+ )?because its session has timed out",
        "2.8",
        "",
        REPLICATION,
        "INFO",
        "metadata/src/main/java/org/apache/kafka/controller/ReplicationControlManager.java",
    ),
    Template(
        Says.UNFENCED,
        " to unfence has been granted ",
        r"The request from broker (?P<about>\d+) to unfence has been granted because it has caught up",
        "2.8",
        "",
        HEARTBEATS,
        "INFO",
        "metadata/src/main/java/org/apache/kafka/controller/BrokerHeartbeatManager.java",
    ),
    Template(
        Says.LEAVES,
        " has requested and been granted a",
        r"Unfenced broker (?P<about>\d+) has requested and been granted an?"
        r" (?:controlled|immediate) shutdown",
        "2.8",
        "",
        HEARTBEATS,
        "INFO",
        "metadata/src/main/java/org/apache/kafka/controller/BrokerHeartbeatManager.java",
    ),
    Template(
        Says.LIVE,
        "Newly added brokers: ",
        r"Newly added brokers: (?P<added>[\d,]*), deleted brokers: (?P<deleted>[\d,]*),"
        r"(?: bounced brokers: (?P<bounced>[\d,]*),)? all live brokers: (?P<live>[\d,]*)",
        "0.8",
        "3.9",
        ("kafka.controller.KafkaController", "kafka.controller.ReplicaStateMachine$BrokerChangeListener"),
        "INFO",
        "core/src/main/scala/kafka/controller/KafkaController.scala",
    ),
    # ------------------------------------------------------------ server.log, of the broker itself
    Template(
        Says.STARTS,
        "Transition from SHUTDOWN to STARTING",
        r"\[BrokerServer id=(?P<node>\d+)\] Transition from SHUTDOWN to STARTING",
        "2.8",
        "",
        SERVERS,
        "INFO",
        "core/src/main/scala/kafka/server/BrokerServer.scala",
    ),
    Template(
        Says.STARTS,
        "] starting",
        r"\[KafkaServer id=(?P<node>\d+)\] starting$",
        "1.0",
        "3.9",
        SERVERS,
        "INFO",
        "core/src/main/scala/kafka/server/KafkaServer.scala",
    ),
    Template(
        Says.STARTED,
        "started",
        r"\[(?:Kafka ?Server|BrokerServer|KafkaRaftServer) ?(?:id=|nodeId=)?(?P<node>\d+)\],?"
        r" (?:Kafka Server )?started$",
        "0.8",
        "",
        SERVERS,
        "INFO",
        "core/src/main/scala/kafka/server/KafkaServer.scala",
    ),
    Template(
        Says.STOPS,
        "Transition from STARTED to SHUTTING_DOWN",
        r"\[BrokerServer id=(?P<node>\d+)\] Transition from STARTED to SHUTTING_DOWN",
        "2.8",
        "",
        SERVERS,
        "INFO",
        "core/src/main/scala/kafka/server/BrokerServer.scala",
    ),
    Template(
        Says.STOPPED,
        "shut down completed",
        r"\[(?:Kafka ?Server|BrokerServer) ?(?:id=)?(?P<node>\d+)\],? shut down completed$",
        "0.8",
        "",
        SERVERS,
        "INFO",
        "core/src/main/scala/kafka/server/KafkaServer.scala",
    ),
    Template(
        Says.WAS_UNCLEAN,
        "since no clean shutdown file was found",
        r"(?:Attempting recovery for all|Recovering \d+) logs (?:in|from) (?P<dir>.+)"
        r" since no clean shutdown file was found",
        "2.6",
        "",
        MANAGER,
        "INFO",
        "core/src/main/scala/kafka/log/LogManager.scala",
    ),
    Template(
        Says.WAS_CLEAN,
        "since clean shutdown file was found",
        r"Skipping recovery (?:for all|of \d+) logs (?:in|from) (?P<dir>.+)"
        r" since clean shutdown file was found",
        "2.6",
        "",
        MANAGER,
        "INFO",
        "core/src/main/scala/kafka/log/LogManager.scala",
    ),
    Template(
        Says.OFFLINE,
        "Stopping serving logs in dir ",
        r"Stopping serving logs in dir (?P<dir>.+)$",
        "1.0",
        "",
        MANAGER,
        "WARN",
        "core/src/main/scala/kafka/log/LogManager.scala",
    ),
    Template(
        Says.EXPIRED,
        "Session expired.",
        r"\[ZooKeeperClient[^\]]*\]:? Session expired\.",
        "1.1",
        "3.9",
        ("kafka.zookeeper.ZooKeeperClient",),
        "INFO",
        "core/src/main/scala/kafka/zookeeper/ZooKeeperClient.scala",
    ),
    Template(
        Says.VERSION,
        "Kafka version",
        r"\bKafka version ?: (?P<release>\d+\.[\w.-]+)",
        "0.10",
        "",
        (
            "org.apache.kafka.common.utils.AppInfoParser",
            "org.apache.kafka.common.utils.internals.AppInfoParser",
        ),
        "INFO",
        "clients/src/main/java/org/apache/kafka/common/utils/AppInfoParser.java",
    ),
)
