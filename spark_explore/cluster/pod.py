"""The entry point of an image for Kubernetes: an executor of Spark, or what the pod's words say.

    ENTRYPOINT ["python", "-m", "spark_explore.cluster.pod"]

Spark gives a pod the word `executor`, and all else in its environment.  So an image needs nothing but what
pip installs, for the driver as for its executors.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import pyspark

from spark_explore.cluster.java import find

EXECUTOR = "executor"
BACKEND = "org.apache.spark.scheduler.cluster.k8s.KubernetesExecutorBackend"
OPTION = re.compile(r"SPARK_JAVA_OPT_(\d+)")
ASKED = {  # options of the backend, and the variables that have them
    "--driver-url": "SPARK_DRIVER_URL",
    "--executor-id": "SPARK_EXECUTOR_ID",
    "--cores": "SPARK_EXECUTOR_CORES",
    "--app-id": "SPARK_APPLICATION_ID",
    "--hostname": "SPARK_EXECUTOR_POD_IP",
    "--resourceProfileId": "SPARK_RESOURCE_PROFILE_ID",
    "--podName": "SPARK_EXECUTOR_POD_NAME",
}


def command(words: Sequence[str], given: Mapping[str, str]) -> list[str]:
    """What a pod with these words and this environment runs. Raises CannotStart, KeyError."""
    if list(words) != [EXECUTOR]:
        return list(words)
    options = sorted((int(found[1]), given[name]) for name in given if (found := OPTION.fullmatch(name)))
    memory = given["SPARK_EXECUTOR_MEMORY"]
    jars = [str(Path(pyspark.__file__).parent / "jars" / "*"), *filter(None, [given.get("SPARK_CLASSPATH")])]
    asked = [word for name, variable in ASKED.items() for word in (name, given[variable])]
    java = [str(find().home / "bin" / "java"), *(option for _, option in options)]
    return [*java, f"-Xms{memory}", f"-Xmx{memory}", "-cp", os.pathsep.join(jars), BACKEND, *asked]


if __name__ == "__main__":
    program = command(sys.argv[1:], os.environ)
    os.execvp(program[0], program)  # noqa: S606 - this process becomes it
