"""Types, names that are bound, and expressions as trees of tuples, by recursive descent.

A node is a tuple that begins with its kind, without its place, so equal texts are equal nodes: what is known
of a path is known of its node.
"""

from __future__ import annotations

from typing import Any

from tests.by_the_manual.tokens import Tokens

Node = tuple[Any, ...]
COMPARED = ("==", "!=", "<", "<=", ">", ">=")
QUANTIFIERS = {"forall", "exists", "sum", "max", "min", "argmax", "argmin"}


class ExpressionParser(Tokens):
    """Reads types and expressions; operators from what binds loosest to what binds tightest."""

    # -------------------------------------------------------------- types

    def type(self) -> Node:
        of = self.base_type()
        while self.take("?"):
            of = ("option", of)
        return of

    def base_type(self) -> Node:
        if self.take("{"):
            return ("enum", *self.listed(self.name, "}"))
        if self.take("("):
            return ("tuple", *self.listed(self.type, ")"))
        if self.kind() != "name":
            low, _ = self.number(), self.need("..")
            return ("range", low, self.number())
        name = self.name()
        if not self.take("["):
            return ("named", name)
        of, limit = self.commas(self.type), None
        if self.take(";"):
            limit = self.number() if self.kind() == "number" else self.name()
        self.need("]")
        return (name, *of) if name == "map" else (name, *of, limit)

    # -------------------------------------------------------------- expressions

    def binder(self) -> Node:
        """(name, type or None, domain or None)."""
        name = self.name()
        of = self.type() if self.take(":") else None
        domain = self.range() if self.take("in") else None
        return (name, of, domain)

    def condition(self) -> Node:
        return self.expr() if self.take("where") else ("bool", True)

    def expr(self) -> Node:
        left = self.joined("or")
        return ("implies", left, self.expr()) if self.take("implies") else left

    def joined(self, word: str) -> Node:
        """What `or` or `and` joins, from left to right."""
        left = self.joined("and") if word == "or" else self.negation()
        while self.take(word):
            left = (word, left, self.joined("and") if word == "or" else self.negation())
        return left

    def negation(self) -> Node:
        return ("not", self.negation()) if self.take("not") else self.comparison()

    def comparison(self) -> Node:
        left = self.range()
        if self.see(*COMPARED):
            self.at += 1
            sign, right = self.tokens[self.at - 1][1], self.range()
            return ({">": "<", ">=": "<="}[sign], right, left) if ">" in sign else (sign, left, right)
        if self.take("in"):
            return ("in", left, self.range())
        if self.see("not") and self.see("in", ahead=1):
            self.at += 2
            return ("not", ("in", left, self.range()))
        if self.take("subset"):
            return ("subset", left, self.range())
        if self.take("is"):
            return ("is", left, self.name())
        return left

    def range(self) -> Node:
        left = self.sum()
        if self.see("..") and not self.see("]", ahead=1):
            self.at += 1
            return ("to", left, self.sum())
        return left

    def sum(self) -> Node:
        left = self.product()
        while self.see("+", "-", "&"):
            self.at += 1
            left = (self.tokens[self.at - 1][1], left, self.product())
        return left

    def product(self) -> Node:
        left = self.sign()
        while self.see("*", "/", "%"):
            self.at += 1
            left = (self.tokens[self.at - 1][1], left, self.sign())
        return left

    def sign(self) -> Node:
        return ("minus", self.sign()) if self.take("-") else self.postfix()

    def postfix(self) -> Node:
        left = self.atom()
        while True:
            if self.take("."):
                name = self.name()
                left = ("method", left, name, self.arguments()) if self.take("(") else ("get", left, name)
            elif self.take("["):
                if self.take(".."):
                    left = ("upto", left, self.sum())
                else:
                    index = self.expr()
                    left = ("from", left, index) if self.take("..") else ("index", left, index)
                self.need("]")
            else:
                return left

    def arguments(self) -> Node:
        """Each with its name, or without one."""
        return self.listed(self.argument, ")")

    def argument(self) -> Node:
        named = self.kind() == "name" and self.see("=", ahead=1)
        return (self.name(), (self.need("="), self.expr())[1]) if named else ("", self.expr())

    def atom(self) -> Node:
        if self.kind() == "number":
            return ("number", self.number())
        if self.take("("):
            items = self.listed(self.expr, ")")
            return items[0] if len(items) == 1 else ("tuple", *items)
        if self.take("{"):
            return self.braces()
        if self.take("["):
            return self.brackets()
        word = self.name()
        if word in QUANTIFIERS and not (word in {"max", "min"} and self.see("(")):
            binders, where = self.commas(self.binder), self.condition()
            self.stop()
            return (word, tuple(binders), where, self.expr())
        if word in {"true", "false"}:
            return ("bool", word == "true")
        if word == "none":
            return ("none",)
        if word == "let":
            name, _, value = self.name(), self.need("="), self.expr()
            self.stop()
            return ("let", name, value, self.expr())
        if word == "if":
            test, _, then = self.expr(), self.need("then"), self.expr()
            self.need("else")
            return ("if", test, then, self.expr())
        return ("call", word, self.arguments()) if self.take("(") else ("name", word)

    def stop(self) -> None:
        if self.kind() != "dot":
            self.need("a dot with a blank behind it")
        self.at += 1

    def braces(self) -> Node:
        if self.kind() == "name" and self.see(":", "in", ahead=1):
            bound, _, where = self.binder(), self.need("where"), self.expr()
            self.need("}")
            return ("collect", (bound,), where, ("name", bound[0]))
        if self.take("}"):
            return ("set",)
        first = self.sum()
        if self.take("for"):
            bound, where = self.binder(), self.condition()
            self.need("}")
            return ("collect", (bound,), where, first)
        self.take(",")
        return ("set", first, *self.listed(self.sum, "}"))

    def brackets(self) -> Node:
        if self.kind() == "name" and self.see(":", ahead=1):
            name, _, of = self.name(), self.need(":"), self.type()
            self.need("->")
            body = self.expr()
            self.need("]")
            return ("map", name, of, body)
        return ("seq", *self.listed(self.expr, "]"))
