// The organiser's dashboard: the server draws it, this puts in what has changed, makes links and ends them.
import { ask, at, pageAt, showProblem } from "/static/api.js";

const EVERY_MS = 5_000;

const root = document.querySelector("[data-study]");
const problem = document.querySelector("[data-problem]");
const status = document.querySelector("[data-status]");
const made = document.querySelector("[data-made]");
const links = document.querySelector("[data-made-links]");
const ending = document.querySelector("[data-ending]");
const path = at`/api/studies/${root.dataset.study}`;

/** Put in the parts that have changed; the focus stays where it is. */
async function refresh() {
  const page = await pageAt(location.href);
  const parts = [...page.querySelectorAll("[data-part]")];
  if (!parts.length) throw new Error("The dashboard cannot be drawn: reload the page.");
  for (const part of parts) {
    const shown = document.querySelector(`[data-part="${part.dataset.part}"]`);
    if (!shown || shown.innerHTML === part.innerHTML) continue;
    const code = shown.contains(document.activeElement) ? document.activeElement.dataset.end : undefined;
    const scrolled = shown.querySelector(".table-scroll")?.scrollTop ?? 0;
    shown.replaceChildren(...part.childNodes);
    const table = shown.querySelector(".table-scroll");
    if (table) table.scrollTop = scrolled;
    if (code !== undefined) (shown.querySelector(`[data-end="${CSS.escape(code)}"]`) ?? table)?.focus({ preventScroll: true });
  }
}

async function attempt(work) {
  try {
    await work();
    showProblem(problem, null);
  } catch (error) {
    showProblem(problem, error);
  }
}

async function follow() {
  if (!document.hidden) await attempt(refresh);
  setTimeout(follow, EVERY_MS);
}

document.querySelector("[data-links]").addEventListener("submit", (event) => {
  event.preventDefault();
  const count = Number(new FormData(event.target).get("count"));
  attempt(async () => {
    const answer = await ask("POST", `${path}/tokens`, { count });
    links.value = answer.links.join("\n");
    made.hidden = false;
    links.focus();
    links.setSelectionRange(0, links.value.length, "backward"); // the beginning stays in sight
    links.scrollLeft = 0;
    status.textContent = count === 1 ? "One link was made." : `${count} links were made.`;
    await refresh();
  });
});

document.querySelector("[data-copy]").addEventListener("click", () => attempt(async () => {
  links.select();
  await navigator.clipboard.writeText(links.value).catch(() => document.execCommand("copy"));
  status.textContent = "Copied.";
}));

document.addEventListener("click", (event) => {
  const button = event.target.closest("[data-end]");
  if (!button) return;
  ending.dataset.code = button.dataset.end;
  ending.querySelector("[data-code]").textContent = button.dataset.end;
  ending.showModal();
});

ending.addEventListener("close", () => {
  if (ending.returnValue !== "end") return;
  ending.returnValue = "";
  attempt(async () => {
    await ask("DELETE", `${path}${at`/people/${ending.dataset.code}`}`);
    status.textContent = `The link of ${ending.dataset.code} was ended.`;
    await refresh();
  });
});

setTimeout(follow, EVERY_MS);
