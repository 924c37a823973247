"""A search on Kubernetes in client mode, with an API server that starts pods as processes of this machine."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path
from threading import Event, Thread
from typing import Any

import pytest
import yaml

from modelcheck.cli import main
from modelcheck.contract.exits import Exit
from spark_explore.cluster.pod import command
from tests.consoles import marked
from tests.kubernetes import Kubernetes, kubernetes
from tests.spark_cluster import PATIENCE, QUICK, ROOT, until
from tests.spark_explore.conftest import Desk

PAGE = ROOT / "docs/how-to/run-on-spark.md"
DRIVER = "search-x7b2p"
HERE = (  # what fits this machine
    "spark.driver.host=127.0.0.1",
    "spark.driver.memory=512m",
    f"spark.driver.extraJavaOptions={QUICK}",
    "spark.executor.memory=512m",
    f"spark.executor.extraJavaOptions={QUICK}",
)


def documents() -> dict[str, Any]:
    """What the page gives to Kubernetes, by kinds."""
    (text,) = marked(PAGE, "spark: kubernetes", "yaml")
    return {each["kind"]: each for each in yaml.safe_load_all(text)}


def job() -> Any:  # noqa: ANN401 - as YAML is
    """The pod of the page's job."""
    return documents()["Job"]["spec"]["template"]["spec"]


def words(cluster: Kubernetes, runs: Path) -> list[str]:
    """The words of the job, for that API server and this machine."""
    (container,) = job()["containers"]
    there = {"k8s://https://kubernetes.default.svc": cluster.url, "/runs": str(runs), "$(POD)": DRIVER}
    found = list(container["args"])
    for old, new in there.items():
        assert any(old in word for word in found)
        found = [word.replace(old, new) for word in found]
    return [*found, "--driver-states=1", f"--patience={PATIENCE}s", *(f"--conf={each}" for each in HERE)]


@contextlib.contextmanager
def pod_that_fails(cluster: Kubernetes, runs: Path) -> Iterator[None]:
    """A context in which the first pod fails as soon as there is a level of the run."""

    def fail() -> None:
        until(lambda: ended.is_set() or any((runs / "quorum").glob("levels/*")))
        if not ended.is_set():
            cluster.fail(cluster.pods[0]["metadata"]["name"])

    ended, thread = Event(), Thread(target=fail, daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()


@pytest.mark.spark
def test_the_job_of_the_page_has_its_answer_though_a_pod_fails(
    desk: Desk, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    desk.clear()
    runs = tmp_path / "runs"
    runs.mkdir()
    with kubernetes(tmp_path, DRIVER) as cluster, pod_that_fails(cluster, runs):
        asked = words(cluster, runs)
        code = main(asked[1:])
        left = dict(cluster.running)
    told = capsys.readouterr()
    (rule,) = documents()["Role"]["rules"]
    allowed = {(verb, kind) for verb in rule["verbs"] for kind in rule["resources"]}

    assert (code, told.err) == (Exit.EXPECTED, "")
    assert "searched   2,200 states" in told.out
    assert len(cluster.pods) > 2  # one for that which failed
    assert not left
    assert cluster.asked <= allowed
    for pod in cluster.pods:
        (container,) = pod["spec"]["containers"]
        (claim,) = (each for each in pod["spec"]["volumes"] if "persistentVolumeClaim" in each)
        assert claim["persistentVolumeClaim"]["claimName"] == "runs"
        assert {"name": claim["name"], "mountPath": str(runs)}.items() <= max(
            container["volumeMounts"], key=lambda each: each["name"] == claim["name"]
        ).items()
        assert container["image"] == job()["containers"][0]["image"]
        assert [owner["name"] for owner in pod["metadata"]["ownerReferences"]] == [DRIVER]


@pytest.mark.spark
def test_pods_without_an_image_are_refused(
    desk: Desk, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    desk.clear()
    with kubernetes(tmp_path, DRIVER) as cluster:
        asked = [word for word in words(cluster, tmp_path) if "container.image" not in word]
        code = main(asked[1:])

    assert code == Exit.WRONG
    assert "needs an image for its executors: --conf spark.kubernetes.container.image=NAME" in (
        capsys.readouterr().err
    )


def test_what_is_no_executor_is_the_command_of_its_pod() -> None:
    assert command(["modelcheck", "--version"], {}) == ["modelcheck", "--version"]


def test_options_of_an_executor_keep_their_order() -> None:
    asked = "DRIVER_URL EXECUTOR_ID EXECUTOR_CORES APPLICATION_ID EXECUTOR_POD_IP EXECUTOR_POD_NAME".split()
    given = {f"SPARK_{name}": name for name in (*asked, "RESOURCE_PROFILE_ID")}
    options = {f"SPARK_JAVA_OPT_{n}": f"-D{n}=a b" for n in range(12)}
    found = command(["executor"], {**os.environ, **given, **options, "SPARK_EXECUTOR_MEMORY": "1g"})

    assert list(found[1:15]) == [*(f"-D{n}=a b" for n in range(12)), "-Xms1g", "-Xmx1g"]
    assert found[found.index("--hostname") + 1] == "EXECUTOR_POD_IP"
