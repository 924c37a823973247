"""Random models that exchange messages: sent, taken, counted, looked for; with names that pictures know."""

from __future__ import annotations

from random import Random

MODES = ("set", "bag", "bag", "fifo")
DATA = """protocol talk
sort Server
enum Kind {{ ask, grant, stop }}
record Msg {{ kind: Kind, {by}: Server, decided: bool }}
"""
STATE = """state {{ {leader}: Server? = none  in_sync: set[Server] = Server  done: 0..3 = 0 }}
ghost {{ {acked}: set[Kind] = {{}} }}
process Server {{
  volatile x: 0..3 = 0
  volatile up: bool = true
  durable log: seq[Kind; 2] = []
}}
"""
DOES = "send send take take count exists every value branch copy odd".split()  # to be picked from


def message_model(random: Random) -> str:
    """The text of a model with one check."""
    return _Writer(random).text()


class _Writer:
    """Writes one model."""

    def __init__(self, random: Random) -> None:
        self.random = random
        self.mode = random.choice(MODES)
        self.keys = random.choice(("", "", "[Server]", "[Server]", "[Server, Server]"))
        self.is_named_by_sender = (
            random.random() < 0.4
        )  # else a channel has the name of who takes up what is in it
        self.by = random.choice(("from", "by", "by"))  # pictures know the first alone
        self.says = random.random() < 0.7
        self.decides = self.says and self.by == "by" and random.random() < 0.6

    def text(self) -> str:
        """The whole model."""
        pick = self.random.choice
        faults = {"set": "", "bag": pick(["", " with drop", " with drop, duplicate"]), "fifo": ""}[self.mode]
        members = self.random.randint(2, 3)
        self.leader, self.acked = pick(["leader", "primary"]), pick(["acked", "committed", "chosen"])
        state = STATE.format(leader=self.leader, acked=self.acked)
        actions = [self.action(number) for number in range(self.random.randint(3, 7))]
        check = f"check c {{ scope Server = {members}, net = 4  faults <= 2 }}"
        network = f"network net{self.keys}: {self.mode} of Msg{faults}"
        data = DATA.format(by=self.by) + ("display { controller: boss }\n" if self.decides else "")
        return "\n".join([data, network, state, *actions, self.property(), check]) + "\n"

    def property(self) -> str:
        """What is asked, most often untrue."""
        return self.random.choice(
            [
                "invariant few: done < 3",
                "invariant all: forall s: Server. s.x < 3",
                f"invariant kept: forall k in {self.acked}, s: Server. k in elements(s.log) or s.x < 2",
                f"invariant nobody: {self.leader} == none or done < 2",
            ]
        )

    def kind(self) -> str:
        return self.random.choice(["ask", "grant", "stop"])

    def channel(self, sender: str, taker: str) -> str:
        """The channel of the network from one member to another."""
        one = sender if self.is_named_by_sender else taker
        return {"": "net", "[Server]": f"net[{one}]", "[Server, Server]": f"net[{sender}][{taker}]"}[
            self.keys
        ]

    def content(self, channel: str) -> str:
        """What is in a channel, as a set."""
        return channel if self.mode == "set" else f"elements({channel})"

    def head(self, channel: str) -> str:
        """What a message is taken from."""
        return f"head({channel})" if self.mode == "fifo" else channel

    def action(self, number: int) -> str:  # noqa: C901, PLR0915 - a dispatch over what actions do
        """An action, a fault among them."""
        pick, chance = self.random.choice, self.random.random
        channel, out = self.channel("s", "r"), self.channel("r", "s")
        params, is_decided = ["r: Server"], False
        if self.keys or chance() < 0.2:
            params.insert(pick([0, 1]), "s: Server")
        guards, body = [], []
        does = pick(DOES)
        inside, kind = self.content(channel), self.kind()
        mine = f"{{m in {inside} where m.kind == {kind}{pick(['', f' and m.{self.by} != r'])}}}"
        if does == "take":
            params.append(f"m in {self.head(channel)}")
            guards += pick([[], [f"require m.kind == {kind}"]])
            if self.mode != "set":
                body += pick([[f"{channel}.receive(m)"], [f"{channel}.receive(m)"], []])
        elif does == "count":
            guards.append(f"require size({mine}) >= {pick([1, 1, 2])}")
        elif does == "exists":
            guards.append(f"require exists m in {inside}. m.kind == {kind}")
        elif does == "every":
            guards.append(f"require forall m in {inside}. m.kind != {kind} or m.{self.by} != r")
        elif does == "odd":
            guards.append(f"require size({inside}) {pick(['!=', '==', '<='])} {pick([0, 1, 2])}")
        elif does == "value":
            body.append(f"r.x := if size({mine}) > 1 then 3 else size({mine})")
        elif does == "branch":
            body.append(f"if {mine} != {{}} {{ r.x := {pick([1, 2, 3])} }}")
        elif does == "copy":
            params = [each for each in params if not each.startswith("s")]
            params.insert(pick([0, 1]), "s: Server")
            guards.append("require more: size(r.log) < size(s.log)")
            body.append("r.log := s.log")
        if does == "send" or chance() < 0.3:
            is_decided = (
                self.decides and not self.is_named_by_sender and "," not in self.keys and chance() < 0.4
            )
            body.append(f"{out}.send(Msg({self.kind()}, r, {str(is_decided).lower()}))")
        if chance() < 0.4:
            guards.append(f"require at: r.x {pick(['<', '==', '!='])} {pick([1, 2])}")
        if chance() < 0.5:
            body.append(f"r.x := {pick([0, 1, 2, 3])}")
        if chance() < 0.3:
            body.append(
                pick([f"{self.leader} := r", f"{self.leader} := none", "in_sync.remove(r)", "in_sync.add(r)"])
            )
        if chance() < 0.2:
            guards.append("require room: size(r.log) < 2")
            body.append(
                f"r.log.append({self.kind()})" if does != "copy" else f"{self.acked}.add({self.kind()})"
            )
        if chance() < 0.2:
            body.append(f"{self.acked}.add({self.kind()})")
        word = "fault" if chance() < 0.12 and does != "send" else "action"
        if word == "fault":
            body.append("r.up := false" if chance() < 0.5 else "r.x := 0")
        body = body or ["r.x := 0"]
        told = (
            "the boss has {r} do it"
            if is_decided
            else pick(["{r} does it", "{r} does it", "it is done by {r}"])
        )
        says = f' says "{told}"' if self.says else ""
        return f"{word} a{number}({', '.join(params)}){says} {{\n  " + "\n  ".join([*guards, *body]) + "\n}"
