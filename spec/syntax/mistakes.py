"""Syntax errors in a writer's words: what was likely meant, judging by the text at the place.

The habits of other languages are the usual cause, so the rules are examples
of those.  A rule looks at the text at and before the place of the error and
may answer with a message and something to try.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from spec.diagnostics import suggest
from spec.source import Span
from spec.syntax.error_place import ErrorPlace, SyntaxMistake, error_place
from spec.syntax.foreign_declarations import IN_DECLARATIONS, name_and_type
from spec.syntax.foreign_expressions import IN_EXPRESSIONS
from spec.wording import an

_FOREIGN = {
    "&&": "`and`",
    "||": "`or`",
    "=>": "`implies`",
    "!": "`not`",
    "/\\": "`and`",
    "\\/": "`or`",
    "'": "`:=` (a statement gives a place its new value)",
    "#": "`!=` for `differs from`, `//` for a comment",
    "--": "`//` for a comment",
    "/*": "`//` for a comment",
    "|": "`+` for a union of sets, `or` for booleans",
    "~": "`not`",
    "<>": "`!=`",
    "/=": "`!=`",
    "++": "`+`",
    "**": "a product, `x * x`",
    "^": "a product, `x * x`",
    "=<": "`<=`",
    "|->": "`[k: K -> e]` for a map, `R(f = e)` for a record",
    "?": "`if c then a else b`",
}


_BACKSLASHED = {  # words of TLA+; the empty one is `S \\ T`
    "": "`-`",
    **dict.fromkeys(("union", "cup", "o", "circ"), "`+`"),
    **dict.fromkeys(("intersect", "cap"), "`&`"),
    "in": "`in`",
    "notin": "`not in`",
    "subseteq": "`subset`",
    "A": "`forall x in S. P`",
    "E": "`exists x in S. P`",
    "div": "`/`",
    "leq": "`<=`",
    "geq": "`>=`",
    "land": "`and`",
    "lor": "`or`",
    **dict.fromkeys(("lnot", "neg"), "`not`"),
    **dict.fromkeys(("X", "times"), "`(T, U)` for a type of pairs"),
}

_TARGET = r"(?:the\([^()]*\)|[A-Za-z_]\w*)(?:\.\w+|\[[^\[\]]*\])*"  # of an assignment
_BEGINS = r"(?:^|[{};]|  )\s*"  # a statement
_FOREIGN_STATEMENTS = {
    **dict.fromkeys(("await", "when", "guard", "wait"), "`require e`"),
    "while": "`for x in S { … }`, which goes through the members of `S`",
    **dict.fromkeys(("switch", "match"), "`if e { … } else if f { … }`"),
    **dict.fromkeys(("pick", "with", "nondet", "select"), "`choose x in S where e`"),
    **dict.fromkeys(("var", "val", "const"), "`let x = e`"),
}
_FOREIGN_DECLARATIONS = {
    "property": "an `invariant` of states, a `step` of steps, a `leadsto` of runs",
    "safety": "`invariant NAME: e`",
    "liveness": "`leadsto NAME: p ~> q`, `always eventually NAME: q` or `eventually always NAME: q`",
    "theorem": "`invariant NAME: e`",
    "var": "`state { x: T = e }`, or a field of a `process`",
    "vars": "`state { x: T = e }`, or fields of a `process`",
    "variable": "`state { x: T = e }`, or a field of a `process`",
    "variables": "`state { x: T = e }`, or fields of a `process`",
    "const": "`config NAME: T = e`, or `nat` and `sort` for what a check sets the size of",
    "constant": "`config NAME: T = e`, or `nat` and `sort` for what a check sets the size of",
    "constants": "`config NAME: T = e`, or `nat` and `sort` for what a check sets the size of",
    "rule": "`action NAME(…) { require e … }`",
    "transition": "`action NAME(…) { require e … }`",
    **dict.fromkeys(("def", "fn", "function", "pure"), "`fun NAME(x: T): U = e`"),
    "val": "`fun NAME: T = e`",
    "pred": "`fun NAME(x: T): bool = e`",
    "struct": "`record NAME { x: T, y: U }`",
    "class": "`record NAME { x: T, y: U }`, or fields of a `process`",
    "sig": "`sort NAME`, and fields of its members in `process NAME { … }`",
    "abstract": "`sort NAME`, or an `enum` or `union` of what is one of several",
    "machine": "`sort NAME`, and fields of its members in `process NAME { … }`",
    "event": "a case of a `union`, and `network NAME: bag of U` for what is sent",
    "fact": "`assume NAME: e` of sizes and configs, or an `init` block",
    "temporal": "`leadsto NAME: p ~> q`, `always eventually NAME: q` or `eventually always NAME: q`",
    "assert": "`invariant NAME: e`, or `assert NAME: e` in an action",
    "import": "it in the first line, in place of `protocol NAME`: `import raft` extends that protocol",
    "run": "`check NAME { scope … }`",
    "module": "`protocol NAME` in the first line",
    "extends": "nothing for numbers and sets; `import NAME`, in the first line, extends a protocol",
    "next": "`action NAME { … }` for each kind of step: any of them may happen",
    "impl": "`action NAME(n: S) { … }` for what members of a sort S do",
}

_HALVES = {  # the first of two words of a declaration, and what may have been meant by it alone
    "always": "`invariant NAME: e`, or `always eventually NAME: q`",
    "eventually": "`leadsto NAME: true ~> q`, `always eventually NAME: q` or `eventually always NAME: q`",
}

_FOREIGN_QUANTIFIERS = {
    "count": "`size({x: S where P})`",
    "card": "`size({x: S where P})`",
    "all": "`forall x: S. P`",
    "any": "`exists x: S. P`",
    "some": "`exists x: S. P`",
    "no": "`not (exists x: S. P)`",
    "one": "`size({x: S where P}) == 1`",
    "lone": "`size({x: S where P}) <= 1`",
}
_FOREIGN_BINDER = re.compile(  # with the place of the error: `all ¦x: S`, `count(x ¦: S`, `count(x in S¦. P`
    rf"\b({'|'.join(_FOREIGN_QUANTIFIERS)})"
    r"(?:\s+¦\w+\s*(?::|in\b)|\s*\(\s*\w+\s*¦:|\s*\(\s*\w+\s+in\b[^().]*¦\.\s)"
)


_FIRST_WORD = re.compile(r"(?:^|[{;])\s*([a-z]{3,})(?:\s+\w+)?\s*$")
_WORDS = frozenset(
    "sort nat enum type record union config state process network fun action fault repair invariant lemma "
    "step reachable recoverable assume variant check require assert choose for if let flush lose wipe".split()
)

_LAST_WORD = re.compile(r"([a-z]{3,})\s+$")
_INNER_WORDS = frozenset("forall exists sum argmax argmin implies and not then else where within".split())


def recognise(text: str, at: Span, found: str, expected: frozenset[str]) -> SyntaxMistake:
    """The most helpful message for a syntax error at `at`; `found` is the word there, empty at the end."""
    place = error_place(text, at, found, expected)
    for rule in _RULES:
        answer = rule(place)
        if answer:
            return answer
    what = f"unexpected `{found}`" if found else "the file ends too early"
    return place.says(what, _listing(expected))


def _listing(expected: frozenset[str]) -> str:
    """The terminals allowed, in words, if they are few."""
    shown = sorted(f"`{e}`" if not e.startswith(("a ", "the ")) else e for e in expected if e[0] != "_")
    return f"expected {' or '.join(shown)}" if 0 < len(shown) <= 6 else ""


def _unclosed(place: ErrorPlace) -> SyntaxMistake | None:
    """The message for a text that ends too early, probably without a closing bracket."""
    if place.found:
        return None
    return place.says("the file ends too early", "is a `{`, `(` or `[` left open?")


def _misspelt(place: ErrorPlace) -> SyntaxMistake | None:
    """The message for a misspelling of a keyword allowed there, or one word earlier."""
    words = [word for word in place.expected if word.isalpha()]
    read = place.found.isalpha() and place.found not in {"in", "is", "or"}  # which are spelt right
    help_ = suggest(place.found, words) if read else ""
    return place.says(f"unexpected `{place.found}`", help_) if help_ else None


def _misspelt_before(place: ErrorPlace) -> SyntaxMistake | None:
    """The message for `requre some: x`: a misspelt word that is read as a place to assign to."""
    return _not_a_word(place, _FIRST_WORD, _WORDS)


def _misspelt_inside(place: ErrorPlace) -> SyntaxMistake | None:
    """The message for `exist n: Node. P`: the word is read as a name, after which no other is allowed."""
    return _not_a_word(place, _LAST_WORD, _INNER_WORDS)


def _not_a_word(place: ErrorPlace, before: re.Pattern[str], known: frozenset[str]) -> SyntaxMistake | None:
    """The message for a misspelling of a known word that the pattern finds before the place."""
    found = before.search(place.before)  # it may be a name of the model, so it must be very near
    help_ = suggest(found[1], known, near_by=0.85) if found is not None and found[1] not in known else ""
    if found is None or not help_:
        return None
    return SyntaxMistake(f"`{found[1]}` is not a word of this language", help_, place.before_it(found, 1))


def _comparison_as_statement(place: ErrorPlace) -> SyntaxMistake | None:
    """The message for a statement `x == e` where an assignment is meant."""
    if place.found == "==" and ":=" in place.expected:
        return place.says("`==` compares, and does nothing", "write `:=` to give a place its new value")
    return None


def _arrow_as_statement(place: ErrorPlace) -> SyntaxMistake | None:
    """The message for a statement `x <- e`, which is an assignment in other languages."""
    if place.here.startswith("<-") and ":=" in place.expected:
        return place.says("`<-` does not assign", "write `:=` to give a place its new value")
    return None


def _unstored_field(place: ErrorPlace) -> SyntaxMistake | None:
    """The message for `process Node { up: bool = true }`: a field without the word for how it is stored."""
    name = re.match(r"(\w+)\s*:", place.here)
    if name is None or not {"durable", "volatile"} <= place.expected:
        return None
    return place.says(
        f"`{name[1]}` does not say what a crash does to it",
        f"write `durable {name[1]}: …` if it is kept, `volatile {name[1]}: …` if it is forgotten",
    )


def _else_if(place: ErrorPlace) -> SyntaxMistake | None:
    """The message for `} elif e {`: the word is read as a place that is given a value."""
    word = re.search(r"}\s*(elif|elsif|elseif)\b[^{}]*$", place.before)
    if word is None:
        return None
    at = place.before_it(word, 1)
    return SyntaxMistake(f"`{word[1]}` is not a word of this language", "write `else if`", at)


def _nothing_quantified(place: ErrorPlace) -> SyntaxMistake | None:
    """The message for `exists n: Node` and no more: the condition on `n` is missing."""
    if "_dot" not in place.expected or "where" not in place.expected or place.found not in {"", ")", "}"}:
        return None
    return place.says(
        "the condition on the bound names is missing",
        "write a dot and a space, then that: `exists x in S. P`; that there is one is `S != {}`",
    )


def _quantifier_as_operand(place: ErrorPlace) -> SyntaxMistake | None:
    """The message for `1 + max x in S. e`: after an operator, `max` and `min` with names need parentheses."""
    word = re.search(r"\b(max|min)\s+$", place.before)
    if word is None or place.expected != {"("}:
        return None
    return place.says(
        f"after an operator, `{word[1]}` with bound names needs parentheses",
        f"write `({word[1]} x in S. …)`",
    )


_OPEN_OPERANDS = {  # what reaches as far right as it can, and so may not follow an operator
    "if": "`(if c then a else b)`",
    "let": "`(let x = e. …)`",
    "not": "`(not p)`",
    **{word: f"`({word} x in S. …)`" for word in ("forall", "exists", "sum", "argmax", "argmin")},
}
_OPEN_OPERAND = re.compile(
    rf"(\bin|\bsubset|[=!<>]=|[-+*/%&<]|(?<!-)>)\s*\b({'|'.join(_OPEN_OPERANDS)})\s+([^{{}};]*)$"
)


def _open_operand(place: ErrorPlace) -> SyntaxMistake | None:
    """The message for `choose x in if c then S else T`, `a == forall …`: these need parentheses there.

    The word is read as a name, so the error is behind it: at once, or where the name could end a statement.
    """
    found = _OPEN_OPERAND.search(place.before)
    if found is None or (found[3] and (found[2], place.found) not in {("if", "then"), ("let", "=")}):
        return None
    message = f"after `{found[1]}`, `{found[2]}` needs parentheses"
    return SyntaxMistake(message, f"write {_OPEN_OPERANDS[found[2]]}", place.before_it(found, 2))


def _quantifier_in_parentheses(place: ErrorPlace) -> SyntaxMistake | None:
    """The message for `forall(n: Node. P)`: parentheses go around the whole."""
    word = re.search(r"\b(forall|exists|sum|argmax|argmin)\s*$", place.before)
    if word is None or not place.here.startswith("("):
        return None
    return place.says(
        f"`{word[1]}` has its bound names without parentheses", f"write `({word[1]} x in S. …)`"
    )


def _foreign_quantifier(place: ErrorPlace) -> SyntaxMistake | None:
    """The message for `count(n: Node. P)`, `all n: Node. P`: another language's word before a bound name."""
    word = _FOREIGN_BINDER.search(f"{place.before}¦{place.here}")
    if word is None:
        return None
    return place.says(f"`{word[1]}` binds no names", f"write {_FOREIGN_QUANTIFIERS[word[1]]}")


