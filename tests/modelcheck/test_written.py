"""What commands write: whole or not at all, and over nothing that is not ours unless they are told to."""

from __future__ import annotations

import errno
import json
import os
import shlex
import shutil
import stat
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from counterexamples.itf.write import write
from modelcheck.answers.formats import FORMATS
from modelcheck.cli import main
from modelcheck.contract.exits import Exit
from modelcheck.storage import files
from modelcheck.storage.ours import COMMENTS, SUFFIXES, is_ours, marked
from tests.counterexamples.runs import TOY, divergence

TINY = Path(__file__).parent / "tiny.rsm"
FOUND = ("--check", "as_expected", "-q")
Argument = Callable[[Path], list[str]]


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    shutil.copy(TINY, "model.rsm")
    shutil.copy(TOY, "toy.rsm")
    Path("run.itf.json").write_text(write(divergence()), encoding="utf-8")
    Path("producer.properties").write_text("bootstrap.servers=b:1\nacks=0\n")


WRITES: dict[str, tuple[str, ...]] = {  # each way to a file, whose name stands last
    "check --html": ("check", "model.rsm", *FOUND, "--html", "out"),
    "check --itf": ("check", "model.rsm", *FOUND, "--property", "safe", "--itf", "out.itf.json"),
    "check --draw": ("check", "model.rsm", *FOUND, "--draw", "mermaid", "tiny.as_expected.safe.mmd"),
    "review --html": ("kafka", "review", "producer.properties", "--faults", "0", "--html", "out"),
    "review --itf": ("kafka", "review", "producer.properties", "--faults", "1", "--itf", "out"),
    "show svg": ("trace", "show", "run.itf.json", "toy.rsm", "--as", "svg", "--out", "out"),
    "show text": ("trace", "show", "run.itf.json", "toy.rsm", "--as", "text", "--out", "out"),
    "show itf": ("trace", "show", "run.itf.json", "toy.rsm", "--as", "itf", "--out", "out"),
    "graph dot": ("trace", "graph", "model.rsm", *FOUND[:2], "--merge", "up", "--out", "out"),
    "graph json": (
        "trace",
        "graph",
        "model.rsm",
        *FOUND[:2],
        "--merge",
        "up",
        "--as",
        "json",
        "--out",
        "out",
    ),
    "graph graphml": (
        "trace",
        "graph",
        "model.rsm",
        *FOUND[:2],
        "--merge",
        "up",
        "--as",
        "graphml",
        "--out",
        "out",
    ),
    "export tla": ("export", "model.rsm", *FOUND[:2], "--to", "tla", "--out", ".", "tiny.cfg"),
    "export promela": ("export", "model.rsm", *FOUND[:2], "--to", "promela", "--out", ".", "tiny.pml"),
    "export murphi": ("export", "model.rsm", *FOUND[:2], "--to", "murphi", "--out", ".", "tiny.m"),
    "shrink": ("trace", "shrink", "run.itf.json", "toy.rsm", "--property", "alone", "--out", "out"),
}


def told(way: str) -> tuple[list[str], Path]:
    """The words of a command, and the file that it writes."""
    *words, name = WRITES[way]
    return words if words[-1] in {"mermaid", "."} else [*words, name], Path(name)


@pytest.mark.parametrize("way", WRITES)
def test_a_file_of_somebody_else_is_not_written_over(way: str, capsys: pytest.CaptureFixture[str]) -> None:
    words, path = told(way)
    path.write_text("my own work\n")

    assert main(words) == 2
    assert path.read_text() == "my own work\n"
    assert f"{path}: error[R0913]: this would be written over" in capsys.readouterr().err
    assert main([*words, "--force"]) in {0, 1}
    assert is_ours(path.read_bytes())


@pytest.mark.parametrize("way", WRITES)
def test_the_same_command_writes_the_same_file_again(way: str) -> None:
    words, path = told(way)

    assert main(words) in {0, 1}
    first = path.read_bytes()
    assert main(words) in {0, 1}
    assert path.read_bytes() == first


@pytest.mark.parametrize("way", [way for way in WRITES if way not in {"show itf", "shrink"}])
def test_a_file_that_somebody_changed_is_theirs(way: str) -> None:
    words, path = told(way)
    assert main(words) in {0, 1}
    if is_json(way):
        path.write_text("{}")
    else:
        text = path.read_text(encoding="utf-8")
        path.write_text(text[:10] + "?" + text[10:], encoding="utf-8")
    changed = path.read_bytes()

    assert main(words) == 2
    assert path.read_bytes() == changed


