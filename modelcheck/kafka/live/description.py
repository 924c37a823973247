"""What a cluster answers about itself, as plain values."""

from __future__ import annotations

from collections.abc import Mapping

from modelcheck.kafka.live.connection import Address
from modelcheck.kafka.settings.readings import Partition, SettingLayer
from spec.frozen import frozen


@frozen
class ShownSetting:
    """A setting at one of the layers at which it is made."""

    key: str
    value: str
    layer: SettingLayer


@frozen
class ShownRelease:
    """The release that a broker runs, and how it shows."""

    name: str
    words: str


@frozen
class BrokerDescription:
    """A broker: its address and rack, and its settings, None if it was not asked, for the reason `why`."""

    id: int
    address: Address
    rack: str | None
    is_fenced: bool = False
    settings: tuple[ShownSetting, ...] | None = None
    release: ShownRelease | None = None
    why: str = ""


@frozen
class TopicDescription:
    """A topic with its partitions and its own settings; these are None if they may not be seen.

    `inherited` are the settings of the brokers as they hold for the topic.
    """

    name: str
    partitions: tuple[Partition, ...]
    settings: tuple[ShownSetting, ...] | None = None
    inherited: tuple[ShownSetting, ...] = ()


@frozen
class QuorumDescription:
    """The ids of the controllers that vote."""

    voters: tuple[int, ...]


@frozen
class ClusterDescription:
    """A whole cluster, as asked at `address`.

    `release` is that of the broker at this address, `all_brokers` is whether brokers that are down are
    among the brokers; `features` are the finalized ones with their levels; `moves` are notes on partitions
    that are being reassigned, by topic; `notes` say what could not be asked, and why.
    """

    address: Address
    brokers: tuple[BrokerDescription, ...]
    topics: tuple[TopicDescription, ...]
    features: Mapping[str, int]
    release: ShownRelease
    is_kraft: bool
    quorum: QuorumDescription | None
    all_brokers: bool
    moves: Mapping[str, str]
    notes: tuple[str, ...] = ()
