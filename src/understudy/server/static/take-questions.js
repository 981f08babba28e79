// Questions as fields: each shows one question, gives its value, is filled with one, and shows what is wrong with it.
import { make } from "/static/api.js";
import { rowsField, textField, textsField, writeMessages } from "/static/take-texts.js";

const SHORT_LABEL = 12; // characters: such options stand in a row
const MIDDLE_LABEL = 28; // two of these stand in a row
const LONG_LABEL = 90; // from here on two options stand beside each other, as pages to compare
const LAST_KEY = 9;

const FIELDS = {
  scale: scaleField,
  choice: (question, id) => optionsField(question, id, "radio"),
  choices: (question, id) => optionsField(question, id, "checkbox"),
  text: textField,
  texts: textsField,
  table: rowsField,
};

/** Whether its answers need the width of the page. */
export function isWide(question) {
  return question.type === "texts" || question.type === "table" || longest(question) >= LONG_LABEL;
}

/**
 * A field: `value()` is what the answer holds of it, `fill(value)` the reverse; `isBlank()`, `focus(index)`,
 * `show(problems)`; `choose(number)` picks the option of that number and tells whether there is one.
 */
export function fieldOf(question, id) {
  const field = FIELDS[question.type](question, id);
  const problems = make("ul", { class: "problems", id: `${id}-problems`, "aria-live": "polite" });
  const described = [question.help && `${id}-help`, `${id}-problems`].filter(Boolean).join(" ");
  const title = [question.label, question.is_required ? "" : " (optional)"].join("");
  const help = question.help ? make("p", { class: "soft small", id: `${id}-help`, dir: "auto" }, question.help) : null;
  const tail = [help, field.root, problems];
  const root = field.input
    ? make("div", { class: "question" }, make("label", { class: "question-label", for: field.input.id, dir: "auto" }, title), ...tail)
    : make("fieldset", { class: "question", "aria-describedby": described }, make("legend", { class: "question-label", dir: "auto" }, title), ...tail);
  field.input?.setAttribute("aria-describedby", [field.input.dataset.counter, described].filter(Boolean).join(" "));
  root.dataset.question = question.name;
  return {
    choose: () => false,
    ...field,
    question,
    root,
    show(found) {
      const own = field.showAtEntries ? field.showAtEntries(found) : found;
      writeMessages(problems, own.map((problem) => problem.message));
      root.classList.toggle("is-wrong", found.length > 0);
      field.input?.setAttribute("aria-invalid", String(found.length > 0));
    },
  };
}

function longest(question) {
  return Math.max(0, ...question.options.map((option) => option.label.length));
}

function scaleField(question, id) {
  const { options } = question;
  const named = options.filter((option) => option.label);
  const areAllNamed = named.length === options.length && options.length > 2;
  const steps = options.map((option) => make("label", { class: "step" },
    make("input", { type: "radio", name: id, value: option.key }),
    make("span", { class: "step-number" }, option.key),
    option.label ? make("span", { class: areAllNamed ? "step-label" : "sr-only", dir: "auto" }, option.label) : null));
  const row = make("div", { class: areAllNamed ? "scale named" : "scale" }, ...steps);
  const ends = named.length && !areAllNamed
    ? make("p", { class: "scale-ends", "aria-hidden": "true" }, ...[options[0], options.at(-1)].map((option) => make("span", { dir: "auto" }, option.label && `${option.key} ${option.label}`)))
    : null;
  const inputs = steps.map((step) => step.control);
  return {
    root: make("div", { class: "stack tight" }, row, ends),
    value: () => {
      const chosen = inputs.find((input) => input.checked);
      return chosen ? Number(chosen.value) : undefined;
    },
    fill: (value) => inputs.forEach((input) => { input.checked = input.value === String(value); }),
    isBlank: () => !inputs.some((input) => input.checked),
    focus: () => (inputs.find((input) => input.checked) ?? inputs[0])?.focus(),
    choose: (number) => pick(inputs.find((input) => input.value === String(number))),
  };
}

function optionsField(question, id, type) {
  const { options } = question;
  const length = longest(question);
  const layout = length >= LONG_LABEL ? "pages" : length <= SHORT_LABEL && options.length <= 6 ? "in-row" : length <= MIDDLE_LABEL && options.length % 2 === 0 ? "in-pairs" : "in-list";
  const labels = options.map((option, index) => make("label", { class: "option" },
    make("input", { type, name: id, value: option.key }),
    make("span", { class: "option-label", dir: "auto" }, option.label || option.key),
    index < LAST_KEY ? make("kbd", { "aria-hidden": "true" }, String(index + 1)) : null));
  const root = make("div", { class: `options ${layout}` }, ...labels);
  root.style.setProperty("--label", `${length}ch`);
  const inputs = labels.map((label) => label.control);
  const chosen = () => inputs.filter((input) => input.checked).map((input) => input.value);
  return {
    root,
    value: () => (type === "checkbox" ? chosen() : chosen()[0]),
    fill: (value) => inputs.forEach((input) => { input.checked = type === "checkbox" ? (value ?? []).includes(input.value) : input.value === value; }),
    isBlank: () => !chosen().length,
    focus: () => (inputs.find((input) => input.checked) ?? inputs[0])?.focus(),
    choose: (number) => pick(inputs[number - 1]),
    takesSeveral: type === "checkbox",
  };
}

/** As if it had been clicked: fields hear of it. */
function pick(input) {
  if (!input) return false;
  input.focus();
  input.click();
  return true;
}