def is_json(way: str) -> bool:
    return "itf" in way or "json" in way


@pytest.mark.parametrize(
    ("words", "read"),
    [
        (("check", "model.rsm", *FOUND, "--html", "model.rsm"), "model.rsm"),
        (("check", "model.rsm", *FOUND, "--itf", "./model.rsm"), "model.rsm"),
        (("check", "model.rsm", *FOUND, "--html", "link.html"), "model.rsm"),
        (("kafka", "review", "producer.properties", "--html", "producer.properties"), "producer.properties"),
        (("trace", "show", "run.itf.json", "toy.rsm", "--out", "run.itf.json"), "run.itf.json"),
        (("trace", "show", "run.itf.json", "toy.rsm", "--as", "html", "--out", "toy.rsm"), "toy.rsm"),
        (("trace", "shrink", "run.itf.json", "toy.rsm", "--out", "run.itf.json"), "run.itf.json"),
        (("trace", "graph", "model.rsm", *FOUND[:2], "--out", "model.rsm"), "model.rsm"),
    ],
    ids=lambda words: " ".join(words) if isinstance(words, tuple) else "",
)
def test_what_a_command_reads_is_not_written_over(words: tuple[str, ...], read: str) -> None:
    Path("link.html").symlink_to("model.rsm")
    before = Path(read).read_bytes()

    assert main(list(words)) == 2
    assert Path(read).read_bytes() == before


def test_nothing_of_an_export_is_written_where_one_file_may_not_be() -> None:
    Path("tiny.cfg").write_text("mine")

    assert main(["export", "model.rsm", *FOUND[:2], "--to", "tla", "--out", "."]) == 2
    assert not Path("tiny.tla").exists()


def test_what_may_not_be_written_keeps_nothing_else_from_being_written(
    capsys: pytest.CaptureFixture[str],
) -> None:
    Path("tiny.as_expected.safe.mmd").write_text("mine")

    assert main(["check", "model.rsm", *FOUND, "--draw", "mermaid,svg", "--html", "p.html", "--json"]) == 2
    assert is_ours(Path("tiny.as_expected.safe.svg").read_bytes())
    assert is_ours(Path("p.html").read_bytes())
    told = capsys.readouterr()
    assert len(json.loads(told.out)) == 1  # and there is no second document behind it
    assert "R0913" in told.err


def test_two_runs_of_one_name_are_two_files() -> None:
    shutil.copy("model.rsm", "other.rsm")
    words = ["check", "model.rsm", "other.rsm", *FOUND, "--property", "safe", "--draw", "itf,mermaid"]
    for _ in range(2):
        assert main([*words, "--itf", "tiny.as_expected.safe.out"]) == 1
        names = sorted(path.name for path in Path().glob("tiny.as_expected*"))
        assert names == [
            "tiny.as_expected.safe.itf.json",
            "tiny.as_expected.safe.mmd",
            "tiny.as_expected.safe.out.tiny.as_expected.safe.itf.json",
        ]


def test_an_empty_file_has_nothing_to_lose() -> None:
    Path("out").touch()

    assert main([*told("check --html")[0]]) == 0


# ------------------------------------------------------------------------- the mark


@pytest.mark.parametrize("kind", COMMENTS)
def test_a_text_of_ours_is_known(kind: str) -> None:
    assert is_ours(marked(kind, "one\ntwo\n"))
    assert is_ours(marked(kind, "no end of line"))
    assert is_ours(marked(kind, ""))
    assert not is_ours(marked(kind, "one\ntwo\n") + b"more\n")
    assert not is_ours(marked(kind, "one\ntwo\n").replace(b"one", b"oNe"))


@pytest.mark.parametrize(
    "data",
    [b"", b"written by modelcheck\n", b"protocol p\n// written by modelcheck, 0123456789abcdef\n", b"{}"],
)
def test_what_only_speaks_of_us_is_not_ours(data: bytes) -> None:
    assert not is_ours(data)


def test_a_trace_of_another_tool_is_not_ours() -> None:
    text = write(divergence())

    assert is_ours(text.encode())
    assert not is_ours(text.replace('"modelcheck": {', '"quint": {').encode())


