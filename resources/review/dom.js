// Elements made in one call: make("button", { type: "button", onclick: act, "aria-label": "Play" }, "Play").
export function make(tag, told = {}, ...children) {
  return dress(document.createElement(tag), told, children);
}

export function draw(tag, told = {}, ...children) {
  const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(told)) element.setAttribute(name, value);
  element.append(...children);
  return element;
}

function dress(element, told, children) {
  for (const [name, value] of Object.entries(told)) {
    if (value === undefined || value === null) continue;
    if (name === "dataset") Object.assign(element.dataset, value);
    else if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (name in element) element[name] = value;
    else element.setAttribute(name, value);
  }
  element.append(...children.filter((child) => child !== null && child !== undefined));
  return element;
}

export const field = (id) => document.getElementById(id);
export const count = (number, one, many = `${one}s`) => `${number} ${number === 1 ? one : many}`;
