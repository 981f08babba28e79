// Questions to the user, in dialogs: a text to change, yes or no, somebody of their own, how replies are written.

const SETTINGS = ["temperature", "top_p", "max_tokens", "seed"];

/** @returns {Promise<string | null>} the text (blank where none was asked for), or null where it was called off */
export function asked({ title, yes, label = "", text = null }) {
  const dialog = document.querySelector("[data-asking]");
  const field = dialog.querySelector("[data-asking-field]");
  const area = dialog.querySelector("[data-asking-text]");
  dialog.querySelector("[data-asking-title]").textContent = title;
  dialog.querySelector("[data-asking-yes]").textContent = yes;
  dialog.querySelector("[data-asking-label]").textContent = label;
  field.hidden = text === null;
  area.value = text ?? "";
  dialog.returnValue = "";
  dialog.showModal();
  (text === null ? dialog.querySelector("[data-asking-yes]") : area).focus();
  return new Promise((resolve) => {
    dialog.addEventListener("close", () => resolve(dialog.returnValue === "yes" ? area.value : null), { once: true });
  });
}

/** Somebody of the user's own to speak as. @returns {Promise<{name: string, description: string} | null>} null where it was called off */
export function askedForOwn() {
  const dialog = document.querySelector("[data-own-dialog]");
  const name = dialog.querySelector("[data-own-name]");
  const description = dialog.querySelector("[data-own-description]");
  dialog.querySelector("[data-own-form]").reset();
  dialog.returnValue = "";
  dialog.showModal();
  name.focus();
  return new Promise((resolve) => {
    const closed = () => resolve(dialog.returnValue === "yes" ? { name: name.value, description: description.value } : null);
    dialog.addEventListener("close", closed, { once: true });
  });
}

/**
 * How what writes is to write: numbers, each of which may be left to the writer.
 * @param {Record<string, number>} settings those of the chat
 * @returns {Promise<Record<string, number> | null>} null where it was called off
 */
export function askedForSettings(settings) {
  const dialog = document.querySelector("[data-settings]");
  const form = dialog.querySelector("[data-settings-form]");
  for (const name of SETTINGS) form.elements[name].value = settings[name] ?? "";
  dialog.returnValue = "";
  dialog.showModal();
  return new Promise((resolve) => {
    const closed = () => {
      const given = SETTINGS.filter((name) => form.elements[name].value !== "");
      const chosen = Object.fromEntries(given.map((name) => [name, Number(form.elements[name].value)]));
      resolve({ yes: chosen, default: {} }[dialog.returnValue] ?? null);
    };
    dialog.addEventListener("close", closed, { once: true });
  });
}
