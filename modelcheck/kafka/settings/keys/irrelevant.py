"""Keys of Kafka that have no part in durability or availability, so that none is called unknown."""

from __future__ import annotations

BROKER_ONLY = frozenset(
    """
    broker.id broker.id.generation.enable reserved.broker.max.id node.id host.name port
    advertised.host.name advertised.port listeners advertised.listeners
    listener.security.protocol.map inter.broker.listener.name security.inter.broker.protocol
    control.plane.listener.name controller.listener.names early.start.listeners
    num.network.threads num.io.threads background.threads num.replica.alter.log.dirs.threads
    queued.max.requests queued.max.request.bytes socket.send.buffer.bytes
    socket.receive.buffer.bytes socket.request.max.bytes socket.listen.backlog.size
    max.connections max.connections.per.ip max.connections.per.ip.overrides
    max.connection.creation.rate connection.failed.authentication.delay.ms
    message.max.bytes num.partitions num.recovery.threads.per.data.dir
    log.segment.bytes log.roll.ms log.roll.hours log.roll.jitter.ms log.roll.jitter.hours
    log.retention.ms log.retention.minutes log.retention.hours log.retention.bytes
    log.retention.check.interval.ms log.cleanup.interval.mins log.retention.size
    log.cleaner.enable log.cleaner.threads log.cleaner.io.max.bytes.per.second
    log.cleaner.dedupe.buffer.size log.cleaner.io.buffer.size log.cleaner.io.buffer.load.factor
    log.cleaner.backoff.ms log.cleaner.min.cleanable.ratio log.cleaner.delete.retention.ms
    log.cleaner.min.compaction.lag.ms log.cleaner.max.compaction.lag.ms
    log.index.size.max.bytes log.index.interval.bytes log.delete.delay.ms
    log.segment.delete.delay.ms log.flush.offset.checkpoint.interval.ms
    log.flush.start.offset.checkpoint.interval.ms log.preallocate log.message.timestamp.type
    log.message.timestamp.difference.max.ms log.message.timestamp.before.max.ms
    log.message.timestamp.after.max.ms log.message.downconversion.enable log.local.retention.ms
    log.local.retention.bytes log.dir.failure.timeout.ms log.initial.task.delay.ms
    log.file.size
    log.max.id.map.snapshots metadata.log.dir metadata.log.segment.bytes
    metadata.log.segment.ms metadata.log.segment.min.bytes metadata.max.retention.bytes
    metadata.max.retention.ms metadata.max.idle.interval.ms
    metadata.log.max.record.bytes.between.snapshots metadata.log.max.snapshot.interval.ms
    internal.metadata.log.segment.bytes internal.log.segment.bytes
    server.max.startup.time.ms initial.broker.registration.timeout.ms
    controller.socket.timeout.ms controller.message.queue.size
    controller.performance.sample.period.ms controller.performance.always.log.threshold.ms
    replica.socket.timeout.ms replica.socket.receive.buffer.bytes replica.fetch.max.bytes
    replica.fetch.wait.max.ms replica.fetch.min.bytes replica.fetch.backoff.ms
    replica.fetch.response.max.bytes num.replica.fetchers
    fetch.purgatory.purge.interval.requests producer.purgatory.purge.interval.requests
    delete.records.purgatory.purge.interval.requests controlled.shutdown.max.retries
    controlled.shutdown.retry.backoff.ms delete.topic.enable follower.fetch.last.tiered.offset.enable
    max.incremental.fetch.session.cache.slots max.request.partition.size.limit
    offset.metadata.max.bytes offsets.load.buffer.size offsets.topic.num.partitions
    offsets.topic.segment.bytes offsets.topic.compression.codec offsets.retention.minutes
    offsets.retention.check.interval.ms offsets.commit.timeout.ms
    transaction.max.timeout.ms transaction.two.phase.commit.enable transactional.id.expiration.ms
    transaction.state.log.num.partitions transaction.state.log.segment.bytes
    transaction.state.log.load.buffer.size
    transaction.abort.timed.out.transaction.cleanup.interval.ms
    transaction.remove.expired.transaction.cleanup.interval.ms
    producer.id.expiration.ms producer.id.expiration.check.interval.ms
    create.topic.policy.class.name alter.config.policy.class.name authorizer.class.name
    super.users allow.everyone.if.no.acl.found principal.builder.class connections.max.reauth.ms
    compression.gzip.level compression.lz4.level compression.zstd.level
    unstable.api.versions.enable unstable.feature.versions.enable
    auto.include.jmx.reporter inter.broker.protocol.security client.quota.callback.class
    monitoring.interval kafka.csv.metrics.dir kafka.csv.metrics.reporter.enabled
    cordoned.log.dirs remote.fetch.max.wait.ms log.remote.copy.lag.bytes log.remote.copy.lag.ms
    errors.deadletterqueue.auto.create.topics.enable errors.deadletterqueue.topic.name.prefix
    remote.list.offsets.request.timeout.ms add.partitions.to.txn.retry.backoff.ms
    add.partitions.to.txn.retry.backoff.max.ms internal.metadata.delete.delay.millis
    internal.metadata.max.batch.size.in.bytes internal.metadata.max.fetch.size.in.bytes
    enable.zookeeper topic.partition.count.map hostname brokerid
    """.split()
)

