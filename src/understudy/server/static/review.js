// Review by keys. The page is made of forms and links; a key does what the one it is named for does, and only the part
// that changed is shown anew. A key pressed while an answer is awaited is dropped: nobody has seen that line yet.
import { Problem, showProblem } from "./api.js";

const KEYS = new Set(["a", "r", "s", "u", "j", "k"]);
const status = document.querySelector("[data-status]");
const problem = document.querySelector("[data-problem]");
const help = document.querySelector("[data-help]");
const place = () => document.querySelector("#review");
let busy = false;

/** Ask for a page of ours and show what of it belongs here. @param {string | URL} address @param {RequestInit} [how] */
async function show(address, how, done = "") {
  if (busy) return;
  busy = true;
  place().setAttribute("aria-busy", "true");
  showProblem(problem, null);
  try {
    const response = await fetch(address, { ...how, headers: { Accept: "text/html" } }).catch(() => {
      throw new Problem("The server cannot be reached. Is it still running? Then try again.", 0);
    });
    const page = new DOMParser().parseFromString(await response.text(), "text/html");
    const made = page.querySelector("#review");
    if (!made) throw new Problem(`The server answered ${response.status}. Reload the page, then try again.`, response.status);
    swap(document.adoptNode(made));
    if (response.ok) history.replaceState(null, "", response.url);
    status.textContent = response.ok ? `${done} ${document.querySelector("#line")?.textContent ?? ""}`.trim() : "";
  } catch (error) {
    showProblem(problem, error);
  } finally {
    busy = false;
    place().removeAttribute("aria-busy");
  }
}

/** Put the new part in the old one's place; the focus stays with what did the same before. */
function swap(made) {
  const focused = document.activeElement;
  const within = place().contains(focused);
  const same = focused?.dataset?.key ? `[data-key="${focused.dataset.key}"]` : focused?.name ? `select[name="${focused.name}"], input[name="${focused.name}"]` : "#line";
  place().replaceWith(made);
  if (within) (made.querySelector(same) ?? made.querySelector("#line") ?? document.querySelector("#view")).focus({ preventScroll: true });
}

/** What a form would send, with the button that sends it. */
function told(form, button) {
  const data = new URLSearchParams(new FormData(form));
  if (button?.name) data.set(button.name, button.value);
  return data;
}

function send(form, button) {
  show(form.getAttribute("action"), { method: "POST", body: told(form, button) }, button?.dataset.done);
}

function choose(form) {
  show(`${form.getAttribute("action")}?${told(form)}`);
}

document.addEventListener("submit", (event) => {
  if (event.target.matches("[data-act]")) send(event.target, event.submitter);
  else if (event.target.matches("[data-choice]")) choose(event.target);
  else return;
  event.preventDefault();
});

document.addEventListener("change", (event) => {
  const form = event.target.closest("[data-choice]");
  if (form) choose(form);
});

document.addEventListener("click", (event) => {
  if (event.target.closest("[data-help-open]")) help.showModal();
  const link = event.target.closest("#review a[href^='/review']");
  if (!link || event.ctrlKey || event.metaKey || event.shiftKey || event.button) return;
  event.preventDefault();
  show(link.getAttribute("href"), undefined, link.dataset.done);
});

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.repeat || help.open) return;
  if (event.target.closest("input, select, textarea, [contenteditable]")) return;
  if (event.key === "?" && place().querySelector("[data-choice]")) help.showModal();
  else if (KEYS.has(event.key)) place().querySelector(`[data-key="${event.key}"]`)?.click();
  else return;
  event.preventDefault();
});
