"""Random models of processes with queues between them: most steps of one commute with those of another."""

from __future__ import annotations

from random import Random

CONDITIONS = (
    "n.x < 2", "n.x == 0", "n.x > 0", "not n.y", "n.y", "n.peer == none", "n.peer != none", "shared == 0",
    "shared != 1", "size(link[n]) < 1", "size(link[n]) > 0", "seen == {}", "1 in seen", "size(log) == 0",
    "exists a: Node. a.y", "forall a: Node. a.x < 2", "mode == Off", "table[n][0] == 0",
)  # fmt: skip
OF_MESSAGE = ("m == n.x", "m > 0", "m != shared", "m in seen")
CHANGES = (
    "n.x := min(n.x + 1, 2)", "n.x := 0", "n.x := 1", "n.x := n.x + 1", "n.y := not n.y", "n.y := true",
    "n.y := false", "shared := n.x", "shared := 1", "shared := min(shared + 1, 2)", "seen.add(n.x)",
    "seen.add(1)",
    "seen.remove(1)", "log.append(n.x)", "log.append(0)", "log := []", "few.append(1)", "mode := On",
    "n.peer := n", "n.peer := none", "link[n].send(n.x)", "link[n].send(1)", "table[n][0] := 1",
    "table[n][1] := min(n.x, 1)", "bits.add(n.y)", "crowd.add(n)",
    "for a in Node - {n} { link[a].send(1) }", "for a in Node - {n} { a.y := true }",
    "if n.y { n.x := 1 } else { n.y := true }", "if shared == 0 { seen.add(2) }", "assert fine: n.x < 2",
    "assert well: shared != 2", "if n.x > 0 { link[n].send(0) } else { shared := 0 }",
)  # fmt: skip
OF_ANOTHER = (
    "link[k].send(n.x)", "link[k].send(1)", "link[k].send(0)", "k.x := n.x", "k.y := true", "n.peer := k",
    "table[k][0] := 1", "if k.y { link[k].send(2) }",
)  # fmt: skip
BY_MESSAGE = (
    "n.x := m", "shared := m", "seen.add(m)", "log.append(m)", "if m > n.x { n.x := m } else { n.y := true }",
    "link[n].send(m)", "if m == 1 { link[n].receive(m) }",
)  # fmt: skip
FORWARD = ("link[k].send(m)", "if m > n.x { link[k].send(m) }", "if m > 0 { link[k].send(m - 1) }")
WATCHED = (
    "forall n: Node. n.x == n.x", "forall n: Node. n.y == n.y", "shared == shared", "seen == seen",
    "log == log", "mode == mode", "forall n: Node. n.peer == n.peer", "link == link", "crowd == crowd",
    "table == table", "forall n: Node. n.x == n.x and n.y == n.y",
)  # fmt: skip
PROPERTIES = (
    "invariant i{0}: forall n: Node. n.x < 2", "invariant i{0}: shared != 2",
    "invariant i{0}: forall n: Node. n.y implies n.x < 2", "reachable r{0}: seen == 0..2",
    "reachable r{0}: exists n: Node. n.x == 2", "reachable r{0}: mode == On", "reachable r{0}: crowd == Node",
    "reachable r{0}: exists n: Node. size(link[n]) == 2", "step s{0}: old(seen) subset seen",
    "step s{0}: old(shared) <= shared", "step s{0}: did(a0) implies shared == 0",
    "invariant i{0}: last(log) == 0 or size(log) == 0",
)  # fmt: skip
SHARED = ("shared", "seen", "log", "few", "mode", "bits", "crowd", "Node", "a.", "size(")
STATE = """
sort Node
nat Count
enum Mode { Off On }
network link[Node]: fifo of 0..2
state {
  shared: 0..2 = 0
  seen: set[0..2] = {}
  log: seq[0..2; Count] = []
  few: seq[0..2; 1] = []
  mode: Mode = Off
  table: map[Node, map[0..1, 0..1]] = [n: Node -> [i: 0..1 -> 0]]
  bits: set[bool] = {}
  crowd: set[Node] = {}
}
process Node {
  durable x: 0..2 = 0
  durable y: bool = false
  durable peer: Node? = none
}
"""


