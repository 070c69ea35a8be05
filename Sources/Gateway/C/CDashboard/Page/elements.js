// SPDX-License-Identifier: Apache-2.0
//
// Builds elements. Text from the gateway only ever becomes a text node here: nothing on this page
// parses markup, and the page's policy (require-trusted-types-for) holds it to that.
"use strict";

const SVG_NAMESPACE = "http://www.w3.org/2000/svg";

/** The element with this id, which the document has. */
function byID(id) {
  return document.getElementById(id);
}

/**
 * An HTML element: `make("p", {class: "lead"}, "Text", another)`. Attributes that are null,
 * undefined or false are left out; one that begins with "on" is a listener.
 */
function make(name, attributes, ...children) {
  return dress(document.createElement(name), attributes, children);
}

/** The same for SVG. */
function draw(name, attributes, ...children) {
  return dress(document.createElementNS(SVG_NAMESPACE, name), attributes, children);
}

function dress(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes ?? {})) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else element.setAttribute(name, value === true ? "" : String(value));
  }
  for (const child of children.flat(2)) {
    if (child !== null && child !== undefined && child !== false) element.append(child);
  }
  return element;
}

/**
 * Replaces what is in an element, and keeps what a person did in it: the focus, on whatever has the
 * same `data-key`, and the `details` with such a key that are open.
 */
function fill(element, ...children) {
  const focused = element.contains(document.activeElement)
    ? document.activeElement.closest("[data-key]")?.dataset.key : undefined;
  const open = new Set(
    [...element.querySelectorAll("details[data-key][open]")].map((details) => details.dataset.key));
  const scrolled = new Map();
  for (const box of element.querySelectorAll(".scroll[data-key]")) {
    scrolled.set(box.dataset.key, box.scrollLeft);
  }
  element.replaceChildren(...children.flat(2).filter((child) => child || child === 0));
  for (const details of element.querySelectorAll("details[data-key]")) {
    if (open.has(details.dataset.key)) details.open = true;
  }
  for (const box of element.querySelectorAll(".scroll[data-key]")) {
    if (scrolled.get(box.dataset.key)) box.scrollLeft = scrolled.get(box.dataset.key);
  }
  if (focused !== undefined) {
    const heirs = [...element.querySelectorAll("[data-key]")];
    const heir = heirs.find((candidate) => candidate.dataset.key === focused);
    if (heir) (heir.matches("details") ? heir.querySelector("summary") : heir).focus();
  }
}

/**
 * Runs `render` when `value` differs from the last one for this element, so that a page which
 * nothing happens to is left alone: for readers of screens, and for selections.
 */
const rendered = new WeakMap();
function renderIfChanged(element, value, render) {
  const text = JSON.stringify(value);
  if (rendered.get(element) === text) return;
  rendered.set(element, text);
  render();
}

/**
 * A table. A column is {title, numeric, wide, told}; a row is a list of cells, the first one its
 * header. On a narrow page a stacked table has a block of lines for each row, in which the cells of
 * a told column say their title. Roles are spelt out because such a layout would take them away.
 */
function makeTable(caption, columns, rows, {key = caption, isStacked = false} = {}) {
  const looks = columns.map(({numeric, wide, told}) => [
    numeric && "number", wide && "wide", told && "told"].filter(Boolean).join(" ") || null);
  const cell = (content, index) => {
    const attributes = {"class": looks[index], "data-title": columns[index].title};
    return index === 0
      ? make("th", {scope: "row", role: "rowheader", ...attributes}, content)
      : make("td", {role: "cell", ...attributes}, content);
  };
  const head = columns.map(({title, numeric}) => make(
    "th", {scope: "col", role: "columnheader", "class": numeric ? "number" : null}, title));
  const body = rows.map((row) => make("tr", {role: "row"}, row.map(cell)));
  // A region that scrolls can be reached by keyboard, and so has a name.
  return make("div", {
    "class": "scroll", tabindex: 0, role: "region", "aria-label": caption, "data-key": key,
  },
  make("table", {role: "table", "class": isStacked ? "stacked" : null},
    make("caption", {"class": "visually-hidden"}, caption),
    make("thead", {role: "rowgroup"}, make("tr", {role: "row"}, head)),
    make("tbody", {role: "rowgroup"}, body)));
}

/** Says something to readers of screens, politely. */
function announce(text) {
  const place = byID("announcements");
  if (place.textContent !== text) place.textContent = text;
}
