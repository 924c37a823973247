"""The documentation as a site of pages: `python -m docs.site FOLDER`, with the extra `modelcheck[docs]`.

Pages are made of what is there: the documents of this repository, the tables of
`spec/protocols/README.md`, runs that are searched and drawn anew, and pages to play with.  It takes some
minutes, of which compiling models takes most, and next time less.  A link that leads nowhere ends it
with exit code 1.  The site needs no server and no network, and is searched without either.
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory

from docs.site.pages import ROOT, Site, write_sources
from docs.site.runs import drawn_runs, pages_to_play, play_cards
from modelcheck.answers.progress import ProgressLine

GENERATOR = ("sphinx", "myst_parser")


def main(given: list[str] | None = None) -> int:
    """Write the site; 0 where every link of it leads somewhere."""
    parser = argparse.ArgumentParser(
        prog="python -m docs.site", description="write the documentation as a site"
    )
    parser.add_argument(
        "folder", type=Path, metavar="FOLDER", help="into this folder; a site in it is replaced"
    )
    folder: Path = parser.parse_args(given).folder
    if missing := [name for name in GENERATOR if find_spec(name) is None]:
        parser.error(f"{', '.join(missing)} is not installed: python -m pip install -e '.[docs]'")
    if folder.exists() and any(folder.iterdir()) and not (folder / "searchindex.js").exists():
        parser.error(f"{folder} has something in it that is no such site")
    progress = ProgressLine(sys.stderr, "", columns=shutil.get_terminal_size().columns)
    try:
        with TemporaryDirectory(prefix="modelcheck-site-") as scratch:
            sources, built = Path(scratch, "sources"), Path(scratch, "built")
            write_sources(Site(drawn_runs(progress), dict(play_cards(progress))), sources)
            progress.begin("the pages")
            code = _generate(sources, built)
            if code == 0:
                pages_to_play(built / "play", progress)
                shutil.rmtree(folder, ignore_errors=True)
                shutil.copytree(built, folder)
    finally:
        progress.clear()
    sys.stderr.write(f"wrote {folder / 'index.html'}\n" if code == 0 else "no site is written\n")
    return code


def _generate(sources: Path, built: Path) -> int:
    """Have Sphinx make pages of the sources; what it warns of is an error."""
    options = ["--quiet", "--fail-on-warning", "--keep-going", "--jobs", "auto", "--conf-dir", "docs/site"]
    doctrees = str(sources.with_name("doctrees"))
    command = [sys.executable, "-m", "sphinx", *options, "--doctree-dir", doctrees, str(sources), str(built)]
    return subprocess.run(command, cwd=ROOT, check=False).returncode  # noqa: S603 - our own words


if __name__ == "__main__":
    sys.exit(main())
