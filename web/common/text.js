'use strict';
// Elements and figures. Text of the data reaches the page as text nodes and attributes only, never as markup.

function fill(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes || {})) {
    if (value !== null && value !== undefined && value !== false)
      element.setAttribute(name, value === true ? '' : value);
  }
  element.append(...children.filter((child) => child !== null && child !== undefined));
  return element;
}
const el = (name, attributes, ...children) => fill(document.createElement(name), attributes, children);
const svg = (name, attributes, ...children) =>
  fill(document.createElementNS('http://www.w3.org/2000/svg', name), attributes, children);
const at = (id) => document.getElementById(id);

const digits = (value, count) => String(Number(value.toPrecision(count)));

// Seconds, as the program prints them.
function timeText(seconds) {
  if (seconds === null || seconds === undefined) return '-';
  if (seconds >= 1) return digits(seconds, 4) + ' s';
  if (seconds >= 1e-3) return digits(seconds * 1e3, 4) + ' ms';
  return digits(seconds * 1e6, 4) + ' us';
}
const factorText = (factor) => (factor === null || factor === undefined ? '-' : factor.toFixed(2) + 'x');
const counted = (count, what) => `${count} ${what}${count === 1 ? '' : 's'}`;
const clipped = (text, most) => (text.length > most ? text.slice(0, most - 1) + '\u2026' : text);

const kScales = [
  ['P', 1e15],
  ['T', 1e12],
  ['G', 1e9],
  ['M', 1e6],
  ['k', 1e3],
];
// 4.29e12 B/s: "4.29 TB/s".
function scaled(value, unit) {
  const [prefix, factor] = kScales.find(([, size]) => value >= size) || ['', 1];
  return `${digits(value / factor, 3)} ${prefix}${unit}`;
}

const listText = (values) => (values && values.length ? values.join(', ') : null);
const pairsText = (map) => listText(Object.entries(map || {}).map(([name, value]) => `${name}=${value}`));

function facts(rows) {
  const list = el('dl', {class: 'facts'});
  addFacts(list, rows);
  return list;
}
function addFacts(list, rows) {
  for (const [name, value] of rows) {
    if (value === null || value === undefined || value === '') continue;
    list.append(el('dt', {}, name), el('dd', {}, value));
  }
}

function folded(title, open, content) {
  return el('details', {open}, el('summary', {}, title), content);
}
