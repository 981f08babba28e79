// The Character view: moving along the timeline fetches the same page at that moment and swaps what changed.

import { enliven, pngOf, save } from "/static/drawing.js";
import { timelines } from "/static/timeline.js";

const [slider] = timelines;
const trouble = document.querySelector("[data-trouble]");
let latest = 0;

/** Show the page at an address in the place of this one; only the last one asked for is shown. */
async function visit(address, keep = true) {
  const turn = ++latest;
  const parts = [...document.querySelectorAll("[data-swap]")];
  for (const part of parts) part.classList.add("waiting");
  trouble.hidden = true;
  try {
    const response = await fetch(address, { credentials: "same-origin" });
    if (!response.headers.get("content-type")?.startsWith("text/html")) throw new Error(`The server answered ${response.status}.`);
    const page = new DOMParser().parseFromString(await response.text(), "text/html");
    if (turn !== latest) return;
    swap(page);
    if (keep) history.pushState(null, "", address);
  } catch (error) {
    if (turn !== latest) return;
    slider?.back();
    trouble.textContent = `This moment could not be shown: ${error.message}`;
    trouble.hidden = false;
  }
  for (const part of document.querySelectorAll("[data-swap]")) part.classList.remove("waiting");
}

function swap(page) {
  const focused = document.activeElement?.closest("[data-swap]") ? document.activeElement.getAttribute("href") : null;
  for (const part of document.querySelectorAll("[data-swap]")) {
    const fresh = page.querySelector(`[data-swap="${part.dataset.swap}"]`);
    if (fresh) part.replaceChildren(...fresh.childNodes);
  }
  document.title = page.title;
  document.querySelector("[data-told]").textContent = page.title;
  for (const name of [".masthead .views", ".masthead .brand"]) {
    const fresh = page.querySelector(name);
    if (fresh) document.querySelector(name).replaceWith(document.adoptNode(fresh));
  }
  const line = page.querySelector("[data-timeline]");
  if (slider && line) slider.redraw(line);
  if (focused) document.querySelector(`[data-swap] a[href="${CSS.escape(focused)}"]`)?.focus({ preventScroll: true });
  arrive();
}

/** What a page that has just come needs: details on its drawings, and a graph too wide for the screen in its middle. */
function arrive() {
  enliven(document);
  for (const part of document.querySelectorAll(".picture-scroll")) {
    part.scrollLeft = (part.scrollWidth - part.clientWidth) / 2;
  }
}

document.addEventListener("timeline:moved", (event) => {
  event.preventDefault();
  const address = new URL(location.href);
  address.searchParams.set("at", event.detail.at);
  address.hash = "";
  visit(address);
});

document.addEventListener("click", async (event) => {
  if (event.ctrlKey || event.metaKey || event.shiftKey || event.button) return;
  const stay = event.target.closest("a[data-stay]");
  if (stay) {
    event.preventDefault();
    const address = new URL(stay.href);
    const title = address.hash.slice(1);
    await visit(address);
    document.getElementById(title)?.scrollIntoView({ block: "nearest" });
    return;
  }
  const png = event.target.closest("[data-save-png]");
  if (png) {
    png.disabled = true;
    try {
      save(await pngOf(png.dataset.savePng), png.dataset.name);
    } catch (error) {
      trouble.textContent = `The picture could not be made: ${error.message}`;
      trouble.hidden = false;
    }
    png.disabled = false;
  }
});

addEventListener("popstate", () => visit(new URL(location.href), false));
arrive();
