// One item: what is read, its questions, and the answer as it grows: drafted, checked as one types, sent.
import { ask, make } from "/static/api.js";
import { askedLines, blocksOf } from "/static/take-blocks.js";
import { fieldOf, isWide } from "/static/take-questions.js";
import { ReadingTime, TIMEOUT_MS } from "/static/take-saving.js";

const CHECK_AFTER_MS = 400;
const DRAFT_AFTER_MS = 150;
const SPLIT = "is-wide is-split";
const LONG_READING = 2_500; // letters: so much is read beside a table, not above it
const LONGEST_COMMENT = 5_000; // the server would cut it
const LAST_SECONDS = "last seconds";
const CHOOSABLE = new Set(["scale", "choice", "choices"]);

export class ItemView {
  #touched = new Set();
  #checks = null;
  #timers = new Map();

  /** @param {any} view the server's document @param {string} path of the API @param {import("./take-saving.js").TabStorage} storage */
  constructor(view, path, storage) {
    Object.assign(this, { view, path, storage });
    const { item, study } = view;
    const { root: blocks, ticks } = blocksOf(item, storage);
    this.fields = item.questions.map((question, index) => (ticks.has(question.name) ? ticksField(question, `q${index}`, ticks.get(question.name)) : fieldOf(question, `q${index}`)));
    this.comment = study.comments ? make("textarea", { id: "comment", rows: 2, maxlength: LONGEST_COMMENT, dir: "auto" }) : null;
    this.submit = make("button", { class: "button primary", type: "submit", "aria-keyshortcuts": "Control+Enter Meta+Enter" }, "Save and go on");
    this.undo = view.can_undo ? make("button", { class: "button", type: "button" }, "Take back last answer") : null;
    this.alert = make("p", { class: "notice bad", role: "alert", hidden: true });
    this.form = make("form", { class: "card stack questions", novalidate: true, "aria-label": "Questions" },
      askedLines(item),
      ...grouped(this.fields),
      this.comment ? commentBox(this.comment) : null,
      this.alert,
      make("div", { class: "spread questions-end" }, this.submit, this.undo));
    if (layoutOf(item) === SPLIT) Object.assign(blocks, { tabIndex: 0, role: "region", ariaLabel: "To read" }); // it scrolls by itself
    this.root = make("div", { class: `item ${layoutOf(item)}` }, blocks, this.form);
    this.#restore();
    this.root.addEventListener("input", (event) => this.#changed(event.target));
    this.saveNow = () => this.#saveDraft();
    addEventListener("pagehide", this.saveNow);
  }

  get #draftName() {
    return `draft ${this.view.assignment}`;
  }

  /** The draft of this tab; else what was answered before and taken back. */
  #restore() {
    const last = this.storage.get(LAST_SECONDS);
    const seconds = last?.assignment === this.view.assignment ? last.seconds : 0;
    const draft = this.storage.get(this.#draftName) ?? { answer: this.view.draft ?? {}, comment: this.view.comment, seconds };
    for (const field of this.fields) if (field.question.name in draft.answer) field.fill(draft.answer[field.question.name]);
    if (this.comment) {
      this.comment.value = draft.comment;
      this.comment.closest("details").open = Boolean(draft.comment);
    }
    this.time = new ReadingTime(draft.seconds);
  }

  #saveDraft() {
    const answer = Object.fromEntries(this.fields.map((field) => [field.question.name, (field.draft ?? field.value)()]));
    this.storage.set(this.#draftName, { answer, comment: this.comment?.value ?? "", seconds: this.time.seconds });
  }

  /** Fields left blank are left out: that they are missing is for the server to say. */
  get answer() {
    return Object.fromEntries(this.fields.filter((field) => !field.isBlank()).map((field) => [field.question.name, field.value()]));
  }

  get body() {
    return { assignment: this.view.assignment, answer: this.answer, comment: this.comment?.value.trim() ?? "", seconds: Math.round(this.time.seconds * 10) / 10 };
  }

  #after(name, delay, work) {
    clearTimeout(this.#timers.get(name));
    this.#timers.set(name, setTimeout(work, delay));
  }