def queue_model(chance: Random) -> str:
    """The text of a random model with a check of two or three processes."""
    state = STATE.replace(
        "fifo of 0..2", f"fifo of 0..2{chance.choice(['', '', '', ' with drop', ' with reorder'])}"
    )
    own = chance.random() < 0.6
    actions = [_action(f"a{number}", "action", chance, own=own) for number in range(chance.randint(2, 4))]
    if chance.random() < 0.5:
        actions.append(_action("f0", chance.choice(["fault", "fault", "repair"]), chance, own=own))
    watched = chance.sample(WATCHED, chance.choice([0, 1, 1, 1, 2]))
    asked = [f"invariant w{number}: {text}" for number, text in enumerate(watched)]
    asked += [
        text.format(n) for n, text in enumerate(chance.sample(PROPERTIES, chance.choice([0, 0, 0, 1, 2])))
    ]
    if chance.random() < 0.4:
        asked.append(chance.choice(["deadlock free", "deadlock free unless shared == 1"]))
    sizes = chance.choice([2, 2, 3]), chance.randint(1, 2), chance.randint(0, 2)
    scope = "scope Node = {}, link = {}, Count = {}".format(*sizes)
    start = chance.choice(
        [
            "",
            "",
            "init {\n  choose a: Node\n  a.y := true\n}",
            "init {\n  for a in Node { link[a].send(1) }\n}",
        ]
    )
    check = f"check random {{\n  {scope}\n  faults {chance.choice(['none', '<= 1', '<= 2', 'any'])}\n}}"
    return "\n".join(["protocol random", state, start, *actions, *asked, check])


def counter_model(chance: Random) -> str:
    """The text of a random model of a few counters, of which each action reads and writes one to three."""
    names = [f"v{number}" for number in range(chance.randint(5, 8))]
    actions = []
    for number in range(chance.randint(4, 7)):
        kind = chance.choice(["fault", "repair"]) if chance.random() < 0.1 else "action"
        guards = [
            f"{v} {chance.choice(['==', '!=', '<', '>'])} {chance.randint(0, 2)}"
            for v in _some(names, chance)
        ]
        guards = (
            [f"require {' or '.join(guards)}"]
            if guards and chance.random() < 0.2
            else [f"require {g}" for g in guards]
        )
        changes = [_change(name, names, chance) for name in _some(names, chance) or chance.sample(names, 1)]
        actions.append(f"{kind} a{number} {{\n  " + "\n  ".join([*guards, *changes]) + "\n}")
    state = (
        "state {\n  " + "\n  ".join(f"{name}: 0..2 = {chance.choice([0, 0, 1])}" for name in names) + "\n}"
    )
    asked = [
        f"invariant w{n}: {name} == {name}"
        for n, name in enumerate(chance.sample(names, chance.randint(0, 2)))
    ]
    check = f"check random {{\n  faults {chance.choice(['none', '<= 1', '<= 2', 'any'])}\n}}"
    return "\n".join(["protocol random", state, *actions, *asked, check])


def relay_model(chance: Random) -> str:
    """The text of a random model of two processes that change two fields and send numbers to each other."""
    actions = [_relay(f"a{number}", chance) for number in range(chance.randint(3, 5))]
    if chance.random() < 0.2:
        actions.append(_relay("f0", chance).replace("action", "fault", 1))
    watched = chance.choice(["n.x == n.x", "n.y == n.y", "n.x == n.x and n.y == n.y", "size(link[n]) < 9"])
    asked = [f"invariant w0: forall n: Node. {watched}"] if chance.random() < 0.8 else []
    state = "sort Node\nnetwork link[Node]: fifo of 0..1"
    state += "\nprocess Node { durable x: 0..1 = 0, durable y: 0..1 = 0 }"
    scope = f"scope Node = 2, link = {chance.randint(1, 2)}"
    start = "init {\n  choose a: Node\n  a.y := 1\n}" if chance.random() < 0.5 else ""
    check = f"check random {{\n  {scope}\n  faults {chance.choice(['none', '<= 1', 'any'])}\n}}"
    return "\n".join(["protocol random", state, start, *actions, *asked, check])


