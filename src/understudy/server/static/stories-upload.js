// The page of one upload: fixes are sent without leaving it, and what they changed is told.
import { ask, at, make, pageAt, showProblem, showShare, stream } from "./api.js";

const SLOW_MS = 700; // after which it is said that a story is being read again

/** What is put right, from a form's fields and the button that was pressed. */
function fixOf(form, submitter) {
  const fields = Object.fromEntries(new FormData(form, submitter));
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

/** Do something to the upload, then show it as it is now; `show(answer)` tells what came of it. */
async function change(work, show, problemPlace = "[data-problem]") {
  const upload = document.getElementById("upload");
  if (upload.getAttribute("aria-busy") === "true") return;
  upload.setAttribute("aria-busy", "true");
  showProblem(upload.querySelector(problemPlace), null);
  const slow = setTimeout(() => tell(make("p", {}, "The story is read again…")), SLOW_MS);
  try {
    const answer = await work(upload.dataset.upload);
    await renew();
    show(answer);
  } catch (error) {
    upload.removeAttribute("aria-busy");
    upload.querySelector("[data-change]").hidden = true;
    const place = upload.querySelector(problemPlace);
    showProblem(place, error);
    place.scrollIntoView({ block: "nearest" });
  } finally {
    clearTimeout(slow);
  }
}

/** The server draws the page; only its middle is exchanged. */
async function renew() {
  const fresh = await pageAt(window.location.pathname + window.location.search);
  const open = [...document.querySelectorAll("#upload details[open]")].map((one) => one.className);
  document.getElementById("upload").replaceWith(fresh.getElementById("upload"));
  document.title = fresh.title;
  for (const details of document.querySelectorAll("#upload details.unread, #upload details.files")) {
    details.open = open.includes(details.className);
  }
  followUpdate();
  followFinding();
}

function tell(...children) {
  const place = document.querySelector("#upload [data-change]");
  place.hidden = false;
  place.replaceChildren(...children);
  return place;
}

/** Says what a fix of the cast changed, and takes the keyboard there. */
function sayChange(answer, undoable) {
  const undo = make("button", { class: "button small", type: "button", onclick: takeBack }, "Undo");
  const place = tell(make("p", {}, told(answer.change)), undoable && answer.fixes.length > 0 ? undo : "");
  place.tabIndex = -1;
  place.focus();
}

function takeBack() {
  change((upload) => ask("POST", at`/api/uploads/${upload}/undo`), (answer) => sayChange(answer, false));
}

/** After a decision the keyboard goes to the quotation that has taken the place of the decided one. */
function sayDecision(answer, place) {
  const said = document.querySelector("[data-decided]");
  if (!said) return sayChange(answer, true);
  const shown = said.querySelector("p");
  if (shown) shown.textContent = `${answer.change.what}.`;
  else said.prepend(make("p", { class: "small" }, `${answer.change.what}.`));
  const doubts = [...document.querySelectorAll(".doubt")];
  const next = doubts[Math.min(Math.max(place, 0), doubts.length - 1)];
  (next?.querySelector("button, input:not([type=hidden])") ?? said.querySelector("button") ?? document.getElementById("view")).focus();
}

document.addEventListener("submit", (event) => {
  const form = event.target;
  const ofQuotation = form.matches(".doubt form, [data-of-quotation]");
  const place = [...document.querySelectorAll(".doubt")].indexOf(form.closest(".doubt"));
  if (form.matches("form[data-fix]")) {
    event.preventDefault();
    const fix = fixOf(form, event.submitter);
    const send = (upload) => ask("PATCH", at`/api/uploads/${upload}`, { fix });
    if (ofQuotation) change(send, (answer) => sayDecision(answer, place), "[data-quotation-problem]");
    else change(send, (answer) => sayChange(answer, true));
  } else if (form.matches("form[data-undo]")) {
    event.preventDefault();
    if (ofQuotation) change((upload) => ask("POST", at`/api/uploads/${upload}/undo`), (answer) => sayDecision(answer, 0), "[data-quotation-problem]");
    else takeBack();
  }
});

if (window.location.search === "?again") {
  tell("You had sent these files before: this is the story they became.");
}

/** Follows a reading; `done` is called at its end, with the upload as it is then. */
function follow(place, done, id = place.dataset.following, query = "") {
  const bar = place.querySelector("progress");
  const step = place.querySelector("[data-step]");
  let upload = null;
  stream("GET", at`/api/uploads/${id}/progress` + query, undefined, (name, data) => {
    if (name === "done") upload = data;
    if (name !== "progress") return;
    showShare(bar, data.share);
    if (step && data.step && step.textContent !== `${data.step}…`) step.textContent = `${data.step}…`;
  }).then(() => done(upload), () => done(null));
}

/** Decisions that are being read into the story: only the note changes when that is done, as somebody is at work. */
function followUpdate() {
  const place = document.querySelector("#upload [data-quietly]");
  if (!place) return;
  follow(place, (upload) => {
    place.querySelector("progress").remove();
    place.querySelector("[data-note]").textContent = upload?.problem ? "What you decided is kept, but the story could not be read again." : "The story is up to date.";
    showProblem(document.querySelector("[data-quotation-problem]"), upload?.problem ? { message: upload.problem } : null);
  });
}

/** People that are looked for behind the page: only the note changes when that is done. */
function followFinding() {
  const place = document.querySelector("#upload [data-finding]");
  if (!place) return;
  const done = () => {
    place.querySelector("progress").remove();
    place.querySelector("[data-note]").textContent = "What the text tells of its people is known now.";
  };
  follow(place, done, place.dataset.finding, "?people=true");
}

const reading = document.querySelector("#upload [data-following]:not([data-quietly])");
if (reading) follow(reading, () => window.location.reload());
followUpdate();
followFinding();
