"use strict";
(async function () {
  const byId = (id) => document.getElementById(id);
  const description = JSON.parse(byId("description").textContent);
  const { element } = Picture;
  const values = Values.of(description.types);
  const picture = Picture.of(description, values);
  const BAD = new Set(["invariant", "lemma", "step", "assert", "deadlock free"]);
  const RARE = new Set(["leadsto", "always eventually"]);
  const asked = description.properties.filter((each) => each.asked);
  const wrongs = asked.filter((each) => BAD.has(each.kind));
  const count = (many, what) => `${many.toLocaleString("en")} ${what}${many === 1 ? "" : "s"}`;

  let code, kernel;
  try {
    code = await unpacked(byId("kernel").textContent);
    kernel = await Engine.load(code, description.kernel);
  } catch (error) {
    return refuse(error);
  }

  // Say why nothing can be played here, where a reader looks for it.
  function refuse(error) {
    const isOld = typeof DecompressionStream === "undefined";
    const lacks = isOld ? "It is too old for this page (it has no DecompressionStream)."
      : typeof WebAssembly === "undefined" ? "It has no WebAssembly, or forbids it; `modelcheck trace play --precomputed N` makes a page that needs none."
        : error.message;
    byId("status").textContent = `This browser cannot run the model. ${lacks}`;
    byId("status").classList.add("bad");
    document.body.classList.add("refused");
  }

  async function unpacked(text) {
    const packed = Uint8Array.from(atob(text.trim()), (sign) => sign.charCodeAt(0));
    const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
    return new Uint8Array(await new Response(stream).arrayBuffer());
  }

  // ------------------------------------------------------------------ the runs

  const runs = Runs.of(description, kernel, values, wrongs);
  const { roots, records, root, path, address, child } = runs;
  const traces = Traces.of(description, kernel, values, runs);
  let at = roots[0];
  let budget = description.faults; // of all faults together; null: any number

  const sentence = (step) => values.says(step, description.actions[step.action].says);
  const hasLeft = (node) => budget === null || node.faults < budget;
  const left = () => (budget === null ? Infinity : Math.max(0, budget - at.faults));

  function go(node, saying = "") {
    at = node;
    for (let each = node; each.parent; each = each.parent) each.parent.last = each;
    show(saying);
    try { history.replaceState(null, "", `#${address(node)}`); } catch { /* some viewers forbid it */ }
  }

  function take(ordinal, inList = false) {
    const next = child(at, ordinal);
    if (!next) return;
    go(next);
    if (inList) (byId("next").querySelector("button:not([aria-disabled])") || byId("state")).focus({ preventScroll: true });
  }

  const undo = () => at.parent && go(at.parent);
  const redo = () => at.last && go(at.last);

  // -------------------------------------------------------------------- showing

  function show(saying) {
    const able = records(at).filter((each) => each.outcome === "taken");
    showState();
    showProperties();
    showSteps(able);
    showRefused();
    showRun();
    showBudget();
    byId("undo").setAttribute("aria-disabled", String(!at.parent));
    byId("redo").setAttribute("aria-disabled", String(!at.last));
    const done = at.step ? `Step ${at.depth}: ${sentence(at.step)}` : "The start.";
    const broken = at.broken.length ? ` Broken: ${at.broken.join(", ")}.` : "";
    byId("live").textContent = `${saying} ${done}${broken} ${kernel.knows(at.words) ? `${count(able.length, "step")} can follow.` : "The states of this page end here."}`.trim();
  }

  function showState() {
    const title = at.step
      ? [`After step ${at.depth}`, ...tag(at.kind), element("span", { class: "sentence" }, sentence(at.step))]
      : ["The start", element("span", { class: "sentence" }, "before anything has happened")];
    byId("title").replaceChildren(...title);
    const before = at.parent && at.parent.state;
    byId("picture").replaceChildren(...picture.draw(at.state, before, root(at).state));
    byId("tables").replaceChildren(...picture.tables(at.state, before));
  }

  function tag(kind) {
    if (kind === "fault") return [" ", element("b", { class: "tag fault" }, "⚡ fault")];
    if (kind === "repair") return [" ", element("b", { class: "tag repair" }, "✚ repair")];
    return [];
  }

  function truth(property) {
    const is = () => kernel.isTrue(property.name, at.words);
    switch (property.kind) {
      case "invariant": case "lemma": {
        const found = is();
        return found === null ? ["bad", "✗ makes an error here"] : found ? ["good", "✓ true here"] : ["bad", "✗ false here"];
      }
      case "reachable": return is() ? ["good", "★ reached here"] : ["dim", "○ not here"];
      case "recoverable": return is() ? ["good", "★ at its goal"] : ["dim", "○ not at its goal"];
      case "deadlock free": return kernel.isDead(at.words) ? ["bad", "✗ nothing can happen"]
        : ["good", property.text ? "✓ something can happen, or all may end here" : "✓ something can happen"];
      case "step": case "assert":
        if (!at.step) return ["dim", "○ of steps: none yet"];
        return at.step.broken.includes(property.name) ? ["bad", "✗ broken by this step"] : ["good", "✓ this step keeps it"];
      default: return ["dim", "○ a property of infinite runs"];
    }
  }

  function showProperties() {
    const earlier = (name) => path(at).find((each) => each !== at && each.broken.includes(name));
    const line = (property) => {
      const [role, words] = truth(property), since = earlier(property.name);
      return element("li", {},
        element("span", { class: `words ${role}` }, words), " ", element("b", {}, property.name),
        since ? element("span", { class: "was" }, ` (first broken ${since.depth ? `in step ${since.depth}` : "at the start"})`) : "",
        property.says ? element("span", { class: "says" }, `: ${property.says}`) : "",
        description.forever[property.name] ? element("div", { class: "forever" }, ...forever(property)) : "");
    };
    byId("properties").replaceChildren(...asked.map(line));
    byId("broken").hidden = at.broken.length === 0;
    byId("broken").textContent = `✗ broken: ${at.broken.join(", ")}`;
    const others = description.properties.filter((each) => !each.asked);
    byId("others").hidden = others.length === 0;
    byId("others").querySelector("ul").replaceChildren(...others.map(line));
  }

  // Why no run of some steps breaks a property of infinite runs, what the check has found of it, and
  // whether this state is on the circle that does break it.
  function forever(property) {
    const { verdict, run, loop, circle } = description.forever[property.name];
    const why = "No run of some steps breaks it: only an infinite run can, because a later step may still satisfy it. ";
    if (!run) return [element("p", { class: "was" }, why + verdict)];
    const isThatRun = () => path(at).every((node, i) => i < run.states.length && traces.isSame(node, run.states[i]));
    const counts = property.kind !== "leadsto" || isThatRun(); // what it waits for may have come before the circle
    const here = counts ? run.states.slice(loop).findIndex((state) => traces.isSame(at, state)) : -1;
    const steps = circle.length ? circle.map((_, i) => circle[(Math.max(here, 0) + i) % circle.length]) : [];
    const round = here < 0 ? [element("p", { class: "was" }, why + verdict)]
      : [element("p", { class: "words bad" }, steps.length ? "✗ From here a fair run may go round for ever, and break it:" : "✗ Here a fair run may stay for ever, and break it."),
        ...(steps.length ? [element("ol", {}, ...steps.map((each) => element("li", {}, each)))] : [])];
    const there = here < 0 ? [element("button", { type: "button", onclick: () => follow(run, loop) }, "Show that run")] : [];
    return [...round, ...there];
  }

  function follow(run, loop) {
    const { node, problem } = traces.replay(JSON.stringify(run));
    if (!node) return say(problem);
    if (budget !== null && node.faults > budget) setBudget(node.faults);
    const last = run.states.length - 1;
    const end = last > loop ? `This is the state after step ${loop} again, so the run can repeat forever.` : "Here it may stay for ever.";
    go(node, problem || end);
    say(problem || end);
  }

  // The steps that can follow, as buttons: what the protocol does, repairs, faults.
  function showSteps(able) {
    const groups = [["action", "Steps"], ["repair", "Repairs"], ["fault", "Faults"]];
    let number = 0;
    const parts = groups.flatMap(([kind, title]) => {
      const own = able.filter((each) => description.actions[each.action].kind === kind);
      if (!own.length) return [];
      return [element("h4", {}, title), element("ol", {}, ...own.map((step) => element("li", {}, button(step, ++number, kind))))];
    });
    const errors = records(at).filter((each) => each.outcome === "error");
    for (const action of new Set(errors.map((each) => each.action))) {
      parts.push(element("p", { class: "verdict bad" }, `✗ ${action} makes an error of the model here.`));
    }
    const isKnown = kernel.knows(at.words);
    if (!isKnown) parts.push(element("p", { class: "verdict" }, "The states of this page end here: it does not know what can happen next. More of them are written by `modelcheck trace play --precomputed N`."));
    else if (!able.length && !errors.length) parts.push(element("p", {}, "Nothing can happen here."));
    byId("next").replaceChildren(...parts);
  }

  function button(step, number, kind) {
    const isOver = kind === "fault" && !hasLeft(at);
    const next = at.children.get(step.ordinal) || runs.made(at, step.ordinal, step.state, step);
    const fresh = next.broken.filter((name) => !at.broken.includes(name) || step.broken.includes(name));
    const marks = [];
    if (isOver) marks.push(element("span", { class: "was" }, "no fault is left"));
    if (fresh.length) marks.push(element("span", { class: "words bad" }, `✗ breaks ${fresh.join(", ")}`));
    if (Values.equal(next.state, at.state)) marks.push(element("span", { class: "was" }, "changes nothing"));
    if (at.children.has(step.ordinal)) marks.push(element("span", { class: "was" }, "tried"));
    const name = values.name(step), said = sentence(step);
    const isPlain = name.length <= 40 || records(at).some((each) => each !== step && each.outcome === "taken" && sentence(each) === said);
    return element("button",
      { type: "button", class: `step ${kind}`, "aria-disabled": isOver ? "true" : null, "data-number": number,
        "data-step": name, onclick: () => isOver || take(step.ordinal, true) },
      element("span", { class: "number" }, String(number)),
      element("span", {}, said, " ", isPlain && said !== name ? element("code", {}, name) : "", ...marks.flatMap((each) => [" ", each])));
  }

  // What cannot happen, by action and by the guard or limit that refuses it.
  function showRefused() {
    const groups = new Map();
    for (const each of records(at)) {
      if (each.outcome === "taken" || each.outcome === "error") continue;
      const why = `${each.action} ${each.outcome} ${each.why}`;
      if (!groups.has(why)) groups.set(why, []);
      groups.get(why).push(each);
    }
    const actions = new Map();
    for (const group of groups.values()) {
      const { action } = group[0];
      if (!actions.has(action)) actions.set(action, []);
      actions.get(action).push(element("li", {}, ...reason(group)));
    }
    const silent = description.kernel.actions.filter((name) => !records(at).some((each) => each.action === name));
    for (const name of silent) actions.set(name, [element("li", {}, "there is nothing that it could be about")]);
    byId("why-not").hidden = !kernel.knows(at.words);
    const order = description.kernel.actions.filter((name) => actions.has(name));
    byId("refused").replaceChildren(...order.map((name) =>
      element("div", { class: "why-not" }, element("h5", {}, name), element("ul", {}, ...actions.get(name)))));
    byId("refused-count").textContent = `(${count(order.length, "action")})`;
  }

  function reason(group) {
    const [{ action, outcome, why }] = group;
    const who = group.map((each) => values.name(each).slice(action.length).replace(/^ \| /, "")).filter(Boolean);
    const shown = who.filter((_, i) => who.slice(0, i + 1).join(" ").length <= 120);
    const some = [...shown, ...(who.length > shown.length ? [`and ${who.length - shown.length} more`] : [])].join(" ");
    const about = some ? [" ", element("span", { class: "was" }, `for ${some}`)] : [];
    if (outcome === "cut") return [`would leave the scope of ${why}`, ...about];
    if (outcome === "spent") {
      const most = description.kernel.counters.find((each) => each.name === action)?.most ?? 0;
      return [`no more: the check allows ${most}`];
    }
    const [name, text] = description.actions[action].guards[why];
    const example = group[0].said ? [element("br"), element("span", { class: "was" }, `e.g. ${sentence(group[0])}`)] : [];
    const test = element("code", {}, text);
    return [...(name ? ["refused by ", element("b", {}, name), ": "] : ["refused, for it needs "]), test, ...about, ...example];
  }

  // The run, and the other ways in which it was continued.
  function showRun() {
    const all = path(at);
    for (let each = at.last; each; each = each.last) all.push(each);
    const items = all.map((node) => {
      const mark = node.broken.filter((name) => !node.parent || !node.parent.broken.includes(name) || node.step.broken.includes(name));
      const link = element("a",
        { href: `#${address(node)}`, class: `${node.kind || ""}${node.depth > at.depth ? " later" : ""}`,
          "aria-current": node === at ? "step" : null,
          onclick: (event) => { if (!event.ctrlKey && !event.metaKey && !event.shiftKey) { event.preventDefault(); go(node); } } },
        element("span", { class: "number" }, String(node.depth)),
        element("span", {}, ...tag(node.kind), " ", node.step ? sentence(node.step) : "The start",
          ...(mark.length ? [" ", element("b", { class: "tag fault" }, `✗ ${mark.join(", ")}`)] : [])));
      const beside = node.parent ? [...node.parent.children.values()].filter((each) => each !== node) : roots.filter((each) => each !== node);
      const others = beside.map((other) => element("li", {},
        element("a", { href: `#${address(other)}`, class: "branch", onclick: (event) => { event.preventDefault(); go(other); } },
          `↳ ${other.step ? sentence(other.step) : startOf(other)}`)));
      return element("li", {}, link, others.length ? element("details", { open: !node.parent && node === at },
        element("summary", {}, node.parent ? `tried here too: ${others.length}` : `${others.length} other starts`.replace(/^1 other starts/, "1 other start")),
        element("ul", {}, ...others)) : "");
    });
    byId("run").replaceChildren(...items);
    const current = byId("run").querySelector("[aria-current]"), list = byId("run").parentElement;
    if (list.scrollHeight > list.clientHeight) list.scrollTop = current.offsetTop - list.offsetTop - list.clientHeight / 2;
  }

  // Another start by what differs in it.
  function startOf(node) {
    const own = description.variables.flatMap((variable, i) =>
      Values.equal(node.state[i], roots[0].state[i]) ? [] : [`${variable.name} = ${values.show(variable.type, node.state[i])}`]);
    return node === roots[0] ? "the first start" : `start ${node.ordinal + 1}: ${own.join(", ")}`;
  }

  function showBudget() {
    const kinds = description.kernel.counters.map((each) => `${each.name} ${at.spent[each.name]} of ${each.most}`);
    byId("spent").textContent = [at.faults, ...kinds].join(" · ");
    byId("more").placeholder = left() === Infinity ? "any" : String(left());
  }

  // ------------------------------------------------------------------ searching

  let worker = null, since = 0;
  const ways = byId("wanted");
  if (wrongs.length) ways.append(element("option", { value: "" }, "a loss (any property broken)"));
  for (const property of description.properties) {
    if (RARE.has(property.kind)) continue;
    const end = { reachable: "reached", recoverable: "true again" }[property.kind] || "broken";
    ways.append(element("option", { value: property.name, "data-end": end }, `${property.name} ${end}`));
  }
  if (!ways.options.length) byId("search").hidden = true;

  function options() {
    const typed = byId("more").value.trim();
    const own = description.properties.find((each) => each.name === ways.value);
    const faults = typed === "" ? left() : Math.max(0, Number(typed));
    if (own?.kind === "recoverable") return { faults, goal: own.name };
    return { faults, wanted: own ? [own.name] : wrongs.map((each) => each.name) };
  }

  function say(text) { byId("status").textContent = text; }

  function stop(text) {
    worker?.terminate();
    worker = null;
    byId("find").textContent = "Find";
    say(text);
  }

  function find() {
    if (worker) return stop("Stopped.");
    const source = `${byId("engine").textContent}`;
    const link = URL.createObjectURL(new Blob([source], { type: "text/javascript" }));
    const from = at, given = options();
    worker = new Worker(link);
    since = Date.now();
    byId("find").textContent = "Stop";
    say("Searching …");
    worker.onerror = (event) => stop(`The search failed: ${event.message}`);
    worker.onmessage = ({ data: { answer, progress, problem } }) => {
      URL.revokeObjectURL(link);
      if (progress) return say(`Searching: ${count(progress.states, "state")}, ${count(progress.faults, "more fault")}, ${count(progress.depth, "step")} deep`);
      if (problem) return stop(problem === "memory" ? "There is no memory left for more states: nothing was found by then." : `The search failed: ${problem}`);
      return answered(from, given, answer);
    };
    worker.postMessage({ code, used: description.kernel, start: from.words, options: given });
  }

  function answered(from, { faults }, { found, states, isPartial }) {
    const seconds = ((Date.now() - since) / 1000).toFixed(1);
    const looked = `${count(states, "state")} in ${seconds} s`;
    if (!found) {
      const most = faults === Infinity ? "however many faults follow" : faults ? `with up to ${count(faults, "more fault")}` : "without another fault";
      const where = isPartial ? " among the states of this page, which are not all" : "";
      stop(`There is no way from here ${most}${where}: ${looked}.`);
      return;
    }
    let node = from;
    for (const ordinal of found.path) node = child(node, ordinal);
    if (found.breaks) {
      const last = records(node).find((each) => each.broken.includes(found.property) &&
        (description.actions[each.action].kind !== "fault" || node.faults - from.faults < faults));
      if (last) node = child(node, last.ordinal);
    }
    const steps = node.depth - from.depth, costs = node.faults - from.faults;
    if (budget !== null && node.faults > budget) setBudget(node.faults);
    const end = ways.options[ways.selectedIndex].dataset.end || "broken";
    const what = found.error ? "The model makes an error" : `${found.property} is ${end}`;
    const least = `${isPartial ? "Among the states of this page no way" : "No way"} has fewer faults, or as many faults and fewer steps (${looked}).`;
    const text = steps ? `${what} after ${count(steps, "step")}, ${count(costs, "fault")}. ${least}` : `${what} in this state already.`;
    stop(text);
    go(node, text);
  }

  function setBudget(most) {
    budget = most;
    byId("budget").value = most === null ? "" : String(most);
  }

  // ---------------------------------------------------------------------- using

  byId("undo").addEventListener("click", undo);
  byId("redo").addEventListener("click", redo);
  byId("restart").addEventListener("click", () => go(root(at)));
  byId("search").addEventListener("submit", (event) => { event.preventDefault(); find(); });
  byId("budget").addEventListener("change", ({ target }) => {
    budget = target.value.trim() === "" ? null : Math.max(0, Number(target.value));
    show("");
  });
  byId("save").addEventListener("click", () => {
    const link = URL.createObjectURL(new Blob([traces.save(at)], { type: "application/json" }));
    const anchor = element("a", { href: link, download: `${description.model}.${description.check}.itf.json` });
    anchor.click();
    setTimeout(() => URL.revokeObjectURL(link), 10_000);
    say(`Saved: ${count(at.depth, "step")}.`);
  });
  byId("load").addEventListener("change", async ({ target }) => {
    const [file] = target.files;
    target.value = "";
    if (!file) return;
    const { node, problem } = traces.replay(await file.text());
    if (node) {
      if (budget !== null && node.faults > budget) setBudget(node.faults);
      go(node);
    }
    say(`${file.name}: ${problem || count(node.depth, "step")}.`);
  });
  addEventListener("hashchange", () => {
    const [node, problem] = runs.follow(location.hash.slice(1));
    go(node);
    say(problem);
  });

  const keys = { ArrowLeft: undo, u: undo, ArrowRight: redo, r: redo, Home: () => go(root(at)), f: find };
  addEventListener("keydown", (event) => {
    const isTyping = event.target.closest("input, select, textarea");
    if (event.ctrlKey || event.metaKey || event.altKey || isTyping) return;
    if (/^[1-9]$/.test(event.key)) byId("next").querySelector(`[data-number="${event.key}"]`)?.click();
    else if (Object.hasOwn(keys, event.key)) keys[event.key]();
    else return;
    event.preventDefault();
  });

  setBudget(description.faults);
  if (matchMedia("(max-width: 59.99rem)").matches) byId("whole").open = false;
  const [start, problem] = location.hash ? runs.follow(location.hash.slice(1)) : [roots[0], ""];
  document.body.classList.add("ready");
  go(start);
  if (problem) say(problem);
})();