def _changed_in_place(place: ErrorPlace) -> SyntaxMistake | None:
    """The message for `x += 1`, `x *= 2`, `x++` and `x--`, whose first sign may be read already as ours.

    `q ++ r` joins sequences in other languages, and `--` begins a comment in some.
    """
    before = place.before.rstrip("+-*/%")
    target = re.search(rf"{_BEGINS}({_TARGET})(\s*)$", before)
    sign = re.match(r"(\+\+|--)(\s*(?:[;}\n]|$))?|[-+*/%]=", place.before[len(before) :] + place.here)
    if target is None or sign is None or (sign[1] and target[2] and sign[2] is None):
        return None
    said, amount = sign[1] or sign[0], "1" if sign[1] else "…"
    help_ = f"write `{target[1]} := {target[1]} {said[0]} {amount}`"
    return place.says(f"`{said}` is not an operator of this language", help_)


def _sent_or_received(place: ErrorPlace) -> SyntaxMistake | None:
    """The message for `net ! m` and `net ? m`, which send and receive in Promela."""
    network = re.search(rf"{_BEGINS}({_TARGET})\s*$", place.before)
    sign = re.match(r"!(?!=)|\?", place.here)
    if network is None or sign is None or network[1] in _WORDS | _INNER_WORDS | {"or", "in"}:
        return None
    receives = f"a parameter `m in {network[1]}`, then `{network[1]}.receive(m)`"
    help_ = f"write `{network[1]}.send(…)`" if sign[0] == "!" else f"write {receives}"
    return place.says(f"`{sign[0]}` is not an operator of this language", help_)


