"""The canonical layout of a model file: syntax and comments → text.

Line ends, blanks and parentheses are decided here.  Two things stay the
writer's: blank lines (at most one in a row), and whether a block that fits
on one line is on one.
"""

from __future__ import annotations

from collections.abc import Sequence

import spec.syntax.expressions as se
import spec.syntax.tree as s
from spec.formatting.documents import Doc, cat, flat, joined, layout
from spec.formatting.expressions import binder, expression, type_
from spec.formatting.lines import (
    Element,
    case_text,
    config_line,
    definition,
    dotted,
    field_text,
    listed,
    one_line,
)
from spec.frozen import frozen
from spec.source import Source, Span
from spec.syntax.comments import Comments
from spec.syntax.parser import parse, too_deep

WIDTH = 100
INDENT = 2
FAR = 30  # columns that a comment may be moved to align with its neighbours


def format_text(text: str, name: str = "<text>") -> str:
    """The text in canonical layout, with the same tree and comments; formatting is idempotent.

    Raises SpecError when the text does not parse.
    """
    source = Source(name, text)
    tree = parse(source)
    try:
        return _Layout(source).file(tree)
    except RecursionError:  # it goes down into what it writes
        raise too_deep(source) from None


@frozen
class _Row:
    """A line whose columns are aligned with those of its neighbours, except the last."""

    columns: tuple[str, ...]
    kind: str


