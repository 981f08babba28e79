// The Talk view. The server draws it; this sends what is said, tells replies as they come, and puts in what is new.

import { Problem, ask, at, pageAt, showProblem } from "/static/api.js";
import { timelines } from "/static/timeline.js";
import { asked, askedForOwn, askedForSettings } from "/static/talk-asking.js";
import { askedForTitle, deleteChat, offerUndo, restoreChat, showTimes } from "/static/talk-chats.js";
import { showMarkdown } from "/static/talk-markdown.js";
import { changeMemory, switchMemory } from "/static/talk-memory.js";
import { moved } from "/static/talk-moving.js";
import { Telling, toTheEnd } from "/static/talk-telling.js";
import { openWhy } from "/static/talk-why.js";

const root = document.querySelector("[data-talk]");
const problem = root.querySelector("[data-problem]");
const say = root.querySelector("[data-say]");
const send = root.querySelector("[data-send]");
const stop = root.querySelector("[data-stop]");
const difference = root.querySelector("[data-difference]");
const [timeline] = timelines;
const others = new BroadcastChannel("understudy-chats"); // other tabs with the same chat

let telling = null; // the reply that is being told, if one is
let answeredBy = ""; // who is to answer: whoever is spoken to or next in turn, "*" for everyone, or a name
let looking = 0; // the timer of the next look at a reply that somebody else waits for
const LOOK_MS = 1500;

const state = {
  get story() { return root.dataset.story; },
  get at() { return root.dataset.at; },
  get chat() { return root.dataset.chat; },
  get chosen() { return JSON.parse(root.dataset.chosen); },
  get speaker() { return root.dataset.persona ? JSON.parse(root.dataset.persona) : root.dataset.speaker || null; },
  get agent() { return root.dataset.agent || null; },
};

const address = () => at`/api/chats/${state.chat}`;

// Drawing

/** Put in what the server draws for an address: the parts that can change, and what the page stands for. */
async function draw(href = location.href) {
  const page = await pageAt(href);
  const drawn = page.querySelector("[data-talk]");
  if (!drawn) throw new Problem(page.querySelector("[role=alert]")?.textContent ?? "The page cannot be drawn: reload it.", 0);
  const focused = document.activeElement?.closest("[data-part]") ? mark(document.activeElement) : null;
  const open = new Set([...root.querySelectorAll("details[data-stay][open]")].map((details) => details.dataset.stay));
  for (const part of drawn.querySelectorAll("[data-part]")) {
    root.querySelector(`[data-part="${part.dataset.part}"]`)?.replaceChildren(...part.childNodes);
  }
  for (const details of root.querySelectorAll("details[data-stay]")) details.open = open.has(details.dataset.stay);
  for (const name of ["story", "at", "chat", "version", "writing", "chosen", "speaker", "persona", "agent", "sampling"]) root.dataset[name] = drawn.dataset[name];
  showAllMarkdown();
  showTimes(root);
  chooseAnswer(answeredBy);
  say.placeholder = drawn.querySelector("[data-say]").placeholder;
  say.disabled = send.disabled = !state.chosen.length;
  grow();
  for (const link of page.querySelectorAll("[data-follow]")) { // they lead to the same moment in other views
    document.querySelector(`[data-follow="${link.dataset.follow}"]`)?.setAttribute("href", link.getAttribute("href"));
  }
  document.title = page.title;
  timeline?.redraw(drawn.querySelector("[data-timeline]")); // it may hold the focus: moved, not replaced
  if (focused) root.querySelector(focused)?.focus({ preventScroll: true });
  lookAgain();
}

function showAllMarkdown() {
  for (const bubble of root.querySelectorAll(".bubble[data-text]")) showMarkdown(bubble);
}

/** A selector by which the drawn twin of an element can be found. */
function mark(element) {
  const message = element.closest("[data-message]");
  const act = element.dataset.act ? `[data-act="${element.dataset.act}"]` : element.matches("summary") ? "summary" : null;
  if (message && act) return `#${message.id} ${act}`;
  if (element.name === "who") return `[name="who"][value="${CSS.escape(element.value)}"]`;
  return ["[data-speaker-choice]", "[data-agent-choice]", "[data-answer-choice]", "[data-turn]", "[data-settings-open]"].find((choice) => element.matches(choice)) ?? null;
}