def _foreign_statement(place: ErrorPlace) -> SyntaxMistake | None:
    """The message for `await e`, `while e`, `pick x in S`: the word is read as a name that ends there."""
    words = "|".join(_FOREIGN_STATEMENTS)
    found = re.search(rf"{_BEGINS}({words})\s+\(*[\w.\[\]]*\)*\s*$", place.before)
    if found is None or not {"}", ":="} & place.expected:
        return None
    message = f"`{found[1]}` is not a word of this language"
    return SyntaxMistake(message, f"write {_FOREIGN_STATEMENTS[found[1]]}", place.before_it(found, 1))


def _condition_of_a_choice(place: ErrorPlace) -> SyntaxMistake | None:
    """The message for `choose x in S: P` and `choose x in S | P`: the condition follows `where`."""
    choice = re.search(r"\b(choose\s+\w+\s*(?:\bin\b|:)\s*[^{}:|;]*?)\s*$", place.before)
    if choice is None or re.match(r":(?!=)|\|(?!\|)", place.here) is None or "where" not in place.expected:
        return None
    message = f"`{place.here[0]}` does not begin the condition of a choice"
    return place.says(message, f"write `{choice[1]} where …`")


def _arrow(place: ErrorPlace) -> SyntaxMistake | None:
    """The message for `p -> q`, and for a map in braces."""
    if not place.here.startswith("->"):
        return None
    return place.says("unexpected `->`", "write `implies` between conditions; a map is `[k: K -> e]`")


