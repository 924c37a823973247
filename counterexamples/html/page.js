"use strict";
(function () {
  const text = new Set(["text", "search", "url", "tel", "email", "password", "number"]);
  const steppers = Array.from(document.querySelectorAll(".stepper"), stepper);
  let used = steppers[0];
  let typed = "", typing = 0;

  // One run: shows one of its frames at a time, and marks it in the list and in the diagram.
  function stepper(element) {
    const frames = Array.from(element.querySelectorAll(".frame"));
    const links = Array.from(element.querySelectorAll(".story a"));
    const run = element.closest(".run");
    const diagram = run.querySelector(".diagram svg");
    const rows = Array.from(diagram.querySelectorAll(".row"));
    const here = document.createElementNS("http://www.w3.org/2000/svg", "rect");
    const input = element.querySelector(".bar input");
    const live = element.querySelector(".live");
    const buttons = Object.fromEntries(
      Array.from(element.querySelectorAll("[data-go]"), (button) => [button.dataset.go, button]));
    const numbers = frames.map((frame) => Number(frame.dataset.step));
    const last = frames.length - 1;
    let at = 0;

    function mark(index) {
      at = index;
      frames.forEach((frame, i) => frame.classList.toggle("shown", i === at));
      links.forEach((link, i) => {
        if (i === at) link.setAttribute("aria-current", "step"); else link.removeAttribute("aria-current");
      });
      frameRow(rows.find((row) => Number(row.dataset.step) === numbers[at]));
      input.value = numbers[at];
      for (const [name, button] of Object.entries(buttons)) {
        const ends = name === "first" || name === "back" ? at === 0 : at === last;
        button.setAttribute("aria-disabled", String(ends));
      }
    }

    // A frame around the row of the diagram that the step is.
    function frameRow(row) {
      here.remove();
      if (!row) return;
      const box = row.getBBox();
      const [, , width] = diagram.getAttribute("viewBox").split(" ").map(Number);
      const place = { class: "here", x: 3, y: box.y + 2, width: width - 6, height: box.height - 4, rx: 6 };
      for (const [name, value] of Object.entries(place)) here.setAttribute(name, value);
      diagram.append(here);
      keepInView(row, diagram.parentElement);
    }

    // Scrolls a box that is higher than its window so that a part of it is seen; the page stays where it is.
    function keepInView(part, list) {
      if (list.scrollHeight <= list.clientHeight) return;
      const [inner, outer] = [part.getBoundingClientRect(), list.getBoundingClientRect()];
      if (inner.top < outer.top || inner.bottom > outer.bottom) {
        list.scrollTop += inner.top - outer.top - list.clientHeight / 3;
      }
    }

    const self = {
      element,
      run,
      isOpen: () => element.closest("details:not([open])") === null,
      at: () => at,
      last,
      // The frame with that index; the address follows, so that it can be passed on.
      show(index) {
        used = self;
        const to = Math.max(0, Math.min(last, index));
        if (to === at) return;
        mark(to);
        keepInView(links[at], links[at].closest(".story"));
        live.textContent = links[at].textContent.replace(/\s+/g, " ").trim();
        try { history.replaceState(null, "", "#" + frames[at].id); } catch { /* some viewers forbid it */ }
      },
      // The frame of a step, or the nearest that is on the page.
      step(number) {
        const after = numbers.findIndex((each) => each >= number);
        self.show(after < 0 ? last : after);
      },
      frame(id) { return frames.findIndex((frame) => frame.id === id); },
      go(where) { self.show({ first: 0, back: at - 1, next: at + 1, last }[where]); },
    };

    element.querySelector(".bar").hidden = false;
    element.classList.add("stepping");
    for (const name of Object.keys(buttons)) buttons[name].addEventListener("click", () => self.go(name));
    input.addEventListener("change", () => {
      if (input.value !== "") self.step(Number(input.value));
      input.value = numbers[at];
    });
    links.forEach((link, i) => link.addEventListener("click", (event) => {
      if (event.ctrlKey || event.metaKey || event.shiftKey) return;
      event.preventDefault();
      self.show(i);
    }));
    const panels = Array.from(run.querySelectorAll(".storyboard .panel"));
    for (const part of [...rows, ...panels]) {
      part.addEventListener("click", () => {
        if (String(getSelection())) return; // the reader selects text
        self.step(Number(part.dataset.step));
      });
    }
    mark(0);
    // What is folded has no place to measure.
    element.closest("details")?.addEventListener("toggle", () => { if (self.isOpen()) mark(at); });
    return self;
  }

  // The run that keys are for: the one with the focus, the one in the middle of the window, the last used.
  function meant() {
    const focused = steppers.find((each) => each.run.contains(document.activeElement));
    if (focused) return focused;
    const middle = window.innerHeight / 2;
    const seen = steppers.find((each) => {
      const box = each.run.getBoundingClientRect();
      return each.isOpen() && box.top <= middle && box.bottom >= middle;
    });
    return seen || used;
  }

  function isTyping(target) {
    return target.isContentEditable || target.tagName === "TEXTAREA" || target.tagName === "SELECT" ||
      (target.tagName === "INPUT" && text.has(target.type));
  }

  // Arrows scroll what is focused and wider than its place.
  function scrolls(target) {
    const box = target.closest ? target.closest(".scroll") : null;
    return box !== null && box.scrollWidth > box.clientWidth;
  }

  const keys = { ArrowRight: "next", j: "next", ArrowLeft: "back", k: "back", Home: "first", End: "last" };
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target)) return;
    if (!meant().isOpen()) return;
    if (/^[0-9]$/.test(event.key)) {
      typed += event.key;
      clearTimeout(typing);
      typing = setTimeout(() => { typed = ""; }, 900);
      meant().step(Number(typed));
    } else if (Object.hasOwn(keys, event.key) && !(event.key.startsWith("Arrow") && scrolls(event.target))) {
      meant().go(keys[event.key]);
    } else {
      return;
    }
    event.preventDefault();
  });

  // What is led to is opened.
  function unfold(element) {
    const run = element ? element.closest(".run") : null;
    const folded = run ? run.querySelector("details:not([open])") : null;
    if (!folded) return;
    folded.open = true;
    element.scrollIntoView();
  }
  for (const link of document.querySelectorAll("a[href^='#']")) {
    link.addEventListener("click", () => unfold(document.getElementById(link.getAttribute("href").slice(1))));
  }

  // `#step-4` opens at that step.
  function follow() {
    const id = decodeURIComponent(location.hash.slice(1));
    unfold(document.getElementById(id));
    for (const each of steppers) {
      const index = each.frame(id);
      if (index >= 0) {
        each.show(index);
        each.element.scrollIntoView();
      }
    }
  }
  window.addEventListener("hashchange", follow);
  if (location.hash) follow();
})();
