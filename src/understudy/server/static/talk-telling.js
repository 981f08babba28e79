// A reply while it is told: dots while somebody thinks, then piece by piece.

import { at, make, stream } from "/static/api.js";
import { markdown } from "/static/talk-markdown.js";

const LONG_MS = 1500; // after which the page says in words that somebody thinks
const PAUSE_MS = 800; // after which a reply that has begun shows that more is to come

export class Telling {
  /** @param {HTMLElement} transcript @param {{story: string}} state @param {string} [begun] the reply that goes on */
  constructor(transcript, state, begun = "") {
    this.transcript = transcript;
    this.story = state.story;
    this.abort = new AbortController();
    this.item = null; // the message that is being told
    this.message = null; // its number, once it has one
    this.seen = 0; // how many of its pieces have been shown
    this.after = null; // the last message that was said, or told to its end
    this.stopped = false;
    this.kept = false; // is the user's message safe?
    this.announced = "";
    this.problem = null;
    this.text = ""; // what has been told of it
    this.begun = begun; // it stands there until more than it has been told
    this.timer = 0;
  }

  async follow(path, body) {
    try {
      await stream("POST", path, body, (name, data) => this.heard(name, data), this.abort.signal);
    } catch (error) {
      if (this.stopped) return;
      error.kept = this.kept;
      throw error;
    } finally {
      clearTimeout(this.timer);
    }
    if (this.problem) throw Object.assign(new Error(this.problem), { kept: this.kept });
  }

  /** Nothing more is shown; gives which message it was, and how much of it was seen. */
  stop() {
    this.stopped = true;
    return { message: this.message, seen: this.seen, after: this.after };
  }

  close() {
    this.abort.abort();
  }

  heard(name, data) {
    if (this.stopped) return;
    if (name === "said") this.said(data);
    else if (name === "thinking") this.thinking(data.author);
    else if (name === "reply") this.begin(data);
    else if (name === "token") this.token(data.text);
    else if (name === "done") this.done(data);
    else if (name === "problem") this.problem = data.error.message;
    if (["said", "thinking", "reply"].includes(name)) toTheEnd();
  }

  said(message) {
    this.kept = true;
    this.after = message.id;
    if (document.getElementById(`message-${message.id}`)) return; // it was there before: it is answered anew
    this.transcript.append(
      make("li", { class: "message by-user" }, article(message.author, make("div", { class: "bubble", dir: "auto" }, ...markdown(message.text)))),
    );
  }

  thinking(author) {
    const dots = typing({ role: "status", "aria-label": `${author} is about to answer` });
    const words = make("span", { class: "thinking-words", hidden: true }, `${author} is thinking about it`);
    this.message = null;
    this.seen = 0;
    this.text = "";
    this.words = make("div", { class: "bubble", dir: "auto" }, ...markdown(this.begun), dots, words);
    this.later(LONG_MS, () => following(() => { words.hidden = false; }));
    this.item = make(
      "li",
      { class: "message by-character", "aria-busy": "true" },
      make("img", { class: "portrait", src: this.portrait(author), alt: "", width: "44", height: "44" }),
      article(author, this.words),
    );
    this.transcript.append(this.item);
  }

  begin(data) {
    if (!this.item || this.message !== null) this.thinking(data.author);
    this.message = data.id;
    clearTimeout(this.timer);
    this.words.replaceChildren(...markdown(this.begun));
  }

  /** The picture that the cast shows somebody by. */
  portrait(author) {
    const row = document.querySelector(`[name="who"][value="${CSS.escape(author)}"]`)?.closest(".cast-row");
    return row?.querySelector("img").getAttribute("src") ?? at`/api/stories/${this.story}/characters/${author}/portrait.svg`;
  }

  /** Do something unless the next piece comes before. */
  later(wait, work) {
    clearTimeout(this.timer);
    this.timer = setTimeout(work, wait);
  }

  done(message) {
    clearTimeout(this.timer);
    this.words.replaceChildren(...markdown(message.text));
    this.begun = "";
    this.after = message.id;
    this.announced += `${message.author}: ${message.text} `;
  }

  token(text) {
    this.seen += 1;
    this.text += text;
    const shown = this.text.length < this.begun.length ? this.begun : this.text;
    following(() => this.words.replaceChildren(...markdown(shown, true)));
    this.later(PAUSE_MS, () => following(() => this.words.append(typing({ "aria-hidden": "true" }))));
  }
}

/** The composer lies over the end of the page: only all the way down is a new message seen. */
export function toTheEnd() {
  scrollTo({ top: document.documentElement.scrollHeight });
}

/** Show something more; who reads at the end stays there, who has gone up is left in peace. */
function following(show) {
  const isAtEnd = innerHeight + scrollY > document.documentElement.scrollHeight - 160;
  show();
  if (isAtEnd) toTheEnd();
}

function typing(attributes) {
  return make("span", { class: "typing", ...attributes }, make("span"), make("span"), make("span"));
}

function article(author, words) {
  return make("article", { class: "message-main" }, make("p", { class: "message-head" }, make("span", { class: "message-author", dir: "auto" }, author)), words);
}
