// The page of one upload: fixes are sent without leaving it, and what they changed is told.
import { ask, at, make, showProblem, stream } from "./api.js";

/** What is put right, from a form's fields. */
function fixOf(form) {
  const fields = Object.fromEntries(new FormData(form));
  return "lines" in fields ? { ...fields, lines: fields.lines.split("\n") } : fields;
}

/** What a fix changed, in a sentence. */
function told(change) {
  const parts = [`${change.what}.`];
  if (change.gone.length) parts.push(`No longer in the cast: ${change.gone.join(", ")}.`);
  if (change.new.length) parts.push(`New in the cast: ${change.new.join(", ")}.`);
  for (const [name, [before, after]] of Object.entries(change.lines)) {
    parts.push(`${name} had ${before} lines and has ${after}.`);
  }
  return parts.join(" ");
}

/** Do something to the upload, then show it as it is now, without losing one's place. */
async function change(work, focus) {
  const upload = document.getElementById("upload");
  if (upload.getAttribute("aria-busy") === "true") return;
  upload.setAttribute("aria-busy", "true");
  showProblem(upload.querySelector("[data-problem]"), null);
  try {
    const answer = await work(upload.dataset.upload);
    await renew();
    say(answer.change, answer.fixes.length > 0, focus);
  } catch (error) {
    upload.removeAttribute("aria-busy");
    const place = upload.querySelector("[data-problem]");
    showProblem(place, error);
    place.scrollIntoView({ block: "nearest" });
  }
}

/** The server draws the page; only its middle is exchanged. */
async function renew() {
  const response = await fetch(window.location.pathname + window.location.search, { credentials: "same-origin" });
  const fresh = new DOMParser().parseFromString(await response.text(), "text/html");
  const open = [...document.querySelectorAll("#upload details[open]")].map((one) => one.className);
  document.getElementById("upload").replaceWith(fresh.getElementById("upload"));
  document.title = fresh.title;
  for (const details of document.querySelectorAll("#upload details.unread, #upload details.files")) {
    details.open = open.includes(details.className);
  }
}

function say(change, undoable, focus) {
  const place = document.querySelector("#upload [data-change]");
  const undo = make("button", { class: "button small", type: "button", onclick: takeBack }, "Undo");
  place.hidden = false;
  place.replaceChildren(make("p", {}, told(change)), undoable && !focus ? undo : "");
  place.tabIndex = -1;
  place.focus();
}

function takeBack() {
  change((upload) => ask("POST", at`/api/uploads/${upload}/undo`), true);
}

document.addEventListener("submit", (event) => {
  const form = event.target;
  if (form.matches("form[data-fix]")) {
    event.preventDefault();
    const fix = fixOf(form);
    change((upload) => ask("PATCH", at`/api/uploads/${upload}`, { fix }));
  } else if (form.matches("form[data-undo]")) {
    event.preventDefault();
    takeBack();
  }
});

if (window.location.search === "?again") {
  const place = document.querySelector("#upload [data-change]");
  place.hidden = false;
  place.textContent = "You had sent these files before: this is the story they became.";
}

const following = document.querySelector("#upload [data-following]");
if (following) {
  const bar = following.querySelector("progress");
  const done = () => window.location.reload();
  stream("GET", at`/api/uploads/${following.dataset.following}/progress`, undefined, (name, data) => {
    if (name === "progress") bar.value = data.share;
  }).then(done, done);
}
