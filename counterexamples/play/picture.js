"use strict";
// A state as a picture: replicas with their logs, who leads, what was acknowledged; and as tables.
// It shows the same as counterexamples/pictures (cast.py, drawing.py, words.py), for one state and the one before.
const Picture = (() => {
  const SVG = "http://www.w3.org/2000/svg";
  const BOX = 28, TALL = 28, ABOVE = 16, BELOW = 18, INSET = 8, LEAST = 90, MOST = 460, AROUND = 100, MORE = 16, GONE = "gone";

  // An element with attributes and what is in it; a text stays a text.
  function element(tag, attributes = {}, ...inside) {
    const made = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) {
      if (name.startsWith("on")) made.addEventListener(name.slice(2), value);
      else if (value === true) made.setAttribute(name, "");
      else if (value !== false && value !== null && value !== undefined) made.setAttribute(name, value);
    }
    made.append(...inside.filter((each) => each !== null && each !== undefined && each !== ""));
    return made;
  }

  function shape(tag, attributes, text) {
    const made = document.createElementNS(SVG, tag);
    for (const [name, value] of Object.entries(attributes)) if (value !== "") made.setAttribute(name, value);
    if (text !== undefined) made.textContent = text;
    return made;
  }

  // How wide a line of text with some classes is at most, by what was measured: `width_of` of drawing.py.
  function measured({ plain, bold, mono, other, rounded, sizes, size, strong }) {
    const tables = Object.fromEntries(Object.entries({ plain, bold }).map(([name, table]) =>
      [name, new Map(Object.entries(table).flatMap(([width, signs]) => [...signs].map((sign) => [sign, Number(width)])))]));
    return (text, ...kinds) => {
      const table = kinds.some((kind) => strong.includes(kind)) ? tables.bold : tables.plain;
      const widthOf = (sign) => (!table.has(sign) ? other : kinds.includes("mono") ? mono : table.get(sign));
      const tall = sizes[kinds.find((kind) => kind in sizes)] ?? size;
      return [...text].reduce((sum, sign) => sum + widthOf(sign), 0) * tall / 1000 * rounded;
    };
  }

  function of(description, values) {
    const { cast, types, variables } = description;
    const widthOf = measured(description.widths);
    const { show } = values;
    const part = (part, state, member) => {
      let found = state[part.variable];
      if (member !== undefined) found = found[member];
      return part.path.reduce((value, index) => value[index], found);
    };
    const sortOf = (number) => {
      const type = types[number];
      return type.is === "option" ? sortOf(type.of) : type.is === "sort" ? type.name : null;
    };
    const elementOf = (number) => (["set", "bag", "seq"].includes(types[number].is) ? types[number].of : number);
    const acknowledged = cast.whole.acknowledged;
    const membership = cast.whole.membership
      ? cast.words.set ? `the ${cast.words.set}` : cast.whole.membership.name
      : "";
    const isTold = cast.words.client || acknowledged?.name.startsWith("ack");
    const told = isTold ? "Acknowledged" : acknowledged?.name.replaceAll("_", " ");

    // ----------------------------------------------------------------- standings

    function leads(role, value, member) {
      const type = types[role.type];
      if (type.is === "bool") return value;
      if (type.is === "enum") return type.names[value] === "leader";
      return value !== null && value === member;
    }

    function standing(sort, member, state, before) {
      const { fields } = sort, { whole } = cast;
      const found = { name: sort.members[member], up: true, leads: false, chosen: null, isAware: true, follows: "" };
      if (whole.leader && sortOf(whole.leader.type) === sort.name) found.chosen = part(whole.leader, state) === member;
      if (fields.up) found.up = Boolean(part(fields.up, state, member));
      if (fields.leads) {
        const value = part(fields.leads, state, member);
        found.leads = found.up && leads(fields.leads, value, member);
        if (found.up && sortOf(fields.leads.type) === sort.name && value !== null && value !== member) {
          found.follows = sort.members[value];
        }
      } else if (found.chosen) { // what the members themselves believe is not known
        found.leads = found.up;
      }
      if (whole.membership && sortOf(elementOf(whole.membership.type)) === sort.name &&
          types[whole.membership.type].is === "set") {
        found.member = part(whole.membership, state).includes(member);
      }
      if (fields.epoch) {
        const epoch = part(fields.epoch, state, member);
        found.epoch = `${fields.epoch.dated} ${epoch}`;
        found.isAware = found.leads && !(whole.epoch && part(whole.epoch, state) !== epoch);
      }
      if (fields.log) found.log = boxes(sort, fields, state, before, member);
      found.oddities = !found.up ? [] : sort.switches.flatMap(([index, name]) => {
        const value = state[index][member];
        return value === first[index][member] ? [] : [`${name}: ${value ? "yes" : "no"}`];
      });
      if (fields.high_watermark) {
        found.mark = fields.high_watermark.name;
        found.committed = part(fields.high_watermark, state, member);
      }
      return found;
    }

    let first = null; // the start, from which what is odd differs

    function boxes(sort, fields, state, before, member) {
      const type = types[fields.log.type];
      if (type.is !== "seq") return [];
      const now = part(fields.log, state, member), old = before ? part(fields.log, before, member) : now;
      let same = 0;
      while (same < now.length && same < old.length && Values.equal(now[same], old[same])) same += 1;
      const known = acknowledgedValues(state);
      const safe = fields.flushed ? part(fields.flushed, state, member) : now.length;
      const inOrder = acknowledged && types[acknowledged.type].is === "seq" && types[acknowledged.type].of === type.of;
      const isAcknowledged = (entry, i) => {
        const isThere = holds(type.of, entry).some((each) => known.some((value) => Values.equal(value, each)));
        const isOneOfSeveral = inOrder && now.filter((each) => Values.equal(each, entry)).length > 1;
        return isThere && (!isOneOfSeveral || (i < known.length && Values.equal(known[i], entry)));
      };
      const kept = now.map((entry, i) => ({
        ...box(type.of, entry),
        fresh: i >= same,
        isVolatile: i >= safe,
        acknowledged: isAcknowledged(entry, i),
      }));
      return [...kept, ...old.slice(same).map((entry) => ({ ...box(type.of, entry), cut: true }))];
    }

    function box(of, entry) {
      const type = types[of];
      if (type.is !== "record") return { text: (type.dates ?? "") + show(of, entry), under: "" };
      const shown = new Map(type.fields.flatMap(([name, of], i) => (entry[i] === null ? [] : [[name, show(of, entry[i])]])));
      const epoch = cast.epochs.find((name) => shown.has(name));
      let under = "";
      if (epoch) {
        under = epoch[0] + shown.get(epoch);
        shown.delete(epoch);
      }
      const isLabelled = cast.label !== epoch && type.fields.some(([name]) => name === cast.label);
      const text = isLabelled ? shown.get(cast.label) : [...shown.values()].join(",");
      return text ? { text, under } : { text: under, under: "" };
    }

    function acknowledgedValues(state) {
      if (!acknowledged) return [];
      const found = part(acknowledged, state);
      const { is } = types[acknowledged.type];
      return is === "bag" ? found.map(([value]) => value) : found;
    }

    function holds(of, entry) {
      const wanted = acknowledged ? elementOf(acknowledged.type) : null;
      if (of === wanted) return [entry];
      const type = types[of];
      return type.is === "record" ? entry.filter((_, i) => type.fields[i][1] === wanted) : [];
    }

    function badge(stands) {
      const found = stands.up ? [] : ["✕ down"];
      if (stands.chosen && !stands.up) found.push("still the leader");
      else if (stands.chosen && !(stands.leads && stands.isAware)) found.push("★ chosen, unaware");
      else if (stands.chosen || (stands.leads && stands.chosen === null)) found.push("★ leader");
      else if (stands.leads) found.push("☆ thinks it leads");
      else if (stands.follows) found.push(`follows ${stands.follows}`);
      if (stands.epoch && stands.up) found.push(stands.epoch);
      return found.join(" · ");
    }

    // -------------------------------------------------------------------- drawing

    function words(stands) {
      const entries = stands.log.map((each) => {
        const more = [];
        if (each.under) more.push(`epoch ${each.under.replace(/^[et]/, "")}`);
        if (each.acknowledged) more.push("acknowledged");
        if (each.fresh) more.push("new");
        if (each.cut) more.push("cut off");
        return each.text + (more.length ? ` (${more.join(", ")})` : "");
      });
      const mark = stands.committed === undefined ? "" : `; high watermark ${stands.committed}`;
      return `log of ${stands.name}: ${entries.join(", ") || "empty"}${mark}`;
    }

    // The width of a box, and of the word below it.
    function wide(box) {
      const beside = box.acknowledged && !box.cut ? 2 * (widthOf("✓", "tick") + 4) : 10;
      const label = box.cut ? widthOf(GONE, "small", "flash") + 2 : 0;
      return Math.max(BOX, widthOf(box.text, "strong") + beside, widthOf(box.under, "mono") + 8, label);
    }

    function log(stands) {
      const all = stands.log, mark = stands.committed;
      const wides = all.map(wide), name = mark === undefined ? 0 : widthOf(stands.mark, "small", "mended");
      let total = wides.reduce((sum, each) => sum + each, 0);
      const least = Math.max(LEAST, name, 2 * INSET + MORE + (wides.at(-1) ?? 0)); // for the last box, at least
      const room = Math.max(Math.min(total + 2 * INSET + 10, MOST, document.body.clientWidth - AROUND), least);
      const height = ABOVE + TALL + BELOW;
      const made = shape("svg", {
        class: "mc log", role: "img", "aria-label": words(stands), viewBox: `0 0 ${room} ${height}`, width: room, height,
      });
      let leftOut = 0, x = INSET;
      while (leftOut < all.length - 1 && total > room - MORE * (leftOut > 0) - 2 * INSET) total -= wides[leftOut++];
      const text = (x, y, said, kind, anchor = "") => made.append(shape("text", { x, y, class: kind, "text-anchor": anchor }, said));
      const bar = (x) => {
        made.append(shape("line", { x1: x, y1: ABOVE - 3, x2: x, y2: ABOVE + TALL + 3, class: "bar" }));
        text(Math.min(Math.max(x, name / 2), room - name / 2), ABOVE - 5, stands.mark, "small mended", "middle");
      };
      if (leftOut) {
        text(x, ABOVE + TALL / 2 + 4, "…", "strong");
        x += MORE;
      }
      if (!all.length) text(x + 6, ABOVE + TALL / 2 + 4, "empty log", "small dim");
      if (mark !== undefined && mark <= leftOut) bar(x - 1);
      const stored = all.filter((each) => !each.cut).length;
      let isCut = false;
      all.forEach((each, index) => {
        if (index < leftOut) return;
        const width = wides[index], middle = x + width / 2;
        const kind = each.cut ? "cut" : (mark !== undefined && index < mark ? "kept" : "box") + (each.isVolatile ? " unsafe" : "");
        made.append(shape("rect", { x: x + 1, y: ABOVE, width: width - 2, height: TALL, rx: 3, class: kind }));
        const kindOfText = each.cut ? "flash" : each.fresh ? "strong" : "";
        text(middle, ABOVE + (each.under ? 14 : TALL / 2 + 5), each.text, kindOfText, "middle");
        if (each.under) text(middle, ABOVE + 25, each.under, "mono dim", "middle");
        if (each.acknowledged && !each.cut) text(x + width - 3, ABOVE + 11, "✓", "tick", "end");
        if (each.cut) {
          made.append(shape("line", { x1: x + 3, y1: ABOVE + TALL - 3, x2: x + width - 3, y2: ABOVE + 3, class: "cross" }));
          if (!isCut) text(middle, ABOVE + TALL + 13, GONE, "small flash", "middle");
        }
        isCut = Boolean(each.cut);
        x += width;
        if (mark !== undefined && index + 1 === Math.min(mark, Math.max(stored, 1))) bar(x);
      });
      return made;
    }

    function card(stands, isTouched) {
      const kinds = ["replica", isTouched && "touched", !stands.up && "down", stands.member && "member"];
      const head = element("p", {}, element("b", {}, stands.name), " ", badge(stands));
      if (stands.member !== undefined && membership) {
        head.append(" ", element("span", { class: "membership" }, `${stands.member ? "in" : "not in"} ${membership}`));
      }
      const made = element("div", { class: kinds.filter(Boolean).join(" ") }, head);
      if (stands.oddities.length) made.append(element("p", { class: "event" }, stands.oddities.join(" · ")));
      if (stands.log) made.append(log(stands));
      return made;
    }

    // The picture: a card for each replica, what is decided for all, what was acknowledged.
    function draw(state, before, start) {
      first = start;
      const cards = cast.sorts.flatMap((sort) => sort.members.map((_, member) => {
        const stands = standing(sort, member, state, before);
        const isTouched = before && variables.some((variable, i) =>
          variable.owner === sort.name && !Values.equal(state[i][member], before[i][member]));
        return card(stands, isTouched);
      }));
      const decided = ["leader", "epoch", "membership"].flatMap((role) => {
        const found = cast.whole[role];
        return found ? [`${found.name.replaceAll("_", " ")}: ${show(found.type, part(found, state))}`] : [];
      });
      const made = [element("div", { class: "replicas" }, ...cards)];
      const logs = cards.flatMap((each) => [...each.querySelectorAll("svg")].map((log) => Number(log.getAttribute("width"))));
      made[0].style.setProperty("--log", `${Math.max(0, ...logs)}px`); // no log is made smaller to fit its card
      if (decided.length) made.push(element("p", {}, element("b", {}, "Decided for all: "), decided.join(" · ")));
      if (acknowledged) {
        const of = elementOf(acknowledged.type);
        const all = acknowledgedValues(state).map((value) => show(of, value)).join(", ") || "nothing yet";
        made.push(element("p", {}, element("b", {}, `${told}: `), all));
      }
      variables.forEach((variable, i) => {
        if (variable.network) {
          const all = messages(variable.type, state[i]);
          made.push(element("p", {}, element("b", {}, `Under way (${variable.name}): `), all.length ? "" : "nothing"));
          if (all.length) made.push(element("ul", { class: "messages" }, ...all.map((text) => element("li", {}, text))));
        }
      });
      return made;
    }

    // The messages of a network, each after the channel that it is in, if there are several.
    function messages(number, value) {
      const type = types[number];
      if (type.is !== "map") {
        return type.is === "bag" ? value.map(([each, many]) => show(type.of, each) + (many > 1 ? ` × ${many}` : ""))
          : value.map((each) => show(type.of, each));
      }
      return type.keys.flatMap((key, i) => messages(type.of, value[i]).map((text) => `${show(type.key, key)}: ${text}`));
    }

    // --------------------------------------------------------------------- tables

    // The parts of a value that have names: the fields of a record, else itself.
    function parts(name, number, value) {
      const type = types[number];
      if (type.is !== "record") return [[name, number, value]];
      return type.fields.map(([field, of], i) => [`${name}.${field}`, of, value[i]]);
    }

    // A text that breaks behind arrows, and not within them.
    const lines = (text) =>
      text.split(/(\S+ -> )/).map((part, i) => (i % 2 ? element("span", { class: "arrow" }, part) : part));

    function cell(number, value, old) {
      const text = show(number, value);
      if (old === undefined || Values.equal(old, value)) return element("td", {}, ...lines(text));
      return element("td", {}, element("b", { class: "now" }, `● ${text}`), " ",
        element("span", { class: "was" }, `was ${show(number, old)}`));
    }

    function table(head, rows) {
      return element("table", {},
        element("thead", {}, element("tr", {}, ...head.map((text) => element("th", { scope: "col" }, text)))),
        element("tbody", {}, ...rows.map(([name, ...cells]) =>
          element("tr", {}, element("th", { scope: "row" }, name), ...cells))));
    }

    function tables(state, before) {
      const made = [];
      for (const owner of new Set(variables.map((each) => each.owner).filter(Boolean))) {
        const rows = [];
        let members = [];
        variables.forEach((variable, i) => {
          if (variable.owner !== owner) return;
          const type = types[variable.type];
          members = type.keys.map((key) => show(type.key, key));
          const name = variable.name.slice(owner.length + 1);
          const columns = state[i].map((value) => parts(name, type.of, value));
          const olds = before && before[i].map((value) => parts(name, type.of, value));
          columns[0]?.forEach(([field, of], row) => {
            rows.push([field, ...columns.map((each, k) => cell(of, each[row][2], olds ? olds[k][row][2] : undefined))]);
          });
        });
        made.push(table([owner, ...members], rows));
      }
      for (const [title, isGhost] of [["whole system", false], ["ghosts: what only the claims look at", true]]) {
        const rows = variables.flatMap((variable, i) => {
          if (variable.owner || variable.ghost !== isGhost) return [];
          const olds = before && parts(variable.name, variable.type, before[i]);
          return parts(variable.name, variable.type, state[i]).map(([name, of, value], k) =>
            [name, cell(of, value, olds ? olds[k][2] : undefined)]);
        });
        if (rows.length) made.push(table([title, ""], rows));
      }
      return made;
    }

    return { draw, tables };
  }

  return { of, element };
})();
