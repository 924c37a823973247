// Answers questions about a model by the engine of its page: `node play.js SCRIPTS CODE DATA`, where DATA has
// `description` (what a page knows) and `ask`: `levels` of a search with so many faults, `states` to tell of, or
// `pages`, which lets memory not grow.
"use strict";
const fs = require("fs");
const vm = require("vm");
const [scripts, code, data] = process.argv.slice(2).map((path) => fs.readFileSync(path));
vm.runInThisContext(`${scripts}\n;Object.assign(globalThis, { Engine, Search, Table, Values });`);
const { description, ask } = JSON.parse(data);
const words = (state) => BigUint64Array.from(state, (word) => BigInt(`0x${word}`));
const hex = (state) => Array.from(state, (word) => word.toString(16));

function about(kernel, values, state) {
  const records = kernel.tell(state).map((each) => {
    const sentence = values.says(each, description.actions[each.action].says);
    return [each.outcome, values.name(each), sentence, each.why, each.state ? hex(each.state) : null, each.broken];
  });
  const read = kernel.values(state).state;
  const shown = read.map((value, i) => values.show(description.variables[i].type, value));
  const itf = read.map((value, i) => values.itf(description.variables[i].type, value));
  const truth = Object.fromEntries(Object.keys(description.kernel.asked).map((name) => [name, kernel.isTrue(name, state)]));
  const dead = description.kernel.deadlock === null ? null : kernel.isDead(state);
  return { records, shown, itf, truth, dead };
}

Engine.load(code, description.kernel).then((kernel) => {
  const values = Values.of(description.types);
  const starts = description.starts.map(words);
  const faults = ask.faults ?? Infinity;
  const answer = {};
  if (ask.pages !== undefined) WebAssembly.Memory.prototype.grow = () => { throw new RangeError("no memory"); };
  if (ask.levels) {
    answer.levels = [];
    const seconds = process.hrtime.bigint();
    answer.states = Search.run(Search.search(kernel, starts, { faults, levels: answer.levels })).states;
    answer.seconds = Number(process.hrtime.bigint() - seconds) / 1e9;
  }
  if (ask.wanted) answer.found = Search.run(Search.search(kernel, starts, { faults, wanted: ask.wanted }));
  if (ask.states) answer.about = ask.states.map((state) => about(kernel, values, words(state)));
  console.log(JSON.stringify(answer));
}).catch(({ message }) => console.log(JSON.stringify({ problem: message })));
