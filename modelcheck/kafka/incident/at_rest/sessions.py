"""Who stays in the ISR while controllers run without brokers, which lose their sessions one after the other.

NOTE(sessions): a controller that becomes active counts the session of each broker that is not fenced from
then on, and a broker cannot register before the session of its last process has ended.  From Kafka 4.0 on
(KAFKA-17793, KAFKA-18138) the controller then fences one broker after the other, whoever waits to register,
and each leaves the ISR but the last.  With eligible leader replicas those that leave an ISR below
min.insync.replicas are eligible.  Up to 3.9 it looks at sessions only once a broker has registered, and that
one stays.  So do the sources of 3.9, the classes of 4.1.0 and 4.2.0, and real clusters of 3.9.1, 4.1.0 and
4.2.0.

NOTE(order): the order is that of a hash table of broker id and epoch, and differs where these are hashed in
another way: from 4.2 on they are a record.  The files show which release runs only by its metadata version.
"""

from __future__ import annotations

from collections.abc import Iterable

from modelcheck.kafka.files.metadata.image import MetadataImage
from modelcheck.kafka.files.metadata.records import BrokerRegistered, PartitionCreated
from modelcheck.kafka.settings.keys.levels import RELEASES

FENCES_FIRST = next(level for level, name in RELEASES if name.startswith("4.0-"))
IN_A_RECORD = next(level for level, name in RELEASES if name.startswith("4.2-"))
SLOTS, LOAD = 16, 12  # of the controller's table of sessions, and the brokers from which on it is larger
WORD = 0xFFFFFFFF


def fences_first(image: MetadataImage) -> bool:
    """Whether controllers that start anew fence the brokers before one of them can register."""
    return image.features.get("metadata.version", 0) >= FENCES_FIRST


def staying(state: PartitionCreated, image: MetadataImage, *, least: int, elr: bool) -> tuple[int, ...]:
    """The members of the ISR that are expected to stay in line to lead where controllers start anew.

    All of them where nothing takes any out, and none where some stay and no file shows which.  `least` is the
    effective min.insync.replicas, and `elr` whether eligible leader replicas are on.
    """
    kept = max(1, least) if elr else 1
    here = [image.brokers[node] for node in state.isr if node in image.brokers]
    running = [each for each in here if not each.fenced]
    if not fences_first(image) or len(state.isr) <= kept or len(running) < len(state.isr):
        return state.isr
    slots = {each.broker: _slot(each, image) for each in running}
    order = sorted(running, key=lambda each: slots[each.broker])
    if slots[order[-kept].broker] == slots[order[-kept - 1].broker]:
        return ()
    return tuple(node for node in state.isr if node in {each.broker for each in order[-kept:]})


def fenced_last(state: PartitionCreated, image: MetadataImage) -> int | None:
    """The member of an ISR of several that is expected to lose its session last, if any is."""
    found = staying(state, image, least=1, elr=False)
    return found[0] if len(state.isr) > len(found) == 1 else None


def _slot(broker: BrokerRegistered, image: MetadataImage) -> int:
    """The place of a session in the controller's table, which it goes through from the first one on.

    It is a hash table by id and epoch; all sessions end at once where a controller has just become active.
    """
    size = SLOTS
    while len(image.brokers) >= size * LOAD // SLOTS:
        size *= 2
    first = 0 if image.features.get("metadata.version", 0) >= IN_A_RECORD else 1
    spread = _hash((broker.broker, (broker.epoch ^ broker.epoch >> 32) & WORD), first)
    return (spread ^ spread >> 16) & (size - 1)


def _hash(parts: Iterable[int], first: int) -> int:
    """What Java makes of the hashes of the parts: of a record with 0 `first`, in java.util.Objects with 1."""
    found = first
    for part in parts:
        found = 31 * found + part & WORD
    return found