def test_a_picture_in_png_has_the_mark_and_is_still_one(tmp_path: Path) -> None:
    if not any(map(shutil.which, ("rsvg-convert", "resvg", "inkscape", "chromium"))):
        pytest.skip("needs a renderer of SVG")
    assert main(["trace", "show", "run.itf.json", "toy.rsm", "--out", "run.png"]) == 0
    data = Path("run.png").read_bytes()

    assert is_ours(data)
    assert not is_ours(data[:-1] + b"?")
    assert main(["trace", "show", "run.itf.json", "toy.rsm", "--out", "run.png"]) == 0


# ---------------------------------------------------------------- where files stand


def test_the_umask_decides_who_may_read_a_new_file() -> None:
    before = os.umask(0o077)
    try:
        assert main(told("show svg")[0]) == 0
    finally:
        os.umask(before)

    assert stat.S_IMODE(Path("out").stat().st_mode) == 0o600


def test_a_file_that_is_written_again_keeps_its_mode() -> None:
    assert main(told("show svg")[0]) == 0
    Path("out").chmod(0o640)
    assert main(told("show svg")[0]) == 0

    assert stat.S_IMODE(Path("out").stat().st_mode) == 0o640


def test_a_link_is_followed() -> None:
    Path("out").symlink_to("there")
    assert main(told("show svg")[0]) == 0

    assert Path("out").is_symlink()
    assert is_ours(Path("there").read_bytes())


@pytest.mark.parametrize("way", ["show svg", "check --html", "check --draw", "export murphi"])
def test_a_circle_of_links_is_told(way: str, capsys: pytest.CaptureFixture[str]) -> None:
    words, path = told(way)
    path.symlink_to("round")
    Path("round").symlink_to(path)

    assert main(words) == 2
    assert f"{path}: error[R0904]: cannot be written: too many levels of symbolic links" in (
        capsys.readouterr().err
    )


def test_a_circle_of_links_is_no_folder(capsys: pytest.CaptureFixture[str]) -> None:
    Path("round").symlink_to("round")

    assert main(["check", "model.rsm", *FOUND, "--draw", "svg", "--out", "round"]) == 2
    assert "cannot be written: too many levels of symbolic links" in capsys.readouterr().err


def test_a_pipe_is_written_to() -> None:
    os.mkfifo("out")
    found: list[bytes] = []
    reader = threading.Thread(target=lambda: found.append(Path("out").read_bytes()))
    reader.start()
    assert main(told("show svg")[0]) == 0
    reader.join(timeout=10)

    assert is_ours(found[0])
    assert stat.S_ISFIFO(Path("out").stat().st_mode)


@pytest.mark.parametrize("name", ["/dev/null", "/dev/stdout"])
def test_a_device_stays_one(name: str) -> None:
    before = Path(name).stat().st_mode
    done = subprocess.run(
        [
            shutil.which("modelcheck") or "modelcheck",
            "show",
            "run.itf.json",
            "toy.rsm",
            "--as",
            "svg",
            "--out",
            name,
        ],
        capture_output=True,
        check=True,
    )

    assert Path(name).stat().st_mode == before
    assert is_ours(done.stdout) is (name == "/dev/stdout")


