// Questions that are answered in writing: a text, a list of texts, a table of rows; with words counted where they are limited.
import { make } from "/static/api.js";

const EMPTY_ROWS = 1;
const FEW_COLUMNS = 5; // so many stand in one line
const IDEOGRAPHS = /[\u3040-\u30ff\u3400-\u9fff]/u;

/** The messages, written only where they have changed: a screen reader reads what is written. */
export function writeMessages(list, messages) {
  const unique = [...new Set(messages)];
  if ([...list.children].map((entry) => entry.textContent).join("\n") === unique.join("\n")) return;
  list.replaceChildren(...unique.map((message) => make("li", { dir: "auto" }, message)));
}

/** Words between blanks, as the server counts them; of Japanese and Chinese about as many as it will find. */
export function countWords(text) {
  const parts = text.split(/\s+/u).filter(Boolean);
  if (!IDEOGRAPHS.test(text) || !globalThis.Intl?.Segmenter) return parts.length;
  return [...new Intl.Segmenter("ja", { granularity: "word" }).segment(text)].filter((segment) => segment.isWordLike).length;
}

/** A text area whose words are counted where `most` limits them. */
function writing(id, most, label, rows) {
  const input = make("textarea", { id, rows, dir: "auto", autocapitalize: "sentences", "aria-label": label });
  if (!most) return { input, counter: null, count: () => {} };
  const counter = make("span", { class: "counter number", id: `${id}-words` });
  input.dataset.counter = counter.id;
  const count = () => {
    const words = countWords(input.value);
    counter.textContent = `${words}/${most} words`;
    counter.classList.toggle("is-over", words > most);
  };
  input.addEventListener("input", count);
  count();
  return { input, counter, count };
}

export function textField(question, id) {
  const { input, counter, count } = writing(`${id}-text`, question.most_words, null, 3);
  return {
    input,
    root: make("div", { class: "written" }, input, counter),
    value: () => input.value,
    fill: (value) => {
      input.value = value ?? "";
      count();
    },
    isBlank: () => !input.value.trim(),
    focus: () => input.focus(),
  };
}

/** Entries that can be added and removed, at least as many as are asked for. */
function listOf(question, id, noun, addLabel, entry) {
  const list = make("ol", { class: "entries" });
  const add = make("button", { class: "button small", type: "button" }, addLabel);
  const entries = [];
  const isFixed = question.type === "texts" && question.least > 0 && question.least === question.most; // each answers one of what is shown
  const sent = () => (isFixed ? entries : entries.filter((one) => !one.isBlank()));
  let count = 0;

  function changed() {
    entries.forEach((each, index) => each.number(index + 1));
    add.hidden = question.most > 0 && entries.length >= question.most;
    for (const each of entries) each.remove.hidden = entries.length <= Math.max(question.least, EMPTY_ROWS);
  }

  function append(value) {
    const one = entry(`${id}-${(count += 1)}`, value);
    one.problems = make("ul", { class: "problems", id: `${id}-${count}-problems`, "aria-live": "polite" });
    for (const input of one.inputs) input.setAttribute("aria-describedby", [input.dataset.counter, one.problems.id].filter(Boolean).join(" "));
    one.remove = make("button", { class: "icon-button", type: "button", onclick: () => removeEntry(one) }, "×");
    one.root = make("li", { class: "entry" }, one.body, one.remove, one.problems);
    one.number = (number) => {
      one.label(number);
      one.remove.setAttribute("aria-label", `Remove ${noun} ${number}`);
    };
    entries.push(one);
    list.append(one.root);
    changed();
    return one;
  }

  function removeEntry(one) {
    const index = entries.indexOf(one);
    entries.splice(index, 1);
    one.root.remove();
    changed();
    (entries[index] ?? entries.at(-1)).focus();
    list.dispatchEvent(new Event("input", { bubbles: true }));
  }

  function next(one) {
    const after = entries[entries.indexOf(one) + 1];
    if (after) after.focus();
    else if (!add.hidden && !one.isBlank()) append().focus();
  }

  add.addEventListener("click", () => {
    append().focus();
    list.dispatchEvent(new Event("input", { bubbles: true }));
  });
  list.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" || event.shiftKey || event.ctrlKey || event.metaKey || event.isComposing) return;
    if (!event.target.matches("textarea")) return;
    event.preventDefault();
    next(entries.find((one) => one.root.contains(event.target)));
  });

  function fill(values) {
    for (const one of entries.splice(0)) one.root.remove();
    const wanted = Math.max(values?.length ?? 0, question.least, EMPTY_ROWS);
    for (let index = 0; index < wanted; index += 1) append(values?.[index]);
  }

  fill([]);
  return {
    root: make("div", { class: "stack tight" }, list, make("div", {}, add)),
    entries,
    value: () => sent().map((one) => one.value()),
    draft: () => entries.map((one) => one.value()),
    fill,
    isBlank: () => entries.every((one) => one.isBlank()),
    focus: (index) => (sent()[index ?? -1] ?? entries.find((one) => one.isBlank()) ?? entries[0]).focus(),
    /** Shows each problem at the entry that it is about; gives the others back. */
    showAtEntries(problems) {
      const counted = sent();
      const isOf = (one, problem) => problem.index !== null && counted[problem.index] === one;
      for (const one of entries) {
        const own = problems.filter((problem) => isOf(one, problem)).map((problem) => problem.message);
        writeMessages(one.problems, own);
        for (const input of one.inputs) input.setAttribute("aria-invalid", String(own.length > 0));
      }
      return problems.filter((problem) => problem.index === null || !counted[problem.index]);
    },
  };
}

export function textsField(question, id) {
  return listOf(question, id, "text", "Add another", (entryId, value) => {
    const { input, counter, count } = writing(entryId, question.most_words, question.label, 1);
    input.value = value ?? "";
    count();
    return {
      body: make("div", { class: "written" }, input, counter),
      label: (number) => input.setAttribute("aria-label", `${question.label}: ${number}`),
      value: () => input.value.trim(),
      isBlank: () => !input.value.trim(),
      focus: () => input.focus(),
      inputs: [input],
    };
  });
}

export function rowsField(question, id) {
  return listOf(question, id, "row", "Add a row", (entryId, value) => {
    const cells = question.options.map((column) => {
      const cellId = `${entryId}-${column.key}`;
      const { input, counter, count } = writing(cellId, question.most_words, null, 1);
      input.value = value?.[column.key] ?? "";
      count();
      const label = make("span", { class: "cell-label", dir: "auto" }, column.label || column.key);
      return { key: column.key, input, root: make("label", { class: "cell" }, label, input, counter) };
    });
    const body = make("div", { class: cells.length <= FEW_COLUMNS ? "cells few" : "cells", role: "group" }, ...cells.map((cell) => cell.root));
    body.style.setProperty("--columns", cells.length);
    return {
      body,
      label: (number) => body.setAttribute("aria-label", `Row ${number}`),
      value: () => Object.fromEntries(cells.map((cell) => [cell.key, cell.input.value.trim()])),
      isBlank: () => cells.every((cell) => !cell.input.value.trim()),
      focus: () => cells[0].input.focus(),
      inputs: cells.map((cell) => cell.input),
    };
  });
}