  #changed(target) {
    this.#after("draft", DRAFT_AFTER_MS, () => this.#saveDraft());
    const field = this.fields.find((each) => each.root.contains(target) || each.ticks?.includes(target));
    if (!field) return;
    this.#touched.add(field.question.name);
    this.#after("check", CHECK_AFTER_MS, () => this.#check());
  }

  /** Ask what is wrong so far, and say it of the questions that were answered already. */
  async #check() {
    this.#checks?.abort();
    this.#checks = new AbortController();
    const signal = AbortSignal.any([this.#checks.signal, AbortSignal.timeout(TIMEOUT_MS)]);
    try {
      const { problems } = await ask("POST", `${this.path}/check`, { assignment: this.view.assignment, answer: this.answer }, signal);
      this.#show(problems.filter((problem) => this.#touched.has(problem.question)));
    } catch {
      // a check that fails is made again with the next letter, and with the answer
    }
  }

  #show(problems) {
    for (const field of this.fields) field.show(problems.filter((problem) => problem.question === field.question.name));
    if (!problems.length) this.alert.hidden = true;
  }

  /** Show why the answer was refused, beside the questions, and go to the first of them. */
  refuse(problems) {
    this.#checks?.abort();
    clearTimeout(this.#timers.get("check"));
    for (const problem of problems) this.#touched.add(problem.question);
    this.#show(problems);
    const wrong = this.fields.filter((field) => problems.some((problem) => problem.question === field.question.name));
    const others = problems.filter((problem) => !this.fields.some((field) => field.question.name === problem.question));
    const summary = wrong.length === 1 ? "One question needs another look." : `${wrong.length} questions need another look.`;
    this.alert.textContent = others.length ? others.map((problem) => problem.message).join(" ") : summary;
    this.alert.hidden = false;
    const first = wrong[0];
    first?.focus(problems.find((problem) => problem.question === first.question.name).index);
  }

  /** A number was typed: it answers the question that has the focus, else the first that is open. Tells whether it did. */
  choose(number) {
    const choosable = this.fields.filter((field) => CHOOSABLE.has(field.question.type));
    const field = choosable.find((each) => each.root.contains(document.activeElement)) ?? choosable.find((each) => each.isBlank());
    if (!field?.choose(number)) return false;
    if (!field.takesSeveral) (this.#nextOpen(field) ?? this.submit).focus();
    return true;
  }

  /** The question to go on with: the next one that has to be answered, else one before. */
  #nextOpen(field) {
    const open = this.fields.filter((each) => each.isBlank() && each.question.is_required);
    const position = this.fields.indexOf(field);
    return open.find((each) => this.fields.indexOf(each) > position) ?? open[0];
  }

  set busy(isBusy) {
    this.form.setAttribute("aria-busy", String(isBusy));
    for (const button of [this.submit, this.undo]) button?.setAttribute("aria-disabled", String(isBusy));
  }

  /** It was saved, or is not asked any more. */
  close(isSaved) {
    this.#checks?.abort();
    for (const timer of this.#timers.values()) clearTimeout(timer);
    this.time.stop();
    removeEventListener("pagehide", this.saveNow);
    if (!isSaved) return;
    this.storage.remove(this.#draftName);
    this.storage.set(LAST_SECONDS, { assignment: this.view.assignment, seconds: this.time.seconds }); // an answer taken back goes on from there
  }
}

/** Whether the questions stand beside what is read, below it, or beside it with room for tables. */
function layoutOf(item) {
  const letters = item.blocks.flatMap((block) => block.lines).reduce((sum, line) => sum + line.text.length, 0);
  if (letters >= LONG_READING && item.questions.some((question) => question.type === "table")) return SPLIT;
  return item.questions.some(isWide) ? "is-wide" : "";
}

/** The fields; those that ask the same of one of several stand together below its name. */
function grouped(fields) {
  const groups = [];
  for (const field of fields) {
    const { about } = field.question;
    if (!about) groups.push(field.root);
    else if (groups.at(-1)?.dataset.about === about) groups.at(-1).append(field.root);
    else groups.push(make("section", { class: "about", "data-about": about, "aria-label": about }, make("h2", { dir: "auto" }, about), field.root));
  }
  return groups;
}

function commentBox(comment) {
  comment.setAttribute("aria-label", "Comment");
  return make("details", { class: "comment" }, make("summary", {}, "Add a comment"), comment);
}

/** A question whose options are blocks, ticked beside them: here it says which are, and offers what is no block. */
function ticksField(question, id, boxes) {
  const others = fieldOf({ ...question, options: question.options.filter((option) => !boxes.has(option.key)) }, id);
  const count = make("p", { class: "small", role: "status" });
  const ticked = () => [...boxes].filter(([, box]) => box.checked).map(([name]) => name);
  const value = () => {
    const chosen = new Set([...ticked(), ...others.value()]);
    return question.options.map((option) => option.key).filter((key) => chosen.has(key));
  };
  const tell = () => {
    const names = question.options.filter((option) => boxes.get(option.key)?.checked).map((option) => option.label || option.key);
    count.textContent = names.length ? `Ticked: ${names.join(", ")}` : `None is ticked: tick “${question.about || "needed"}” beside those that were.`;
  };
  others.root.querySelector(".options").before(count);
  for (const box of boxes.values()) box.addEventListener("input", tell);
  tell();
  return {
    ...others,
    question,
    ticks: [...boxes.values()],
    value,
    isBlank: () => !value().length,
    focus: () => [...boxes.values()][0].focus(),
    fill: (chosen) => {
      others.fill(chosen);
      for (const [name, box] of boxes) box.checked = (chosen ?? []).includes(name);
      tell();
    },
  };
}
