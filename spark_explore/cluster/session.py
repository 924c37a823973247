"""A Spark session: started where the user wants it, with our code on every executor, and ended for good.

    with session(SparkSettings(master="local[2]")) as spark:
        ...

Spark prints nothing to the user's terminal: its output goes to `Settings.log`.  Whatever keeps
it from starting is a CannotStart of one sentence, within a bounded time.  On the way out, after
Ctrl-C too, the Java process ends, or is ended; it ends as well when this process is killed.

NOTE(one-session): Spark allows one session in a process.  Where there is one already (a notebook
has one, tests share one), it is used as it is, given our code, and left running.  The same goes
for what `spark-submit` has started: its master, its settings, and ours where it has none.
"""

from __future__ import annotations

import contextlib
import logging
import os
import re
import signal
import sys
import tempfile
import time
import warnings
from collections.abc import Iterator, Mapping
from dataclasses import field
from pathlib import Path
from subprocess import PIPE, STDOUT, Popen, TimeoutExpired
from threading import Event, Timer
from types import MappingProxyType
from typing import Any

import pyspark
from py4j.protocol import Py4JError
from pyspark import SparkConf, SparkContext
from pyspark.errors import PySparkException
from pyspark.java_gateway import launch_gateway
from pyspark.serializers import UTF8Deserializer, read_int
from pyspark.sql import SparkSession

from modelcheck.contract.engine import CannotStart
from modelcheck.processes.memory import available
from spark_explore.cluster.java import Java, find
from spark_explore.cluster.master import LOOPBACK, Master, master
from spark_explore.cluster.shipping import NAME, Executor, look, pack
from spec.frozen import frozen
from spec.reading import bytes_of, opened

GIB = 1 << 30
LARGEST = 1 << 26  # bytes that are read of what Spark has written
QUIET = {  # for a user who has not started Spark
    "spark.app.name": "modelcheck",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
}
FIXED = {  # what a user may still override
    "spark.sql.adaptive.enabled": "false",  # a shard is a partition; none may be merged with another
    "spark.sql.execution.arrow.pyspark.enabled": "true",
    "spark.executorEnv.PYTHONSAFEPATH": "1",  # a folder `spec` in the working directory is not our package
    "spark.python.unix.domain.socket.enabled": "true",  # TCP would wait for acknowledgements
}
PATIENCE = 60.0  # seconds for a master, and for its executors, to answer
GRACE = 15  # seconds for Spark to end on its own
SUBMITTED = "PYSPARK_GATEWAY_PORT"  # where a program that `spark-submit` runs finds Spark
IMAGES = ("spark.kubernetes.container.image", "spark.kubernetes.executor.container.image")
START = 300  # seconds for what depends on this machine alone, which may be busy
SETTLED = 1.0  # seconds in which no further executor comes
QUEUES = 10  # times as patient with a cluster that keeps a queue
MOST_TOLD = 300  # characters of an error message of Spark


class SparkEnded(OSError):  # noqa: N818 - an answer to the user, not a bug
    """Raised if Spark's Java process has ended, for whatever reason."""


@frozen
class SparkSettings:
    """Where and how Spark runs; `conf` overrides our settings.

    `master` of None: the session there is, or local[*].  `log` of None: what Spark
    writes is thrown away.  `patience`: how many seconds a master, and its executors, may
    take to answer; ten times that where a cluster keeps a queue (yarn, k8s).
    """

    master: str | None = None
    conf: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    log: Path | None = None
    patience: float = PATIENCE


def shown(settings: SparkSettings) -> dict[str, str]:
    """The settings that Spark is started with. Raises CannotStart as `session` does."""
    return _effective(settings, _master(settings))


@contextlib.contextmanager
def session(settings: SparkSettings) -> Iterator[SparkSession]:
    """A context with a Spark session whose executors can run our code. Raises CannotStart, Ended.

    See NOTE(one-session) for a process that has one already.
    """
    running = SparkContext._active_spark_context  # noqa: SLF001 - the public way would start one
    if running is None and SUBMITTED in os.environ:
        running = _submitted(settings)
    if running is not None:
        yield _joined(running, settings)
        return
    with (
        tempfile.TemporaryDirectory(prefix="modelcheck-spark-") as folder,
        _started(settings, Path(folder)) as spark,
    ):
        yield spark