def _relay(name: str, chance: Random) -> str:
    """A random action of a process that takes a message, sends one, or does neither."""
    receives, sends = chance.random() < 0.4, chance.random() < 0.4
    params = ["n: Node", *["m in head(link[n])"] * receives, *["k in Node - {n}"] * sends]
    field, other = chance.choice([("x", "y"), ("y", "x")])
    values = ["0", "1", f"n.{other}", f"1 - n.{field}", *["m"] * 3 * receives]
    changes = [f"n.{field} := {chance.choice(values)}"] * (chance.random() < 0.8)
    changes += ["link[n].receive(m)"] * (receives and chance.random() < 0.9)
    changes += [f"link[k].send({chance.choice(['1', f'n.{other}', *['m'] * receives])})"] * sends
    chance.shuffle(changes)
    tests = [f"n.{other} == {chance.randint(0, 1)}", f"n.{field} == 0", *["m == n.x"] * receives]
    guards = [f"require {each}" for each in chance.sample(tests, chance.choice([0, 1, 1]))]
    return f"action {name}({', '.join(params)}) {{\n  " + "\n  ".join([*guards, *changes]) + "\n}"


def random_model(chance: Random) -> str:
    """The text of a random model of one of these kinds."""
    return chance.choice([counter_model, queue_model, relay_model])(chance)


def _some(names: list[str], chance: Random) -> list[str]:
    """None to two of some names."""
    return chance.sample(names, chance.choice([0, 1, 1, 1, 1, 2]))


def _change(name: str, names: list[str], chance: Random) -> str:
    """A random change of a counter."""
    other = chance.choice(names)
    return chance.choice(
        [
            f"{name} := {chance.randint(0, 2)}",
            f"{name} := {chance.randint(0, 2)}",
            f"{name} := min({name} + 1, 2)",
            f"{name} := {other}",
            f"if {other} == 1 {{ {name} := 2 }}",
            f"choose c_{name} in 0..1\n  {name} := c_{name}",
        ]
    )


def _action(name: str, kind: str, chance: Random, *, own: bool) -> str:
    """A random action of a process, perhaps by a message, perhaps with another process.

    With `own` it hardly uses what is not the process's own.
    """
    shared = 0.1 if own else 1.0
    conditions, changes = (
        [each for each in among if chance.random() < shared or not any(map(each.__contains__, SHARED))]
        for among in (CONDITIONS, CHANGES)
    )
    params = ["n: Node"]
    way = chance.random()
    if way < 0.5:
        params.append("m in head(link[n])")
        conditions += OF_MESSAGE
        changes += BY_MESSAGE * 3
    elif way < 0.65:
        params.append("m in seen")
        changes += ["n.x := m", "shared := m", "seen.remove(m)"] * 3
    other = chance.random()
    if other < (0.2 if own else 0.4):
        params.append(chance.choice(["k in Node - {n}", "k: Node", "k in n.peer", "k in crowd"]))
        changes += OF_ANOTHER * 2
        if way < 0.5:
            changes += FORWARD * 3
    body = [f"require {each}" for each in chance.sample(conditions, chance.randint(0, 2))]
    if chance.random() < 0.15:
        body.append("let was = n.x\n  require was < 2")
    made = chance.sample(changes, chance.randint(1, 3))
    if way < 0.5 and chance.random() < 0.85:
        made.insert(chance.randint(0, len(made)), "link[n].receive(m)")
    if chance.random() < 0.15:
        made.insert(0, chance.choice(["choose c in 0..1\n  n.x := c", "choose c in seen\n  shared := c"]))
    return f"{kind} {name}({', '.join(params)}) {{\n  " + "\n  ".join([*body, *made]) + "\n}"