def _number_of_members(place: ErrorPlace) -> SyntaxMistake | None:
    """The message for `|S|`."""
    of = re.match(rf"\|\s*({_TARGET})\s*\|", place.here)
    if of is None or re.search(r"(?:\w|[)\]}])\s*$", place.before) is not None:
        return None
    return place.says("`|` is not an operator of this language", f"write `size({of[1]})`")


def _foreign_operator(place: ErrorPlace) -> SyntaxMistake | None:
    """The message for an operator of another language, whose first sign may be read already as ours."""
    late = place.before[-1:] + place.here
    for sign in sorted(_FOREIGN, key=len, reverse=True):
        if place.here.startswith(sign) or (len(sign) > 1 and late.startswith(sign)):
            return place.says(f"`{sign}` is not an operator of this language", f"write {_FOREIGN[sign]}")
    if place.found == "EXCEPT":
        what = "`EXCEPT` is not a word of this language"
        return place.says(what, "write `m[k] := e`: a statement changes one entry and leaves the others")
    word = re.match(r"\\([A-Za-z]*)", place.here)
    if word is not None and word[1] in _BACKSLASHED:
        what = f"`\\{word[1]}` is not an operator of this language"
        of_a_map = word[1] == "in" and re.search(r"\[\s*\w+\s*$", place.before) is not None
        return place.says(what, f"write {'`[k: K -> e]` for a map' if of_a_map else _BACKSLASHED[word[1]]}")
    return None


