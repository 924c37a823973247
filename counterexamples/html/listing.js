"use strict";
(function () {
  const list = document.querySelector(".listing");
  const { shown: many, searched, kinds, rows } = JSON.parse(list.querySelector("script").textContent);
  const [form, body] = [list.querySelector("form"), list.querySelector("tbody")];
  const heads = Array.from(list.querySelectorAll("thead th"));
  const names = heads.map((head) => head.textContent);
  const fields = Array.from(form.elements).filter((each) => each.name);
  const more = list.querySelector(".more");
  const inOrder = new Intl.Collator(undefined, { numeric: true }).compare;
  const texts = kinds.map((kind) => searched.map((place) => kind.cells[place][0]).join("\n").toLowerCase());
  const tags = kinds.map((kind) => new Set(kind.tags));
  let sort = -1, down = false;  // the column; none is the usual order
  let found = [], drawn = rows.length > many ? many : rows.length;

  function row([name, kind]) {
    const made = document.createElement("tr");
    const head = document.createElement("th");
    head.scope = "row";
    head.textContent = name;
    made.append(head);
    kinds[kind].cells.forEach(([text, role], place) => {
      const cell = document.createElement("td");
      cell.className = `words ${role}${searched.includes(place) ? " wide" : ""}`;
      cell.textContent = text;
      made.append(cell);
    });
    return made;
  }

  // Few rows are in the page at a time, so sorting and filtering cost the same however long the list is.
  function draw(from, to) {
    drawn = Math.min(to, found.length);
    const made = found.slice(from, drawn).map(row);
    if (from === 0) body.replaceChildren(...made); else body.append(...made);
    more.hidden = drawn === found.length;
    const number = (n) => n.toLocaleString("en");
    const all = found.length === rows.length ? number(rows.length) : `${number(found.length)} of ${number(rows.length)}`;
    const part = drawn < found.length ? `, of which the first ${number(drawn)} are shown` : "";
    list.querySelector(".count").textContent = `${all} ${rows.length === 1 ? "row" : "rows"}${part}`;
    return made[0];
  }

  function compare(a, b) {
    if (sort < 0) return a - b;
    const [x, y] = [rows[a], rows[b]];
    const by = sort === 0 ? inOrder(x[0], y[0]) : kinds[x[1]].cells[sort - 1][2] - kinds[y[1]].cells[sort - 1][2];
    return (down ? -by : by) || a - b;
  }

  function update() {
    const words = form.elements.text.value.toLowerCase().split(/\s+/).filter(Boolean);
    const wanted = fields.filter((field) => field.tagName === "SELECT" && field.value).map((field) => field.value);
    const fits = kinds.map((_, kind) => wanted.every((tag) => tags[kind].has(tag)));
    const matches = ([name, kind]) => {
      const text = name.toLowerCase();
      return fits[kind] && words.every((word) => text.includes(word) || texts[kind].includes(word));
    };
    const places = [];
    rows.forEach((each, place) => { if (matches(each)) places.push(place); });
    found = places.sort(compare).map((place) => rows[place]);
    heads.forEach((head, place) => {
      if (place === sort) head.setAttribute("aria-sort", down ? "descending" : "ascending");
      else head.removeAttribute("aria-sort");
    });
    draw(0, many);
  }

  // The address has what is chosen, so that a link keeps it.
  function keep() {
    const state = new URLSearchParams();
    if (sort >= 0) state.set("sort", names[sort]);
    if (down) state.set("order", "descending");
    for (const field of fields) if (field.value) state.set(field.name, field.value);
    const hash = String(state);
    try { history.replaceState(null, "", hash ? `#${hash}` : location.pathname + location.search); }
    catch { /* some viewers forbid it */ }
  }

  function follow() {
    const state = new URLSearchParams(location.hash.slice(1));
    const known = ["sort", "order", ...fields.map((field) => field.name)];
    if (!known.some((name) => state.has(name))) return false;  // a place on the page
    sort = names.indexOf(state.get("sort"));
    down = sort >= 0 && state.get("order") === "descending";
    for (const field of fields) {
      field.value = state.get(field.name) ?? "";
      if (field.selectedIndex === -1) field.value = "";
    }
    update();
    return true;
  }

  heads.forEach((head, place) => {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = names[place];
    button.addEventListener("click", () => {
      [sort, down] = sort !== place ? [place, false] : down ? [-1, false] : [place, true];
      update();
      keep();
    });
    head.append(button);  // the words are left for paper: Chromium repeats no head with buttons on each sheet
  });
  form.hidden = false;
  form.addEventListener("input", () => { update(); keep(); });
  form.addEventListener("submit", (event) => event.preventDefault());
  form.addEventListener("reset", (event) => {
    event.preventDefault();
    for (const field of fields) field.value = "";
    [sort, down] = [-1, false];
    update();
    keep();
  });
  more.querySelector("button").addEventListener("click", () => {
    const first = draw(drawn, drawn + many);
    if (!more.hidden) return;
    first.tabIndex = -1;  // the button is gone: the keyboard continues at what it has shown
    first.focus();
  });
  window.addEventListener("hashchange", follow);
  if (!follow()) update();
})();
