// The participant's page. The server says what is due (consent, an item, a chat, waiting, done); this shows it, and sends
// what is answered until it is saved.
import { Problem, ask, at, make, showProblem } from "/static/api.js";
import { ChatView } from "/static/take-chat.js";
import { ItemView } from "/static/take-item.js";
import { TIMEOUT_MS, TabStorage, untilDone } from "/static/take-saving.js";

const LOOK_AGAIN_MS = 10_000;
const LONGEST_ASKED = 500;
const NUMBER_KEYS = "numbers choose";

const page = document.querySelector("[data-take]");
const root = document.querySelector("#take");
const status = document.querySelector("[data-status]");
const saving = document.querySelector("[data-saving]");
const problem = document.querySelector("[data-problem]");
const dialog = (name) => document.querySelector(`[data-dialog="${name}"]`);
const path = at`/api/take/${page.dataset.take}`;
const storage = new TabStorage(`${path} `);

let current = null; // the item or chat on the page
let isBusy = false;
let timer = 0;

// Asking

/** Send something until the server has it; meanwhile nothing else can be sent. */
async function send(method, name, body) {
  if (isBusy) return null;
  isBusy = true;
  if (current) current.busy = true;
  showProblem(problem, null);
  try {
    return await untilDone(() => ask(method, path + name, body, AbortSignal.timeout(TIMEOUT_MS)), () => {
      saving.textContent = method === "GET" ? "The server cannot be reached: trying again…" : "Not saved yet, trying again… You can leave this page open.";
      saving.hidden = false;
    });
  } finally {
    isBusy = false;
    saving.hidden = true;
    if (current) current.busy = false;
  }
}

/** Do what may be refused; a refusal is shown above everything. */
async function attempt(work) {
  try {
    await work();
  } catch (error) {
    if (error instanceof Problem && error.status === 404) return showEnd("This link does not work", "It may have been ended, or is not complete. Ask whoever gave it to you.");
    if (error instanceof Problem && error.status === 400) await load().catch(() => {}); // the item is somebody else's by now
    showProblem(problem, error);
  }
}

async function load() {
  const view = await send("GET", "");
  if (view) show(view);
}

async function submit() {
  const answered = current;
  await attempt(async () => {
    try {
      const view = await send("POST", "/answers", answered.body);
      if (!view) return;
      answered.close(true);
      show(view, "Saved.");
    } catch (error) {
      if (error.status !== 422 || !error.document?.problems) throw error;
      answered.refuse(error.document.problems);
    }
  });
}

async function takeBack() {
  await attempt(async () => {
    const view = await send("POST", "/undo", {});
    if (!view) return;
    storage.remove(`draft ${view.assignment}`); // what was answered is shown, not what was drafted before
    current?.close?.(false);
    show(view, "Taken back.");
  });
}

async function withdraw() {
  await attempt(async () => {
    try {
      if (!await send("POST", "/withdraw", {})) return;
    } catch (error) {
      if (error.status !== 404) throw error; // nobody has this link any more: it was done, and only the response was lost
    }
    storage.clear();
    showEnd("Your answers were deleted", "Nothing of what you entered is kept. You can close this page.");
  });
}

// Showing

/** Put a view on the page; the focus goes to its heading, so that it is read out. */
function put(heading, ...children) {
  clearTimeout(timer);
  heading.tabIndex = -1;
  root.replaceChildren(heading, ...children.filter(Boolean));
  root.removeAttribute("aria-busy");
  heading.focus({ preventScroll: true });
  scrollTo(0, 0);
}

function show(view, done = "") {
  const isFirst = current === null && !done;
  if (current?.close) current.close(false);
  current = null;
  document.querySelector("[data-instructions]").replaceChildren(...instructions(view.study));
  SHOWN[view.state](view, isFirst);
  status.textContent = done;
}

const SHOWN = {
  consent: showConsent,
  item: (view) => (storage.get("begun") || view.progress.answered || !instructions(view.study).length ? showItem(view) : showInstructions(view)),
  chat: (view) => (storage.get("begun") || !instructions(view.study).length ? showChat(view) : showInstructions(view)),
  waiting: showWaiting,
  done: showDone,
  closed: () => showEnd("This study is closed", "It takes no more answers. Thank you for your interest."),
};

