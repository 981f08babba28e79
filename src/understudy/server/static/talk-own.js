// Somebody of the user's own to speak as: a dialog that asks for a name and a few words.

/** @returns {Promise<{name: string, description: string} | null>} null where it was called off */
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
