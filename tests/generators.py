"""Random model files, as text: every construct of the grammar, more parentheses than needed, any layout.

What comes out parses; whether names exist and types fit is not its concern.
"""

from __future__ import annotations

from collections.abc import Sequence

import hypothesis.strategies as st

Text = st.SearchStrategy[str]

NAMES = st.sampled_from(
    ["a", "b", "log", "hw", "replica", "x1", "Epoch", "m_2", "orders", "notes", "ink", "anyone"]
)
NUMBERS = st.integers(0, 99).map(str)
SENTENCES = st.sampled_from(['"{a} crashes"', '"nothing // no comment"', '""'])


def _join(separator: str, parts: Text, *, least: int = 0, most: int = 3) -> Text:
    return st.lists(parts, min_size=least, max_size=most).map(separator.join)


def _in(template: str, *parts: Text) -> Text:
    """A template whose `%s` are filled."""
    return st.tuples(*parts).map(lambda filled: template % filled)


def _maybe(text: Text) -> Text:
    return st.one_of(st.just(""), text)


# ------------------------------------------------------------------ types


def _larger_types(inner: Text) -> Text:
    return st.one_of(
        _in("%s?", inner),
        _in("(%s, %s)", inner, inner),
        _in("set[%s]", inner),
        _in("seq[%s; %s]", inner, st.one_of(NUMBERS, NAMES)),
        _in("map[%s, %s]", inner, inner),
    )


TYPES = st.recursive(
    st.one_of(NAMES, st.just("bool"), st.just("-3..4"), _in("{ %s }", _join(", ", NAMES, least=1))),
    _larger_types,
    max_leaves=4,
)

# ------------------------------------------------------------------ expressions


def _binders(inner: Text) -> Text:
    one = st.one_of(
        _in("%s: %s", NAMES, NAMES),
        _in("%s in (%s)", NAMES, inner),
        _in("%s: %s in (%s)", NAMES, NAMES, inner),
        _in("%s in %s - {%s}", NAMES, NAMES, NAMES),
    )
    return _join(", ", one, least=1, most=2)


def _larger(inner: Text) -> Text:
    operator = st.sampled_from(
        [
            "and",
            "or",
            "implies",
            "==",
            "!=",
            "<",
            "<=",
            ">",
            ">=",
            "in",
            "not in",
            "subset",
            "..",
            "+",
            "-",
            "&",
            "*",
            "/",
            "%%",
        ]
    ).map(lambda op: op.replace("%%", "%"))
    quantifier = st.sampled_from(["forall", "exists", "sum", "max", "min", "argmax", "argmin"])
    argument = st.one_of(inner, _in("%s = %s", NAMES, inner))
    return st.one_of(
        _in("(%s) %s (%s)", inner, operator, inner),
        _in("(%s) %s (%s) %s (%s)", inner, st.just("and"), inner, st.just("and"), inner),
        _in("(%s) or (%s)", inner, inner),
        _in("not (%s)", inner),
        _in("-(%s)", inner),
        _in("(%s) is %s", inner, NAMES),
        _in("%s(%s)", NAMES, _join(", ", argument)),
        _in("max(%s, %s)", inner, inner),
        _in("(%s).%s", inner, NAMES),
        _in("%s.%s", NAMES, NAMES),
        _in("(%s)[%s]", inner, inner),
        _in("%s[..(%s)]", NAMES, inner),
        _in("%s[(%s)..]", NAMES, inner),
        _in("if %s then %s else %s", inner, inner, inner),
        _in("(let %s = %s. %s)", NAMES, inner, inner),
        _in("(%s %s. %s)", quantifier, _binders(inner), inner),
        _in("%s %s where %s. %s", quantifier, _binders(inner), inner, inner),
        _in("{%s}", _join(", ", inner.map(lambda text: f"({text})"))),
        _in("[%s]", _join(", ", inner)),
        _in("(%s, %s)", inner, inner),
        _in("{%s in %s where %s}", NAMES, NAMES, inner),
        _in("{(%s) for %s}", inner, _binders(inner)),
        _in("{(%s) for %s where %s}", inner, _binders(inner), inner),
        _in("[%s: %s -> %s]", NAMES, NAMES, inner),
    )


EXPRESSIONS = st.recursive(
    st.one_of(NAMES, NUMBERS, st.sampled_from(["true", "false", "none", "{}", "[]"])),
    lambda inner: _larger(inner.map(lambda text: text if text.isalnum() else f"({text})")),
    max_leaves=8,
)

# ------------------------------------------------------------------ statements

_SAYS = _maybe(SENTENCES.map(lambda text: f" says {text}"))
PLACES = st.one_of(NAMES, _in("%s.%s", NAMES, NAMES), _in("%s.%s[%s]", NAMES, NAMES, NAMES))


def _larger_statements(inner: Text) -> Text:
    block = _join("\n", inner)
    return st.one_of(
        _in("if %s { %s }", EXPRESSIONS, block),
        _in("if %s { %s } else { %s }", EXPRESSIONS, block, block),
        _in("if %s { %s } else if %s { %s } else { %s }", EXPRESSIONS, block, EXPRESSIONS, block, block),
        _in("for %s in (%s) { %s }", NAMES, EXPRESSIONS, block),
    )


