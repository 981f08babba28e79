// The place to drop a story: sends it, shows how far it is, and goes on to its report.
import { Problem, ask, at, showProblem, showShare, stream } from "./api.js";

const drop = document.querySelector("[data-drop]");
const failed = drop.querySelector("[data-failed]");
const problem = failed.querySelector("[data-problem]");
const again = failed.querySelector("[data-again]");
const progress = drop.querySelector("[data-progress]");
const meter = progress.querySelector("progress");
const words = progress.querySelector("[data-progress-text]");
const pick = drop.querySelector("[data-pick]");
let busy = false;
let refused = null; // the upload that was read last and refused: it can be tried again as another format

/** How far it is, 0 to 1, in words and as a bar. */
function show(text, share) {
  progress.hidden = text === null;
  if (text === null) return;
  if (words.textContent !== text) words.textContent = text;
  showShare(meter, share);
}

/** Sends a form; fetch does not tell how much of it has gone out, so it is done the old way. */
function send(form, heard) {
  return new Promise((done, fail) => {
    const request = new XMLHttpRequest();
    request.open("POST", "/api/uploads?wait=false");
    request.responseType = "json";
    request.upload.addEventListener("progress", (event) => heard(event.lengthComputable ? event.loaded / event.total : null));
    request.addEventListener("load", () => {
      if (request.status < 400 && request.response) done(request.response);
      else fail(new Problem(request.response?.error?.message ?? `The server answered ${request.status}.`, request.status));
    });
    request.addEventListener("error", () => fail(new Problem("The server cannot be reached, or it would not take this much. Then try again.", 0)));
    request.send(form);
  });
}

/** Follows a reading to its end; gives the upload as it is then. */
async function follow(upload, heard) {
  let now = upload;
  await stream("GET", at`/api/uploads/${upload.id}/progress`, undefined, (name, data) => {
    if (name === "progress") heard(data.share, data.step);
    else now = data;
  });
  if (now.state === "failed") throw new Problem(now.problem, 400);
  return now;
}

const add = (form) =>
  read(() => {
    show("Sending…", 0);
    return send(form, (share) => show("Sending…", share));
  });

/** Begins a reading and goes on to its report, or says why there is none. */
async function read(begin) {
  if (busy) return;
  busy = true;
  let upload = null;
  failed.hidden = true;
  showProblem(problem, null);
  try {
    upload = await begin();
    if (upload.state === "reading") {
      show("Reading…", 0);
      upload = await follow(upload, (share, step) => show(`${step ?? "Reading"}…`, share));
    }
    show(upload.already ? "This story is here already." : "It is on stage.", 1);
    window.location.assign(at`/stories/${upload.id}` + (upload.already ? "?again" : ""));
  } catch (error) {
    show(null);
    failed.hidden = false;
    showProblem(problem, error);
    refused = upload;
    again.hidden = error.status !== 400 || !upload; // the file was read, and refused: another format may take it
    failed.scrollIntoView({ block: "nearest" });
  } finally {
    busy = false;
    pick.value = "";
  }
}

function addFiles(files) {
  if (!files.length) return;
  const form = new FormData();
  for (const file of files) form.append("file", file, file.name);
  form.append("form", drop.querySelector(".drop-files [name=form]").value);
  add(form);
}

again.addEventListener("submit", (event) => {
  event.preventDefault();
  const form = new FormData(again).get("form");
  read(() => ask("POST", at`/api/uploads/${refused.id}/retry?wait=false`, { form }));
});

/** The files that were dropped; of a folder those that lie in it. */
async function dropped(transfer) {
  const entries = [...transfer.items].map((item) => item.webkitGetAsEntry?.()).filter(Boolean);
  if (!entries.some((entry) => entry.isDirectory)) return [...transfer.files];
  const found = [];
  for (const entry of entries) {
    if (entry.isFile) found.push(entry);
    else found.push(...(await inside(entry)).filter((one) => one.isFile && !one.name.startsWith(".")));
  }
  return Promise.all(found.map((entry) => new Promise((done, fail) => entry.file(done, fail))));
}

async function inside(folder) {
  const reader = folder.createReader();
  const found = [];
  for (;;) {
    const some = await new Promise((done, fail) => reader.readEntries(done, fail));
    if (!some.length) return found;
    found.push(...some);
  }
}

pick.addEventListener("change", () => addFiles([...pick.files]));
for (const form of drop.querySelectorAll("form[data-send]")) {
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    add(new FormData(form));
  });
}

// A file dropped beside the place would be opened by the browser, and the page be gone: so the whole page takes it.
let depth = 0;
const withFiles = (event) => event.dataTransfer?.types.includes("Files");
document.addEventListener("dragenter", (event) => {
  if (withFiles(event)) drop.classList.toggle("is-over", ++depth > 0);
});
document.addEventListener("dragleave", (event) => {
  if (withFiles(event)) drop.classList.toggle("is-over", --depth > 0);
});
document.addEventListener("dragover", (event) => {
  if (withFiles(event)) event.preventDefault();
});
document.addEventListener("drop", async (event) => {
  if (!withFiles(event)) return;
  event.preventDefault();
  depth = 0;
  drop.classList.remove("is-over");
  addFiles(await dropped(event.dataTransfer));
});

// Stories that were being read when the page was made. What is being sent now is not given up for them.
const reload = () => busy || window.location.reload();
for (const place of document.querySelectorAll("[data-following]")) {
  const bar = place.querySelector("progress");
  const step = place.querySelector("[data-step]");
  follow({ id: place.dataset.following }, (share, words) => {
    showShare(bar, share);
    if (words && step.textContent !== words) step.textContent = words;
  })
    .then(reload, reload);
}
