"use strict";
// All that was tried, as a tree: each state with the step that led to it, and the steps that were taken from there.
const Runs = (() => {
  // `values` names steps, and `wrongs` are the properties whose breaking is marked.
  function of(description, kernel, values, wrongs) {
    const roots = description.starts.map((words, ordinal) =>
      made(null, ordinal, BigUint64Array.from(words, (word) => BigInt(`0x${word}`)), null));

    function made(parent, ordinal, words, step) {
      const { state, spent } = kernel.values(words);
      const kind = step && description.actions[step.action].kind;
      const node = { parent, ordinal, words, step, state, spent, kind, children: new Map(), last: null };
      node.depth = parent ? parent.depth + 1 : 0;
      node.faults = parent ? parent.faults + (kind === "fault") : 0;
      node.broken = wrongs.filter((each) => isBroken(each, node)).map((each) => each.name);
      return node;
    }

    const records = (node) => (node.records ||= kernel.tell(node.words));
    const path = (node) => {
      const found = [node];
      while (found[found.length - 1].parent) found.push(found[found.length - 1].parent);
      return found.reverse();
    };
    const root = (node) => path(node)[0];
    const name = `${description.model}.${description.check}`;
    const address = (node) => `${name}/${path(node).map((each) => each.ordinal).join(".")}~${description.version}`;

    // Whether a property is broken in a state, or by the step to it.
    function isBroken(property, node) {
      switch (property.kind) {
        case "invariant": case "lemma": return kernel.isTrue(property.name, node.words) === false;
        case "step": case "assert": return Boolean(node.step && node.step.broken.includes(property.name));
        case "deadlock free": return kernel.isDead(node.words);
        default: return false;
      }
    }

    function child(node, ordinal) {
      if (!node.children.has(ordinal)) {
        const step = records(node).find((each) => each.ordinal === ordinal);
        if (!step) return null;
        node.children.set(ordinal, made(node, ordinal, step.state, step));
      }
      return node.children.get(ordinal);
    }

    // The ordinal of the step with a name, as an address has it.
    function named(node, text) {
      let wanted;
      try { wanted = decodeURIComponent(text); } catch { return -1; }
      const step = records(node).find((each) => each.outcome === "taken" && values.name(each) === wanted);
      return step ? step.ordinal : -1;
    }

    // The state at an address, or the last before a step that there is not; and what is wrong with the address.
    function follow(text) {
      const [place, version = description.version] = text.split("~");
      const [run, of = name] = place.split("/").reverse();
      if (of !== name) return [roots[0], `The address is of a run of ${of}, and this page is of ${name}.`];
      const other = version === description.version ? ""
        : "The address was made for another model, scope or version: its steps may be others here.";
      const short = "The address is of a run that this model does not have; this is as far as it goes.";
      const [start, ...steps] = run.split(/[.;]/.exec(run)?.[0] || ";");
      let node = roots[Number(start)];
      if (!node) return [roots[0], other || short];
      for (const step of steps) {
        const next = child(node, /^\d+$/.test(step) ? Number(step) : named(node, step));
        if (!next) return [node, [other, short].filter(Boolean).join(" ")];
        node = next;
      }
      return [node, other];
    }

    return { roots, made, records, root, path, address, child, follow };
  }

  return { of };
})();
