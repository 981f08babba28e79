// A chat with somebody who is only called 'Partner'. Messages come by long polls, from the last number that was seen; what
// is sent carries a key, so that it is said once however often it has to be sent.
import { Problem, ask, make } from "/static/api.js";
import { countWords, writeMessages } from "/static/take-texts.js";
import { TIMEOUT_MS, untilDone } from "/static/take-saving.js";

const LONG_POLL_MS = 40_000; // the server answers within 20 s; a slow line takes its time
const UNSENT = "unsent message";
const LONGEST_MESSAGE = 2_000; // as the server takes it

const NOTES = {
  waiting: "Looking for somebody to talk with. This can take a few minutes: keep the page open.",
  mine: "It is your turn.",
  theirs: "Your partner is writing…",
  talking: "",
  over: "The conversation is over. Thank you.",
};

export class ChatView {
  #seen = 0;
  #state = ""; // what was last shown: the server answers once it is another, or something was said
  #mostWords = 15;
  #stopped = new AbortController();
  #sending = null;

  /** @param {string} path of the API @param {import("./take-saving.js").TabStorage} storage @param {() => void} next when it is over */
  constructor(path, storage, next) {
    Object.assign(this, { path, storage, next });
    this.note = make("p", { class: "notice", role: "status" });
    this.messages = make("ol", { class: "messages", role: "log", "aria-label": "Conversation", tabindex: 0 });
    this.persona = make("ul", { class: "persona" });
    this.left = make("p", { class: "small soft" });
    this.counter = make("span", { class: "counter number", id: "say-words" });
    this.problems = make("ul", { class: "problems", id: "say-problems", "aria-live": "assertive" });
    this.say = make("textarea", { id: "say", rows: 2, maxlength: LONGEST_MESSAGE, dir: "auto", "aria-describedby": "say-words say-problems" });
    this.send = make("button", { class: "button primary", type: "submit" }, "Send");
    this.form = make("form", { class: "stack tight say" },
      make("label", { class: "question-label", for: "say" }, "Your message"),
      make("div", { class: "written" }, this.say, this.counter), this.problems, make("div", {}, this.send));
    this.goOn = make("button", { class: "button primary", type: "button", onclick: () => this.next() }, "Go on");
    this.goOn.hidden = true;
    this.root = make("div", { class: "chat" },
      make("section", { class: "card stack talk", "aria-label": "Conversation" }, this.note, this.messages, this.form, this.goOn),
      make("aside", { class: "card", "aria-label": "Who you are" }, make("details", { class: "folded", open: true }, make("summary", { class: "title" }, "Who you are"), this.persona), this.left));
    this.form.addEventListener("submit", (event) => {
      event.preventDefault();
      this.#speak();
    });
    this.say.addEventListener("input", () => this.#written());
    this.say.addEventListener("keydown", (event) => {
      if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
      event.preventDefault();
      this.#speak();
    });
    this.say.value = storage.get(UNSENT)?.text ?? "";
    this.#written();
  }

  #written() {
    const words = countWords(this.say.value);
    this.counter.textContent = `${words}/${this.#mostWords} words`;
    this.counter.classList.toggle("is-over", words > this.#mostWords);
    const draft = this.storage.get(UNSENT);
    if (draft?.text === this.say.value) return;
    writeMessages(this.problems, []);
    this.storage.set(UNSENT, { text: this.say.value, key: crypto.randomUUID() });
  }

  set busy(_) {} // messages have their own way of waiting

  /** Ask for what is new until the chat is over. */
  async follow() {
    const { signal } = this.#stopped;
    try {
      for (;;) {
        const poll = () => ask("GET", `${this.path}/chat?after=${this.#seen}&state=${this.#state}`, undefined, AbortSignal.any([signal, AbortSignal.timeout(LONG_POLL_MS)]));
        const chat = await untilDone(poll, () => this.#tell("The connection was lost: trying again. Nothing that was said is lost."), signal);
        this.#show(chat);
        if (chat.state === "over") return;
      }
    } catch (error) {
      if (!signal.aborted) this.#tell(error.message);
    }
  }

  #tell(note) {
    if (this.note.textContent !== note) this.note.textContent = note;
    this.note.hidden = !note;
  }

  #show(chat) {
    this.#state = chat.state;
    if (chat.most_words) this.#mostWords = chat.most_words;
    for (const message of chat.messages) {
      if (message.number <= this.#seen) continue;
      this.#seen = message.number;
      this.messages.append(make("li", { class: message.mine ? "message mine" : "message" },
        make("span", { class: "message-who" }, message.mine ? "You" : "Partner"), make("span", { class: "message-text", dir: "auto" }, message.text)));
    }
    this.messages.scrollTop = this.messages.scrollHeight;
    this.messages.hidden = !this.messages.children.length;
    this.persona.replaceChildren(...chat.persona.map((sentence) => make("li", { dir: "auto" }, sentence)));
    this.left.textContent = chat.state === "talking" ? (chat.turns_left === 1 ? "One more message of yours." : `${chat.turns_left} more messages of yours.`) : "";
    if (chat.problems?.length) writeMessages(this.problems, chat.problems.map((problem) => problem.message)); // a refusal stays until one writes
    this.turn = chat.state === "talking" ? chat.turn : null;
    this.form.hidden = chat.state !== "talking";
    this.goOn.hidden = chat.state !== "over";
    this.#offer();
    const note = NOTES[chat.state === "talking" ? chat.turn ?? "talking" : chat.state];
    this.#tell(chat.reason ? `${chat.reason[0].toUpperCase()}${chat.reason.slice(1)}. Thank you.` : note);
  }

  #offer() {
    this.send.setAttribute("aria-disabled", String(this.turn !== "mine" || this.#sending !== null));
  }

  async #speak() {
    const { text, key } = this.storage.get(UNSENT) ?? {};
    if (this.#sending || this.turn !== "mine" || !text?.trim()) return;
    this.#sending = key;
    this.#offer();
    writeMessages(this.problems, []);
    try {
      const post = () => ask("POST", `${this.path}/chat`, { text: text.trim(), key }, AbortSignal.timeout(TIMEOUT_MS));
      const chat = await untilDone(post, () => this.#tell("Not sent yet, trying again…"), this.#stopped.signal);
      const { value } = this.say; // more may have been written meanwhile
      this.say.value = value.startsWith(text) ? value.slice(text.length).trimStart() : value;
      this.#written();
      if (chat?.messages) this.#show(chat);
    } catch (error) {
      const problems = error instanceof Problem && error.document?.problems;
      writeMessages(this.problems, problems ? problems.map((problem) => problem.message) : [error.message]);
    } finally {
      this.#sending = null;
      this.#offer();
      this.say.focus();
    }
  }

  close() {
    this.#stopped.abort();
  }
}
