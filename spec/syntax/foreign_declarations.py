"""Types, declarations and statements as other languages write them, each with what is written here."""

from __future__ import annotations

import re
from collections.abc import Callable

from spec.syntax.error_place import PATH, ErrorPlace, SyntaxMistake

_FOREIGN_TYPES = {  # of other languages, in lower case
    **dict.fromkeys(
        ("vec", "list", "array", "sequence", "vecdeque"), "`seq[T; L]`, with a number or a `nat` L"
    ),
    **dict.fromkeys(("hashset", "btreeset", "frozenset"), "`set[T]`"),
    **dict.fromkeys(("dict", "hashmap", "btreemap", "record"), "`map[K, V]`"),
    **dict.fromkeys(("option", "optional", "maybe", "nullable"), "`T?`"),
    **dict.fromkeys(("boolean", "bool"), "`bool`"),
    **dict.fromkeys(("str", "string"), "an `enum` of the texts, or a `sort` where only `==` matters"),
    **dict.fromkeys(
        ("nat", "int", "integer", "u8", "u16", "u32", "u64", "i32", "i64", "usize"),
        "a range such as `0..9`, or a name N that `nat N` declares and each check bounds",
    ),
}

_TAKE_OTHERS = {"set", "seq", "bag", "map"}
_NEAR = 400  # characters before an error, of the block that it is in


def type_here(name: str) -> str:
    """What to write for a type of another language; empty if it is unknown."""
    return _FOREIGN_TYPES.get(name.lower(), "")


def name_and_type(first: str, second: str) -> str:
    """How two words of which one is a type are written; empty if neither looks like one."""
    if _looks_like_a_type(first) and not _looks_like_a_type(second):
        return f"write `{second}: {first}`: the type follows the name"
    if _looks_like_a_type(second) and not _looks_like_a_type(first):
        return f"write `{first}: {second}{'[…]' if second in _TAKE_OTHERS else ''}`"
    return ""


def _looks_like_a_type(word: str) -> bool:
    return word[:1].isupper() or word in {"bool", "int"} | _TAKE_OTHERS


def _is_closed(place: ErrorPlace) -> bool:
    """Whether the rest of the line closes no bracket from before it, where one may be missing."""
    rest = place.here.partition("\n")[0]
    return all(rest.count(a) >= rest.count(b) for a, b in ("()", "[]"))


def _bulleted(place: ErrorPlace) -> SyntaxMistake | None:
    r"""The message for a list of conditions of which each begins with `/\` or `\/`."""
    late = place.before.endswith("/") and place.here.startswith("\\")  # the first half is read as ours
    text = f"/{place.here}" if late else place.here
    sign = re.match(r"/\\|\\/", text)
    changes = re.match(rf"/\\\s*{PATH}\s*'?\s*:?=(?!=)", text)
    if sign is None or ((late or "and" in place.expected) and not changes):
        return None
    if "require" not in place.expected and not changes:
        return place.says(
            f"nothing is before `{sign[0]}`", "leave it out; `and` and `or` join two conditions"
        )
    help_ = "leave it out: `require e` is a condition, `x := e` a change, and all of an action happens"
    if sign[0] == "\\/":
        help_ = "write an action for each, or `if e { … } else { … }`"
    return place.says(f"a statement does not begin with `{sign[0]}`", help_)


def _foreign_type(place: ErrorPlace) -> SyntaxMistake | None:
    """The message for `Vec<T>`, `set Node`, `Node -> T` and `map[K: V]` where a type is read."""
    applied = re.search(r":\s*\w*\s*\bmap\[\s*(\w+)\s*$", place.before)
    if applied is not None and re.match(r":|[-=]>", place.here):
        return place.says(f"unexpected `{place.found}`", f"write `map[{applied[1]}, …]`")
    name = re.search(r":\s*(\w+)\s*$", place.before)
    if name is None or "?" not in place.expected:
        return None
    if place.here.startswith("<"):
        ours = type_here(name[1]) or f"`{name[1]}[…]`"
        return place.says("a type takes others in square brackets", f"write {ours}")
    if re.match(r"[-=]>", place.here):
        return place.says(f"unexpected `{place.here[:2]}`", f"write `map[{name[1]}, …]` for a value of each")
    if name[1] in {"set", "seq", "bag"} and place.found.isidentifier():
        return place.says(
            f"unexpected `{place.found}`",
            f"write `{name[1]}[{place.found}{'' if name[1] == 'set' else '; L'}]`",
        )
    if name[1] in {"one", "lone"} and place.found.isidentifier():
        return place.says(
            f"unexpected `{place.found}`", f"write `{place.found}{'?' if name[1] == 'lone' else ''}`"
        )
    return None


def _name_of_a_value(place: ErrorPlace) -> SyntaxMistake | None:
    """The message for `let q: T = e`, `let mut q = e` and `let q := e`."""
    named = re.search(r"\blet\s+(\w+)\s*$", place.before)
    if named is None or place.expected != {"="} or not re.match(r":|\w", place.here):
        return None
    name = place.found if named[1] == "mut" else named[1]
    also = "; what changes later is declared in `state`" if named[1] == "mut" else ""
    return place.says(f"unexpected `{place.found}`", f"write `let {name} = …`{also}")


