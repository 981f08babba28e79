// The Story view: a line's address finds its page, contents fold on a small screen, reading on asks first.

import "/static/timeline.js";

const asked = new URL(location.href);

// A link may name a line alone (#m-2.3.1.4): if another page of the story holds it, that page is asked for.
const line = /^#m-(\d+(?:\.\d+)*)$/.exec(asked.hash)?.[1];
if (line && !asked.searchParams.has("see") && !asked.searchParams.has("q") && !document.getElementById(`m-${line}`)) {
  asked.searchParams.set("see", line);
  location.replace(asked);
}

const contents = document.querySelector("[data-toc]");
if (contents && matchMedia("(max-width: 61.99rem)").matches) contents.open = false;
contents?.querySelector("[aria-current]")?.scrollIntoView({ block: "nearest" });

const readOn = document.querySelector("details.read-on");
readOn?.addEventListener("toggle", () => {
  if (readOn.open) readOn.querySelector("a").focus();
});
readOn?.addEventListener("keydown", (event) => {
  if (event.key !== "Escape" || !readOn.open) return;
  readOn.open = false;
  readOn.querySelector("summary").focus();
});
