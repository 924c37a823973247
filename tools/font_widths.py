"""How wide the signs of pictures are, bold apart: `counterexamples/pictures/widths.py`.

`python -m tools.font_widths` has an installed Chromium measure them in DejaVu Sans, the widest of the fonts
that pictures name, and writes the module anew.
"""

# ruff: noqa: RUF001 - signs that look like others are other signs

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from collections import defaultdict
from pathlib import Path
from tempfile import TemporaryDirectory

from counterexamples.pictures.rendered import CHROMIUM
from modelcheck.storage.files import save_text

MODULE = Path(__file__).parent.parent / "counterexamples" / "pictures" / "widths.py"
SIGNS = "".join(map(chr, (*range(0x20, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)))) + (
    "αβγδεζηθικλμνξοπρστυφχψωΔΣΩ⁰¹²³⁴⁵⁶⁷⁸⁹–—‘’“”…•→←↑↓↻⇒∀∃∈∉∧∨¬≤≥≠−×·★☆⚡✉✓✗✕✚▸▼∅∪∩�"
)
PAGE = """<!doctype html><meta charset="utf-8"><pre id="out"></pre><script>
const pen = document.createElement("canvas").getContext("2d"), signs = SIGNS, found = {};
for (const weight of ["400", "700"]) {
  pen.font = `${weight} 1000px "DejaVu Sans"`;
  found[weight] = [...signs].map((sign) => Math.ceil(pen.measureText(sign).width));
}
document.getElementById("out").textContent = JSON.stringify(found);
</script>"""
ABOUT = '''"""The widths of signs in thousandths of the size of the font, as DejaVu Sans has them; bold apart.

Written by `python -m tools.font_widths`; a slow test holds them against a browser.
"""
# ruff: noqa: RUF001 - signs that look like others are other signs

from __future__ import annotations

'''


def main() -> int:
    """Measure and write; 1 where there is no browser."""
    program = next(filter(None, map(shutil.which, CHROMIUM)), None)
    if program is None:
        sys.stderr.write(f"none of {', '.join(CHROMIUM)} is installed\n")
        return 1
    measured = _measured(program)
    text = ABOUT + "\n".join(_table(name, measured[key]) for name, key in (("PLAIN", "400"), ("BOLD", "700")))
    save_text(MODULE, text)
    return 0


def _measured(program: str) -> dict[str, list[int]]:
    """The widths of all signs, by weight."""
    with TemporaryDirectory(prefix="modelcheck-") as folder:
        page = Path(folder, "page.html")
        page.write_text(PAGE.replace("SIGNS", json.dumps(SIGNS, ensure_ascii=False)), encoding="utf-8")
        options = ["--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={folder}/profile"]
        done = subprocess.run(  # noqa: S603 - a browser by its path, on a file of ours
            [program, *options, "--dump-dom", page.as_uri()], capture_output=True, text=True, check=True
        )
    found = re.search(r'<pre id="out">(.*?)</pre>', done.stdout)
    if found is None:
        raise ValueError("the browser did not measure anything")
    measured: dict[str, list[int]] = json.loads(found[1])
    return measured


def _table(name: str, widths: list[int]) -> str:
    """The source of a table: by width, the signs that are that wide."""
    signs = defaultdict[int, str](str)
    for sign, width in zip(SIGNS, widths, strict=True):
        signs[width] += sign
    pairs = sorted(signs.items())
    rows = "".join(f"    {width}: {_quoted(each)},\n" for width, each in pairs)
    return f"{name} = {{\n{rows}}}\n"


def _quoted(signs: str) -> str:
    """The source of a string, quoted as the formatter would have it."""
    text = json.dumps(signs, ensure_ascii=False)
    return text if '"' not in signs else "'" + text[1:-1].replace('\\"', '"') + "'"


if __name__ == "__main__":
    sys.exit(main())
