// The Talk view as the server draws it: its parts put in anew, the chat it stands for, and changes to that.

import { Problem, ask, at, pageAt, showProblem } from "/static/api.js";
import { timelines } from "/static/timeline.js";
import { showTimes } from "/static/talk-chats.js";
import { showMarkdown } from "/static/talk-markdown.js";

export const root = document.querySelector("[data-talk]");
export const problem = root.querySelector("[data-problem]");
export const say = root.querySelector("[data-say]");
export const send = root.querySelector("[data-send]");
export const [timeline] = timelines;
const others = new BroadcastChannel("understudy-chats"); // other tabs with the same chat

export const now = { telling: null }; // the reply that is being told, if one is
let answeredBy = ""; // who is to answer: whoever is spoken to or next in turn, "*" for everyone, or a name
let looking = 0; // the timer of the next look at a reply that somebody else waits for
const LOOK_MS = 1500;

export const state = {
  get story() { return root.dataset.story; },
  get at() { return root.dataset.at; },
  get chat() { return root.dataset.chat; },
  get chosen() { return JSON.parse(root.dataset.chosen); },
  get speaker() { return root.dataset.persona ? JSON.parse(root.dataset.persona) : root.dataset.speaker || null; },
  get agent() { return root.dataset.agent || null; },
};

export const address = () => at`/api/chats/${state.chat}`;

/** Put in what the server draws for an address: the parts that can change, and what the page stands for. */
export async function draw(href = location.href) {
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
export function changed() {
  others.postMessage(state.chat);
}

/** Do something that may be refused; a refusal is shown above the composer. Tells whether it was done. */
export async function attempt(work) {
  showProblem(problem, null);
  try {
    await work();
    return true;
  } catch (error) {
    if (error.name !== "AbortError") showProblem(problem, error);
    return false;
  }
}

/** The chat; begun now if it is not yet, with a greeting where the character has some. */
export async function theChat(speaker = state.speaker, greeting = 1) {
  if (state.chat) return;
  const { story, at: moment, chosen, agent } = state;
  const made = await ask("POST", "/api/chats", { story, characters: chosen, at: moment, speaker, agent, greeting });
  root.dataset.chat = made.id;
  history.replaceState(null, "", at`/chats/${made.id}`);
}

/** Those of the scene who were chosen to answer; null where they are found as they are spoken to. */
export function answerers() {
  if (answeredBy === "*") return state.chosen;
  return answeredBy ? [answeredBy] : null;
}

/** Choose who answers, as long as they are in the scene. */
export function chooseAnswer(who) {
  const select = root.querySelector("[data-answer-choice]");
  answeredBy = select && [...select.options].some((option) => option.value === who) ? who : "";
  if (select) select.value = answeredBy;
}

/** Change something of the chat, or of the scene before there is one. */
export async function change(wanted) {
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
export async function set(wanted) {
  if (!(await attempt(() => change(wanted)))) await draw().catch(() => {});
}

/** As high as its text, or as what stands there before one: a long name takes two lines on a phone. */
export function grow() {
  say.style.height = "auto";
  say.style.height = `${say.scrollHeight + 2}px`;
}

// Two tabs with the same chat show the same: told by the other tab, or looked up when one comes back to this one.
others.addEventListener("message", (event) => {
  if (event.data === state.chat && state.chat && !now.telling) attempt(() => draw());
});
async function lookUp() {
  if (document.hidden || !state.chat || now.telling) return;
  const latest = await ask("GET", address()).catch((error) => (error.status === 404 ? { version: -1 } : null));
  const same = latest && String(latest.version) === root.dataset.version && Boolean(latest.writing) === Boolean(root.dataset.writing);
  if (latest && !same && !now.telling) await attempt(() => draw());
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
grow();
lookAgain();
