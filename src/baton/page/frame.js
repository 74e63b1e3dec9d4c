// The frame of a page: tabs, the line between its panes, light or dark, lines beside the pointer.

const $ = (id) => document.getElementById(id);

/// A few lines beside the pointer.
const tip = {
  element: $("tip"),
  show(event, lines) {
    this.element.replaceChildren(...lines.map((line, i) => el(i ? "div" : "b", {}, line)));
    this.element.hidden = false;
    const {offsetWidth: width, offsetHeight: height} = this.element;
    this.element.style.left = Math.max(4, Math.min(event.clientX + 14, innerWidth - width - 6)) + "px";
    this.element.style.top = (event.clientY + 18 + height > innerHeight ? event.clientY - height - 10 : event.clientY + 18) + "px";
  },
  hide() { this.element.hidden = true; },
};

function fact(name, value, hint, look) {
  return el("div", {title: hint || null, class: look || null}, el("dt", {}, name), el("dd", {}, value));
}

/// The button that chooses light or dark. `graphs`: their canvases are painted anew.
function theme(graphs) {
  const names = {"": "◐ auto", light: "○ light", dark: "● dark"};
  let chosen = "";
  try { chosen = localStorage.getItem("baton-theme") || ""; } catch { /* a page from a file may have no storage */ }
  const set = (name) => {
    if (name) document.documentElement.dataset.theme = name;
    else delete document.documentElement.dataset.theme;
    $("theme").textContent = names[name];
    try { localStorage.setItem("baton-theme", name); } catch { /* as above */ }
    for (const graph of graphs) graph.recolour();
  };
  $("theme").addEventListener("click", () => {
    const next = Object.keys(names)[(Object.keys(names).indexOf(document.documentElement.dataset.theme || "") + 1) % 3];
    set(next);
  });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => graphs.forEach((graph) => graph.recolour()));
  set(names[chosen] === undefined ? "" : chosen);
}

/// Tabs: [{key, label, tip, make()}]; what is shown is made when it is first asked for.
function tabs(state, list, body, key, entries) {
  const made = new Map();
  const buttons = entries.map((entry) => el("button", {type: "button", role: "tab", id: `${key}-${entry.key}`, title: entry.tip, "data-tab": entry.key,
                                                       onclick: () => state.show({[key]: entry.key})}, entry.label));
  list.append(...buttons);
  list.addEventListener("keydown", (event) => {
    const step = {ArrowRight: 1, ArrowLeft: -1}[event.key];
    if (!step) return;
    const next = (entries.findIndex((entry) => entry.key === state.view[key]) + step + entries.length) % entries.length;
    state.show({[key]: entries[next].key});
    buttons[next].focus();
  });
  const update = () => {
    const entry = entries.find((each) => each.key === state.view[key]) || entries[0];
    for (const button of buttons) {
      const on = button.dataset.tab === entry.key;
      button.setAttribute("aria-selected", String(on));
      button.tabIndex = on ? 0 : -1;
    }
    if (!made.has(entry.key)) made.set(entry.key, entry.make());
    const part = made.get(entry.key);
    if (body.firstChild === part.element) return part;
    body.replaceChildren(part.element);
    part.selected?.();
    part.draw?.();
    return part;
  };
  return {update, made};
}

/// Buttons that zoom the graphs that `shown()` returns.
function zoomButtons(shown) {
  const zooms = [["−", "Smaller (-)", (graph) => graph.zoom(0.8)], ["+", "Larger (+)", (graph) => graph.zoom(1.25)], ["fit", "All of it (0)", (graph) => graph.fit()]];
  return zooms.map(([label, hint, act]) => el("button", {type: "button", title: hint, onclick: () => shown().forEach(act)}, label));
}

/// The line between pictures and tables: with the pointer, or arrows.
function splitter() {
  const split = $("split"), panes = $("panes");
  const set = (part) => panes.style.setProperty("--upper", Math.min(0.85, Math.max(0.12, part)) * 100 + "%");
  const now = () => $("pictures").offsetHeight / panes.clientHeight;
  split.addEventListener("pointerdown", (event) => split.setPointerCapture(event.pointerId));
  split.addEventListener("pointermove", (event) => {
    if (split.hasPointerCapture(event.pointerId)) set((event.clientY - panes.getBoundingClientRect().top) / panes.clientHeight);
  });
  split.addEventListener("keydown", (event) => {
    const step = {ArrowUp: -0.04, ArrowDown: 0.04}[event.key];
    if (!step) return;
    set(now() + step);
    event.preventDefault();
  });
}

/// Writes the parts of a state into the address, without an entry in the history for every click.
function keepAddress(parts) {
  const hash = parts.length ? "#" + parts.join("&") : "";
  if (hash === location.hash) return;
  try {
    history.replaceState(null, "", hash || location.pathname + location.search);
  } catch {
    location.hash = hash;  // where a page may not touch its history
  }
}
