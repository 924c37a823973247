"""Where a Spark master is, and how this machine is to be reached from it: asked before Spark starts."""

from __future__ import annotations

import os
import re
import socket
from collections.abc import Iterator
from ipaddress import ip_address

from modelcheck.contract.engine import CannotStart
from spec.frozen import frozen
from spec.reading import reason_of

PATIENCE = 5.0  # seconds for a master to answer
LOOPBACK = "127.0.0.1"
LOCAL = re.compile(r"local(\[(\*|[1-9]\d*)(,\d+)?\])?")
LOCAL_CLUSTER = re.compile(r"local-cluster\[[1-9]\d*,[1-9]\d*,[1-9]\d*\]")
KINDS = "local[2], local-cluster[WORKERS,CORES,MB], spark://HOST:PORT, yarn or k8s://HOST:PORT"


@frozen
class Master:
    """A Spark master that has answered, if it can be asked.

    `near` is the address under which it and its executors reach this machine, of a pod its own; None
    leaves that to Spark.
    """

    url: str
    near: str | None

    @property
    def is_local(self) -> bool:
        """Whether everything runs on this machine, with this Python."""
        return self.url.startswith("local")

    @property
    def has_queue(self) -> bool:
        """Whether executors may have to wait until others have done."""
        return self.url == "yarn" or self.is_kubernetes

    @property
    def is_kubernetes(self) -> bool:
        """Whether executors are pods."""
        return self.url.startswith("k8s:")

    @property
    def has_executors(self) -> bool:
        """Whether tasks run in other processes than Spark's driver."""
        return LOCAL.fullmatch(self.url) is None


def master(url: str) -> Master:
    """The master at a URL, after a connection test. Raises CannotStart."""
    if LOCAL.fullmatch(url) or LOCAL_CLUSTER.fullmatch(url):
        return Master(url, LOOPBACK)
    if url == "yarn":
        _mind_hadoop()
        return Master(url, None)
    hosts = list(_hosts(url))
    if not hosts:
        raise CannotStart(f"`{url}` is no master of Spark: give {KINDS}")
    failures = []
    for host, port in hosts:
        try:
            with socket.create_connection((host, port), timeout=PATIENCE) as connection:
                near = str(connection.getsockname()[0])
        except OSError as error:
            failures.append(f"{host}:{port} ({reason_of(error)})")
        else:
            # A proxy of Kubernetes listens on this machine, and its executors do not run here.
            is_proxy = url.startswith("k8s:") and ip_address(near).is_loopback
            return Master(url, None if is_proxy else near)
    raise CannotStart(f"no master answers at {', '.join(failures)}")


def _hosts(url: str) -> Iterator[tuple[str, int]]:
    """The hosts and ports in a master's URL; none if it has another form."""
    kind, _, rest = url.partition("://")
    if kind == "k8s":
        rest = rest.removeprefix("https://").removeprefix("http://").partition("/")[0]
        host, _, port = rest.partition(":")
        found = [(host, port or "443")]
    elif kind == "spark":
        found = [(host, port) for host, _, port in (each.rpartition(":") for each in rest.split(","))]
    else:
        return
    if all(host and port.isdecimal() and int(port) < 2**16 for host, port in found):
        yield from ((host.strip("[]"), int(port)) for host, port in found)


def _mind_hadoop() -> None:
    """Check that Hadoop's configuration is given, as YARN needs it. Raises CannotStart."""
    if not (os.environ.get("HADOOP_CONF_DIR") or os.environ.get("YARN_CONF_DIR")):
        raise CannotStart(
            "yarn is found by its settings: set HADOOP_CONF_DIR or YARN_CONF_DIR to their folder"
        )
