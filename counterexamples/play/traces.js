"use strict";
// Runs as traces in the Informal Trace Format, out and in.
const Traces = (() => {
  function of(description, kernel, values, { roots, records, path, child }) {
    const names = description.variables.map((each) => each.name);
    const given = (list) => Object.fromEntries(list.map((each) => [each.name, values.itf(each.type, each.value)]));
    const said = (state) => description.variables.map((each, i) => values.itf(each.type, state[i]));

    // The run up to a state, as text.
    function save(end) {
      const states = path(end).map((node, index) => ({
        "#meta": {
          index,
          ...(node.step ? {
            action: node.step.action,
            params: given(node.step.params),
            choices: node.step.choices.map((each) => ({ name: each.name, value: values.itf(each.type, each.value) })),
          } : {}),
          faults: node.faults,
        },
        ...Object.fromEntries(said(node.state).map((value, i) => [names[i], value])),
      }));
      const meta = { ...description.itf, modelcheck: { ...description.itf.modelcheck, faults: end.faults } };
      return JSON.stringify({ "#meta": meta, vars: names, states }, null, 1);
    }

    // The last state of a trace, as far as its steps are the model's; and what is wrong with it, if anything.
    function replay(text) {
      let trace;
      try { trace = JSON.parse(text); } catch { return { problem: "it is no JSON" }; }
      if (!Array.isArray(trace?.states) || !trace.states.length) return { problem: "it has no `states`" };
      const missing = names.filter((name) => !(name in Object(trace.states[0])));
      if (missing.length) return { problem: `its states have no ${missing.join(", ")}` };
      let node = roots.find((each) => own(each.state) === key(trace.states[0]));
      if (!node) return { problem: "its first state is none in which this model starts" };
      for (const [index, state] of trace.states.slice(1).entries()) {
        const next = follow(node, Object(state));
        if (!next) {
          const problem = `state ${index + 1} is not one step of this model from state ${index}, which is shown`;
          return { node, problem };
        }
        node = next;
      }
      return { node };
    }

    const key = (state) => names.map((name) => Values.plain(state[name])).join();
    const own = (state) => said(state).map(Values.plain).join();

    // The step from a state to another: the one that the trace names, if several lead there.
    function follow(node, state) {
      const wanted = key(state), meta = Object(state["#meta"]);
      const fits = records(node).filter((each) =>
        each.outcome === "taken" && own(kernel.values(each.state).state) === wanted);
      const isNamed = (each) =>
        each.action === meta.action && Values.plain(meta.params) === Values.plain(given(each.params));
      const step = fits.find(isNamed) || fits[0];
      return step ? child(node, step.ordinal) : null;
    }

    // Whether a state of a trace is the one of a node.
    const isSame = (node, state) => own(node.state) === key(state);

    return { save, replay, isSame };
  }

  return { of };
})();