/** Tell other tabs that the chat has changed. */
function changed() {
  others.postMessage(state.chat);
}

// Doing

/** Do something that may be refused; a refusal is shown above the composer. Tells whether it was done. */
async function attempt(work) {
  showProblem(problem, null);
  try {
    await work();
    return true;
  } catch (error) {
    if (error.name !== "AbortError") showProblem(problem, error);
    return false;
  }
}

/** The chat; begun now if it is not yet. */
async function theChat(speaker = state.speaker) {
  if (state.chat) return;
  const { story, at: moment, chosen, agent } = state;
  const made = await ask("POST", "/api/chats", { story, characters: chosen, at: moment, speaker, agent });
  root.dataset.chat = made.id;
  history.replaceState(null, "", at`/chats/${made.id}`);
}

/** Ask for a reply and tell it as it comes; `begun` is one that goes on. */
async function told(path, body, begun = "") {
  telling = new Telling(root.querySelector("[data-part=transcript]"), state, begun);
  send.hidden = true;
  stop.hidden = false;
  difference.hidden = true;
  try {
    await telling.follow(path(), body);
  } finally {
    const { announced } = telling;
    telling = null;
    stop.hidden = true;
    send.hidden = false;
    await draw().catch(() => {}); // what was told stands there, drawn or not
    changed();
    root.querySelector("[data-announce]").textContent = announced;
    toTheEnd();
  }
}

async function speak(text) {
  if (telling || !text.trim() || !state.chosen.length) return;
  await attempt(async () => {
    await theChat();
    root.querySelector(".opening")?.remove();
    say.value = "";
    grow();
    try {
      await told(() => `${address()}/messages`, { text, to: answerers() });
    } catch (error) {
      if (!error.kept) say.value = text; // it was not taken: nothing typed is lost
      grow();
      throw error;
    }
  });
  say.focus();
}

/** Have somebody speak without having said anything. */
async function nextTurn() {
  if (telling) return;
  await attempt(() => told(() => `${address()}/turns`, { characters: answerers() }));
  root.querySelector("[data-turn]")?.focus({ preventScroll: true });
}

/** Those of the scene who were chosen to answer; null where they are found as they are spoken to. */
function answerers() {
  return { "": null, "*": state.chosen }[answeredBy] ?? (answeredBy ? [answeredBy] : null);
}

/** Choose who answers, as long as they are in the scene. */
function chooseAnswer(who) {
  const select = root.querySelector("[data-answer-choice]");
  answeredBy = select && [...select.options].some((option) => option.value === who) ? who : "";
  if (select) select.value = answeredBy;
}

async function stopNow() {
  const stopped = telling;
  if (!stopped) return;
  await attempt(async () => {
    await ask("POST", `${address()}/stop`, stopped.stop());
  });
  stopped.close();
  say.focus();
}

/** Take away what a new branch will not have: what follows a message, and the message itself unless it stays. */
function cutOff(item, stays) {
  while (item.nextElementSibling) item.nextElementSibling.remove();
  if (!stays) item.remove();
}

const acts = {
  async retry(message, item) {
    cutOff(item, item.dataset.by === "user");
    try {
      await told(() => `${address()}/messages/${message}/retry`, {});
    } finally {
      root.querySelector(".message:last-child [data-act=retry]")?.focus({ preventScroll: true });
    }
  },
  async continue(message, item) {
    const { text } = item.querySelector("[data-text]").dataset;
    cutOff(item, false);
    await told(() => `${address()}/messages/${message}/continue`, {}, text);
    root.querySelector(".message:last-child [data-act=continue]")?.focus({ preventScroll: true });
  },
  async edit(message, item) {
    const text = item.querySelector("[data-text]").dataset.text;
    const wanted = await asked({ title: "Say it differently", label: "Message", yes: "Save as a new branch", text });
    if (wanted === null || !wanted.trim()) return;
    cutOff(item, false);
    say.focus();
    await told(() => `${address()}/messages/${message}/edit`, { text: wanted });
  },
  async delete(message) {
    if ((await asked({ title: "Delete this message and what followed it?", yes: "Delete" })) === null) return;
    await ask("DELETE", `${address()}/messages/${message}`);
    await draw();
    changed();
    say.focus();
  },
  async branch(message) {
    const made = await ask("POST", `${address()}/messages/${message}/branch`, {});
    location.assign(at`/chats/${made.id}`);
  },
};