def _comma_between_statements(place: ErrorPlace) -> SyntaxMistake | None:
    """The message for `t := 1, up := false` and `require p, q`."""
    last = re.search(r"(:=|\brequire\b)([^;{}]*)$", place.before)
    if place.found != "," or last is None or "}" not in place.expected or ")" in place.expected:
        return None
    if not _is_closed(place) or any(last[2].count(a) != last[2].count(b) for a, b in ("()", "[]")):
        return None
    help_ = (
        "leave it out, or write `;`"
        if last[1] == ":="
        else "write `and` between conditions, or another `require`"
    )
    return place.says("a comma does not end a statement", help_)


def _block_of_python(place: ErrorPlace) -> SyntaxMistake | None:
    """The message for `if p: x := 1` and `for x in S: …`."""
    word = re.search(r"\b(if|for|else)\b([^{}:]*)$", place.before)
    if word is None or place.found != ":" or "{" not in place.expected:
        return None
    return place.says("`:` does not begin a block", f"write `{word[1]}{word[2].rstrip()} {{ … }}`")


def _result_of_a_function(place: ErrorPlace) -> SyntaxMistake | None:
    """The message for `fun f(x: T) -> U`, `fun f(x: T) = e`, `fun f(x: T): U { e }` and `fun f(x)`."""
    if re.search(r"^\s*fun\s", place.before) is None:
        return None
    in_braces = place.found == "{" and place.before.rstrip().endswith(")")
    if place.expected <= {":", "("} and (in_braces or re.match(r"->|=(?!=)", place.here)):
        return place.says("a function gives the type of its value", "write `fun NAME(x: T): U = e`")
    if place.found == "{" and "=" in place.expected:
        return place.says("the value of a function is one expression", "write `= e` in place of `{ … }`")
    bare = re.search(r"[(,]\s*(\w+)\s*$", place.before)
    if bare is not None and place.expected == {":"} and place.found in {")", ","}:
        return place.says(f"`{bare[1]}` has no type", f"write `{bare[1]}: T`")
    return None


def _type_or_first_value(place: ErrorPlace) -> SyntaxMistake | None:
    """The message for `state { q = 0 }`, `state { T q = 0 }` and `state { q: T }`."""
    name = re.search(
        r"(?:^|[{,]|\b(?:durable|volatile|cached|ghost|let|var))\s*(\w+)\s+$", f"{place.before} "
    )
    if name is not None and place.expected == {":"} and place.found == "=":
        return place.says(f"`{name[1]}` has no type", f"write `{name[1]}: T = …`")
    if name is not None and place.expected == {":"} and place.found.isidentifier():
        if name[1] in {"durable", "volatile", "cached", "ghost"}:
            help_ = f"fields of a `process` are stored that way; in `state` write `{place.found}: …`"
        elif name[1] in {"let", "var"}:
            help_ = f"write `{place.found}: T = …`"
        else:
            help_ = name_and_type(name[1], place.found)
        return place.says(f"unexpected `{place.found}`", help_) if help_ else None
    typed = re.search(r"(\w+)\s*:\s*([^:={}]+?)\s*$", place.before)
    variable = re.search(r"(?:\bstate|\bghost|\bprocess\s+\w+)\s*\{[^{}]*$", place.above)
    if typed is None or variable is None or not _is_closed(place):
        return None
    if place.found not in {"}", ",", ";", ":="} or "=" not in place.expected:
        return None
    return place.says(f"`{typed[1]}` has no first value", f"write `{typed[1]}: {typed[2]} = …`")


def _property_without_a_name(place: ErrorPlace) -> SyntaxMistake | None:
    """The message for `invariant t > 0`, `assert t > 0` and `invariant q = e`."""
    titled = re.search(r"^\s*(invariant|lemma|step|reachable|recoverable)\s*$", place.before)
    if titled is not None and place.here.startswith('"'):
        return place.says(f"`{titled[1]}` has no name", f"write `{titled[1]} NAME says {place.found}: …`")
    kind = re.search(r"\b(invariant|lemma|step|reachable|recoverable|assert)\s+(\w+)\s*$", place.before)
    if kind is None or not place.expected <= {":", "says"} or place.here.startswith('"'):
        return None
    if place.found in {"=", "{", "=="}:
        return place.says(f"unexpected `{place.found}`", f"write `{kind[1]} {kind[2]}: e`")
    if place.found.isidentifier() and kind[2] not in {"forall", "exists", "not"}:
        return None
    return SyntaxMistake(
        f"`{kind[1]}` has no name", f"write `{kind[1]} NAME: {kind[2]} …`", place.before_it(kind, 2)
    )


