"""A table of a run in a catalog of Iceberg, whose runtime, a jar for one version of Spark, is not here."""

from __future__ import annotations

import os
import re
import shlex
from pathlib import Path

import pytest

from modelcheck.cli import main
from modelcheck.contract.exits import Exit
from spark_explore.cluster.session import SparkSettings, session
from spark_explore.frames import states
from tests.consoles import marked
from tests.spark_cluster import QUICK, ROOT
from tests.spark_explore.conftest import Desk
from tests.spark_explore.test_starting import CHECK

PAGE = ROOT / "docs/how-to/run-on-spark.md"
JAR = "MODELCHECK_ICEBERG"  # names the jar, of the version of pyspark that is installed
needs_iceberg = pytest.mark.skipif(
    not os.environ.get(JAR), reason=f"{JAR} does not name an iceberg-spark-runtime for this pyspark"
)


@pytest.mark.spark
@pytest.mark.filterwarnings(
    "ignore::pytest.PytestUnraisableExceptionWarning"
)  # pyspark 4.0 leaves sockets open
@needs_iceberg
def test_a_run_is_a_table_of_iceberg(desk: Desk, tmp_path: Path) -> None:
    desk.clear()
    run = str(tmp_path / "run")
    (command,) = marked(PAGE, "spark: iceberg", "sh")
    words = [run if word == "run" else word for word in shlex.split(command.replace("\\\n", ""))]
    conf = dict(re.findall(r"--conf (spark\.sql\.\S+?)=(\S+)", command))
    conf |= {"spark.jars": os.environ[JAR], "spark.sql.catalog.lake.warehouse": str(tmp_path / "lake")}
    conf |= {"spark.driver.memory": "1g", "spark.driver.extraJavaOptions": QUICK}
    with session(SparkSettings("local[2]", conf)) as spark:
        codes = [main([*CHECK, "--run-dir", run]), main(words[1:])]
        table, own = spark.table("lake.searches.states"), states(spark, run)
        own.writeTo("lake.searches.others").partitionedBy("_faults", "_depth").createOrReplace()
        others = spark.table("lake.searches.others")
        counted = [each.where("_depth < 5").count() for each in (own, table, others)]
        plan = table.where("_depth < 5")._jdf.queryExecution().toString()

        assert codes == [Exit.EXPECTED, Exit.EXPECTED]
        assert table.count() == 2200
        assert table.columns == own.columns
        assert counted[0] == counted[1] == counted[2] > 0
        assert spark.table("lake.searches.states.partitions").count() > 5
        assert "_depth < 5" in plan.partition("BatchScan")[2]  # Iceberg leaves out the other levels