const chatActs = {
  async rename() {
    const title = await askedForTitle(root.querySelector(".talk-head h1").textContent);
    if (title) await change({ title });
  },
  async delete() {
    if (!(await deleteChat(state.chat, root.querySelector(".talk-head h1").textContent))) return;
    changed();
    location.assign(`/?story=${encodeURIComponent(state.story)}&at=${encodeURIComponent(state.at)}`);
  },
};

/** Change something of the chat, or of the scene before there is one. */
async function change(wanted) {
  if (typeof wanted.speaker === "object" && wanted.speaker) await theChat(wanted.speaker); // an address cannot hold who they are
  if (state.chat) {
    const answer = await ask("PATCH", address(), wanted);
    await draw();
    changed();
    return answer;
  }
  const here = new URL("/", location.href);
  here.searchParams.set("story", state.story);
  here.searchParams.set("at", wanted.at ?? state.at);
  for (const who of wanted.characters ?? state.chosen) here.searchParams.append("who", who);
  const speaker = "speaker" in wanted ? wanted.speaker : state.speaker;
  if (speaker) here.searchParams.set("as", speaker);
  const agent = wanted.agent ?? new URL(location.href).searchParams.get("agent");
  if (agent) here.searchParams.set("agent", agent);
  await draw(here);
  history.replaceState(null, "", here);
  return null;
}

/** Change something by a control of the page, which goes back to how it was where that is refused. */
async function set(wanted) {
  if (!(await attempt(() => change(wanted)))) await draw().catch(() => {});
}

/** Have what writes write differently; kept with the chat, which begins now if it has not. */
async function setSampling() {
  const sampling = await askedForSettings(JSON.parse(root.dataset.sampling || "{}"));
  if (!sampling) return;
  await theChat();
  await change({ sampling });
}

/** Speak as oneself, as somebody of the story, or as somebody of one's own, who is asked for where they are new. */
async function chooseSpeaker(select) {
  const { own, description } = select.selectedOptions[0].dataset;
  if (!select.value.startsWith("own:")) await set({ speaker: select.value || null });
  else if (own) await set({ speaker: { name: own, description } });
  else {
    const asked = await askedForOwn();
    if (asked) await set({ speaker: asked });
    else await draw().catch(() => {}); // the choice goes back to how it was
    root.querySelector("[data-speaker-choice]").focus();
  }
}

/** The address of the chat, which is begun if need be. */
async function begun() {
  await theChat();
  return address();
}

/** Change what is remembered, and draw it as it is then, also where it was called off or refused. */
async function remember(work) {
  try {
    await work();
  } finally {
    await draw().catch(() => {});
    changed();
  }
  (root.querySelector("[data-memory-act=undo]") ?? root.querySelector("[data-remember]"))?.focus({ preventScroll: true });
}

async function move(moment) {
  const done = await attempt(async () => {
    const answer = await change({ at: moment });
    const repeat = [...root.querySelectorAll('[data-by="user"] [data-text]')].at(-1)?.dataset.text;
    if (answer) moved(difference, answer, repeat ? () => speak(repeat) : null);
  });
  if (!done) await draw().catch(() => timeline.back());
}

// Listening

/** As high as its text, or as what stands there before one: a long name takes two lines on a phone. */
function grow() {
  say.style.height = "auto";
  say.style.height = `${say.scrollHeight + 2}px`;
}

