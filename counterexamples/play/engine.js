"use strict";
// The kernel of a model: what steps there are from a state, and what is true of it.
// The code in it is what `modelcheck check` runs, compiled for WebAssembly.
const Engine = (() => {
  const PAGE = 1 << 16;
  const STACK = 1 << 20; // bytes
  const NOWHERE = (1n << 64n) - 1n;
  const RECORDS = 1 << 22; // bytes of records about one state

  // Memory of the module: blocks of 2^n bytes, which are used again.
  class Heap {
    constructor(end) {
      this.top = Math.ceil(end / 64) * 64;
      this.memory = new WebAssembly.Memory({ initial: Math.ceil(this.top / PAGE) + 1, maximum: PAGE });
      this.free = new Map();
    }

    take(bytes) {
      const size = 2 ** Math.ceil(Math.log2(Math.max(bytes, 64)));
      const known = this.free.get(size);
      if (known && known.length) return known.pop();
      const at = this.top;
      this.top += size;
      const missing = Math.ceil((this.top - this.memory.buffer.byteLength) / PAGE);
      if (missing > 0) {
        try { this.memory.grow(missing); } catch {
          this.top = at;
          throw new Error("memory");
        }
      }
      return at;
    }

    give(at, bytes) {
      const size = 2 ** Math.ceil(Math.log2(Math.max(bytes, 64)));
      if (!this.free.has(size)) this.free.set(size, []);
      this.free.get(size).push(at);
    }

    words(at, count) { return new BigUint64Array(this.memory.buffer, at, count); }
    clear(at, bytes) { new Uint8Array(this.memory.buffer, at, bytes).fill(0); }
    copy(from, to, bytes) { new Uint8Array(this.memory.buffer).copyWithin(to, from, from + bytes); }
  }

  // What is asked about states: the model's own code, or a table of states where it has none.
  async function load(code, used) {
    if (used.table) return new Table.Kernel(JSON.parse(new TextDecoder().decode(code)), used);
    const heap = new Heap(used.end + STACK);
    const top = Math.floor((used.end + STACK) / 16) * 16;
    const env = {
      __linear_memory: heap.memory,
      __stack_pointer: new WebAssembly.Global({ value: "i32", mutable: true }, top),
    };
    const made = await WebAssembly.instantiate(code, { env });
    return new Kernel(heap, (made.instance || made).exports, used);
  }

  class Kernel {
    constructor(heap, call, used) {
      Object.assign(this, { heap, call, used, entry: used.words + 1 });
      this.state = heap.take(8 * used.words);
      this.context = heap.take(8 * (used.context.size + 1));
      this.records = heap.take(RECORDS);
      this.slack = Math.min(RECORDS / 2, 1 << 16); // more than any record has
    }

    knows() { return true; }

    put(words) { this.heap.words(this.state, this.used.words).set(words); }

    // A context in which nothing has happened yet.
    fresh(at) {
      const { size, errors, taken } = this.used.context;
      this.heap.words(at, size).forEach((_, i, all) => { all[i] = i >= errors && i < taken ? NOWHERE : 0n; });
    }

    // Whether a property is true of a state; null where asking makes an error.
    isTrue(name, words) {
      this.put(words);
      const found = this.call[this.used.asked[name]](this.state);
      return found === 2n ? null : found === 1n;
    }

    // Whether nothing can happen in a state, whatever the budget of faults.
    isDead(words) {
      const { heap, used } = this;
      const room = 8 * this.entry * (used.most + 1);
      const scratch = heap.take(room);
      this.put(words);
      this.fresh(this.context);
      heap.words(this.context + 8 * used.context.cursor, 1)[0] = BigInt(scratch);
      this.call.expand(this.context, this.state, 0n, 1n, BigInt(scratch + room), 1);
      heap.give(scratch, room);
      return heap.words(this.context + 8 * used.context.dead, 1)[0] !== NOWHERE;
    }

    // All records about a state, in the order of the search; what is a step has an ordinal.
    tell(words) {
      const { heap, used } = this;
      this.put(words);
      this.fresh(this.context);
      const found = [];
      let ordinal = 0, hasFailed = false;
      for (let i = 0; i < used.recorders.length; i++) {
        if (hasFailed && i < used.free) continue; // as the search does
        heap.words(this.context, used.context.size + 1).set(
          [BigInt(this.records + RECORDS - this.slack)], used.context.size);
        heap.words(this.context + 8 * used.context.cursor, 1)[0] = BigInt(this.records);
        // It returns one bit; of the others of a number LLVM says nothing.
        hasFailed = (this.call[used.recorders[i]](this.context, this.state) & 1) === 1;
        const end = Number(heap.words(this.context + 8 * used.context.cursor, 1)[0]);
        const words = heap.words(this.records, (end - this.records) / 8);
        for (let at = 0; at < words.length;) {
          const [record, next] = this.record(words, at);
          if (record.outcome === "taken") record.ordinal = ordinal++;
          found.push(record);
          at = next;
        }
      }
      return found;
    }

    record(words, at) {
      const shape = this.used.shapes[Number(words[at])], flags = words[at + 1];
      at += 2;
      const read = (values) => values.map((value) => {
        const code = join(words, at, value.words);
        at += value.words;
        return { name: value.name, type: value.type, value: Values.decode(value.as, code) };
      });
      const found = { action: shape.action, outcome: shape.outcome, why: shape.why };
      found.params = read(shape.params);
      const said = read(shape.said);
      found.said = shape.said.length === 0 || flags & 1n ? said : null;
      found.choices = read(shape.choices);
      found.broken = this.used.ofSteps.filter((_, i) => (flags >> BigInt(i + 1)) & 1n);
      if (shape.outcome === "taken") {
        found.state = words.slice(at, at + this.used.words);
        at += this.used.words;
      }
      return [found, at];
    }

    // The values of a state's variables, and how many faults of each limited kind there were.
    values(words) {
      const whole = join(words, 0, this.used.words);
      const read = (field) => Values.decode(field.as, (whole >> BigInt(field.at)) & Values.ones(field.as.w));
      return {
        state: this.used.variables.map(read),
        spent: Object.fromEntries(this.used.counters.map((field) => [field.name, read(field)])),
      };
    }
  }

  function join(words, at, count) {
    let whole = 0n;
    for (let i = count - 1; i >= 0; i--) whole = (whole << 64n) | words[at + i];
    return whole;
  }

  return { NOWHERE, load };
})();
