// The drawer that shows what a reply was made from. Its content lies, closed, under the reply.

import { markdown } from "/static/talk-markdown.js";

/** @param {HTMLDialogElement} drawer @param {HTMLElement} item the message */
export function openWhy(drawer, item) {
  const author = item.querySelector(".message-author").textContent;
  const quoted = document.createElement("blockquote");
  quoted.className = "prose";
  quoted.dir = "auto";
  quoted.replaceChildren(...markdown(item.querySelector("[data-text]").dataset.text));
  drawer.querySelector("#drawer-title").textContent = `Why ${author} says this`;
  const body = item.querySelector(".why-body").cloneNode(true);
  drawer.querySelector("[data-drawer-body]").replaceChildren(quoted, body);
  drawer.showModal();
  drawer.scrollTop = 0;
}

for (const drawer of document.querySelectorAll("[data-drawer]")) {
  drawer.addEventListener("click", (event) => {
    if (event.target === drawer || event.target.closest("[data-close]")) drawer.close();
  });
}