def _equals_in_expression(place: ErrorPlace) -> SyntaxMistake | None:
    """The message for a single `=` where `==` or `:=` is meant."""
    if place.here.startswith("=") and not place.here.startswith("=="):
        if re.search(r"\b(require|if|where|implies|and|or|not|forall|exists|assert)\b", place.before):
            return place.says("`=` does not compare", "write `==`")
        return place.says("`=` does not assign", "write `:=` to give a place its new value, `==` to compare")
    return None


def _equals_in_declaration(place: ErrorPlace) -> SyntaxMistake | None:
    """The message for `union Message = A | B`: the contents of these go in braces."""
    kind = re.search(r"^\s*(union|record|enum)\s+(\w+)\s*$", place.before)
    if kind is None or not place.here.startswith("="):
        return None
    return place.says(f"`=` does not declare {an(kind[1])}", f"write `{kind[1]} {kind[2]} {{ … }}`")


def _network_in_brackets(place: ErrorPlace) -> SyntaxMistake | None:
    """The message for `network n: set[M]`: a network is no value, and is written otherwise."""
    kind = re.search(r"^\s*network\b.*:\s*(\w+)\s*$", place.before)
    held = re.match(r"\[(\w*)", place.here)
    if kind is None or held is None or place.expected != {"of"}:
        return None
    return place.says("unexpected `[`", f"write `{kind[1]} of {held[1] or 'M'}`")


def _shared_domain(place: ErrorPlace) -> SyntaxMistake | None:
    """The message for `forall a, b: T`: each bound name has its own type or set."""
    name = re.search(r"(\w+)\s*$", place.before)
    if place.found == "," and name is not None and {":", "in"} <= place.expected:
        help_ = f"each name has its own: `{name[1]}: T, …`, or `{name[1]} in S, …`"
        return place.says(f"`{name[1]}` has no type and no set", help_)
    return None


def _set_after_colon(place: ErrorPlace) -> SyntaxMistake | None:
    """The message for `b: Node - {a}`: behind a colon is a type, a set of some is behind `in`."""
    name = re.search(r"(\w+)\s*:\s*(\w+)\s*$", place.before)
    if place.found not in {"+", "-"} or name is None or not {",", "_dot"} & place.expected:
        return None
    return place.says("behind `:` is a type, and no set", f"write `{name[1]} in {name[2]} {place.found} …`")


def _colon_after_quantifier(place: ErrorPlace) -> SyntaxMistake | None:
    """The message for a colon where a quantifier needs a dot before its body."""
    if place.found in {":", "|"} and re.search(
        r"\b(forall|exists|sum|max|min|argmax|argmin)\b", place.before
    ):
        return place.says(
            f"`{place.found}` does not end the list of bound names",
            "write a dot and a space: `forall x in S. P`",
        )
    return None


