"""An API server of Kubernetes as far as Spark asks it for executors; it starts each pod as a process here.

It keeps what Spark has sent, so that a test may look at what a cluster would have been given.
"""

from __future__ import annotations

import contextlib
import json
import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from subprocess import Popen
from threading import Condition, Thread
from typing import Any
from urllib.parse import parse_qs, urlsplit

from tests.consoles import marked
from tests.spark_cluster import ROOT, end, supervised

Json = dict[str, Any]
KEPT = ("PATH", "HOME", "TMPDIR", "LANG", "MODELCHECK_CACHE")
SLICE = 0.2  # seconds between looks at whether a watch is to end


@dataclass
class Kubernetes:
    """What the server was given: each pod as it was sent, the processes that run, and what was asked for.

    `driver` is the name of the pod that the driver would be in.
    """

    folder: Path
    driver: str
    url: str = ""
    asked: set[tuple[str, str]] = field(default_factory=set)  # a verb and a resource, as a role names them
    pods: list[Json] = field(default_factory=list)
    config_maps: list[Json] = field(default_factory=list)
    running: dict[str, tuple[Json, Popen[bytes]]] = field(default_factory=dict)
    events: list[Json] = field(default_factory=list)
    changed: Condition = field(default_factory=Condition)
    is_up: bool = True

    def start(self, pod: Json) -> Json:
        """Start a pod; the pod as it is from then on."""
        pod["metadata"] |= {"uid": f"uid-{len(self.pods)}", "creationTimestamp": "2024-01-01T00:00:00Z"}
        pod["status"] = {"phase": "Running", "podIP": "127.0.0.1", "containerStatuses": []}
        self.pods.append(pod)
        self.running[pod["metadata"]["name"]] = (pod, _started(pod, self.folder))
        self.tell("ADDED", pod)
        return pod

    def fail(self, name: str) -> None:
        """End the process of a pod, as a node that is out of memory does."""
        pod, process = self.running[name]
        end(process)
        ended = {"exitCode": 137, "reason": "OOMKilled", "finishedAt": "2024-01-01T00:00:01Z"}
        pod["status"] = {"phase": "Failed", "containerStatuses": [{"state": {"terminated": ended}}]}
        self.tell("MODIFIED", pod)

    def stop(self, name: str) -> None:
        """Remove a pod, if it is there."""
        pod, process = self.running.pop(name, (None, None))
        if pod is not None and process is not None:
            end(process)
            self.tell("DELETED", pod)

    def tell(self, kind: str, pod: Json) -> None:
        """Tell those who watch."""
        with self.changed:
            pod["metadata"]["resourceVersion"] = str(len(self.events) + 1)
            self.events.append({"type": kind, "object": json.loads(json.dumps(pod))})
            self.changed.notify_all()

    def close(self) -> None:
        """End all pods."""
        self.is_up = False
        for name in list(self.running):
            self.stop(name)


@contextlib.contextmanager
def kubernetes(folder: Path, driver: str) -> Iterator[Kubernetes]:
    """A server on a free port of the loopback, with the files of its pods in a folder."""
    made = Kubernetes(folder, driver)
    handler = type("Handler", (_Handler,), {"cluster": made})
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        server.daemon_threads = True
        made.url = f"k8s://http://127.0.0.1:{server.server_address[1]}"
        thread = Thread(target=server.serve_forever, daemon=True)
        thread.start()
        try:
            yield made
        finally:
            made.close()
            server.shutdown()
            thread.join()


def _started(pod: Json, folder: Path) -> Popen[bytes]:
    """The process of a pod: the entry point of our image with what the pod says, as a node starts it."""
    (container,) = pod["spec"]["containers"]
    own = folder / pod["metadata"]["name"]
    own.mkdir()
    empty = {each["name"] for each in pod["spec"]["volumes"] if "emptyDir" in each}
    given = {each["name"]: _value(each, pod) for each in container["env"]}
    for mount in container["volumeMounts"]:
        if mount["name"] in empty:  # a folder that only the pod has
            place = own / mount["name"]
            place.mkdir()
            given = {key: value.replace(mount["mountPath"], str(place)) for key, value in given.items()}
    python, *program = _entry_point()
    assert python == "python"
    command = [sys.executable, *program, *container["args"]]
    image = {"PYTHONPATH": str(ROOT)}
    here = {name: value for name, value in os.environ.items() if name in KEPT}
    with (own / "log").open("wb") as out:
        return supervised(command, cwd=own, env=here | image | given, stdout=out, stderr=out)


