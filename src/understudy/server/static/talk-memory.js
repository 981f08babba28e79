// What is remembered of the user: switched on and off, edited, forgotten, undone.

import { ask } from "/static/api.js";
import { asked } from "/static/talk-asking.js";

/** Switch it on under a name that is asked for, or off. @returns {Promise<boolean>} false where it was called off */
export async function switchMemory(chat, on) {
  let name = null;
  if (on) {
    name = await asked({ title: "Remember me as", label: "Your name", yes: "Remember me", text: "" });
    if (!name?.trim()) return false;
  }
  await ask("PATCH", `${await chat()}/memory`, { name: name?.trim() ?? null });
  return true;
}

const acts = {
  async edit(address, item) {
    const { number, text } = item.dataset;
    const wanted = await asked({ title: "Remember it differently", label: "What you said of yourself", yes: "Save", text });
    if (!wanted?.trim()) return;
    await ask("PATCH", `${address}/${number}`, { text: wanted.trim() });
  },
  forget: (address, item) => ask("DELETE", `${address}/${item.dataset.number}`),
  "forget-all": (address) => ask("DELETE", address),
  undo: (address) => ask("POST", `${address}/undo`, {}),
};

/** Do what a button of the panel says, at once: the last change can be undone. */
export async function changeMemory(chat, button) {
  await acts[button.dataset.memoryAct](`${chat}/memory`, button.closest("[data-number]"));
}