def _dot_without_space(place: ErrorPlace) -> SyntaxMistake | None:
    """The message for a dot after bound names without the space behind it."""
    if re.search(r"\b(forall|exists|sum|max|min|argmax|argmin|let)\b[^.]*\.\S*$", place.before):
        return place.says(
            f"unexpected `{place.found}`: the list of bound names has no end",
            "the dot after bound names needs a space behind it: `forall x in S. P`",
        )
    return None


def _chained_comparison(place: ErrorPlace) -> SyntaxMistake | None:
    """The message for a chain `a < b < c`."""
    if place.found in {"<", "<=", "==", "!=", ">", ">="} and re.search(
        r"(<|<=|==|!=|>=?)[^<>=]*$", place.before
    ):
        return place.says("comparisons do not chain", "write `a < b and b < c`")
    return None


def _part_of_a_tuple(place: ErrorPlace) -> SyntaxMistake | None:
    """The message for `pair.0`: a tuple has no parts to select."""
    if re.match(r"\.\d", place.here) is None or re.search(r"(?:\b[A-Za-z_]\w*|[)\]])$", place.before) is None:
        return None
    help_ = "declare a `record` and name its fields: `record P { of: T, at: U }`, read as `p.of`"
    return place.says("a tuple has no parts to select", help_)


def _condition_in_braces(place: ErrorPlace) -> SyntaxMistake | None:
    """The message for `{x in S : P}` and `{x in S | P}`: the condition of a set follows `where`."""
    binder = re.search(r"\{\s*(\w+\s*(?:\bin\b|:(?!=))\s*[^{}:|]*?)\s*$", place.before)
    if binder is None or place.found not in {":", "|"}:
        return None
    help_ = f"write `{{{binder[1]} where …}}`"
    return place.says(f"`{place.found}` does not begin the condition of a set", help_)


def _foreign_declaration(place: ErrorPlace) -> SyntaxMistake | None:
    """The message for `property p: e`, `var x`: another language's word for a declaration."""
    ours = _FOREIGN_DECLARATIONS.get(place.found.lower())  # TLA+ writes them in capitals
    if ours is None or "invariant" not in place.expected:
        return None
    return place.says(f"`{place.found}` declares nothing in this language", f"write {ours}")


def _half_a_declaration(place: ErrorPlace) -> SyntaxMistake | None:
    """The message for `always p: e`, `eventually p: e`: the other of two words is missing."""
    word = re.search(r"^\s*(always|eventually)\s+$", place.before)
    if word is None or not {"always", "eventually"} & place.expected:
        return None
    return place.says(f"`{word[1]}` alone declares nothing", f"write {_HALVES[word[1]]}")


def _open_declaration(place: ErrorPlace) -> SyntaxMistake | None:
    """The message for a declaration that begins where a bracket of the one above is still open."""
    if place.before or place.found not in _WORDS or not {"}", ")", "]"} & place.expected:
        return None
    message = f"`{place.found}` begins a declaration, and the one above has not ended"
    return place.says(message, "is a `{`, `(` or `[` of it left open?")


def _part_of_a_variant(place: ErrorPlace) -> SyntaxMistake | None:
    """The message for `variant v {`, and in a variant for `require e` and `require name: e`."""
    variant = re.search(r"^\s*variant\s+(\w+)\s*$", place.before)
    if variant is not None and place.expected == {"of"}:
        return place.says("a variant is of a model", f"write `variant {variant[1]} of MODEL {{ … }}`")
    action = re.search(r"\brequire\s+(\w+)\s*$", place.before)
    if action is not None and place.expected == {"."}:
        message = "a variant adds a guard to an action, which is named before it"
        return place.says(message, "write `require ACTION.NAME: …`, where NAME is new")
    return None


def _parameter_alone(place: ErrorPlace) -> SyntaxMistake | None:
    """The message for `action a(n)`: a parameter of which nothing says what it may be."""
    found = re.search(r"\b(?:action|fault|repair)\s+\w+\s*\((?:.*,)?\s*(\w+)\s*$", place.before)
    if found is None or not {":", "in"} <= place.expected:
        return None
    help_ = f"write `{found[1]}: T`, of a sort or type, or `{found[1]} in xs`, of a collection"
    help_ = name_and_type(found[1], place.found) or help_  # `Node n`, as in C
    return place.says(f"`{found[1]}` has no type", help_)


