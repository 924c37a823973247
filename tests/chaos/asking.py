"""What the commands say of a round's directories, asked as a user asks."""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from modelcheck.kafka.files.checkpoints import read_properties
from modelcheck.kafka.files.metadata.log import FOLDER
from tests.chaos.plan import Plan, Shape, TopicPlan

FAULTS = 2  # that a review is asked about: with more it takes minutes
HUNG = 900  # seconds after which a command does not end: its own limit is one of CPU time


def lost(folder: Path, plan: Plan) -> tuple[tuple[int, str], ...]:
    """The lost disks, as `--lost` names them, each with its broker: without a folder, all of its disks."""
    known = json.loads((folder / "truth.json").read_text()).get("lost_directories", {})
    whole = {node for node in plan.shape.nodes if not (folder / "data" / f"broker{node}").exists()}
    return (
        *((node, str(node)) for node in sorted(whole)),
        *((int(node), f"{node}:{id_}") for node, id_ in known.items() if int(node) not in whole),
    )


def inspect(folder: Path, plan: Plan) -> dict[str, Any]:
    """What `inspect` says of a round's directories; kept beside them."""
    gone = [part for _, disk in lost(folder, plan) for part in ("--lost", disk)]
    return _answered(folder / "inspect.json", ["inspect", *_directories(folder), *gone, "--json"])


def explain(folder: Path, topic: str, acks: str, lost: Sequence[str], *, with_logs: bool) -> dict[str, Any]:
    """What `explain-log` says of a partition; kept beside the directories."""
    logs = [str(folder / "logs")] if with_logs else []
    given = ["explain-log", *_directories(folder), *logs, "--partition", f"{topic}-0", "--acks", acks]
    given += [part for disk in lost for part in ("--lost", disk)]
    kept = folder / f"explain-{topic}{'-logs' if with_logs else ''}.json"
    return _answered(kept, [*given, "--json"])


def steps(folder: Path, plan: Plan, topic: TopicPlan) -> dict[str, Any]:
    """What `explain-log` says of the metadata log alone: whether it is a trace of the model.

    Each decision of the controller on the partition, and each session of its brokers, is an observation.
    """
    with tempfile.TemporaryDirectory() as scratch:
        for number, found in enumerate(_metadata_logs(folder, plan.shape)):
            alone = Path(scratch) / f"controller{number}"
            alone.mkdir()
            for part in (found, found.with_name("meta.properties")):
                (alone / part.name).symlink_to(part.resolve())
        given = ["explain-log", *(str(each) for each in sorted(Path(scratch).iterdir()))]
        given += ["--partition", f"{topic.name}-0", "--acks", topic.acks]
        kept = folder / f"steps-{topic.name}.json"
        return _answered(kept, [*given, "--json"])


def _metadata_logs(folder: Path, shape: Shape) -> list[Path]:
    """The controllers' copies of the metadata log."""
    found = (folder / "data").glob("*/meta.properties"), (folder / "data").glob("*/*/meta.properties")
    properties = [each for some in found for each in some]
    ids = {str(node) for node in shape.quorum}
    of = [each for each in properties if read_properties(each).get("node.id") in ids]
    return sorted(each.with_name(FOLDER) for each in of if each.with_name(FOLDER).exists())


def review(folder: Path, topic: TopicPlan, plan: Plan, kafka: str, faults: int) -> dict[str, Any]:
    """What `review` says of a topic's settings, of as many faults as befell it, or of two."""
    settings = {
        **topic.settings(),
        "default.replication.factor": len(topic.replicas),
        "eligible.leader.replicas.version": int(plan.shape.elr),
        "auto.leader.rebalance.enable": "false",
    }
    files: dict[str, Mapping[str, object]] = {
        "server.properties": settings,
        "producer.properties": {"acks": topic.acks},
    }
    for name, lines in files.items():
        (folder / name).write_text("".join(f"{key}={value}\n" for key, value in lines.items()))
    given = [
        "review",
        *(str(folder / name) for name in files),
        "--kafka",
        kafka,
        "--brokers",
        str(plan.shape.brokers),
    ]
    kept = folder / f"review-{topic.name}.json"
    return _answered(kept, [*given, "--json", "--faults", str(min(faults, FAULTS))])


def _directories(folder: Path) -> list[str]:
    """The directories of all nodes that have one."""
    return [str(each) for each in sorted((folder / "data").iterdir())]


def _answered(kept: Path, given: list[str]) -> dict[str, Any]:
    """The JSON that a command prints, with its CPU seconds; what went wrong, if it prints none."""
    command = [sys.executable, "-m", "modelcheck", "kafka", *given]
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=HUNG)
    seconds = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before
    try:
        answer = json.loads(done.stdout)
    except ValueError:
        answer = {"problem": done.stderr[-500:]}
    answer["seconds"] = round(seconds, 1)
    kept.write_text(json.dumps(answer, indent=1) + "\n")
    return dict(answer)
