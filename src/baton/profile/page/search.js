// The search box: operators by name, line, source or type, kernels by name or node; arrows and Enter, or the pointer.

const kMostFound = 30;

function searchIndex(model) {
  const ops = model.ops.map((op) => ({kind: "op", id: op.id, label: operatorLabel(op), more: op.source || op.type,
                                      text: `${op.op} ${lineOrName(op)} ${op.source} ${op.type}`.toLowerCase(), weight: op.time ?? 0}));
  const kernels = model.kernels.map((kernel) => ({kind: "kernel", id: kernel.node, label: kernel.title, more: `node ${kernel.node}  ${kernel.short}`,
                                                  text: `${kernel.name} node ${kernel.node}`.toLowerCase(), weight: kernel.us}));
  const modules = model.modules.map((module) => ({kind: "module", id: module.index, label: module.path || module.name, more: moduleTime(module) + " µs",
                                                  text: `${module.path} ${module.name}`.toLowerCase(), weight: module.us}));
  return [...ops, ...kernels, ...modules];
}

/// Every word must be there. First what begins with it, then what takes longest.
function searchIn(index, wanted) {
  const words = wanted.toLowerCase().split(/\s+/).filter(Boolean);
  if (!words.length) return [];
  const found = index.filter((entry) => words.every((word) => entry.text.includes(word)));
  const rank = (entry) => (entry.text.startsWith(words[0]) || entry.text.replace(/^nn\./, "").startsWith(words[0]) ? 0 : 1);
  return found.sort((a, b) => rank(a) - rank(b) || b.weight - a.weight);
}

class Search {
  constructor(state, model) {
    this.state = state;
    this.index = searchIndex(model);
    this.input = document.getElementById("search");
    this.list = document.getElementById("found");
    this.found = [];
    this.at = 0;
    this.input.addEventListener("input", () => this.look());
    this.input.addEventListener("focus", () => this.look());
    this.input.addEventListener("blur", () => setTimeout(() => this.close(), 150));
    this.input.addEventListener("keydown", (event) => this.key(event));
    document.addEventListener("keydown", (event) => {
      const typing = /^(INPUT|SELECT|TEXTAREA)$/.test(document.activeElement?.tagName);
      if (event.key === "/" && !typing && !event.ctrlKey && !event.metaKey) {
        event.preventDefault();
        this.input.focus();
        this.input.select();
      } else if (event.key === "Escape" && !typing) {
        state.clearSelection();
      }
    });
  }

  look() {
    const all = searchIn(this.index, this.input.value);
    this.found = all.slice(0, kMostFound);
    this.at = 0;
    this.list.replaceChildren(...this.found.map((entry, i) => el("li", {
      role: "option", id: "found-" + i, class: entry.kind, onpointerdown: (event) => { event.preventDefault(); this.take(i); },
    }, el("span", {class: "tag"}, entry.kind === "op" ? "operator" : entry.kind), el("span", {class: "name"}, entry.label), el("small", {}, entry.more))));
    if (!this.found.length && this.input.value.trim()) this.list.append(el("li", {class: "none"}, "nothing of that name"));
    else if (all.length > kMostFound) this.list.append(el("li", {class: "none"}, `and ${all.length - kMostFound} more`));
    this.list.hidden = !this.input.value.trim();
    this.input.setAttribute("aria-expanded", String(!this.list.hidden));
    this.mark();
  }

  mark() {
    this.found.forEach((_, i) => this.list.children[i].setAttribute("aria-selected", String(i === this.at)));
    if (this.found.length) {
      this.input.setAttribute("aria-activedescendant", "found-" + this.at);
      this.list.children[this.at].scrollIntoView({block: "nearest"});
    } else {
      this.input.removeAttribute("aria-activedescendant");
    }
  }

  key(event) {
    const step = {ArrowDown: 1, ArrowUp: -1}[event.key];
    if (step && this.found.length) {
      this.at = (this.at + step + this.found.length) % this.found.length;
      this.mark();
    } else if (event.key === "Enter" && this.found.length) {
      this.take(this.at);
    } else if (event.key === "Escape") {
      if (this.list.hidden) this.input.blur();
      else this.close();
    } else {
      return;
    }
    event.preventDefault();
  }

  take(i) {
    const {kind, id} = this.found[i];
    this.close();
    this.state.select(kind, id, this);
  }

  close() {
    this.list.hidden = true;
    this.input.setAttribute("aria-expanded", "false");
  }
}