def _between_clauses(place: ErrorPlace) -> SyntaxMistake | None:
    """The message for signs between the clauses of a check, and for none between the parts of one."""
    late = re.search(r",\s*(faults|expect|only|scope|rates|config)\s*$", place.before)
    if late is not None and place.expected <= {"=", "holds", "violated"} and place.found != "=":
        return place.says(f"a comma does not come before `{late[1]}`", "leave it out")
    limit = re.search(r"\bscope\b(?:(?!config|faults).)*?\b(\w+)\s*$", place.before)
    if limit is not None and place.expected == {"="} and place.found == "<=":
        help_ = f"write `{limit[1]} = …`, or for a fault `faults {limit[1]} <= …` behind the scope"
        return place.says("a scope has `=`", help_)
    if not {"scope", "faults", "expect"} <= place.expected or "invariant" in place.expected:
        return None
    if place.found == ";":
        return place.says("nothing comes between the clauses of a check", "leave out the `;`")
    if re.search(r"\bexpect\b", place.before) and re.match(r"[A-Za-z_]\w*\s+(holds|violated)\b", place.here):
        return place.says(f"`{place.found}` follows another property", "write a comma before it")
    return None


def _missing_protocol(place: ErrorPlace) -> SyntaxMistake | None:
    """The message for a text that does not begin with `protocol`."""
    if place.expected == {"protocol", "import"}:
        return place.says("a model file starts with its name", "write `protocol NAME` first")
    return None


def _protocol_after_import(place: ErrorPlace) -> SyntaxMistake | None:
    """The message for a second `protocol` line, or one after an `import`."""
    if place.found == "protocol" and "check" in place.expected:
        help_ = "leave this line out: what is new here is part of the protocol that is imported"
        return place.says("a file has one protocol", help_)
    return None


def _part_of_a_rate(place: ErrorPlace) -> SyntaxMistake | None:
    """The message for `rates crash = 0.5/y`, `rates crash(b) = 2/y`: whole numbers, for all members alike."""
    rate = re.search(r"\brates\b[^{}]*?(\w+)\s*$", place.before)
    if rate is None:
        return None
    if place.found == ".":
        return place.says("a rate has whole numbers", "write how often in how long: `5/10y` is 0.5 in a year")
    if place.found == "(":
        help_ = f"`{rate[1]} = …` is of each choice of its parameters"
        return place.says("a rate is of an action, and not of its parameters", help_)
    return None


def _quoted(place: ErrorPlace) -> SyntaxMistake | None:
    """The message for a quoted text without closing quote, and for one where a value or `says` is wanted."""
    if not place.here.startswith('"'):
        return None
    if len(place.found) < 2 or not place.found.endswith('"'):
        return place.says("the quoted text does not end on its line", 'close it with `"`')
    if "says" in place.expected:
        return place.says("unexpected quoted text", "write `says` before it")
    help_ = "the members of an enum are names, without quotes; text follows `says`"
    return place.says("a quoted text is no value", help_)


_RULES: tuple[Callable[[ErrorPlace], SyntaxMistake | None], ...] = (
    _nothing_quantified,
    _unclosed,
    _missing_protocol,
    _protocol_after_import,
    _unstored_field,
    _else_if,
    _arrow_as_statement,
    _quantifier_as_operand,
    _open_operand,
    _quantifier_in_parentheses,
    _foreign_quantifier,
    _part_of_a_variant,
    _parameter_alone,
    _between_clauses,
    *IN_EXPRESSIONS,
    *IN_DECLARATIONS,
    _open_declaration,
    _foreign_declaration,
    _part_of_a_tuple,
    _condition_in_braces,
    _condition_of_a_choice,
    _foreign_statement,
    _number_of_members,
    _comparison_as_statement,
    _misspelt_before,
    _misspelt_inside,
    _misspelt,
    _half_a_declaration,
    _quoted,
    _part_of_a_rate,
    _shared_domain,
    _set_after_colon,
    _colon_after_quantifier,
    _changed_in_place,
    _sent_or_received,
    _arrow,
    _foreign_operator,
    _chained_comparison,
    _network_in_brackets,
    _equals_in_declaration,
    _equals_in_expression,
    _dot_without_space,
)