TOPIC_ONLY = frozenset(
    """
    segment.bytes segment.ms segment.jitter.ms segment.index.bytes retention.bytes retention.ms
    max.message.bytes index.interval.bytes delete.retention.ms file.delete.delay.ms
    min.cleanable.dirty.ratio min.compaction.lag.ms max.compaction.lag.ms preallocate
    message.timestamp.type message.timestamp.difference.max.ms message.timestamp.before.max.ms
    message.timestamp.after.max.ms message.downconversion.enable local.retention.ms
    local.retention.bytes remote.log.copy.disable remote.log.delete.on.disable
    remote.copy.lag.bytes remote.copy.lag.ms
    leader.replication.throttled.replicas follower.replication.throttled.replicas
    internal.segment.bytes errors.deadletterqueue.group.enable
    """.split()
)

PRODUCER_ONLY = frozenset(
    """
    key.serializer value.serializer batch.size buffer.memory linger.ms max.block.ms
    max.request.size partitioner.class partitioner.ignore.keys partitioner.adaptive.partitioning.enable
    partitioner.availability.timeout.ms partitioner.rack.aware transaction.timeout.ms
    buffer.memory.allocation.strategy block.on.buffer.full
    metadata.max.idle.ms metadata.fetch.timeout.ms timeout.ms metadata.broker.list
    serializer.class key.serializer.class compressed.topics compression.codec request.timeout.ms
    retry.backoff.ms topic.metadata.refresh.interval.ms queue.buffering.max.ms
    queue.buffering.max.messages queue.enqueue.timeout.ms batch.num.messages send.buffer.bytes
    queue.time queue.size broker.list zk.read.num.retries max.message.size
    """.split()
)

# Keys of consumers that a producer reads too, for which partition a record goes to (4.4, KIP-1123).
PRODUCER_TOO = frozenset({"client.rack"})

CONSUMER_ONLY = frozenset(
    """
    group.id group.instance.id group.protocol group.remote.assignor key.deserializer value.deserializer
    fetch.min.bytes fetch.max.wait.ms max.partition.fetch.bytes session.timeout.ms
    heartbeat.interval.ms max.poll.records max.poll.interval.ms partition.assignment.strategy
    auto.commit.interval.ms check.crcs exclude.internal.topics allow.auto.create.topics
    default.api.timeout.ms share.acknowledgement.mode share.acquire.mode consumer.timeout.ms
    consumer.id fetch.message.max.bytes num.consumer.fetchers queued.max.message.chunks
    rebalance.max.retries rebalance.backoff.ms refresh.leader.backoff.ms offsets.storage
    dual.commit.enabled fetch.wait.max.ms groupid mirror.topics.whitelist
    internal.leave.group.on.close internal.throw.on.fetch.stable.offset.unsupported
    """.split()
)

SHARED = frozenset(
    """
    bootstrap.servers bootstrap.controllers client.id client.dns.lookup connections.max.idle.ms
    compression.type fetch.max.bytes interceptor.classes metadata.max.age.ms metadata.recovery.strategy
    metadata.recovery.rebootstrap.trigger.ms metric.reporters metrics.num.samples
    metrics.recording.level metrics.sample.window.ms enable.metrics.push receive.buffer.bytes
    reconnect.backoff.ms reconnect.backoff.max.ms retry.backoff.max.ms security.protocol
    security.providers socket.connection.setup.timeout.ms socket.connection.setup.timeout.max.ms
    config.providers bootstrap.resolve.timeout.ms metadata.cluster.check.enable
    max.decompressed.message.bytes
    """.split()
)

CONNECT = frozenset(
    """
    key.converter value.converter internal.key.converter internal.value.converter header.converter
    key.converter.schemas.enable value.converter.schemas.enable internal.key.converter.schemas.enable
    internal.value.converter.schemas.enable offset.storage.file.filename
    offset.flush.interval.ms offset.storage.topic config.storage.topic status.storage.topic
    plugin.path connector.class tasks.max clusters rest.port rest.host.name
    """.split()
)

ZOOKEEPER = frozenset(
    """
    dataDir dataLogDir clientPort clientPortAddress tickTime initLimit syncLimit maxClientCnxns
    admin.enableServer admin.serverPort autopurge.snapRetainCount autopurge.purgeInterval
    secureClientPort 4lw.commands.whitelist
    """.split()
)

LOGGING_PREFIXES = ("log4j.", "rootLogger", "appender.", "logger.", "status", "property.", "packages")

IRRELEVANT = BROKER_ONLY | TOPIC_ONLY | PRODUCER_ONLY | CONSUMER_ONLY | SHARED

IRRELEVANT_PREFIXES = (
    "listener.name.",
    "sasl.",
    "ssl.",
    "security.",
    "zookeeper.",
    "controller.quorum.",
    "controller.mutation.",
    "password.encoder.",
    "delegation.token.",
    "remote.log.",
    "rsm.config.",
    "rlmm.config.",
    "group.",
    "share.",
    "streams.",
    "telemetry.",
    "config.providers.",
    "interceptor.",
    "schema.registry.",
    "kafka.metrics.",
    "confluent.",
    "strimzi.",
    "cruise.control.",
    "client.quota.",
    "quota.",
    "replication.quota.",
    "alter.log.dirs.replication.quota.",
    "controller.quota.",
    "metrics.",
)
