/* Elements of a page. */
import {ROOT} from "./page.js";

const SVG = "http://www.w3.org/2000/svg";

/* An element with properties, listeners (onclick, ...) or attributes, and children. */
export function make(tag, properties = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (name in element) element[name] = value;
    else element.setAttribute(name, value);
  }
  element.append(...children);
  return element;
}

export function makeSvg(tag, attributes = {}, ...children) {
  const element = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(...children);
  return element;
}

export const find = selector => document.querySelector(selector);
export const css = name => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
export const unique = xs => [...new Set(xs)];

/* A link to the page of a task or a method. */
export function link(folder, thing, mark = "", title = "") {
  const words = thing.name.split(/(?<=_)/).flatMap((word, k) => k ? [make("wbr"), word] : [word]);  // a long name may be broken
  const anchor = make("a", {href: `${ROOT}${folder}/${thing.page}`, title}, ...words);
  return mark ? make("span", {}, anchor, mark) : anchor;
}

export function download(name, blob) {
  const address = URL.createObjectURL(blob);
  make("a", {href: address, download: name}).click();
  setTimeout(() => URL.revokeObjectURL(address), 1000);
}
