// What is read above the questions: dialogues and texts; folded ones can be searched, and ticked where a question asks which.
import { make } from "/static/api.js";

const SHORTEST_SEARCH = 2;
const CLOSED = "closed blocks"; // titles of those that a person has closed: they stay so from item to item

/** The questions that have folded blocks among their options: their ticks stand beside those. */
function tickedQuestions(item) {
  const folded = new Set(item.blocks.filter((block) => block.is_folded && block.name).map((block) => block.name));
  return item.questions.filter((question) => question.type === "choices" && question.options.some((option) => folded.has(option.key)));
}

/**
 * All blocks of an item, and the ticks beside folded ones: question -> block -> box.
 * @returns {{root: HTMLElement, ticks: Map<string, Map<string, HTMLInputElement>>}}
 */
export function blocksOf(item, storage) {
  const root = make("div", { class: "blocks stack" });
  const ticked = tickedQuestions(item);
  const ticks = new Map(ticked.map((question) => [question.name, new Map()]));
  const folded = item.blocks.filter((block) => block.is_folded);
  const shown = item.blocks.filter((block) => !block.is_folded);
  for (const block of shown) {
    const canClose = shown.length > 1 && block.title && !block.lines.some((line) => line.is_asked);
    root.append(canClose ? closableBlock(block, storage) : openBlock(block));
  }
  if (folded.length) root.append(foldedBlocks(folded, ticked, ticks));
  root.hidden = !item.blocks.length;
  return { root, ticks };
}

/** The lines that the questions are about, to be seen beside them; null where there are none, or many. */
export function askedLines(item) {
  const lines = item.blocks.flatMap((block) => block.lines).filter((line) => line.is_asked);
  if (lines.length !== 1) return null;
  return make("blockquote", { class: "asked-line", dir: "auto", "aria-hidden": "true" }, lines[0].text);
}

function openBlock(block) {
  return make("section", { class: "card block stack tight" }, block.title ? make("h2", { dir: "auto" }, block.title) : null, linesOf(block));
}

/** Who has read who somebody is can close it; the next items have it closed, too. */
function closableBlock(block, storage) {
  const closed = () => new Set(storage.get(CLOSED) ?? []);
  const details = make("details", { class: "card block closable", open: !closed().has(block.title) }, make("summary", {}, make("h2", { dir: "auto" }, block.title)), linesOf(block));
  details.addEventListener("toggle", () => {
    const titles = closed();
    titles[details.open ? "delete" : "add"](block.title);
    storage.set(CLOSED, [...titles]);
  });
  return details;
}

/** Where nobody speaks, sentences are a text and not what happens between lines. */
function linesOf(block) {
  const isText = block.lines.every((line) => line.speaker === null);
  return make("div", { class: isText ? "said text" : "said" }, ...block.lines.map((line) => make("p", { class: line.is_asked ? "line is-asked" : line.speaker === null && !isText ? "line description" : "line", dir: "auto" },
    line.is_asked ? make("span", { class: "sr-only" }, "The line asked about: ") : null,
    line.speaker === null ? null : make("strong", {}, line.speaker, ": "),
    make("span", { class: "line-text" }, line.text))));
}

function foldedBlocks(blocks, ticked, ticks) {
  const entries = blocks.map((block, index) => {
    const lines = linesOf(block);
    const details = make("details", { class: "folded" }, make("summary", { dir: "auto" }, block.title || `Part ${index + 1}`), lines);
    const labels = ticked.filter((question) => question.options.some((option) => option.key === block.name)).map((question) => {
      const box = make("input", { type: "checkbox", "aria-label": `${block.title}: needed${question.about ? ` for ${question.about}` : ""}` });
      ticks.get(question.name).set(block.name, box);
      return make("label", {}, box, make("span", { "aria-hidden": "true" }, question.about || "needed"));
    });
    const isFor = ticked.some((question) => question.about) ? make("span", { "aria-hidden": "true" }, "needed for") : null;
    return { block, details, lines, root: make("li", { class: "folded-block" }, details, labels.length ? make("div", { class: "needed" }, isFor, ...labels) : null) };
  });
  const list = make("ul", { class: "folded-list" }, ...entries.map((entry) => entry.root));
  const section = make("section", { class: "card stack tight", "aria-label": "To look up" }, make("h2", {}, "To look up"));
  if (entries.length > 1) section.append(searchBox(entries));
  section.append(list);
  return section;
}

function searchBox(entries) {
  const count = make("span", { class: "small soft", role: "status" });
  const input = make("input", { type: "search", autocomplete: "off", spellcheck: "false" });
  input.addEventListener("input", (event) => {
    event.stopPropagation(); // it is no answer
    const query = input.value.trim();
    const pattern = query.length < SHORTEST_SEARCH ? null : new RegExp(query.replace(/[.*+?^${}()|[\]\\]/gu, "\\$&"), "giu");
    let shown = 0;
    for (const entry of entries) {
      const hits = mark(entry.lines, pattern);
      const isTitled = pattern !== null && entry.block.title.search(pattern) >= 0;
      entry.root.hidden = pattern !== null && !hits && !isTitled;
      entry.details.open = pattern !== null && hits > 0;
      shown += entry.root.hidden ? 0 : 1;
    }
    count.textContent = pattern === null ? "" : `${shown} of ${entries.length}`;
  });
  return make("label", { class: "field" }, make("span", {}, "Search in these"), input, count);
}

/** Marks what fits the pattern in every line; how many lines have some of it. */
function mark(lines, pattern) {
  let hits = 0;
  for (const span of lines.querySelectorAll(".line-text")) {
    const text = span.textContent;
    const found = pattern === null ? [] : [...text.matchAll(pattern)];
    if (!found.length && !span.querySelector("mark")) continue;
    hits += found.length ? 1 : 0;
    let end = 0;
    const parts = [];
    for (const match of found) {
      parts.push(text.slice(end, match.index), make("mark", {}, match[0]));
      end = match.index + match[0].length;
    }
    span.replaceChildren(...parts, text.slice(end));
  }
  return hits;
}
