// A reply while it is told: dots while somebody thinks, then word for word.

import { at, make, stream } from "/static/api.js";

export class Telling {
  /** @param {HTMLElement} transcript @param {{story: string}} state */
  constructor(transcript, state) {
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
  }

  async follow(path, body) {
    try {
      await stream("POST", path, body, (name, data) => this.heard(name, data), this.abort.signal);
    } catch (error) {
      if (this.stopped) return;
      error.kept = this.kept;
      throw error;
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
    if (["said", "thinking", "reply"].includes(name)) this.transcript.lastElementChild.scrollIntoView({ block: "end" });
  }

  said(message) {
    this.kept = true;
    this.after = message.id;
    if (document.getElementById(`message-${message.id}`)) return; // it was there before: it is answered anew
    this.transcript.append(
      make("li", { class: "message by-user" }, article(message.author, make("div", { class: "bubble", dir: "auto" }, message.text))),
    );
  }

  thinking(author) {
    const dots = make("span", { class: "typing", role: "status", "aria-label": `${author} is about to answer` }, make("span"), make("span"), make("span"));
    this.message = null;
    this.seen = 0;
    this.words = make("div", { class: "bubble", dir: "auto" }, dots);
    const portrait = at`/api/stories/${this.story}/characters/${author}/portrait.svg`;
    this.item = make(
      "li",
      { class: "message by-character", "aria-busy": "true" },
      make("img", { class: "portrait", src: portrait, alt: "", width: "44", height: "44" }),
      article(author, this.words),
    );
    this.transcript.append(this.item);
  }

  begin(data) {
    if (!this.item || this.message !== null) this.thinking(data.author);
    this.message = data.id;
    this.words.replaceChildren();
  }

  done(message) {
    this.after = message.id;
    this.announced += `${message.author}: ${message.text} `;
  }

  token(text) {
    this.seen += 1;
    this.words.append(text);
    if (innerHeight + scrollY > document.documentElement.scrollHeight - 160) scrollTo({ top: document.documentElement.scrollHeight });
  }
}

function article(author, words) {
  return make("article", { class: "message-main" }, make("p", { class: "message-head" }, make("span", { class: "message-author", dir: "auto" }, author)), words);
}
