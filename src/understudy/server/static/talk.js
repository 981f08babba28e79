// The Talk view. The server draws it; this sends what is said, tells replies as they come, and puts in what is new.

import { ask, at, showProblem } from "/static/api.js";
import { asked, askedForOwn, askedForSettings } from "/static/talk-asking.js";
import { askedForTitle, deleteChat, deleteMessage, offerUndo, restoreChat } from "/static/talk-chats.js";
import { changeMemory, switchMemory } from "/static/talk-memory.js";
import { moved } from "/static/talk-moving.js";
import {
  address, answerers, attempt, change, changed, chooseAnswer, draw, grow, now, problem, root, say, send, set, state, theChat, timeline,
} from "/static/talk-page.js";
import { Telling, toTheEnd } from "/static/talk-telling.js";
import { openWhy } from "/static/talk-why.js";

const stop = root.querySelector("[data-stop]");
const difference = root.querySelector("[data-difference]");
const deleted = root.querySelector("[data-deleted]"); // with the undo

/** Ask for a reply and tell it as it comes; `begun` is one that goes on. */
async function told(path, body, begun = "") {
  now.telling = new Telling(root.querySelector("[data-part=transcript]"), state, begun);
  send.hidden = true;
  stop.hidden = false;
  difference.hidden = deleted.hidden = true;
  try {
    await now.telling.follow(path(), body);
  } finally {
    const { announced } = now.telling;
    now.telling = null;
    stop.hidden = true;
    send.hidden = false;
    await draw().catch(() => {}); // what was told stands there, drawn or not
    changed();
    root.querySelector("[data-announce]").textContent = announced;
    toTheEnd();
  }
}

async function speak(text) {
  if (now.telling || !text.trim() || !state.chosen.length) return;
  await attempt(async () => {
    await theChat();
    if (root.querySelector("[data-greeting]")) await draw(); // the greeting was said first
    root.querySelector(".opening")?.remove();
    say.value = "";
    grow();
    try {
      await told(() => `${address()}/messages`, { text, answerers: answerers() });
    } catch (error) {
      if (!error.kept) say.value = text; // it was not taken: nothing typed is lost
      grow();
      throw error;
    }
  });
  say.focus();
}

/** Begin with one of the greetings of a card; the others are its versions. */
async function greeted(number) {
  await theChat(state.speaker, number);
  await draw();
  changed();
  say.focus();
}

/** Have somebody speak without having said anything. */
async function nextTurn() {
  if (now.telling) return;
  await attempt(() => told(() => `${address()}/turns`, { characters: answerers() }));
  root.querySelector("[data-turn]")?.focus({ preventScroll: true });
}

async function stopNow() {
  const stopped = now.telling;
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
  async delete(message, item) {
    if (!(await deleteMessage(deleted, state.chat, message, item.querySelector("[data-text]").dataset.text))) return;
    await draw();
    changed();
    toTheEnd();
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

/** Bring back what was deleted: the chat, which is opened then, or a message of this one. */
async function undo({ restore, message }) {
  if (!message) return restoreChat(restore);
  await ask("POST", `${address()}/messages/${message}/restore`);
  deleted.hidden = true;
  await draw();
  changed();
  say.focus();
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
  if (event.key === "Escape" && now.telling && !document.querySelector("dialog[open]")) stopNow();
});

root.addEventListener("click", (event) => {
  const button = event.target.closest("button, summary");
  if (!button) return;
  const item = button.closest("[data-message]");
  if (button.matches("[data-why] > summary")) {
    event.preventDefault();
    openWhy(root.querySelector("[data-drawer]"), item);
  } else if (button.dataset.act && !now.telling) attempt(() => acts[button.dataset.act](item.dataset.message, item));
  else if (button.dataset.show && !now.telling) attempt(() => change({ shown: Number(button.dataset.show) }));
  else if (button.dataset.memoryAct) attempt(() => remember(() => changeMemory(address(), button)));
  else if (button.dataset.chatAct) attempt(() => chatActs[button.dataset.chatAct]());
  else if (button.matches("[data-opener]")) speak(button.textContent);
  else if (button.dataset.greeting) attempt(() => greeted(Number(button.dataset.greeting)));
  else if (button.matches("[data-turn]")) nextTurn();
  else if (button.matches("[data-settings-open]")) attempt(setSampling);
  else if (button.dataset.restore) attempt(() => undo(button.dataset));
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
  if (!now.telling) move(event.detail.at);
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

offerUndo(deleted);
say.disabled = send.disabled = !state.chosen.length;
if (root.querySelector("[data-message]")) toTheEnd();
if (matchMedia("(min-width: 62rem)").matches) say.focus({ preventScroll: true });