@pytest.mark.parametrize("how", ["write", "flush"])
def test_a_full_disk_leaves_nothing_behind(
    how: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def full(_: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    assert main(told("show svg")[0]) == 0
    before = {path: path.read_bytes() for path in Path().iterdir()}
    monkeypatch.setattr("modelcheck.storage.files.os.fsync", full)
    if how == "write":
        monkeypatch.setattr(files, "_replace", to_full)

    assert main(told("show svg")[0]) == 2
    assert "out: error[R0904]: cannot be written: no space left on device" in capsys.readouterr().err
    assert {path: path.read_bytes() for path in Path().iterdir()} == before


@pytest.mark.parametrize("way", ["check --html", "check --draw", "show itf"])
def test_a_limit_on_files_leaves_nothing_behind(way: str) -> None:
    words = " ".join(shlex.quote(word) for word in told(way)[0])
    before = sorted(Path().iterdir())
    done = limited(words)

    assert done.returncode == 2
    assert done.stderr.count("cannot be written: file too large") >= 1
    assert "Traceback" not in done.stderr
    assert sorted(Path().iterdir()) == before


def test_a_checkpoint_for_which_there_is_no_room_leaves_nothing_behind() -> None:
    words = "check model.rsm --check large -q --engine explicit --max-states 1000 --checkpoint kept"
    done = limited(words)

    assert done.returncode == 3
    assert "no checkpoint: file too large; the search continues" in done.stderr
    assert list(Path("kept").iterdir()) == []


def limited(words: str) -> subprocess.CompletedProcess[str]:
    """A command none of whose files may have a byte."""
    line = f"ulimit -f 0; exec {shlex.quote(sys.executable)} -m modelcheck {words}"
    return subprocess.run(["/bin/sh", "-c", line], capture_output=True, text=True, check=False, timeout=120)


@pytest.mark.parametrize("name", ["round", "model.rsm", "model.rsm/kept"])
def test_a_folder_for_checkpoints_that_cannot_be_is_told_before_the_search(
    name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("round").symlink_to("round")

    assert main(["check", "model.rsm", "--check", "large", "--checkpoint", name]) == 2
    assert f"{name}: error[R0904]: cannot be written: " in capsys.readouterr().err


def to_full(_: Path, data: bytes) -> None:
    with Path("/dev/full").open("wb") as file:
        file.write(data)


def test_ctrl_c_leaves_nothing_behind(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(_: int) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("modelcheck.storage.files.os.fsync", interrupted)
    before = sorted(Path().iterdir())

    assert main(told("show svg")[0]) == 3
    assert sorted(Path().iterdir()) == before


# ------------------------------------------------------------------ what a name says


MISNAMED = {  # a command line whose last word is a file of another kind than is written
    "graph": ("trace", "graph", "model.rsm", *FOUND[:2], "--out", "out.svg"),
    "graph --as": ("trace", "graph", "model.rsm", *FOUND[:2], "--as", "dot", "--out", "out.json"),
    "show --as": ("trace", "show", "run.itf.json", "toy.rsm", "--as", "svg", "--out", "out.png"),
    "shrink": ("trace", "shrink", "run.itf.json", "toy.rsm", "--out", "out.html"),
    "play": ("trace", "play", "model.rsm", *FOUND[:2], "--html", "out.json"),
    "check --html": ("check", "model.rsm", *FOUND[:2], "--html", "out.svg"),
    "check --itf": ("check", "model.rsm", *FOUND[:2], "--itf", "out.html"),
    "check --junit": ("check", "model.rsm", *FOUND[:2], "--junit", "out.sarif"),
    "check --sarif": ("check", "model.rsm", *FOUND[:2], "--sarif", "out.xml"),
    "check --certificate": ("check", "model.rsm", "--engine", "prove", "--certificate", "out.rsm"),
    "review --html": ("kafka", "review", "producer.properties", "--kafka", "3.7", "--html", "out.pdf"),
    "frontier --draw": ("kafka", "frontier", "kafka", "--kafka", "3.7", "--draw", "out.pdf"),
    "frontier --csv": ("kafka", "frontier", "kafka", "--kafka", "3.7", "--csv", "out.json"),
    "compare --csv": ("library", "compare", "quorum", "--csv", "out.html"),
    "claims --html": ("library", "claims", "C2", "--html", "out.csv"),
    "grade --begin": ("library", "grade", "--exercise", "acks", "--begin", "out.json"),
}


@pytest.mark.parametrize("name", MISNAMED)
def test_a_suffix_that_says_another_kind_is_refused_before_the_work(
    name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    *words, out = MISNAMED[name]

    assert main([*words, out]) == Exit.WRONG
    said = capsys.readouterr()
    assert f"{out}: error[R0926]: this would be a file of " in said.err
    assert "help: name it with ." in said.err
    assert said.out == ""
    assert not Path(out).exists()


def test_a_graph_takes_no_suffix_that_says_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    asked = ["trace", "graph", "model.rsm", *FOUND[:2], "--merge", "up"]

    assert main([*asked, "--out", "out.v2"]) == Exit.WRONG
    assert "--out: the name says no format" in capsys.readouterr().err
    assert main([*asked, "--as", "dot", "--out", "out.v2"]) == Exit.EXPECTED


def test_suffixes_are_those_by_which_a_format_is_chosen() -> None:
    for form, about in FORMATS.items():
        assert {Path(f"x{suffix}").suffix for suffix in about.suffixes} <= set(SUFFIXES[form])
    assert COMMENTS.keys() <= SUFFIXES.keys()
