"""What is released is whole: an sdist, the wheel built of it, and a program that works from that alone."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import sysconfig
import tarfile
import venv
from importlib.util import find_spec
from pathlib import Path
from zipfile import ZipFile

import pytest

ROOT = Path(__file__).parent.parent
PACKAGES = ("spec", "counterexamples", "modelcheck", "spark_explore")
NOT_SHIPPED = ("counterexamples/gallery/",)  # pictures of documents
LEFT = shutil.ignore_patterns(".*", "__pycache__", "*.egg-info", "build", "dist", "venv")

pytestmark = pytest.mark.skipif(find_spec("build") is None, reason="`build` is not installed")


@pytest.fixture(scope="module")
def released(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The sdist and the wheel, built as for a release; of a copy, since building leaves things behind."""
    folder = tmp_path_factory.mktemp("released")
    shutil.copytree(ROOT, folder / "source", ignore=LEFT)
    command = [
        sys.executable,
        "-m",
        "build",
        "--no-isolation",
        "--outdir",
        str(folder),
        str(folder / "source"),
    ]
    run = subprocess.run(command, capture_output=True, text=True, check=False)

    assert run.returncode == 0, run.stdout[-2000:] + run.stderr[-2000:]
    return folder


def sources() -> set[str]:
    """Every file of the packages that a program may need."""
    return {
        name
        for package in PACKAGES
        for path in (ROOT / package).rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
        if not (name := path.relative_to(ROOT).as_posix()).startswith(NOT_SHIPPED)
    }


def the_one(folder: Path, pattern: str) -> Path:
    (found,) = folder.glob(pattern)
    return found


def test_the_wheel_and_the_sdist_have_every_file(released: Path) -> None:
    with ZipFile(the_one(released, "*.whl")) as wheel, tarfile.open(the_one(released, "*.tar.gz")) as sdist:
        in_wheel = set(wheel.namelist())
        in_sdist = {name.partition("/")[2] for name in sdist.getnames()}

    assert {
        "spec/syntax/grammar.rsm.lark",
        "spec/protocols/kafka.rsm",
        "counterexamples/play/play.jinja",
    } <= in_wheel
    assert sorted(sources() - in_wheel) == []
    assert sorted({name for name in in_wheel if ".dist-info/" not in name} - sources()) == []
    assert sorted(sources() - in_sdist) == []
    assert {"pyproject.toml", "README.md", "LICENSE"} <= in_sdist


def test_the_program_works_from_the_wheel_alone(released: Path, tmp_path: Path) -> None:
    """What it depends on is lent by the environment of the tests; its own files are those of the wheel."""
    venv.create(tmp_path / "fresh", with_pip=False, symlinks=True)
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    paths = sysconfig.get_paths(vars={"base": str(tmp_path / "fresh"), "platbase": str(tmp_path / "fresh")})
    packages, python = Path(paths["purelib"]), tmp_path / "fresh" / "bin" / "python"
    install = [
        sys.executable,
        "-m",
        "pip",
        "--python",
        str(python),
        "install",
        "--quiet",
        "--no-deps",
        "--no-index",
    ]
    subprocess.run([*install, str(the_one(released, "*.whl"))], env=environment, check=True)
    lent = [path for path in sys.path if path.endswith("-packages")]
    (packages / "lent.pth").write_text("".join(f"{path}\n" for path in lent))

    def modelcheck(*words: str) -> subprocess.CompletedProcess[str]:
        command = [str(python.with_name("modelcheck")), *words]
        return subprocess.run(
            command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
        )

    where = subprocess.run(
        [str(python), "-c", "import modelcheck; print(modelcheck.__file__)"],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    )
    checked = modelcheck("check", "kafka", "--check", "jepsen", "--max-time", "300")
    played = modelcheck("trace", "play", "quorum", "--check", "n3_w2_r1", "--html", "play.html")
    begun = modelcheck("library", "grade", "--exercise", "register", "--begin", "register.rsm")

    assert where.stdout.startswith(str(packages))
    assert checked.returncode == 0, checked.stderr
    assert "acknowledged_survive" in checked.stdout
    assert played.returncode == 0, played.stderr
    assert (tmp_path / "play.html").stat().st_size > 50_000
    assert begun.returncode == 0, begun.stderr