def _head_of_an_action(place: ErrorPlace) -> SyntaxMistake | None:
    """The message for signs and words between the parameters of an action and its block."""
    head = re.search(r"\b(action|fault|repair)\s+(\w+)\s*(\([^{}]*\))?\s*$", place.before)
    if head is None or "{" not in place.expected:
        return None
    if re.match(r"[=-]>|=|:(?!\s*\")", place.here) and _is_closed(place):
        sign = place.here[:2] if place.here[1:2] == ">" else place.here[0]
        return place.says(
            f"`{sign}` does not begin the statements of an action", f"write `{head[0].strip()} {{ … }}`"
        )
    if place.found in {"when", "requires", "require", "if", "where", "with", "given"}:
        return place.says(
            f"unexpected `{place.found}`", "write `{ require e …`: conditions are the first statements"
        )
    if place.found == "[":
        return place.says("unexpected `[`", f"write `{head[1]} {head[2]}(…)`")
    return None


def _clause_of_a_check(place: ErrorPlace) -> SyntaxMistake | None:
    """The message for `faults = 1`, `faults < 2`, `faults 0`, and for `check c { Node = 3 }`."""
    number = re.match(r"(<|==?)?\s*(\d+)", place.here)
    if number is not None and re.search(r"\bfaults\s*$", place.before) and "any" in place.expected:
        most = int(number[2][:9]) - (number[1] == "<")
        help_ = f"write `faults <= {most}`" if most > 0 else "write `faults none`"
        return place.says(f"unexpected `{place.found}`", help_)
    size = re.match(r"(\w+)\s*=\s*(\w+)", place.here)
    if size is not None and "scope" in place.expected and "invariant" not in place.expected:
        if re.search(r"\bscope\b[^{}]*$", re.sub(r"\{[^{}]*\}", "", place.above[-_NEAR:])):
            return place.says(f"`{size[1]}` follows another size", "write a comma before it")
        return place.says(f"`{size[1]}` begins no clause of a check", f"write `scope {size[1]} = {size[2]}`")
    return None


def _block_of_quint(place: ErrorPlace) -> SyntaxMistake | None:
    """The message for `all { … }`, `any { … }`, `and { … }` and `or { … }`."""
    word = re.search(r"\b(all|any|and|or)\s*$", place.before)
    if word is None or place.found != "{":
        return None
    help_ = {
        "all": "leave it out: all statements of an action happen",
        "any": "write an action for each: any of them may happen",
    }.get(word[1], f"write `p {word[1]} q`")
    return SyntaxMistake(f"`{word[1]}` begins no block", help_, place.before_it(word, 1))


def _type_of_words(place: ErrorPlace) -> SyntaxMistake | None:
    """The message for `type Q = A | B`."""
    named = re.search(r"^\s*type\s+(\w+)\s*=\s*(\w+)\s*$", place.before)
    other = re.match(r"\|\s*(\w+)", place.here)
    if named is None or other is None:
        return None
    enum = f"`enum {named[1]} {{ {named[2]}, {other[1]} }}`"
    help_ = f"write {enum}, or `union {named[1]} {{ … }}` of cases with fields"
    return place.says("`|` does not join types", help_)


def _action_in_a_process(place: ErrorPlace) -> SyntaxMistake | None:
    """The message for `process Node { action a { … } }`."""
    owner = re.search(r"\bprocess\s+(\w+)\s*\{[^{}]*$", place.above)
    if (
        owner is None
        or place.found not in {"action", "fault", "repair", "fun", "invariant"}
        or not place.before
    ):
        return None
    help_ = f"close it, and write `action NAME(n: {owner[1]}) {{ … }}` outside"
    return place.says("a process has fields alone", help_)


def _loop(place: ErrorPlace) -> SyntaxMistake | None:
    """The message for `while (t < 1) { … }`, `foreach (x in S) { … }` and `loop { … }`."""
    word = re.search(r"(?:^|[{};])\s*(while|foreach|loop)\b[^{};]*$", place.before)
    if word is None or place.found != "{":
        return None
    help_ = "write `for x in S { … }`, which goes through the members of `S`"
    return SyntaxMistake(f"`{word[1]}` is not a word of this language", help_, place.before_it(word, 1))


def _send_of_p(place: ErrorPlace) -> SyntaxMistake | None:
    """The message for `send n, event, e`."""
    word = re.search(r"(?:^|[{};])\s*(send|announce)\s+(\w+)\s*$", place.before)
    if word is None or place.found != ",":
        return None
    help_ = "write `net.send(e)`, or `net[n].send(e)` where each member has a channel"
    return SyntaxMistake(f"`{word[1]}` follows a network and a dot", help_, place.before_it(word, 1))


IN_DECLARATIONS: tuple[Callable[[ErrorPlace], SyntaxMistake | None], ...] = (
    _bulleted,
    _foreign_type,
    _name_of_a_value,
    _comma_between_statements,
    _block_of_python,
    _result_of_a_function,
    _type_or_first_value,
    _property_without_a_name,
    _head_of_an_action,
    _clause_of_a_check,
    _block_of_quint,
    _type_of_words,
    _action_in_a_process,
    _loop,
    _send_of_p,
)
