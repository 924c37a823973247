"use strict";
// States that were computed beforehand, with what a kernel would return for them: it has the interface of a kernel.
// A state is known by its number. Of the last ones, the page does not know what follows.
const Table = (() => {
  class Kernel {
    constructor(table, used) { Object.assign(this, { table, used }); }

    knows(words) { return this.table.records[words[0]] !== null; }

    isTrue(name, words) {
      const found = this.table.truths[name][words[0]];
      return found === "2" ? null : found === "1";
    }

    isDead(words) { return this.table.dead[words[0]] === "1"; }

    values(words) {
      const spent = this.table.spent[words[0]].map((count, i) => [this.used.counters[i].name, count]);
      return { state: this.table.states[words[0]], spent: Object.fromEntries(spent) };
    }

    // All records about a state, as the kernel's own `tell` gives them.
    tell(words) {
      let ordinal = 0;
      return (this.table.records[words[0]] || []).map((each) => {
        const names = this.used.params[each.action];
        const params = (each.params || []).map((value, i) => ({ ...names[i], value }));
        const found = { choices: [], broken: [], why: null, said: null, ...each, params };
        return each.outcome === "taken"
          ? { ...found, ordinal: ordinal++, state: BigUint64Array.of(BigInt(each.to)) } : found;
      });
    }

    // What `Search.search` finds, among the states of the table.
    *search(starts, { faults: most = Infinity, wanted = [], goal = null } = {}) {
      const { table, used } = this, isFault = new Set(used.faults);
      const seen = new Map();
      const layers = [[starts.map((words) => [Number(words[0]), null, 0])]];
      let best = null; // a step that is wanted: the cost that it comes to
      const path = (number) => {
        const found = [];
        for (let at = seen.get(number); at.from !== null; at = seen.get(at.from)) found.push(at.ordinal);
        return found.reverse();
      };
      const answer = (found, faults) => ({ found, faults, states: seen.size, isPartial: !used.whole });
      for (let faults = 0; faults < layers.length && faults <= most; faults++) {
        const levels = layers[faults] || [];
        for (let depth = 0; depth < levels.length; depth++) {
          if (best && best.faults === faults && best.depth <= depth) return answer(best.found, faults);
          for (const [number, from, ordinal] of levels[depth] || []) {
            if (seen.has(number)) continue;
            seen.set(number, { from, ordinal });
            const property = this.#shows(number, wanted, goal);
            if (property) return answer({ path: path(number), property }, faults);
            for (const each of this.tell([number])) {
              const cost = faults + isFault.has(each.action);
              if (cost > most) continue;
              if (each.outcome === "error") return answer({ path: path(number), error: true }, faults);
              if (each.outcome !== "taken") continue;
              const breaks = each.broken.find((name) => wanted.includes(name));
              if (breaks && (!best || cost < best.faults || (cost === best.faults && depth + 1 < best.depth))) {
                best = { faults: cost, depth: depth + 1, found: { path: path(number), property: breaks, breaks: true } };
              }
              ((layers[cost] ||= [])[depth + 1] ||= []).push([each.to, number, each.ordinal]);
            }
          }
          yield { faults, depth, states: seen.size };
        }
        if (best && best.faults === faults) return answer(best.found, faults);
      }
      return answer(null, Math.min(most, layers.length - 1));
    }

    #shows(number, wanted, goal) {
      const { truths, dead } = this.table, { ofStates, deadlock } = this.used;
      if (goal !== null) return truths[goal][number] === "1" ? goal : null;
      if (wanted.includes(deadlock) && dead[number] === "1") return deadlock;
      return ofStates.find((name) => wanted.includes(name) && this.#isWanted(name, truths[name][number])) || null;
    }

    #isWanted(name, truth) { return truth === (this.used.reached.includes(name) ? "1" : "0"); }
  }

  return { Kernel };
})();
