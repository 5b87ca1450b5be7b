#!/usr/bin/env python3
"""Whether CBOR is what format/dump.cddl says, and says the same as JSON lines.

cddl.py DUMP.CDDL CBOR JSONL [CBOR JSONL ...]

Reads as much of CDDL (RFC 8610) as dump.cddl uses: rules, choices, groups, optional members, ranges,
literals, arrays of one type, maps of texts to one type.
"""
import json
import re
import sys


# ---- CBOR

def decode(data, at):
    """The item at `at`, and where the next one is."""
    first = data[at]
    major, low = first >> 5, first & 31
    at += 1
    if low < 24:
        n = low
    elif low < 28:
        width = 1 << (low - 24)
        n = int.from_bytes(data[at:at + width], "big")
        if low == 24 and n < 24 or low > 24 and n < 1 << (4 * width):
            raise ValueError("number is not as short as can be")
        at += width
    elif low == 31 and major in (4, 5):
        n = None
    else:
        raise ValueError("byte %02x at %d" % (first, at - 1))
    if major == 0:
        return n, at
    if major == 1:
        return -1 - n, at
    if major in (2, 3):
        if at + n > len(data):
            raise ValueError("string past the end")
        s = data[at:at + n]
        return (bytes(s) if major == 2 else s.decode("utf-8")), at + n
    if major in (4, 5):
        if n is not None:
            raise ValueError("length at %d: all are indefinite" % at)
        items = []
        while data[at] != 0xff:
            item, at = decode(data, at)
            items.append(item)
        at += 1
        if major == 4:
            return items, at
        keys = items[0::2]
        if len(set(keys)) != len(keys):
            raise ValueError("a key comes twice")
        return dict(zip(keys, items[1::2])), at
    if first == 0xf6:
        return None, at
    raise ValueError("byte %02x at %d" % (first, at - 1))


def sequence(data):
    at = 0
    while at < len(data):
        item, at = decode(data, at)
        yield item


def same(j, c):
    """Whether JSON says what CBOR says."""
    if isinstance(c, dict):
        return isinstance(j, dict) and j.keys() == c.keys() and all(same(j[k], c[k]) for k in c)
    if isinstance(c, list):
        return isinstance(j, list) and len(j) == len(c) and all(map(same, j, c))
    if isinstance(c, bytes):
        return j == c.hex() or j == {"hex": c.hex()}
    if isinstance(c, int) and isinstance(j, str):
        return j in (str(c), hex(c), "%08x" % c)
    return type(j) is type(c) and j == c


# ---- CDDL

TOKEN = re.compile(r'\s+|;[^\n]*|("[^"]*"|-?\d+|[A-Za-z_][\w-]*|\.\.|//|=>|[={}()\[\],:?*/])')