def _joined(context: SparkContext, settings: SparkSettings) -> SparkSession:
    """The existing session, after our code is shipped to it."""
    if settings.master not in {None, context.master}:
        raise CannotStart(f"this process has a Spark session already, with the master {context.master}")
    ship(context)
    return SparkSession(context)


def _submitted(settings: SparkSettings) -> SparkContext:
    """The context in the Java process that has started this program. Raises CannotStart."""
    handler, before = signal.getsignal(signal.SIGINT), list(sys.path)
    try:
        SparkContext._ensure_initialized()  # noqa: SLF001 - where its settings are
        conf = SparkConf()
        chosen = str(conf.get("spark.master", "local[*]"))
        if settings.master not in {None, chosen}:
            raise CannotStart(f"spark-submit was given the master {chosen}, not {settings.master}")
        for key, value in {**FIXED, **settings.conf}.items():
            conf.setIfMissing(key, value)
        context = SparkContext(conf=conf)
        ship(context)
        if Master(chosen, None).has_executors:
            _check_executors(context)
    except (Py4JError, PySparkException, OSError) as error:
        raise CannotStart(f"the session of spark-submit does not start: {reason(error)}") from None
    finally:
        sys.path[:] = before
        _handle_again(handler)
    return context


@contextlib.contextmanager
def _started(settings: SparkSettings, folder: Path) -> Iterator[SparkSession]:
    """A context with a new session, which it stops at the end."""
    where, before, handler = _master(settings), list(sys.path), signal.getsignal(signal.SIGINT)
    patience = START if where.is_local else settings.patience * (QUEUES if where.has_queue else 1)
    conf = _effective(settings, where)
    log = settings.log or folder / "spark.log"
    process = _launched(conf, where, find(), folder, log)
    logging.getLogger().addFilter(_is_no_word_of_py4j)
    # It concerns frames of pandas, and there are none here.
    warnings.filterwarnings("ignore", "PySpark does not yet fully support pandas", FutureWarning)
    try:
        port, secret = _gateway(process, folder, log)
        context = _context(process, conf, port, secret, patience, where)
        _handle_again(handler)  # NOTE(ending): Spark hears of Ctrl-C alone
        ship(context)
        sys.path[:] = before  # Spark puts what is shipped before what runs here
        if where.has_executors:
            with _bounded(process, 2 * patience, "the executors do not answer"):
                _await_executors(context, patience)
                _check_executors(context)
        with _as_long_as_it_runs(process, context):
            yield SparkSession(context)
    finally:
        sys.path[:] = before
        try:
            _stop(process)
        finally:
            _end(process)
            logging.getLogger().removeFilter(_is_no_word_of_py4j)
            _handle_again(handler)


def _handle_again(handler: Any) -> None:  # noqa: ANN401 - whatever handler was there
    """Restore the Ctrl-C handler that Spark has replaced."""
    if handler is not None and signal.getsignal(signal.SIGINT) is not handler:
        with contextlib.suppress(ValueError):  # not the main thread, where Spark sets none
            signal.signal(signal.SIGINT, handler)


# -------------------------------------------------------------------- settings


def _master(settings: SparkSettings) -> Master:
    """The master in the settings."""
    return master(settings.master or settings.conf.get("spark.master", "local[*]"))


def _effective(settings: SparkSettings, where: Master) -> dict[str, str]:
    """All settings for a master; the user's override ours."""
    python = sys.executable if where.is_local else os.environ.get("PYSPARK_PYTHON", sys.executable)
    ours = QUIET | FIXED | {"spark.pyspark.python": python}
    if where.is_local:
        ours["spark.driver.memory"] = f"{_memory() >> 20}m"
    if where.near is not None:
        ours |= {"spark.driver.host": where.near, "spark.driver.bindAddress": where.near}
    return {**ours, **settings.conf, "spark.master": where.url}