root.querySelector("[data-composer]").addEventListener("submit", (event) => {
  event.preventDefault();
  speak(say.value);
});
say.addEventListener("input", grow);
addEventListener("resize", grow);
say.addEventListener("keydown", (event) => {
  if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
  event.preventDefault();
  speak(say.value);
});
stop.addEventListener("click", stopNow);
addEventListener("keydown", (event) => {
  if (event.key === "Escape" && telling && !document.querySelector("dialog[open]")) stopNow();
});

root.addEventListener("click", (event) => {
  const button = event.target.closest("button, summary");
  if (!button) return;
  const item = button.closest("[data-message]");
  if (button.matches("[data-why] > summary")) {
    event.preventDefault();
    openWhy(root.querySelector("[data-drawer]"), item);
  } else if (button.dataset.act && !telling) attempt(() => acts[button.dataset.act](item.dataset.message, item));
  else if (button.dataset.show && !telling) attempt(() => change({ shown: Number(button.dataset.show) }));
  else if (button.dataset.memoryAct) attempt(() => remember(() => changeMemory(address(), button)));
  else if (button.dataset.chatAct) attempt(() => chatActs[button.dataset.chatAct]());
  else if (button.matches("[data-opener]")) speak(button.textContent);
  else if (button.matches("[data-turn]")) nextTurn();
  else if (button.matches("[data-settings-open]")) attempt(setSampling);
  else if (button.dataset.restore) attempt(() => restoreChat(button.dataset.restore));
  else if (button.dataset.panel) panel(button);
});

root.addEventListener("change", (event) => {
  if (event.target.matches("[data-speaker-choice]")) {
    chooseSpeaker(event.target);
  } else if (event.target.matches("[data-agent-choice]")) {
    set({ agent: event.target.value });
  } else if (event.target.matches("[data-answer-choice]")) {
    chooseAnswer(event.target.value);
  } else if (event.target.matches("[data-remember]")) {
    const on = event.target.checked;
    attempt(() => remember(() => switchMemory(begun, on)));
  } else if (event.target.name === "who") {
    const characters = [...root.querySelectorAll('[name="who"]:checked')].map((box) => box.value);
    if (characters.length) set({ characters });
    else {
      event.target.checked = true;
      showProblem(problem, new Error("Somebody has to be in the scene: choose another one first."));
    }
  }
});

root.addEventListener("timeline:moved", (event) => {
  event.preventDefault();
  if (!telling) move(event.detail.at);
  else timeline.back();
});

/** On a narrow screen, cast and chats are shown one at a time. */
function panel(button) {
  for (const other of root.querySelectorAll("[data-panel]")) {
    const open = other === button && other.getAttribute("aria-expanded") !== "true";
    other.setAttribute("aria-expanded", String(open));
    document.getElementById(other.dataset.panel).classList.toggle("shown", open);
  }
}

// Two tabs with the same chat show the same: told by the other tab, or looked up when one comes back to this one.
others.addEventListener("message", (event) => {
  if (event.data === state.chat && state.chat && !telling) attempt(() => draw());
});
async function lookUp() {
  if (document.hidden || !state.chat || telling) return;
  const now = await ask("GET", address()).catch((error) => (error.status === 404 ? { version: -1 } : null));
  const same = now && String(now.version) === root.dataset.version && Boolean(now.writing) === Boolean(root.dataset.writing);
  if (now && !same && !telling) await attempt(() => draw());
  else lookAgain();
}
document.addEventListener("visibilitychange", lookUp);

/** A reply that somebody else waits for, in another tab or before a reload, is looked up until it is there. */
function lookAgain() {
  clearTimeout(looking);
  if (root.dataset.writing) looking = setTimeout(lookUp, LOOK_MS);
}

showAllMarkdown();
showTimes(root);
offerUndo(root.querySelector("[data-deleted]"));
grow();
lookAgain();
say.disabled = send.disabled = !state.chosen.length;
if (root.querySelector("[data-message]")) toTheEnd();
if (matchMedia("(min-width: 62rem)").matches) say.focus({ preventScroll: true });