class Grammar:
    def __init__(self, text):
        self.tokens = [m.group(1) for m in TOKEN.finditer(text) if m.group(1)]
        left = TOKEN.sub("", text)
        if left:
            raise ValueError("not understood: %r" % left[:40])
        self.at = 0
        self.rules = {}
        self.used = set()
        while self.at < len(self.tokens):
            name = self.take()
            self.take("=")
            if name in self.rules:
                raise ValueError("%s: twice" % name)
            # A group in parentheses, or a type.
            self.rules[name] = self.choice() if self.peek() != "(" else self.group_in(")")

    def peek(self, ahead=0):
        at = self.at + ahead
        return self.tokens[at] if at < len(self.tokens) else None

    def take(self, wanted=None):
        token = self.peek()
        if token is None or wanted and token != wanted:
            raise ValueError("%s instead of %s" % (token, wanted))
        self.at += 1
        return token

    def choice(self):
        types = [self.type()]
        while self.peek() == "/":
            self.take()
            types.append(self.type())
        return types[0] if len(types) == 1 else ("or", types)

    def type(self):
        token = self.peek()
        if token == "{" and self.peek(1) == "*":
            for wanted in ("{", "*", "tstr", "=>"):
                self.take(wanted)
            inner = self.choice()
            self.take("}")
            return ("table", inner)
        if token == "{":
            return ("map", self.group_in("}"))
        if token == "[":
            self.take()
            self.take("*")
            inner = self.choice()
            self.take("]")
            return ("array", inner)
        self.take()
        if token[0] == '"':
            return ("is", token[1:-1])
        if re.match(r"-?\d", token):
            low = int(token)
            if self.peek() == "..":
                self.take()
                return ("range", low, int(self.take()))
            return ("is", low)
        return ("name", token)

    def group_in(self, close):
        self.take()
        choices = [[]]
        while self.peek() != close:
            if self.peek() == "//":
                self.take()
                choices.append([])
                continue
            choices[-1].append(self.entry())
            if self.peek() == ",":
                self.take()
        self.take(close)
        return ("group", choices)

    def entry(self):
        if self.peek() == "?":
            self.take()
            return ("maybe", self.entry())
        if self.peek() == "(":
            return self.group_in(")")
        if self.peek(1) == ":":
            key = self.take()
            self.take(":")
            return ("member", key, self.choice())
        return ("name", self.take())

    def rule(self, name):
        self.used.add(name)
        return self.rules[name]

    def matches(self, t, v):
        what = t[0]
        if what == "or":
            return any(self.matches(one, v) for one in t[1])
        if what == "is":
            return type(v) is type(t[1]) and v == t[1]
        if what == "range":
            return type(v) is int and t[1] <= v <= t[2]
        if what == "array":
            return isinstance(v, list) and all(self.matches(t[1], item) for item in v)
        if what == "table":
            return isinstance(v, dict) and all(isinstance(k, str) and self.matches(t[1], v[k]) for k in v)
        if what == "map":
            return isinstance(v, dict) and any(not left for left in self.group(t[1], v, frozenset(v)))
        if t[1] in self.rules:
            return self.matches(self.rule(t[1]), v)
        if t[1] == "int":
            return type(v) is int
        if t[1] == "uint":
            return type(v) is int and v >= 0
        if t[1] == "tstr":
            return isinstance(v, str)
        if t[1] == "bstr":
            return isinstance(v, bytes)
        if t[1] == "null":
            return v is None
        raise ValueError("no rule %s" % t[1])

    def group(self, g, v, keys):
        """The sets of keys that are left when the group has taken its own."""
        what = g[0]
        if what == "member":
            if g[1] in keys and self.matches(g[2], v[g[1]]):
                yield keys - {g[1]}
        elif what == "maybe":
            yield from self.group(g[1], v, keys)
            yield keys
        elif what == "name":
            yield from self.group(self.rule(g[1]), v, keys)
        else:
            for entries in g[1]:
                yield from self.all_of(entries, v, keys)

    def all_of(self, entries, v, keys):
        if not entries:
            yield keys
            return
        for left in self.group(entries[0], v, keys):
            yield from self.all_of(entries[1:], v, left)


def check(grammar, cbor, jsonl):
    lines = [json.loads(line) for line in open(jsonl, encoding="utf-8")]
    items = list(sequence(open(cbor, "rb").read()))
    if len(lines) != len(items):
        return "%s: %d items, %d lines" % (cbor, len(items), len(lines))
    for i, (item, line) in enumerate(zip(items, lines)):
        if not grammar.matches(("name", "line"), item):
            return "%s: item %d is not in the grammar: %.400s" % (cbor, i, item)
        if not same(line, item):
            return "%s: item %d differs: %.300s\n%.300s" % (cbor, i, item, line)
    return None


def self_check(grammar):
    end = {"kind": "end", "records": 0, "errors": 0}
    wrong = [{}, {**end, "more": 1}, {**end, "errors": -1}, {**end, "errors": "0"}, {"kind": "end"}]
    if not grammar.matches(("name", "line"), end):
        sys.exit("self-check: a right line was refused")
    for line in wrong:
        if grammar.matches(("name", "line"), line):
            sys.exit("self-check: %s was taken" % line)
    if same({"a": "0x10"}, {"a": 17}) or same({"a": ["00"]}, {"a": [b"\1"]}):
        sys.exit("self-check: a difference was not seen")


def main():
    grammar = Grammar(open(sys.argv[1], encoding="utf-8").read())
    self_check(grammar)
    failed = False
    for i in range(2, len(sys.argv) - 1, 2):
        why = check(grammar, sys.argv[i], sys.argv[i + 1])
        if why:
            print(why)
            failed = True
    sys.exit(failed)


main()
