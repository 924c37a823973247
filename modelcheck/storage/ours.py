"""The mark of our files: by it what modelcheck has written is known from other files.

It is a comment in the last line, with a digest of all the text above; so a file that someone
changed is theirs.  JSON and CSV have no comments, and have their marks in the first lines.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Mapping
from hashlib import sha256

WORDS = "written by modelcheck"
XML = ("<!-- ", " -->")
TLA = ("\\* ", "")
COMMENTS: Mapping[str, tuple[str, str]] = {  # before and after a comment, by the kind of the file
    "text": ("", ""),
    "compact": ("", ""),
    "svg": XML,
    "storyboard": XML,
    "html": XML,
    "junit": XML,
    "graphml": XML,
    "mermaid": ("%% ", ""),
    "pdf": ("% ", ""),  # which may come after its end
    "storyboard-pdf": ("% ", ""),
    "plantuml": ("' ", ""),
    "dot": ("// ", ""),
    "rsm": ("// ", ""),
    "markdown": XML,
    "toml": ("# ", ""),
    "tla": TLA,
    "cfg": TLA,
    "pml": ("/* ", " */"),
    "m": ("-- ", ""),
}
SUFFIXES: Mapping[str, tuple[str, ...]] = {  # of the names of files of a kind, where it has any
    "text": (".txt",),
    "compact": (".txt",),
    "svg": (".svg",),
    "storyboard": (".svg",),
    "png": (".png",),
    "storyboard-png": (".png",),
    "pdf": (".pdf",),
    "storyboard-pdf": (".pdf",),
    "html": (".html", ".htm"),
    "mermaid": (".mmd", ".mermaid"),
    "plantuml": (".puml", ".plantuml"),
    "dot": (".dot", ".gv"),
    "graphml": (".graphml", ".xml"),
    "json": (".json",),
    "itf": (".json",),
    "certificate": (".json",),
    "sarif": (".sarif", ".json"),
    "junit": (".xml",),
    "csv": (".csv",),
    "rsm": (".rsm",),
    "markdown": (".md", ".markdown"),
    "toml": (".toml",),
    "tla": (".tla",),
    "cfg": (".cfg",),
    "pml": (".pml",),
    "m": (".m",),
}
TAILS = {"plantuml": b"@enduml\n"}  # what has to come after the comment
_LAST = re.compile(rb"^.{0,8}" + WORDS.encode() + rb", ([0-9a-f]{16}).{0,8}\n(@enduml\n)?\Z", re.MULTILINE)
_HEAD = 1 << 14  # bytes in which JSON has its mark
_JSON = re.compile(
    rb'\{\s*"format": "modelcheck |\{\s*"#meta": \{\s*"format": "ITF",.*?\n {4}"modelcheck": \{'
    rb'|\{\s*"\$schema": "[^"]*sarif[^"]*",[^{]*\{\s*"tool": \{\s*"driver": \{\s*"name": "modelcheck",',
    re.DOTALL,
)
_CSV = re.compile(
    rb"configuration,[^\n]*,guarantee,faults of,survives,lost with,[^\n]*\n"
    rb'|"topic",[^\n]*_from",[^\n]*,"complete"\r\n'
)
_PNG = b"\x89PNG\r\n\x1a\n"
_END = b"\0\0\0\0IEND\xaeB`\x82"


def is_known(suffix: str) -> bool:
    """Whether modelcheck writes files with this suffix."""
    return any(suffix in own for own in SUFFIXES.values())


def marked(kind: str, content: str | bytes) -> bytes:
    """The content of a file with modelcheck's mark, which has a checksum."""
    data = content.encode() if isinstance(content, str) else content
    if data.startswith(_PNG):
        return data.removesuffix(_END) + _png_mark() + _END
    if kind not in COMMENTS:
        return data
    data += b"" if data.endswith(b"\n") else b"\n"
    (before, behind), tail = COMMENTS[kind], TAILS.get(kind, b"")
    data = data.removesuffix(tail)
    return data + f"{before}{WORDS}, {_digest(data)}{behind}\n".encode() + tail


def is_ours(data: bytes) -> bool:
    """Whether a file has modelcheck's mark and is unchanged."""
    last = _LAST.search(data, max(0, len(data) - 100))
    if last is not None:
        return _digest(data[: last.start()]) == last[1].decode()
    if data.startswith(_PNG):
        return data.endswith(_png_mark() + _END)
    return any(head.match(data[:_HEAD]) is not None for head in (_JSON, _CSV))


def _digest(data: bytes) -> str:
    """The checksum in the mark."""
    return sha256(data).hexdigest()[:16]


def _png_mark() -> bytes:
    """The mark as a text chunk of PNG."""
    chunk = b"tEXtSoftware\0modelcheck"
    return (len(chunk) - 4).to_bytes(4) + chunk + zlib.crc32(chunk).to_bytes(4)
