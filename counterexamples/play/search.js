"use strict";
// The fault-layered search, by the functions of the kernel and with one shard: as modelcheck/explicit/search does it.
const Search = (() => {
  const { NOWHERE } = Engine;
  const ROOT = 0xffffffff; // the predecessor of the first state
  const LONGEST = 9; // bytes of the way to a state, at most
  const FULL = 0.8; // a table is never fuller
  const BEGUN = 1 << 13; // with this many successors, no other state is expanded before they are inserted
  const CHUNK = 1 << 12; // states

  // The states found by one search. Places of a shard's words are named in `used.shard`.
  class Space {
    constructor(kernel) {
      const { heap, used } = kernel;
      Object.assign(this, { kernel, heap, used, words: used.words, entry: kernel.entry });
      this.size = used.firsts + used.ofStates.length;
      this.shard = this.take(8 * this.size);
      heap.words(this.shard, this.size).fill(0n);
      for (let i = used.shard.trapped; i < this.size; i++) this.set(i, NOWHERE);
      this.slots = 1 << 12;
      this.table = this.take(used.slot * this.slots);
      heap.clear(this.table, used.slot * this.slots);
      this.room = { ways: 1 << 13, frontiers: [1 << 12, 1 << 12], pending: [1 << 12, 1 << 12] };
      this.ways = this.take(this.room.ways);
      this.set(used.shard.ways, this.ways);
      this.frontiers = this.room.frontiers.map((room) => this.take(8 * this.words * room));
      this.pending = this.room.pending.map((room) => this.take(8 * this.entry * room));
      this.context = this.take(8 * used.context.size);
      kernel.fresh(this.context);
      this.most = BEGUN + used.most;
      this.scratch = this.take(8 * this.entry * this.most);
      this.tell();
    }

    take(bytes) {
      const at = this.heap.take(bytes);
      (this.taken ||= new Map()).set(at, bytes);
      return at;
    }

    give(at) {
      this.heap.give(at, this.taken.get(at));
      this.taken.delete(at);
    }

    close() { for (const at of [...this.taken.keys()]) this.give(at); }

    get(place) { return this.heap.words(this.shard + 8 * place, 1)[0]; }
    number(place) { return Number(this.get(place)); }
    set(place, word) { this.heap.words(this.shard + 8 * place, 1)[0] = BigInt(word); }
    at(word) { return this.heap.words(this.context + 8 * word, 1)[0]; }

    // Tell the shard where its memory is; what is new goes to the second of each pair.
    tell() {
      const { table, slots, frontier, pending } = this.used.shard;
      this.set(table, this.table);
      this.set(slots, this.slots);
      this.set(frontier, this.frontiers[1]);
      this.set(pending, this.pending[1]);
    }

    larger(at, bytes, used) {
      const made = this.take(bytes);
      this.heap.copy(at, made, used);
      this.give(at);
      return made;
    }

    // Make room for this many more.
    ensure(more) {
      const { count, waiting } = this.used.shard;
      const fresh = this.used.shard.new;
      const ways = this.number(this.used.shard.ways) - this.ways, seen = this.number(fresh), wait = this.number(waiting);
      if (this.number(count) + more > FULL * this.slots) this.grow(more);
      if (ways + LONGEST * more > this.room.ways) {
        this.room.ways = 2 * (ways + LONGEST * more);
        this.ways = this.larger(this.ways, this.room.ways, ways);
        this.set(this.used.shard.ways, this.ways + ways);
      }
      if (seen + more > this.room.frontiers[1]) {
        this.room.frontiers[1] = 2 * (seen + more);
        this.frontiers[1] = this.larger(this.frontiers[1], 8 * this.words * 2 * (seen + more), 8 * this.words * seen);
      }
      if (wait + more > this.room.pending[1]) {
        this.room.pending[1] = 2 * (wait + more);
        this.pending[1] = this.larger(this.pending[1], 8 * this.entry * 2 * (wait + more), 8 * this.entry * wait);
      }
      this.tell();
    }

    grow(more) {
      const slots = Math.max(2 * this.slots, Math.ceil((this.number(this.used.shard.count) + more) / FULL) + 1);
      const table = this.take(this.used.slot * slots);
      this.heap.clear(table, this.used.slot * slots);
      this.kernel.call.rehash(this.table, BigInt(this.slots), table, BigInt(slots));
      this.give(this.table);
      this.table = table;
      this.slots = slots;
    }

    insert(at, count) {
      if (!count) return;
      this.ensure(count);
      this.kernel.call.insert(this.shard, at, BigInt(count));
    }

    start(states) {
      for (const words of states) {
        this.heap.words(this.scratch, this.entry).set([...words, BigInt(ROOT)]);
        this.insert(this.scratch, 1);
      }
    }

    // The new states become the frontier; how many there are.
    turn() {
      const count = this.number(this.used.shard.new);
      this.frontiers.reverse();
      this.room.frontiers.reverse();
      this.set(this.used.shard.new, 0);
      this.tell();
      return count;
    }

    // Enter a layer: what waited for it becomes the pending states.
    turnLayer() {
      this.pending.reverse();
      this.room.pending.reverse();
      this.set(this.used.shard.waiting, 0);
      this.tell();
    }

    // Expand some of the frontier; how many states of it.
    expand(first, count, number, withFaults) {
      const { heap, kernel, used } = this;
      heap.words(this.context + 8 * used.context.cursor, 1)[0] = BigInt(this.scratch);
      const end = BigInt(this.scratch + 8 * this.entry * this.most);
      const done = Number(kernel.call.expand(
        this.context, this.frontiers[0] + 8 * this.words * first, BigInt(number), BigInt(count), end, withFaults ? 1 : 0));
      const many = (Number(this.at(used.context.cursor)) - this.scratch) / (8 * this.entry);
      this.insert(this.scratch, many);
      return done;
    }

    // Which successor to take, from the start to the state of that number.
    path(number) {
      const found = [];
      const shard = this.take(8 * this.size); // a copy, whose end of ways moves back
      this.heap.copy(this.shard, shard, 8 * this.size);
      for (;;) {
        const way = BigInt.asUintN(64, this.kernel.call.trace_back(shard, BigInt(number)));
        number = Number(way & BigInt(ROOT));
        if (number === ROOT) break;
        found.push(Number(way >> 32n));
      }
      this.give(shard);
      return found.reverse();
    }
  }

  // Search from states, the fewest faults first and then the fewest steps, up to the first state or step that is
  // wanted: `wanted` names properties (broken, or of a `reachable` reached), `goal` one that is to become true.
  // A generator: it yields how far it is from time to time, and returns what it found.
  function* search(kernel, starts, { faults = Infinity, wanted = [], goal = null, levels = null } = {}) {
    if (kernel.used.table) return yield* kernel.search(starts, { faults, wanted, goal });
    const space = new Space(kernel);
    try {
      const look = looking(kernel, space, wanted, goal);
      space.start(starts);
      const found = look.now(0) || (yield* layers(kernel, space, faults, look, levels));
      return { found, states: space.number(kernel.used.shard.local), faults: look.faults };
    } finally {
      space.close();
    }
  }

  function* layers(kernel, space, most, look, levels) {
    const { local, waiting, count } = kernel.used.shard;
    const canFail = kernel.used.recorders.length > kernel.used.free;
    let entering = new Map();
    for (let faults = 0; ; faults++) {
      look.faults = faults;
      let depth = faults ? Math.min(...entering.keys()) : 0;
      const seeds = [], paid = canFail && faults < most;
      if (faults) space.turnLayer();
      for (;;) {
        look.depth = depth;
        if (look.isDue()) return look.dearer();
        if (entering.has(depth)) {
          const [first, end] = entering.get(depth);
          entering.delete(depth);
          const before = space.number(kernel.used.shard.new);
          space.insert(space.pending[0] + 8 * space.entry * first, end - first);
          const found = look.now(before);
          if (found) return found;
        }
        const many = space.turn();
        if (many) {
          levels?.push([faults, depth, many]);
          const number = space.number(local) - many;
          for (let done = 0; done < many;) {
            const before = space.number(kernel.used.shard.new);
            done += space.expand(done, Math.min(CHUNK, many - done), number + done, paid);
            const found = look.now(before);
            if (found) return found;
            yield { faults, depth, states: space.number(local) };
          }
          const found = look.late();
          if (found) return found;
          depth += 1;
          if (paid) seeds.push([depth, space.number(waiting)]);
        } else if (entering.size) {
          depth = Math.min(...entering.keys());
        } else {
          break;
        }
      }
      if (look.isDue(Infinity) || space.number(count) <= space.number(local)) return look.dearer();
      entering = new Map();
      let before = 0;
      for (const [at, behind] of seeds) {
        if (behind > before) entering.set(at, [before, behind]);
        before = behind;
      }
      if (!entering.size) return look.dearer();
    }
  }

  // Looks for what is wanted, after each part of a level (`now`) and at its end (`late`).
  function looking(kernel, space, wanted, goal) {
    const { used } = kernel;
    const places = used.ofStates.flatMap((name, i) => (wanted.includes(name) ? [[name, used.firsts + i]] : []));
    const steps = used.ofSteps.flatMap((name, i) => (wanted.includes(name) ? [[name, used.context.broken + 2 * i]] : []));
    const isDead = used.deadlock !== null && wanted.includes(used.deadlock);
    let kept = null; // found, but a state of the level before may be without steps
    let dearer = null; // a fault that breaks what is wanted, and what it comes to: one fault more than its state
    const asked = goal === null ? null : kernel.call[used.asked[goal]];

    function sooner() {
      if (isDead && space.at(used.context.dead) !== NOWHERE) {
        return { path: space.path(Number(space.at(used.context.dead))), property: used.deadlock };
      }
      return null;
    }

    function find(before) {
      for (let word = used.context.errors; word < used.context.dead; word++) {
        if (space.at(word) !== NOWHERE) return { path: space.path(Number(space.at(word))), error: true };
      }
      if (space.get(used.shard.failed) !== NOWHERE) return { path: space.path(space.number(used.shard.failed)), error: true };
      for (const [property, place] of places) {
        if (space.get(place) !== NOWHERE) return { path: space.path(space.number(place)), property };
      }
      for (const [property, word] of steps) {
        const at = [0, 1].map((byFault) => space.at(word + byFault));
        const [free, paid] = at.map((number) => number === NOWHERE ? null : { path: space.path(Number(number)), property, breaks: true });
        if (free) return free;
        if (paid) dearer ||= { faults: look.faults + 1, depth: look.depth + 1, found: paid };
      }
      if (asked) {
        const fresh = space.number(used.shard.new), first = space.number(used.shard.local) - fresh;
        for (let i = before; i < fresh; i++) {
          if (asked(space.frontiers[1] + 8 * space.words * i) === 1n) return { path: space.path(first + i), property: goal };
        }
      }
      return null;
    }

    const look = {
      faults: 0,
      depth: 0,
      now(before) {
        kept ||= find(before);
        return isDead ? null : kept;
      },
      late() { return sooner() || kept; },
      // Whether nothing that is still to be found can be cheaper than a fault that breaks what is wanted.
      isDue(depth = look.depth) { return dearer !== null && dearer.faults === look.faults && dearer.depth <= depth; },
      dearer() {
        look.faults = dearer?.faults ?? look.faults;
        return dearer && dearer.found;
      },
    };
    return look;
  }

  // The same, to its end at once.
  function run(searching) {
    for (;;) {
      const { done, value } = searching.next();
      if (done) return value;
    }
  }

  return { search, run };
})();
