"""What the pages share: templates that escape all they show, styles, and pictures inside a page."""

from __future__ import annotations

from base64 import b64encode
from functools import cache
from hashlib import sha256

from jinja2 import Environment, PackageLoader, StrictUndefined

from counterexamples.lines import Role, clean
from counterexamples.pictures.drawing import STYLE, said
from spec.reading import resource

SIGNS = dict.fromkeys(Role, "") | {Role.BAD: "✗", Role.GOOD: "✓", Role.UNSURE: "?"}


@cache
def environment(package: str = "counterexamples.html") -> Environment:
    """The Jinja environment of a package's templates, with escaping of markup and control characters.

    It compiles each template once, which takes longer than to render a page of it.
    """
    made = Environment(
        autoescape=True,
        loader=PackageLoader(package, ""),
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        undefined=StrictUndefined,
        finalize=_finalized,
    )
    made.globals["signs"] = SIGNS
    made.globals["Role"] = Role
    return made


def _finalized(value: object) -> object:
    """A value to insert, cleaned of control characters."""
    return clean(value) if isinstance(value, str) and not hasattr(value, "__html__") else value


def asset(name: str, package: str = "counterexamples.html") -> str:
    """The text of a file next to a package's templates."""
    return resource(package, name).strip()


def hashed(text: str) -> str:
    """The hash of a script or style for a content security policy."""
    return f"sha256-{b64encode(sha256(text.encode()).digest()).decode()}"


def policy(style: str, *more: str) -> str:
    """A content security policy that allows this style and the given directives, and nothing else."""
    own = ("default-src 'none'", f"style-src '{hashed(style)}'")
    return "; ".join([*own, *more, "img-src data:", "base-uri 'none'", "form-action 'none'"])


def styles(*names: str) -> str:
    """The style sheets joined, with that of the pictures; white on paper."""
    dark = STYLE.replace("@media (", "@media screen and (")
    return "\n".join([*map(asset, names), dark])


def shapes(drawn: str, number: int | str, title: str, about: str) -> str:
    """The SVG text `drawn` without its `<style>`, with another title and description for screen readers.

    `number` makes the identifiers in it differ from those of other pictures on the page.
    """
    bare = drawn.replace(f"<style>{STYLE}</style>\n", "").strip()
    for kind, text in (("title", said(title)), ("desc", said(about))):
        before, opened, rest = bare.partition(f"<{kind} ")
        name, _, rest = rest.partition(">")
        bare = f"{before}{opened}{name}>{text}</{kind}>{rest.partition(f'</{kind}>')[2]}"
    known = bare.partition('<title id="t')[2].partition('"')[0]
    return bare.replace(known, f"{known}-{number}")  # two runs may look the same
