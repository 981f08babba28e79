// A question to the user, in a dialog: with a text to change, or yes and no.

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