class _Layout:
    """Lays one file out."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self.comments = Comments(source)
        self.lines: list[str] = []
        self.indent = 0
        self.written = 0  # up to where the text is, if a comment ends there
        self.remarks: list[tuple[int, int]] = []  # comments at line ends: the line, and where it ends without

    def file(self, tree: s.Protocol | s.GoesOn) -> str:
        """The formatted text of a file."""
        self._comments_before(tree.span.start, at_start=True)
        if self.lines and self._is_after_blank(tree.span.start):
            self._blank()
        head = tree.name if isinstance(tree, s.Protocol) else tree.of
        word = "protocol" if isinstance(tree, s.Protocol) else "import"
        self._line(f"{word} {self.source.at(head.span)}")
        self._trailing(head.span.end)
        self._elements(tree.items, head.span.end)
        self._comments_before(len(self.source.text) + 1)
        return "\n".join(self.lines).strip("\n") + "\n"

    # -------------------------------------------------------------- lines and comments

    def _line(self, text: str) -> None:
        """Append a line."""
        self.lines.append((" " * self.indent + text).rstrip() if text else "")

    def _blank(self) -> None:
        """Append a blank line."""
        if self.lines and self.lines[-1] and not self.lines[-1].rstrip().endswith("{"):
            self.lines.append("")

    def _gap(self, start: int, end: int) -> None:
        """Append one blank line if the text has some there."""
        if self.source.text.count("\n", start, end) > 1 and not self.source.text[start:end].strip(
            " \t\r\n;,"
        ):
            self._blank()

    def _comments_before(self, offset: int, *, at_start: bool = False) -> None:
        """Append the comments before an offset, each on its own line."""
        end = 0 if at_start else None
        for comment in self.comments.before(offset):
            since = comment.start if end is None else end
            if self._is_after_blank(comment.start) and since <= comment.start:
                self._blank()
            self._line(comment.text)

    def _is_after_blank(self, offset: int) -> bool:
        """Whether the line before an offset's is blank."""
        line = self.source.text.rfind("\n", 0, max(offset, 0))
        return line > 0 and self.source.text[:line].rstrip(" \t\r").endswith("\n")

    def _trailing(self, offset: int, limit: int | None = None) -> None:
        """Append the comment at the end of the current line, if there is one."""
        comment = self.comments.behind(offset, limit)
        if comment is not None:
            self.remarks.append((len(self.lines) - 1, len(self.lines[-1])))
            self.lines[-1] += "  " + comment.text
            self.written = comment.start + len(comment.text)

    def _line_up(self, remarks: list[tuple[int, int]]) -> None:
        """Align the end-of-line comments of neighbouring lines."""
        column = max((length for _, length in remarks), default=0)
        if any(column - length > FAR for _, length in remarks):
            return
        for number, length in remarks:
            line = self.lines[number]
            self.lines[number] = line[:length] + " " * (column - length) + line[length:]

    # -------------------------------------------------------------- lists

    def _elements(self, elements: Sequence[Element], begin: int, end: int | None = None) -> None:
        """Append elements one per line with comments, aligned with their neighbours."""
        position, index = begin, 0
        while index < len(elements):
            run = self._run(elements, index)
            widths = _widths([row for row in map(self._row, run) if row is not None])
            mine = len(self.remarks)
            for element in run:
                self._separate(elements, index, position, element)
                self._element(element, widths)
                position = element.span.end
                index += 1
                self._trailing(
                    self._after(position), elements[index].span.start if index < len(elements) else end
                )
            if len(run) > 1:
                self._line_up(self.remarks[mine:])
        if end is not None:
            self._comments_before(end)

    def _separate(self, elements: Sequence[Element], index: int, position: int, element: Element) -> None:
        """Append the text between an element and the one before it."""
        before = len(self.lines)
        block = self.indent == 0 and any(map(self._is_block, elements[max(index - 1, 0) : index + 1]))
        self._comments_before(element.span.start)
        if block and all(self.lines[before - 1 : before + 1]):
            self.lines.insert(before, "")
        elif len(self.lines) == before:
            self._gap(max(self._after(position), self.written), element.span.start)
        elif self._is_after_blank(element.span.start):
            self._blank()

    def _after(self, position: int) -> int:
        """The offset after the separator that may follow an element."""
        rest = self.source.text[position:]
        skipped = len(rest) - len(rest.lstrip(" \t"))
        return position + skipped + 1 if rest[skipped : skipped + 1] in {";", ","} else position

    def _is_block(self, element: Element) -> bool:
        """Whether an element of the file becomes a block of several lines."""
        opened = self._opened(element)
        return opened is not None and self._one_line(*opened, element.span) is None

    def _run(self, elements: Sequence[Element], index: int) -> Sequence[Element]:
        """The element and the following ones to align with it: of one kind, adjacent."""
        first = self._row(elements[index])
        end = index + 1
        while first is not None and end < len(elements):
            between = Span(elements[end - 1].span.end, elements[end].span.start)
            row = self._row(elements[end])
            remark = self.comments.any_within(elements[end].span.start, elements[end].span.end)
            if row is None or row.kind != first.kind or remark or self._parted(between):
                break
            end += 1
        return elements[index:end]

    def _parted(self, between: Span) -> bool:
        """Whether a blank line or a comment is between two elements."""
        _, _, rest = self.source.at(between).partition("\n")
        return "\n" in rest or "//" in rest

    # -------------------------------------------------------------- rows

    def _row(self, element: Element) -> _Row | None:
        """The columns of an element that is one aligned line; None for others."""
        match element:
            case s.SortDecl(names):
                return _Row(("sort", listed(names)), "sorts")
            case s.NatDecl(names):
                return _Row(("nat", listed(names)), "sorts")
            case s.VarDecl(storage, name, of, init):
                columns = (f"{name.text}:", flat(type_(of)), f"= {flat(expression(init))}")
                return _Row((storage, *columns) if storage else columns, "var")
            case s.ShownDecl(role, path):
                return _Row((f"{role.text}:", dotted(path)), "shown")
            case s.Require(se.Ident(label), test):
                return _Row((f"require {label}:", flat(expression(test))), "require")
            case s.AssignStmt(place, value):
                return _Row((flat(expression(place)), f":= {flat(expression(value))}"), "assign")
            case s.LetStmt(name, value):
                return _Row((f"let {name.text}", f"= {flat(expression(value))}"), "let")
            case _:
                return None

    # -------------------------------------------------------------- one element

    def _element(self, element: Element, widths: tuple[int, ...]) -> None:
        """Append an element."""
        row = self._row(element)
        if row is not None:
            self._table_row(element, row, widths)
            return
        if (opened := self._opened(element)) is not None:
            self._block(*opened, element.span)
            return
        match element:
            case s.Replace(item):
                self._prefixed("replace ", item)
            case s.IfStmt():
                self._if(element)
            case s.ForStmt(of, body):
                self._block(f"for {flat(binder(of))} {{", body, element.span)
            case s.ConfigDecl():
                self._config(element)
            case s.EnumDecl(name, members):
                self._braced(f"enum {name.text}", [m.text for m in members], element.span, members)
            case s.RecordDecl(name, fields):
                self._braced(f"record {name.text}", [field_text(f) for f in fields], element.span, fields)
            case s.UnionDecl(name, cases):
                self._braced(
                    f"union {name.text}", [case_text(c) for c in cases], element.span, cases, sep=" "
                )
            case s.PropertyDecl() | s.FunDecl() | s.AssumeDecl() | s.AddGuard() | s.AssertStmt(says=s.Text()):
                self._comments_before(element.span.end)
                self._defined(*definition(element))
            case _:
                self._comments_before(element.span.end)
                self._line(
                    layout(one_line(element), width=WIDTH, column=self.indent, indent=self.indent + INDENT)
                )

    def _opened(self, element: Element) -> tuple[str, Sequence[Element]] | None:
        """The head (up to its brace) and the elements of a block; None for other elements."""
        match element:
            case s.ActionDecl():
                fair = "" if element.fairness == "none" else f"{element.fairness} "
                params = ", ".join(flat(binder(p)) for p in element.params)
                head = f"{fair}{element.kind} {element.name.text}{f'({params})' if params else ''}"
                return self._said(head, element.says, " {"), element.body
            case s.StateDecl(ghost, fields):
                return "ghost {" if ghost else "state {", fields
            case s.ProcessDecl(sort, fields):
                return f"process {sort.text} {{", fields
            case s.InitDecl(body):
                return "init {", body
            case s.DisplayDecl(parts):
                return "display {", parts
            case s.VariantDecl(name, base, items):
                return f"variant {name.text} of {base.text} {{", items
            case s.CheckDecl(name, of, says, clauses):
                head = f"check {name.text}" + (f" of {of.text}" if of else "")
                return self._said(head, says, " {"), clauses
            case _:
                return None

    def _table_row(self, element: Element, row: _Row, widths: tuple[int, ...]) -> None:
        """Append an aligned line."""
        self._comments_before(element.span.end)
        padded = [column.ljust(width) for column, width in zip(row.columns, widths, strict=False)]
        head = " ".join([*padded[: len(row.columns) - 1]])
        one_line = f"{head} {row.columns[-1]}"
        if self.indent + len(one_line) <= WIDTH:
            self._line(one_line)
            return
        last = _last(element)
        lead = row.columns[-1][: len(row.columns[-1]) - len(flat(last))]
        start = self.indent + len(head) + 1 + len(lead)
        broken = layout(last, width=WIDTH, column=start, indent=self.indent + INDENT)
        self._line(f"{head} {lead}{broken}")

    def _prefixed(self, word: str, item: s.Item) -> None:
        """Append an element with a word before it."""
        at = len(self.lines)
        self._element(item, _widths([row] if (row := self._row(item)) else []))
        while not self.lines[at].strip() or self.lines[at].lstrip().startswith("//"):
            at += 1
        self.lines[at] = " " * self.indent + word + self.lines[at].lstrip()

    def _said(self, head: str, says: s.Text | None, tail: str) -> str:
        """A head with its `says`, which goes to the next line if both are too long."""
        if says is None:
            return head + tail
        one_line = f'{head} says "{says.text}"{tail}'
        if self.indent + len(one_line) <= WIDTH + 20:  # a text cannot be broken, so it may stick out a little
            return one_line
        pad = "\n" + " " * self.indent
        return f'{head}{pad}  says "{says.text}"' + (f"{pad}{{" if tail == " {" else tail)

    def _block(self, head: str, elements: Sequence[Element], span: Span, until: int | None = None) -> None:
        """Append a block; on one line if it is so in the text and fits.

        Comments up to `until` (by default the end) are put inside.
        """
        until = span.end - 1 if until is None else until
        begin = elements[0].span.start if elements else span.end - 1
        opening = self.source.text.rfind("{", span.start, begin)
        one_line = self._one_line(head, elements, span)
        if one_line is not None and not self.comments.any_within(span.start, until):
            self._line(one_line)
            return
        self._comments_before(opening)
        for line in head.split("\n"):
            self.lines.append(
                line if line.startswith(" ") and line.strip() != line else " " * self.indent + line
            )
        if not elements and not self.comments.any_within(opening, max(until, span.end)):
            self.lines[-1] += "}"
            return
        self._trailing(opening + 1, begin)
        self.indent += INDENT
        self._elements(elements, opening + 1, until)
        self.indent -= INDENT
        self._line("}")

    def _one_line(self, head: str, elements: Sequence[Element], span: Span) -> str | None:
        """The block on one line; None if it does not fit or has comments."""
        if not elements or "\n" in self.source.at(span) or self.comments.any_within(span.start, span.end):
            return None
        inner = _Layout(Source("", self.source.text.replace("//", "  ")))
        inner.comments = Comments(Source("", ""))
        for element in elements:
            inner._element(element, (0, 0, 0, 0))
        if any(line.endswith("{") for line in inner.lines):
            return None
        if _is_statement(elements[0]) and len(inner.lines) > len(elements):
            return None
        between = "  " if isinstance(elements[0], s.Clause) else "; " if _is_statement(elements[0]) else ", "
        if not isinstance(elements[0], s.VarDecl | s.ShownDecl) and not _is_statement(elements[0]):
            between = "  "
        text = f"{head} {between.join(line.strip() for line in inner.lines)} }}"
        return text if self.indent + len(text) <= WIDTH and "\n" not in text else None

    def _if(self, node: s.IfStmt) -> None:
        """Append an `if`."""
        head, line = f"if {flat(expression(node.test))} {{", len(self.lines)
        then_end = self._closing(node)
        first = node.other[0] if node.other else None
        chained = first if isinstance(first, s.IfStmt) and self._is_else_if(then_end, first) else None
        until = self._find("{", chained.test.span.end if chained else then_end) if first else None
        self._block(head, node.then, Span(node.span.start, then_end), until)
        if first is None:
            return
        single = len(self.lines) == line + 1
        if chained:
            at = len(self.lines)
            self._if(chained)
            self.lines[at - 1] += " else " + self.lines.pop(at).lstrip()
            return
        at = len(self.lines)
        self._block("else {", node.other, Span(first.span.start, node.span.end))
        if (
            not single
            or len(self.lines) > at + 1
            or len(self.lines[at - 1]) + len(self.lines[at].strip()) < WIDTH
        ):
            self.lines[at - 1] += " " + self.lines.pop(at).lstrip()

    def _closing(self, node: s.IfStmt) -> int:
        """The offset where the first block of an `if` ends."""
        begin = node.then[-1].span.end if node.then else node.test.span.end
        return self._find("}", begin) + 1

    def _find(self, sign: str, offset: int) -> int:
        """The next offset of a sign outside comments."""
        while True:
            brace, comment = self.source.text.find(sign, offset), self.source.text.find("//", offset)
            if comment < 0 or brace < comment:
                return brace
            offset = self.source.text.find("\n", comment)

    def _is_else_if(self, then_end: int, other: s.IfStmt) -> bool:
        """Whether the `else` of an `if` is written `else if`."""
        return "{" not in self.source.text[then_end : other.span.start]

    def _config(self, node: s.ConfigDecl) -> None:
        """Append a config entry."""
        head = f"config {node.name.text}: {flat(type_(node.type))} = {flat(expression(node.value))}"
        parts: list[Element] = [*(x for x in (node.key, node.note) if x is not None), *node.defaults]
        if not parts:
            self._comments_before(node.span.end)
            self._line(head)
            return
        parts.sort(key=lambda part: part.span.start)
        words = {id(node.key): "key ", id(node.note): "note "}
        rows = [config_line(part, words.get(id(part), "")) for part in parts]
        one_line = f"{head} {{ {'  '.join(rows)} }}"
        if "\n" not in self.source.at(node.span) and len(one_line) <= WIDTH:
            self._line(one_line)
            return
        opening = self._find("{", node.value.span.end)
        self._comments_before(opening)
        self._line(head + " {")
        self._trailing(opening + 1, parts[0].span.start)
        self.indent += INDENT
        for part, row in zip(parts, rows, strict=True):
            self._comments_before(part.span.start)
            self._line(row)
            self._trailing(part.span.end)
        self._comments_before(node.span.end - 1)
        self.indent -= INDENT
        self._line("}")

    def _braced(
        self, head: str, rows: list[str], span: Span, parts: Sequence[Element], sep: str = ", "
    ) -> None:
        """Append a list in braces, on one line if it fits."""
        one_line = f"{head} {{ {sep.join(rows)} }}"
        multi = isinstance(parts[0], s.CaseDecl) and "\n" in self.source.at(span) if parts else False
        if len(one_line) <= WIDTH and not multi and not self.comments.any_within(span.start, span.end):
            self._line(one_line)
            return
        opening = self.source.text.find("{", span.start)
        self._line(head + " {")
        self._trailing(opening + 1, parts[0].span.start)
        self.indent += INDENT
        names = max((len(row.partition(":")[0]) for row in rows), default=0)
        for part, row in zip(parts, rows, strict=True):
            self._comments_before(part.span.end)
            field, colon, rest = row.partition(":")
            lined_up = (
                f"{field}:{' ' * (names - len(field))}{rest}"
                if isinstance(part, s.FieldDecl) and colon
                else row
            )
            self._line(lined_up)
            self._trailing(self._after(part.span.end))
        self._comments_before(span.end - 1)
        self.indent -= INDENT
        self._line("}")

    def _defined(self, head: str, says: s.Text | None, sign: str, bodies: list[Doc]) -> None:
        """Append a name and its definition, which goes to further lines if both do not fit."""
        body = joined([" ~> "], bodies)
        lead = self._said(head, says, sign)
        if says is None and self.indent + len(lead) + 1 + len(flat(body)) <= WIDTH:
            self._line(f"{lead} {flat(body)}")
            return
        for line in lead.split("\n"):
            self.lines.append(
                line if line.startswith(" ") and line.strip() != line else " " * self.indent + line
            )
        if not bodies:
            return
        inner = self.indent + INDENT
        self.lines.append(" " * inner + layout(body, width=WIDTH, column=inner, indent=inner))


# ------------------------------------------------------------------ pieces


def _widths(rows: Sequence[_Row]) -> tuple[int, ...]:
    """The width of each column but the last."""
    return (
        tuple(max(len(row.columns[at]) for row in rows) for at in range(len(rows[0].columns) - 1))
        if rows
        else ()
    )


def _last(element: Element) -> Doc:
    """The document of a row's last column."""
    match element:
        case s.VarDecl(_, _, _, value) | s.Require(_, value) | s.AssignStmt(_, value) | s.LetStmt(_, value):
            return expression(value)
        case s.SortDecl(names) | s.NatDecl(names):
            return cat(listed(names))
        case s.ShownDecl(_, path):
            return cat(dotted(path))
        case _:
            raise AssertionError(element)


def _is_statement(element: Element) -> bool:
    """Whether an element is a statement."""
    return isinstance(element, s.Stmt)
