// The list of chats: when they were changed, renaming, and deleting, which can be undone.

import { ask, at } from "/static/api.js";
import { asked } from "/static/talk-asking.js";

const DELETED = "understudy-deleted"; // the chat that was deleted last in this tab, until its undo was offered

/** Show times as the reader's clock has them. @param {HTMLElement} root */
export function showTimes(root) {
  for (const time of root.querySelectorAll("time[data-time]")) {
    time.textContent = new Date(time.dateTime).toLocaleString([], { dateStyle: "medium", timeStyle: "short" });
  }
}

/** @returns {Promise<string | null>} the new title, or null where it was called off */
export async function askedForTitle(title) {
  const wanted = await asked({ title: "Rename the chat", label: "Title", yes: "Rename", text: title });
  return wanted?.trim() || null;
}

/** Delete a chat after a question; the page that is opened then offers to undo it. @returns {Promise<boolean>} */
export async function deleteChat(chat, title) {
  if ((await asked({ title: "Delete the whole chat? It can be brought back for a day.", yes: "Delete" })) === null) return false;
  await ask("DELETE", at`/api/chats/${chat}`);
  sessionStorage.setItem(DELETED, JSON.stringify({ chat, title }));
  return true;
}

/** Offer to undo what was deleted just before this page was opened. @param {HTMLElement} notice */
export function offerUndo(notice) {
  const deleted = JSON.parse(sessionStorage.getItem(DELETED) ?? "null");
  sessionStorage.removeItem(DELETED);
  if (deleted) offer(notice, deleted.title, deleted.chat);
}

/** Delete a message after a question, and offer to undo it. @returns {Promise<boolean>} */
export async function deleteMessage(notice, chat, message, text) {
  if ((await asked({ title: "Delete this message and what followed it?", yes: "Delete" })) === null) return false;
  await ask("DELETE", at`/api/chats/${chat}/messages/${message}`);
  offer(notice, text, chat, message);
  return true;
}

function offer(notice, what, chat, message = "") {
  notice.querySelector("[data-deleted-title]").textContent = what;
  Object.assign(notice.querySelector("[data-restore]").dataset, { restore: chat, message });
  notice.hidden = false;
}

/** Bring a deleted chat back, and open it. */
export async function restoreChat(chat) {
  await ask("POST", at`/api/chats/${chat}/restore`);
  location.assign(at`/chats/${chat}`);
}
