"""The options of a command that asks a cluster that runs, and its inputs: files, the cluster, or both."""

from __future__ import annotations

import argparse
import re
from functools import partial

import modelcheck.commands.options.amounts as amounts
from modelcheck.engines.extras import needing
from modelcheck.kafka.live.overlay import laid_over
from modelcheck.kafka.settings.readers.recognition import read_files
from modelcheck.kafka.settings.readers.revisions import in_revision
from modelcheck.kafka.settings.readings import About, Reading, SettingLayer
from modelcheck.kafka.settings.resolution.cluster import topics_in
from modelcheck.storage.files import read_text
from spec.diagnostics import Diagnostic, SpecError
from spec.frozen import frozen
from spec.source import Source, Span

TIMEOUT = 10.0  # seconds
_SERVER = re.compile(r"(?:[\w.%-]+://)?(?:\[([0-9A-Fa-f:.%]+)\]|([^:\[\]\s/]+)):(\d{1,5})")
_OF_CLIENTS = {SettingLayer.PRODUCER, SettingLayer.CONSUMER, SettingLayer.CREATOR}
_FACTS_OF_CLIENTS = {About.CLIENT, About.NO_VERSION}


def add_bootstrap_options(parser: argparse.ArgumentParser) -> None:
    """Add `--bootstrap` and the options that belong to it."""
    parser.add_argument(
        "--bootstrap",
        type=_servers,
        metavar="HOST:PORT,…",
        help="review a running cluster: ask these brokers for settings, topics and the state of partitions; "
        "only requests that read are sent; files may add producers and consumers",
    )
    parser.add_argument(
        "--against-bootstrap",
        type=_servers,
        metavar="HOST:PORT,…",
        help="compare the files with a running cluster: what they would change",
    )
    parser.add_argument(
        "--bootstrap-config",
        metavar="PATH",
        help="connect as these client properties say: TLS, user and password, as with --command-config of "
        "Kafka's tools",
    )
    parser.add_argument(
        "--timeout",
        type=amounts.seconds,
        metavar="T",
        help=f"wait at most T for each answer of a broker (default: {TIMEOUT:g}s)",
    )


def refuse_half_bootstrap(args: argparse.Namespace) -> None:
    """End with a message where an option lacks the one that it belongs to, or there is no input."""
    is_asked = args.bootstrap is not None or args.against_bootstrap is not None
    if not args.files and args.bootstrap is None:
        args.refuse("give at least one FILE, or --bootstrap HOST:PORT for a cluster that runs")
    for option, value in (("--bootstrap-config", args.bootstrap_config), ("--timeout", args.timeout)):
        if value is not None and not is_asked:
            args.refuse(f"{option} is of a running cluster: add --bootstrap HOST:PORT")
    if args.bootstrap is not None and (args.against_revision or args.against_bootstrap):
        args.refuse("--bootstrap is compared with files: give --against FILE…")


@frozen
class Inputs:
    """The readings to review, those to compare with if there are any, and the topic if one is chosen."""

    now: tuple[Reading, ...]
    earlier: tuple[Reading, ...] | None
    topic: str | None


def read_inputs(args: argparse.Namespace) -> Inputs:
    """The readings of the files, and of the cluster if one is asked. Raises SpecError.

    Where one is compared with the other, files are laid over the cluster: what they leave out is as it runs.
    """
    files = read_files(args.files) if args.files else ()
    if args.bootstrap is not None:
        _refuse_files_about_brokers(files)
        running = _cluster(args.bootstrap, args, args.topic)
        earlier = laid_over(read_files(args.against), running) if args.against else None
        return Inputs((*running, *files), earlier, args.topic)
    if args.against_bootstrap is not None:
        names = {topic.name for topic in topics_in(files)}
        topic = next(iter(names)) if len(names) == 1 and not args.all_topics else args.topic
        running = _cluster(args.against_bootstrap, args, args.topic or topic)
        return Inputs(laid_over(files, running), running, args.topic or topic)
    if args.against:
        return Inputs(files, read_files(args.against), args.topic)
    if args.against_revision:
        load = partial(in_revision, args.against_revision)
        return Inputs(files, read_files(args.files, load=load), args.topic)
    return Inputs(files, None, args.topic)


def _cluster(
    servers: tuple[tuple[str, int], ...], args: argparse.Namespace, topic: str | None
) -> tuple[Reading, ...]:
    """The readings of a running cluster. Raises SpecError."""
    from modelcheck.kafka.live.cluster import describe  # noqa: PLC0415 - only where a cluster is asked
    from modelcheck.kafka.live.connection import Address, begin  # noqa: PLC0415 - as above
    from modelcheck.kafka.live.readings import readings  # noqa: PLC0415 - as above
    from modelcheck.kafka.live.security import Security, read_security  # noqa: PLC0415 - as above

    path = args.bootstrap_config
    security = Security() if path is None else read_security(path, read_text(path))
    with needing("kafka", "--bootstrap"):
        begin()
    addresses = [Address(*server) for server in servers]
    found = describe(addresses, security, TIMEOUT if args.timeout is None else args.timeout)
    return readings(found, topic)


def names_of_inputs(args: argparse.Namespace) -> list[str]:
    """The names of what is reviewed, for reports: files, else the option that names the cluster."""
    return list(args.files) or ["--bootstrap"]


def written(servers: tuple[tuple[str, int], ...] | None) -> str | None:
    """Servers as they are typed."""
    if servers is None:
        return None
    return ",".join(f"[{host}]:{port}" if ":" in host else f"{host}:{port}" for host, port in servers)


def _refuse_files_about_brokers(files: tuple[Reading, ...]) -> None:
    """Raise SpecError (R0763) at the first thing in files that the cluster itself answers."""
    for reading in files:
        places: list[tuple[Source, Span, str]] = [
            *((one.source, one.key_span, one.key) for one in reading.given if one.layer not in _OF_CLIENTS),
            *((topic.source, topic.span, f"topic {topic.name}") for topic in reading.topics),
            *(
                (one.source, one.span, str(one.about))
                for one in reading.facts
                if one.about not in _FACTS_OF_CLIENTS
            ),
        ]
        if places:
            source, span, what = places[0]
            message = f"`{what}` is of brokers or topics, and with --bootstrap the cluster itself shows them"
            advice = (
                "leave the file out; or compare: FILE… --against-bootstrap HOST:PORT shows what the files "
                "would change, and --bootstrap HOST:PORT --against FILE… what the cluster has changed"
            )
            raise SpecError([Diagnostic("R0763", source, span, message, help=advice)])


def _servers(text: str) -> tuple[tuple[str, int], ...]:
    """Parse hosts and ports."""
    found = []
    for part in filter(None, (part.strip() for part in text.split(","))):
        server = _SERVER.fullmatch(part)
        if server is None or not 0 < int(server[3]) < 1 << 16:
            raise argparse.ArgumentTypeError(f"{part!r} is no HOST:PORT, as in kafka1:9092,kafka2:9092")
        found.append((server[1] or server[2], int(server[3])))
    if not found:
        raise argparse.ArgumentTypeError("it names no HOST:PORT")
    return tuple(dict.fromkeys(found))
