"""Text → models: the whole pipeline, in order.

parse → variants → declarations, expressions, statements, checks.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from pathlib import Path

import spec.library as library
import spec.model.ir as ir
import spec.syntax.tree as s
from spec.diagnostics import Diagnostic, SpecError, suggest
from spec.elaboration.elaborate import elaborate
from spec.elaboration.problems import Problems
from spec.elaboration.variants import all_volatile, expand
from spec.imports import joined
from spec.reading import bytes_of, refuse_elsewhere
from spec.source import Source
from spec.syntax.parser import LARGEST, parse, too_deep


def load(path: str | Path) -> tuple[ir.Model, ...]:
    """The models of a file: the base protocol, then its variants. Raises SpecError.

    In place of a path there may be the name of a protocol that comes with the package, see
    NOTE(library).  Raises SpecError with every mistake found (syntax errors: the first), or
    with one diagnostic when the file cannot be read.
    """
    return loads(read(path), str(path))


def loads(text: str, name: str = "<text>", only: Collection[str] | None = None) -> tuple[ir.Model, ...]:
    """The models of a text, which diagnostics call `name`. Raises SpecError.

    With `only`, the models of these names: the others are not looked at, nor mistakes in them.
    """
    source = Source(name, text)
    try:
        return _models(joined(source, read, shipped), only=only)
    except RecursionError:  # every pass goes down into what it reads
        raise too_deep(source) from None


def load_volatile(source: Source) -> tuple[ir.Model, ...]:
    """The models of a valid text with every durable field made volatile."""
    return _models(source, all_volatile)


def _models(
    source: Source,
    changed: Callable[[s.Protocol], s.Protocol] = lambda protocol: protocol,
    only: Collection[str] | None = None,
) -> tuple[ir.Model, ...]:
    """The models of a text after `changed` is applied to each protocol."""
    protocol = parse(source)
    assert isinstance(protocol, s.Protocol), "a text that extends another one is joined with it"
    problems = Problems(source)
    parted = Parted(protocol, problems)
    wanted = (of for of in parted.protocols if only is None or of in only)
    models = tuple(parted.model(of, problems, changed) for of in wanted)
    problems.raise_if_any()
    return models


class Parted:
    """A text split into protocols without variants, by name, each elaborated separately.

    Reports what is wrong with variants and with who a check is of.
    """

    def __init__(self, protocol: s.Protocol, problems: Problems) -> None:
        self.own = protocol.name.text
        self.protocols = expand(protocol, problems)
        self._checks = _checks(protocol, self.protocols, problems)

    def model(
        self,
        of: str,
        problems: Problems,
        changed: Callable[[s.Protocol], s.Protocol] = lambda protocol: protocol,
    ) -> ir.Model:
        """One of the models; invalid if there were problems.

        The base is asked for before its variants, so that a mistake of both is reported for the base.
        """
        expanded = self.protocols[of]
        if of != self.own:
            problems.variant = (expanded.span, expanded.name.span, of)
        return elaborate(changed(expanded), self._checks.get(of, ()), problems.source, problems)


def read(path: str | Path) -> str:
    """The text of a file, or of a shipped protocol by name. Raises SpecError (R0103)."""
    source = Source(str(path), "")

    def refuse(what: str, help_: str = "") -> SpecError:
        return SpecError([Diagnostic("R0103", source, None, what, help=_comes_before(source.name) or help_)])

    if library.is_meant(source.name):
        if Path(own := f"{source.name}{library.SUFFIX}").exists():
            what = f"this may be the file {own} here, or the protocol that comes with modelcheck"
            raise refuse(what, f"write `{own}` for the file; elsewhere the name is the protocol's")
        return library.text(source.name)
    try:
        refuse_elsewhere(path)
        if Path(path).is_dir():
            raise refuse("this is a folder, not a file", _inside(Path(path)))
        data = bytes_of(Path(path), 4 * LARGEST + 1)
    except FileNotFoundError:
        raise refuse("there is no such file", _near(Path(path))) from None
    except OSError as error:
        raise refuse(f"the file cannot be read: {error.strerror}") from None
    if len(data) > 4 * LARGEST:
        raise refuse("the file is far larger than any model", "is this a model file?")
    if b"\0" in data:
        raise refuse("the file is binary, not text", "a model file is text in UTF-8")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise refuse(f"the file is not UTF-8: byte {error.start} is not part of a character") from None


def shipped(name: str) -> str:
    """The text of a shipped protocol, even if a file or folder has its name."""
    if name in library.names():
        return library.text(name)
    help_ = library.near(name) or f'a file is imported by its path: `import "{name}{library.SUFFIX}"`'
    what = f"no protocol that comes with modelcheck is called `{name}`"
    raise SpecError([Diagnostic("R0103", Source(name, ""), None, what, help=help_)])


def _near(path: Path) -> str:
    """Advice with a similar model file in the folder, or a shipped protocol."""
    beside = suggest(path.name, [p.name for p in path.parent.glob(f"*{library.SUFFIX}")])
    if of_ours := library.near(path.name):
        of_ours += " It comes with modelcheck"
    elif path.suffix == "" and path.parent == Path():
        of_ours = "`modelcheck library list` lists the protocols that have a name"
    return beside or of_ours


def _comes_before(name: str) -> str:
    """A note about a path that has the name of a shipped protocol."""
    if name not in library.names() or library.is_meant(name):
        return ""
    prints = f"`modelcheck library show {name} --source` prints the one of that name"
    return f"a path comes before a protocol; {prints}"


def _inside(folder: Path) -> str:
    """Advice with the model files in a folder."""
    found = sorted(p.name for p in folder.glob("*.rsm"))
    return f"did you mean `{folder / found[0]}`?" if found else ""


def _checks(
    protocol: s.Protocol, protocols: dict[str, s.Protocol], problems: Problems
) -> dict[str, tuple[s.CheckDecl, ...]]:
    """The checks of each protocol by name; a check without `of` is the base's."""
    found: dict[str, tuple[s.CheckDecl, ...]] = {}
    seen: dict[str, s.CheckDecl] = {}
    for item in protocol.items:
        if not isinstance(item, s.CheckDecl):
            continue
        of = item.of.text if item.of else protocol.name.text
        if of not in protocols and item.of is not None:
            help_ = suggest(of, protocols) or "a check is of the protocol, or of a variant of it"
            problems.add("R0208", item.of.span, f"there is no variant `{of}`", help=help_)
        if item.name.text in seen:
            first = (seen[item.name.text].name.span, "the first is here")
            problems.add(
                "R0201",
                item.name.span,
                f"two checks are called `{item.name.text}`",
                help="rename one",
                notes=(first,),
            )
        seen.setdefault(item.name.text, item)
        found[of] = (*found.get(of, ()), item)
    return found
