// How pages ask the server: JSON there and back, streams of events, and errors that say what to do.

const UNREACHED = "The server cannot be reached. Is it still running? Then try again.";

/** What the server refused, in its own words. */
export class Problem extends Error {
  /** @param {string} message @param {number} status 0 where the server was not reached @param {any} [document] what it sent */
  constructor(message, status, document = null) {
    super(message);
    this.name = "Problem";
    this.status = status;
    this.document = document;
  }
}

/**
 * Ask for something; gives the decoded JSON, or null where the answer is empty.
 * @param {string} method @param {string} path @param {unknown} [body] @param {AbortSignal} [signal]
 */
export async function ask(method, path, body, signal) {
  const response = await reach(method, path, body, signal);
  const text = await response.text();
  return text ? JSON.parse(text) : null;
}

/**
 * Ask for a stream of server-sent events; `heard(name, data)` is called for each as it comes.
 * @param {string} method @param {string} path @param {unknown} body
 * @param {(name: string, data: any) => void} heard @param {AbortSignal} [signal]
 */
export async function stream(method, path, body, heard, signal) {
  const response = await reach(method, path, body, signal);
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let waiting = "";
  for (;;) {
    const { done, value } = await reader.read().catch((error) => lost(error, "The connection was lost. What was said is kept: reload the page."));
    if (done) return;
    waiting += value;
    const blocks = waiting.split("\n\n");
    waiting = blocks.pop();
    for (const block of blocks) tell(block, heard);
  }
}

function tell(block, heard) {
  let name = "message";
  const data = [];
  for (const line of block.split("\n")) {
    if (line.startsWith("event: ")) name = line.slice(7);
    else if (line.startsWith("data: ")) data.push(line.slice(6));
  }
  if (data.length) heard(name, JSON.parse(data.join("\n")));
}

async function reach(method, path, body, signal) {
  const asked = { method, signal, credentials: "same-origin" };
  if (body !== undefined) Object.assign(asked, { headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) });
  const response = await fetch(path, asked).catch((error) => lost(error, UNREACHED));
  if (response.ok) return response;
  const told = await response.json().catch(() => null);
  throw new Problem(told?.error?.message ?? `The server answered ${response.status}.`, response.status, told);
}

/** A page of ours, to take parts from; whatever its status, as an error is a page too. @param {string | URL} address */
export async function pageAt(address) {
  const response = await fetch(address, { headers: { Accept: "text/html" } }).catch((error) => lost(error, UNREACHED));
  return new DOMParser().parseFromString(await response.text(), "text/html");
}

function lost(error, told) {
  throw error.name === "AbortError" ? error : new Problem(told, 0);
}

/** An address with its parts escaped: at`/api/stories/${story}/cast`. */
export function at(parts, ...values) {
  return parts.reduce((address, part, place) => address + encodeURIComponent(values[place - 1]) + part);
}

/** An element: make("p", { class: "soft" }, "text", child). Text is never read as HTML. */
export function make(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === false || value === null || value === undefined) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children.filter((child) => child !== null && child !== undefined && child !== false));
  return element;
}

/** How far it is on a bar; where all bytes are read and it still goes on, it cannot be told. */
export function showShare(bar, share) {
  if (share > 0 && share < 1) bar.value = share;
  else bar.removeAttribute("value");
}

/** Show an error where it happened: fills an element with role="alert", or clears it where there is none. */
export function showProblem(place, error) {
  place.hidden = !error;
  place.textContent = error ? error.message : "";
}
