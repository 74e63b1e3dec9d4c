// Numbers as text, and elements made without any HTML in strings: names come from users.

/// el("td", {class: "num", title: "..."}, "text", child): text goes in as text.
function el(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children.flat().filter((child) => child !== null && child !== undefined));
  return element;
}

const kSvg = "http://www.w3.org/2000/svg";
function svg(tag, attributes = {}, ...children) {
  const element = document.createElementNS(kSvg, tag);
  for (const [name, value] of Object.entries(attributes)) if (value !== null) element.setAttribute(name, value);
  element.append(...children);
  return element;
}

/// Microseconds: what is short is shown to a hundredth, as in the terminal.
function usText(us) {
  if (us === null || us === undefined) return "";
  return us < 10 ? us.toFixed(2) : us < 1e5 ? us.toFixed(1) : us.toFixed(0);
}

/// In three digits, for small boxes: "1.23 ms".
function shortTime(us) {
  return us >= 999.5 ? (us / 1000).toPrecision(3) + " ms" : us.toFixed(us < 10 ? 1 : 0) + " µs";
}

/// For headings: "83.8 ms".
function timeText(us) {
  const size = Math.abs(us);
  if (size >= 1e6) return (us / 1e6).toPrecision(4) + " s";
  if (size >= 1e3) return (us / 1e3).toPrecision(4) + " ms";
  return (size < 10 ? us.toFixed(2) : us.toFixed(1)) + " µs";
}

function percent(share, digits = 1) {
  return (share * 100).toFixed(digits) + " %";
}

function signed(value, text) {
  return (value > 0 ? "+" : value < 0 ? "−" : "±") + text(Math.abs(value));
}

const kUnits = ["", " k", " M", " G", " T", " P"];
/// 25690112 -> "25.7 M" + unit.
function withUnit(value, unit) {
  let power = 0;
  while (Math.abs(value) >= 1000 && power < kUnits.length - 1) {
    value /= 1000;
    ++power;
  }
  return (power === 0 && Number.isInteger(value) ? String(value) : value.toPrecision(3)) + (kUnits[power] || " ") + unit;
}

function plural(count, what) {
  return count + " " + what + (count === 1 ? "" : "s");
}

/// A value of an attribute, as Relay writes it.
function valueText(value) {
  if (Array.isArray(value)) return "[" + value.map(valueText).join(", ") + "]";
  if (typeof value === "string") return value === "" ? '""' : value;
  if (value !== null && typeof value === "object")
    return "{" + Object.entries(value).map(([key, each]) => key + ": " + valueText(each)).join(", ") + "}";
  return String(value);
}

/// The colour that a custom property has now, as [r, g, b].
function colourOf(property) {
  colourOf.probe ||= document.body.appendChild(el("i", {hidden: true}));
  colourOf.probe.style.color = `var(${property})`;
  return getComputedStyle(colourOf.probe).color.match(/[\d.]+/g).slice(0, 3).map(Number);
}

function mix(from, to, part) {
  return from.map((value, i) => Math.round(value + (to[i] - value) * part));
}

function css(rgb, alpha = 1) {
  return `rgb(${rgb[0]} ${rgb[1]} ${rgb[2]} / ${alpha})`;
}

/// Black or white, whichever can be read on it.
function inkOn(rgb) {
  const [r, g, b] = rgb.map((value) => {
    const part = value / 255;
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * r + 0.7152 * g + 0.0722 * b > 0.2 ? "#14181f" : "#ffffff";
}

function sum(list, of) {
  let total = 0;
  for (const each of list) total += of(each);
  return total;
}

/// Of a list of any length; never 0, since others are divided by it.
function largest(list, of) {
  let most = 1e-9;
  for (const each of list) most = Math.max(most, of(each));
  return most;
}