STATEMENTS = st.recursive(
    st.one_of(
        _in("require %s", EXPRESSIONS),
        _in("require %s: %s", NAMES, EXPRESSIONS),
        _in("let %s = %s", NAMES, EXPRESSIONS),
        _in("%s := %s", PLACES, EXPRESSIONS),
        _in("%s.add(%s);", PLACES, EXPRESSIONS),
        _in("choose %s in (%s)%s", NAMES, EXPRESSIONS, _maybe(_in(" where %s", EXPRESSIONS))),
        _in("assert %s%s: %s", NAMES, _SAYS, EXPRESSIONS),
        _in("%s %s", st.sampled_from(["wipe", "lose", "flush"]), PLACES),
    ),
    _larger_statements,
    max_leaves=4,
)

# ------------------------------------------------------------------ declarations

_FIELDS = _join("\n", _in("%s: %s = %s", NAMES, TYPES, EXPRESSIONS))
_STORED = _join(
    "\n",
    _in(
        "%s %s: %s = %s",
        st.sampled_from(["durable", "volatile", "cached", "ghost"]),
        NAMES,
        TYPES,
        EXPRESSIONS,
    ),
)
_PLAIN_FIELDS = _join(", ", _in("%s: %s", NAMES, TYPES), least=1)
_BODY = _join("\n", STATEMENTS)

_NAMED = st.one_of(
    _in(
        "%s%s %s(%s)%s { %s }",
        st.sampled_from(["", "fair ", "strong fair "]),
        st.sampled_from(["action", "fault", "repair"]),
        NAMES,
        _maybe(_binders(EXPRESSIONS)),
        _SAYS,
        _BODY,
    ),
    _in("fun %s: %s = %s", NAMES, TYPES, EXPRESSIONS),
    _in("fun %s(%s): %s = %s", NAMES, _PLAIN_FIELDS, TYPES, EXPRESSIONS),
    _in(
        "%s %s%s: %s",
        st.sampled_from(
            [
                "invariant",
                "lemma",
                "step",
                "reachable",
                "recoverable",
                "always eventually",
                "eventually always",
            ]
        ),
        NAMES,
        _SAYS,
        EXPRESSIONS,
    ),
    _in("leadsto %s%s: %s ~> %s", NAMES, _SAYS, EXPRESSIONS, EXPRESSIONS),
    _in("deadlock free%s", _SAYS),
    _in("deadlock free%s unless %s", _SAYS, EXPRESSIONS),
    _in("assume %s: %s", NAMES, EXPRESSIONS),
    _in(
        "config %s: %s = %s%s",
        NAMES,
        TYPES,
        EXPRESSIONS,
        _maybe(_in(' { key "k" note "n" default "1.0" = %s }', EXPRESSIONS)),
    ),
)

_EXPECTATIONS = st.one_of(
    _in("%s holds%s", NAMES, _maybe(st.just(" for any faults"))),
    _in("%s violated with 1 fault in %s steps", NAMES, NUMBERS),
    _in("states %s within 2 faults", NUMBERS),
    _in("taken %s %s", NAMES, NUMBERS),
)
_CLAUSES = st.one_of(
    _in("scope %s = %s, %s = {%s}", NAMES, NUMBERS, NAMES, _join(", ", NAMES, least=1)),
    _in("scope %s = exactly %s, %s = exactly {%s}", NAMES, NUMBERS, NAMES, _join(", ", NAMES, least=1)),
    _in("config %s = %s", NAMES, EXPRESSIONS),
    st.sampled_from(["faults none", "faults any", "faults <= 2, a <= 1", "faults net.drop any"]),
    _in("rates %s = %s/%s, net.drop = 1/30d", NAMES, NUMBERS, NAMES),
    _in("only %s", _join(", ", NAMES, least=1)),
    _in("expect %s", _join(", ", _EXPECTATIONS, least=1)),
)

_DISPLAY = _in("display { %s }", _join(", ", _in("%s: %s", NAMES, _join(".", NAMES, least=1)), most=4))

_ITEMS = st.one_of(
    _NAMED,
    _DISPLAY,
    _in("sort %s", _join(", ", NAMES, least=1)),
    _in("nat %s", _join(", ", NAMES, least=1)),
    _in("enum %s { %s }", NAMES, _join(" ", NAMES, least=1)),
    _in("type %s = %s", NAMES, TYPES),
    _in("record %s { %s }", NAMES, _PLAIN_FIELDS),
    _in("union %s { %s(%s) %s }", NAMES, NAMES, _PLAIN_FIELDS, NAMES),
    _in("state { %s }", _FIELDS),
    _in("ghost { %s }", _FIELDS),
    _in("process %s { %s }", NAMES, _STORED),
    _in("network %s%s: bag of %s with drop", NAMES, _maybe(_in("[%s]", TYPES)), TYPES),
    _in("init { %s }", _BODY),
    _in(
        "variant %s of %s { replace %s\ndrop a.b\ndrop c\nrequire a.b: %s\ndurable A.log\n%s }",
        NAMES,
        NAMES,
        st.one_of(_NAMED, _DISPLAY),
        EXPRESSIONS,
        _NAMED,
    ),
    _in("check %s%s%s { %s }", NAMES, _maybe(st.just(" of v")), _SAYS, _join("\n", _CLAUSES)),
)


def model_files(most: int = 4) -> Text:
    """Texts that parse as model files, with up to so many declarations."""
    return _in("protocol %s\n%s", NAMES, _join("\n", _ITEMS, most=most))


def relaid(tokens: Sequence[str], gaps: Sequence[str]) -> str:
    """Tokens with other white space and comments between them; at least as many gaps as tokens."""
    return "".join(token + gap for token, gap in zip(tokens, gaps, strict=False))


GAPS = st.sampled_from(
    [" ", "\n", "\n\n\n", "  \t", " // a remark\n", "\n  // another\n", "\r\n", "\n//\n\n"]
)