function showConsent({ study }) {
  const asked = study.ask.map((question, index) => {
    const input = make("input", { type: "text", id: `ask${index}`, required: true, maxlength: LONGEST_ASKED, autocomplete: "off", dir: "auto" });
    return { question, input, root: make("div", { class: "field" }, make("label", { for: input.id, dir: "auto" }, question), input) };
  });
  const agree = make("input", { type: "checkbox", id: "agree", required: true });
  const isBare = !study.consent && !asked.length; // nothing to agree to: what is to be done is told at once
  const form = make("form", { class: "card stack narrow" },
    ...(isBare ? instructions(study) : paragraphs(study.consent)),
    ...asked.map((each) => each.root),
    study.consent ? make("label", { class: "row agree", for: agree.id }, agree, "I agree") : null,
    make("div", {}, make("button", { class: "button primary", type: "submit" }, "Begin")));
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    attempt(async () => {
      const view = await send("POST", "/consent", { asked: Object.fromEntries(asked.map((each) => [each.question, each.input.value.trim()])) });
      if (!view) return;
      if (isBare) storage.set("begun", true);
      show(view);
    });
  });
  put(make("h1", { class: "display", dir: "auto" }, study.title), form);
}

function showInstructions(view) {
  const begin = make("button", { class: "button primary", type: "button" }, "Start");
  begin.addEventListener("click", () => {
    storage.set("begun", true);
    show(view);
  });
  put(make("h1", { class: "display" }, "What you will do"), make("div", { class: "card stack narrow" }, ...instructions(view.study), make("div", {}, begin)));
}

function showItem(view) {
  current = new ItemView(view, path, storage);
  current.form.addEventListener("submit", (event) => {
    event.preventDefault();
    submit();
  });
  current.undo?.addEventListener("click", takeBack);
  const { answered, of } = view.progress;
  const bar = make("progress", { max: Math.max(of, 1), value: answered, "aria-label": "How much is done" });
  const heading = make("h1", { class: "title number" }, make("span", { class: "sr-only" }, "Item "), `${answered + 1} of ${Math.max(of, answered + 1)}`);
  put(heading, bar, current.root);
}

function showChat(view) {
  current = new ChatView(path, storage, () => attempt(load));
  put(make("h1", { class: "title" }, "Talk with your partner"), current.root);
  current.follow();
}

function showWaiting(view, isFirst) {
  if (!root.querySelector("[data-waiting]") || isFirst) {
    put(make("h1", { class: "display", "data-waiting": true }, "Nothing to do right now"), make("div", { class: "card stack narrow" },
      make("p", {}, "Something may come up once others have answered. This page looks again by itself; you can also come back later with the same link."), undoButton(view)));
  }
  timer = setTimeout(() => attempt(load), LOOK_AGAIN_MS);
}

function showDone(view) {
  const { answered } = view.progress;
  put(make("h1", { class: "display" }, "Thank you"), make("div", { class: "card stack narrow" },
    make("p", {}, answered === 1 ? "Your answer is saved." : `Your ${answered} answers are saved.`, " You can close this page."), undoButton(view)));
}

function showEnd(title, text) {
  current?.close?.(false);
  current = null;
  put(make("h1", { class: "display" }, title), make("div", { class: "card stack narrow" }, make("p", {}, text)));
}

function undoButton(view) {
  if (!view.can_undo) return null;
  return make("div", {}, make("button", { class: "button", type: "button", onclick: takeBack }, "Take back last answer"));
}

function instructions(study) {
  const example = study.example ? [make("h2", {}, "Example"), ...paragraphs(study.example)] : [];
  return [...paragraphs(study.instructions), ...example];
}

function paragraphs(text) {
  return text.split(/\n\s*\n/u).map((part) => part.trim()).filter(Boolean).map((part) => make("p", { class: "told", dir: "auto" }, part));
}

// Keys and dialogs

const numbers = document.querySelector("[data-number-keys]");
try {
  numbers.checked = localStorage.getItem(NUMBER_KEYS) !== "off";
} catch {
  // storage may be switched off
}
numbers.addEventListener("change", () => {
  try {
    localStorage.setItem(NUMBER_KEYS, numbers.checked ? "on" : "off");
  } catch {
    // it holds for this page
  }
});

document.addEventListener("keydown", (event) => {
  if (!(current instanceof ItemView) || event.altKey || event.repeat || event.isComposing || document.querySelector("dialog[open]")) return;
  if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) submit();
  else if (event.ctrlKey || event.metaKey || !numbers.checked || !/^[1-9]$/u.test(event.key)) return;
  else if (event.target.closest("textarea, select, [contenteditable], input:not([type=radio], [type=checkbox])")) return;
  else if (!current.choose(Number(event.key))) return;
  event.preventDefault();
});

document.addEventListener("click", (event) => {
  const opener = event.target.closest("[data-open]");
  if (!opener) return;
  opener.closest("details").open = false;
  dialog(opener.dataset.open).showModal();
});

dialog("withdraw").addEventListener("close", (event) => {
  if (event.target.returnValue === "withdraw") withdraw();
  event.target.returnValue = "";
});

attempt(load);