def _memory() -> int:
    """The memory for Java if everything runs here: a quarter of what is free."""
    return max(GIB, min(8 * GIB, (available() or 4 * GIB) // 4))


# ---------------------------------------------------------------- the process


@contextlib.contextmanager
def _as_long_as_it_runs(process: Popen[bytes], context: SparkContext) -> Iterator[None]:
    """A context that turns errors because Java has ended into SparkEnded."""
    output: Any = context._accumulatorServer  # noqa: SLF001 - it prints a traceback when Java is gone
    output.handle_error = _say_nothing
    try:
        yield
    except (Py4JError, PySparkException, OSError):
        with contextlib.suppress(TimeoutExpired):  # it may just be on its way
            process.wait(SETTLED)
            raise SparkEnded("the Java process of Spark has ended") from None
        raise


def _is_no_word_of_py4j(record: logging.LogRecord) -> bool:
    """A log filter that drops py4j's tracebacks of closed connections."""
    return record.module not in {"java_gateway", "clientserver"}


def _say_nothing(*_: object) -> None:
    """Do nothing."""


def _launched(conf: Mapping[str, str], where: Master, java: Java, folder: Path, log: Path) -> Popen[bytes]:
    """Start Spark's Java process, which ends when its standard input closes."""
    environment = {
        **os.environ,
        "JAVA_HOME": str(java.home),
        "SPARK_CONNECT_MODE": "0",
        "_PYSPARK_DRIVER_CONN_INFO_PATH": str(folder / "gateway"),
    }
    if where.near is not None:
        environment.setdefault("SPARK_LOCAL_IP", where.near)  # so that no name of this machine is looked up
        if where.near == LOOPBACK:
            environment.setdefault("SPARK_LOCAL_HOSTNAME", LOOPBACK)
    options = [word for key, value in conf.items() for word in ("--conf", f"{key}={value}")]
    command = [str(_home() / "bin" / "spark-submit"), *options, "pyspark-shell"]
    try:
        with log.open("ab") as out:
            return Popen(  # noqa: S603 - Spark's own program
                command, stdin=PIPE, stdout=out, stderr=STDOUT, env=environment, process_group=0
            )
    except OSError as error:
        raise CannotStart(f"Spark does not start: {error}") from None


def _home() -> Path:
    """The Spark installation: given by the user, or in the package pyspark."""
    return Path(os.environ.get("SPARK_HOME") or Path(pyspark.__file__).parent)


def _context(
    process: Popen[bytes], conf: Mapping[str, str], port: int, secret: str, patience: float, where: Master
) -> SparkContext:
    """The Spark context in the Java process. Raises CannotStart."""
    with _environment(PYSPARK_GATEWAY_PORT=str(port), PYSPARK_GATEWAY_SECRET=secret):
        gateway = launch_gateway()  # to the process that runs already
    _mind_image(SparkConf(_jvm=gateway.jvm), where)
    ours = SparkConf(loadDefaults=False)
    ours.setAll(list(conf.items()))
    with _bounded(process, patience, f"the master {conf['spark.master']} does not let us in"):
        context = SparkContext(conf=ours, gateway=gateway)
    context.pythonExec = conf["spark.pyspark.python"]
    return context


def _gateway(process: Popen[bytes], folder: Path, log: Path) -> tuple[int, str]:
    """The port and secret of the Java process, which it writes to a file when it is ready."""
    output, end = folder / "gateway", time.monotonic() + START
    while not output.exists():
        if process.poll() is not None:
            raise CannotStart(f"Spark does not start: {_last_words(log)}")
        if time.monotonic() > end:
            raise CannotStart(f"Spark has not started within {START} seconds")
        time.sleep(0.05)
    with opened(output) as file:
        return read_int(file), UTF8Deserializer().loads(file)


@contextlib.contextmanager
def _environment(**variables: str) -> Iterator[None]:
    """A context with environment variables set."""
    os.environ.update(variables)
    try:
        yield
    finally:
        for name in variables:
            del os.environ[name]


@contextlib.contextmanager
def _bounded(process: Popen[bytes], seconds: float, otherwise: str) -> Iterator[None]:
    """A context that kills Java if a stage of the start takes too long."""
    is_late = Event()

    def give_up() -> None:
        is_late.set()
        _kill(process)

    timer = Timer(seconds, give_up)
    timer.start()
    try:
        yield
    except (Py4JError, PySparkException, OSError) as error:
        if is_late.is_set():
            raise CannotStart(f"{otherwise} within {seconds:.0f} seconds") from None
        raise CannotStart(f"{otherwise}: {reason(error)}") from None
    finally:
        timer.cancel()


def reason(error: Exception) -> str:
    """A Spark error in one line: the Python error, the failed task, or the last cause."""
    lines = [line.rstrip() for line in str(error).splitlines() if line.strip()]
    raised = [line for line in _traceback(lines) if not line.startswith(" ")]
    failed = re.findall(r"most recent failure: .*?executor \w+\): (.+)", str(error))
    causes = [line.strip() for line in lines if re.match(r"\s*(Caused by|: ?[a-z.]+)", line)]
    words = (raised[-1:] or failed or causes[-1:] or lines[:1] or [type(error).__name__])[0]
    return words.removeprefix("Caused by:").lstrip(": ")[:MOST_TOLD]


def _traceback(lines: list[str]) -> Iterator[str]:
    """The lines of the first Python traceback, without its heading."""
    started = False
    for line in lines:
        if started and re.match(r"\s+at |\s*SQLSTATE", line):
            return
        if started:
            yield line
        started = started or line.endswith("Traceback (most recent call last):")


def _last_words(log: Path) -> str:
    """The last lines of Spark's output without stack frames, if it has no error message."""
    lines = bytes_of(log, LARGEST).decode(errors="replace").splitlines()
    output = [line.strip() for line in lines if not re.match(r"\s+(at |\.\.\. )|WARNING:", line)]
    return "; ".join(output[-3:])[:MOST_TOLD] or "it wrote no output"


# --------------------------------------------------------------- the executors


def ship(context: SparkContext) -> None:
    """Add our packages to the path of every executor, once for each context."""
    if not any(Path(name).match(f"{NAME}*.zip") for name in context.listFiles):
        context.addPyFile(str(pack(Path(context._temp_dir))))  # noqa: SLF001 - a folder that lasts as long


def _mind_image(conf: SparkConf, where: Master) -> None:
    """Check that pods have an image, for which Spark would wait. Raises CannotStart."""
    if where.is_kubernetes and not any(map(conf.get, IMAGES)):
        raise CannotStart(
            f"{where.url} needs an image for its executors: --conf {IMAGES[0]}=NAME, "
            "with Python, Java and what modelcheck needs (docs/how-to/run-on-spark.md has one)"
        )


def _await_executors(context: SparkContext, patience: float) -> None:
    """Wait for the first executor, and for those that start with it. Raises CannotStart."""
    began = last = time.monotonic()
    known = 0
    while known == 0 or time.monotonic() < last + SETTLED:
        # No public call returns their number; the driver is one of them.
        number = context._jsc.sc().getExecutorMemoryStatus().size() - 1  # noqa: SLF001
        if number > known:
            known, last = number, time.monotonic()
        if known == 0 and time.monotonic() > began + patience:
            raise CannotStart(
                f"{context.master} gives us no executor within {patience:.0f} seconds: are its workers up, "
                f"with {context.getConf().get('spark.executor.memory', '1g')} of memory free? "
                "(--conf spark.executor.memory=512m asks for less)"
            )
        time.sleep(0.05)


def _check_executors(context: SparkContext) -> None:
    """Check that the executors can run our code. Raises CannotStart."""
    tasks = context.defaultParallelism
    for each in context.parallelize(range(tasks), tasks).map(look).collect():
        _refuse_incomplete(each)


def _refuse_incomplete(executor: Executor) -> None:
    """Raise CannotStart for an executor whose Python lacks a library."""
    if executor.missing is not None:
        raise CannotStart(
            f"the executors' Python ({executor.python} {executor.version} on {executor.host}) lacks "
            f"{executor.missing}: install what modelcheck needs there (`pip install 'modelcheck[spark]'`), "
            "or name another with --conf spark.pyspark.python=PATH"
        )


# ---------------------------------------------------------------------- the end


def _stop(process: Popen[bytes]) -> None:
    """Stop Spark, if its process is running."""
    context = SparkContext._active_spark_context  # noqa: SLF001 - may be half made
    if context is None or process.poll() is not None:
        return
    timer = Timer(GRACE, _kill, [process])
    timer.start()
    try:
        with contextlib.suppress(Py4JError, OSError, RuntimeWarning):
            SparkSession(context).stop()
    finally:
        timer.cancel()


def _end(process: Popen[bytes]) -> None:
    """End the process and clear pyspark's references, so that the next session starts fresh."""
    gateway = SparkContext._gateway  # noqa: SLF001 - Spark keeps it for the life of the process, we do not
    SparkContext._active_spark_context = SparkContext._gateway = SparkContext._jvm = None  # noqa: SLF001
    SparkSession._instantiatedSession = SparkSession._activeSession = None  # noqa: SLF001
    try:
        if gateway is not None:
            with contextlib.suppress(Py4JError, OSError):
                gateway.close()
            process.communicate(timeout=GRACE)  # it ends when its standard input does
    except TimeoutExpired:
        pass
    finally:
        _kill(process)
        process.communicate()


def _kill(process: Popen[bytes]) -> None:
    """Kill Spark's process and the processes it started."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