def _entry_point() -> list[str]:
    """What the image of the page runs."""
    (image,) = marked(ROOT / "docs/how-to/run-on-spark.md", "spark: image", "dockerfile")
    (words,) = (line.removeprefix("ENTRYPOINT ") for line in image.splitlines() if "ENTRYPOINT" in line)
    return list(json.loads(words))


def _value(variable: Json, pod: Json) -> str:
    """The value of a variable of a pod's environment."""
    if "valueFrom" not in variable:
        return str(variable.get("value", ""))
    found: Any = pod
    for name in variable["valueFrom"]["fieldRef"]["fieldPath"].split("."):
        found = found[name]
    return str(found)


class _Handler(BaseHTTPRequestHandler):
    """Answers a request of Spark's client."""

    cluster: Kubernetes
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        kind, name, asked = self._asked()
        is_watch = asked.get("watch") == ["true"]
        self.cluster.asked.add(("watch" if is_watch else "get" if name else "list", kind))
        if is_watch:
            if self.headers.get("Upgrade", "").lower() == "websocket":
                self._answer(200, _list(kind, []))  # the client then watches without one
            else:
                self._watched()
            return
        pods = [pod for pod, _ in self.cluster.running.values()] if kind == "pods" else []
        if not name:
            self._answer(200, _list(kind, pods))
            return
        driver = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": self.cluster.driver, "uid": "own"}}
        found = [pod for pod in (driver, *pods) if kind == "pods" and pod["metadata"]["name"] == name]
        self._answer(*((200, found[0]) if found else (404, _status(404))))

    def do_POST(self) -> None:
        kind, _, _ = self._asked()
        self.cluster.asked.add(("create", kind))
        sent = self._body()
        if kind == "pods":
            sent = self.cluster.start(sent)
        elif kind == "configmaps":
            self.cluster.config_maps.append(sent)
        self._answer(201, sent)

    def do_PATCH(self) -> None:
        kind, name, _ = self._asked()
        self.cluster.asked.add(("patch", kind))
        self._body()
        pod, _ = self.cluster.running.get(name, (None, None))
        self._answer(*((200, pod) if pod is not None else (404, _status(404))))

    def do_DELETE(self) -> None:
        kind, name, _ = self._asked()
        self.cluster.asked.add(("delete" if name else "deletecollection", kind))
        self._body()
        names = [] if kind != "pods" else [name] if name else list(self.cluster.running)
        for each in names:
            self.cluster.stop(each)
        self._answer(200, _status(200))

    def _asked(self) -> tuple[str, str, Mapping[str, Sequence[str]]]:
        """The kind of what a request is about, its name, and what else it asks."""
        parts = urlsplit(self.path)
        words = parts.path.strip("/").split("/")  # api/v1/namespaces/NAMESPACE/KIND[/NAME]
        after = words[words.index("namespaces") + 2 :] if "namespaces" in words else []
        kind, name = (*after, "", "")[:2]
        return kind, name, parse_qs(parts.query)

    def _body(self) -> Json:
        size = int(self.headers.get("Content-Length", 0))
        return dict(json.loads(self.rfile.read(size))) if size else {}

    def _answer(self, code: int, data: Json) -> None:
        text = json.dumps(data).encode()
        self.send_response(code)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def _watched(self) -> None:
        """What happens, a line each, as long as the server is up."""
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        told, cluster = 0, self.cluster
        with contextlib.suppress(OSError):
            while cluster.is_up:
                with cluster.changed:
                    if len(cluster.events) == told:
                        cluster.changed.wait(SLICE)
                    new = cluster.events[told:]
                for event in new:
                    line = json.dumps(event).encode() + b"\n"
                    self.wfile.write(b"%x\r\n%s\r\n" % (len(line), line))
                    self.wfile.flush()
                told += len(new)

    def log_message(self, *_: object) -> None:
        """Nothing: a test says what it looks at."""


def _list(kind: str, items: Sequence[Json]) -> Json:
    """Things as the API lists them."""
    names = {"pods": "PodList", "configmaps": "ConfigMapList", "services": "ServiceList"}
    name = names.get(kind, "PersistentVolumeClaimList")
    return {"apiVersion": "v1", "kind": name, "metadata": {"resourceVersion": "1"}, "items": list(items)}


def _status(code: int) -> Json:
    """How the API says that something was done, or that there is nothing."""
    word = "Success" if code == 200 else "Failure"
    return {"apiVersion": "v1", "kind": "Status", "metadata": {}, "status": word, "code": code}
